"""Ids as customers see them: a prefix that names the kind, and the UUID in base58 (`vid_3Yk…`)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import base58
from django.http import Http404
from rest_framework import serializers

PREFIXES = frozenset(
    {
        "vid", "upl", "col", "evt", "ent", "rel", "frm", "job", "seg", "qst", "nod",
        "whe",  # webhook endpoint
        "whd",  # webhook delivery
        "msg",  # webhook event
        "bud",  # monthly budget
        "bat",  # question batch
        "cmp",  # comparison
        "ses",  # session
        "sea",  # search
        "shr",  # share
        "clp",  # clip
        "aud",  # audit event
        "ivc",  # invoice or credit note
        "cre",  # credit
        "use",  # row of the usage ledger
        "per",  # person
        "inv",  # invitation
        "mem",  # membership
        "key", "tnt", "chk", "trn", "trk", "obj",
    }
)  # fmt: skip


def encode(prefix: str, value: UUID) -> str:
    """Return the public id, such as `vid_` and the base58 of the 16 bytes. Raises ValueError for an unknown prefix."""
    if prefix not in PREFIXES:
        raise ValueError(f"unknown id prefix {prefix!r}")
    return f"{prefix}_{base58.b58encode(value.bytes).decode()}"


def encode_creator(*, person_id: UUID | None, api_key_id: UUID | None) -> str | None:
    """Return the public id of the member, or else of the API key, that made a row; None if neither did."""
    if person_id is not None:
        return encode("per", person_id)
    return None if api_key_id is None else encode("key", api_key_id)


def parse(prefix: str, text: str) -> UUID | None:
    """Return the UUID of a public id; None unless text is its canonical spelling with this prefix."""
    head, _, tail = text.partition("_")
    if head != prefix or not 16 <= len(tail) <= 22:
        return None
    try:
        raw = base58.b58decode(tail)
    except ValueError:
        return None
    value = UUID(bytes=raw) if len(raw) == 16 else None
    return value if value is not None and encode(prefix, value) == text else None


def decode(prefix: str, text: str) -> UUID:
    """Return the UUID of an id in a path. Raises Http404, so a malformed id is answered like an unknown one."""
    value = parse(prefix, text)
    if value is None:
        raise Http404
    return value


class PublicIdField(serializers.Field):  # type: ignore[type-arg]
    """A UUID inside, a public id outside. A malformed id is the validation error `invalid_id`."""

    default_error_messages = {"invalid_id": "This is not an id of the kind {prefix}_…"}

    def __init__(self, prefix: str, **kwargs: Any) -> None:
        if prefix not in PREFIXES:
            raise ValueError(f"unknown id prefix {prefix!r}")
        self.prefix = prefix
        super().__init__(**kwargs)

    def to_representation(self, value: UUID) -> str:
        return encode(self.prefix, value)

    def to_internal_value(self, data: Any) -> UUID:
        value = parse(self.prefix, data) if isinstance(data, str) else None
        if value is None:
            self.fail("invalid_id", prefix=self.prefix)
        return value
