"""What acts for its maker after the maker has gone: keys, invitations, webhook endpoints and shares.

Each kind is registered by the app that owns it. Some kinds end with their maker. The others are listed when the maker
goes, and whoever removes the maker may end them in the same act.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from backend.tenancy import queries
from backend.tenancy.authentication import Principal
from backend.tenancy.models import ApiKey
from backend.tenancy.refusals import Refused

MOST_LISTED = 1_000
"""Maximum number of things of each kind in a list."""


@dataclass(frozen=True, slots=True)
class Maker:
    """Who made something in the current tenant: a person, or any of some keys."""

    person_id: UUID | None
    key_ids: frozenset[UUID]

    def made(self, *, person: str = "person_id", key: str = "api_key_id") -> Q:
        """Return the condition on rows of this maker. person, key: the columns with a row's maker."""
        by_key = Q(**{f"{key}__in": self.key_ids})
        return by_key if self.person_id is None else by_key | Q(**{person: self.person_id})


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing that acts for its maker.

    name: the `object` of its schema. prefix: of its public ids. scope: what a caller needs to end one. living: the rows
    of a maker that have not ended. end: ends rows. ends_with_maker: whether they end whatever the caller wants.
    """

    name: str
    prefix: str
    scope: str
    living: Callable[[Maker], QuerySet[Any]]
    end: Callable[[QuerySet[Any]], object]
    ends_with_maker: bool = False


@dataclass(frozen=True, slots=True)
class MadeThing:
    """A row that acts for a maker. ends_with_maker: whether it ends when the maker is removed or revoked."""

    name: str
    prefix: str
    id: UUID
    created_at: datetime
    ends_with_maker: bool


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Let an app add its kind of thing."""
    _kinds[kind.name] = kind


def person(person_id: UUID) -> Maker:
    """Return a member of the current tenant as a maker, with the keys that the member made, and those that these made.

    Keys that have ended count, because what they made may go on.
    """
    own = ApiKey.objects.filter(created_by_person_id=person_id).values_list("id", flat=True)
    return Maker(person_id, frozenset(one for key_id in own for one in queries.with_descendants(key_id)))


def key(key_id: UUID, *, descendants: bool) -> Maker:
    """Return a key of the current tenant as a maker. descendants: with the keys that it made, and that these made."""
    return Maker(None, frozenset(queries.with_descendants(key_id) if descendants else {key_id}))


def made_by(maker: Maker) -> list[MadeThing]:
    """Return what a maker made that has not ended, by kind, the newest first, at most MOST_LISTED of each kind."""
    return [
        MadeThing(kind.name, kind.prefix, id, created_at, kind.ends_with_maker)
        for kind in _kinds.values()
        for id, created_at in kind.living(maker).order_by("-id").values_list("id", "created_at")[:MOST_LISTED]
    ]


def keys_made_by(maker: Maker) -> list[MadeThing]:
    """Return the keys of a maker that have not ended. They end with a person, and with a key if the caller wants."""
    rows = queries.living_keys().filter(maker.made(person="created_by_person_id", key="parent_id"))
    living = rows.order_by("-id").values_list("id", "created_at")
    ends = maker.person_id is not None
    return [MadeThing("api_key", "key", id, created_at, ends) for id, created_at in living[:MOST_LISTED]]


def end_with(maker: Maker) -> None:
    """End what never outlives its maker. Keys end by themselves (backend.tenancy.services)."""
    for kind in _kinds.values():
        if kind.ends_with_maker:
            kind.end(kind.living(maker))


def end_rest(maker: Maker, *, by: Principal) -> None:
    """End what would go on without its maker.

    Raises Refused `insufficient_scope` if the caller may not end one of the kinds that there are.
    """
    for kind in _kinds.values():
        rows = kind.living(maker)
        if kind.ends_with_maker or not rows.exists():
            continue
        if not by.may(kind.scope):
            detail = f"Ending what was made here needs the scope {kind.scope} as well."
            raise Refused("insufficient_scope", detail, status=403)
        kind.end(rows)
