"""Writes to tenants and API keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.validators import validate_email
from django.db import models, transaction
from django.utils import timezone

from backend.tenancy import keys, makers, networks, queries
from backend.tenancy.authentication import Principal
from backend.tenancy.context import current_tenant_id
from backend.tenancy.key_limits import KeyLimits
from backend.tenancy.models import NOTICE_ROLES, ApiKey, Tenant
from backend.tenancy.refusals import Refused, invalid


def set_notice_email(*, address: str) -> None:
    """Set where notices to the current tenant are mailed, "" for nowhere, as the operator: nobody has to confirm.

    Raises ValidationError of Django.
    """
    if address:
        validate_email(address)
    Tenant.objects.filter(id=current_tenant_id()).update(notice_email=address, notice_confirmed=True, notice_proof=None)


def set_notice_roles(*, roles: Collection[str]) -> None:
    """Set the roles whose members get the notices to the current tenant. roles: among NOTICE_ROLES."""
    Tenant.objects.filter(id=current_tenant_id()).update(notice_roles=[role for role in NOTICE_ROLES if role in roles])


def issue_api_key(
    *,
    name: str,
    scopes: Collection[str],
    expires_at: datetime | None = None,
    allowed_ips: Sequence[str] = (),
    requests_per_minute: int | None = None,
    test: bool = False,
    maker: Principal | None = None,
) -> tuple[ApiKey, str]:
    """Create a key of the current tenant; return it with its text, of which only a digest is stored.

    maker: the caller that makes the key; None for an operator. The new key takes over each limit of its maker that it
    does not set. test: whether the key works in the tenant's sandbox; `*` then stands for all of keys.TEST_SCOPES.
    Raises Refused `insufficient_scope` or `beyond_maker` if it would pass a limit, `not_in_test_mode` for a scope that
    test keys do not have, ValueError for an unknown scope or network, or for no scope at all.
    """
    unknown = set(scopes) - {*keys.SCOPES, keys.ALL_SCOPES}
    if unknown or not scopes:
        raise ValueError(f"unknown scopes: {', '.join(sorted(unknown)) or 'none given'}")
    limits = KeyLimits(expires_at, tuple(networks.network(one) for one in allowed_ips), requests_per_minute)
    if maker is not None:
        require_rank(maker, scopes)
        limits = limits.within(maker)
    if test:
        scopes = _test_scopes(scopes)
    made = keys.generate(test=test)
    pepper_id = keys.current_pepper_id()
    key = ApiKey.objects.create(
        tenant_id=current_tenant_id(),
        name=name,
        test=test,
        public_id=made.public_id,
        digest=keys.digest_of(made.text, pepper_id=pepper_id),
        pepper_id=pepper_id,
        scopes=sorted(set(scopes)),
        expires_at=limits.expires_at,
        allowed_ips=list(limits.allowed_ips),
        requests_per_minute=limits.requests_per_minute,
        parent_id=maker and maker.api_key_id,
        created_by_person_id=getattr(maker, "person_id", None),
    )
    return key, made.text


def _test_scopes(scopes: Collection[str]) -> Collection[str]:
    """Return the scopes of a test key. Raises Refused `not_in_test_mode`."""
    if keys.ALL_SCOPES in scopes:
        return keys.TEST_SCOPES
    if beyond := sorted(set(scopes) - keys.TEST_SCOPES):
        detail = f"A test key cannot have {', '.join(beyond)}: keys, people and money are live only."
        raise invalid(pointer="/scopes", code="not_in_test_mode", detail=detail)
    return scopes


def revoke_api_key(*, api_key_id: UUID, descendants: bool = False, by: Principal | None = None) -> int:
    """End a key at once, with what never outlives its maker (makers.end_with); return how many keys ended.

    descendants: end the keys that it made, too, and those that these made. by: the caller; None for an operator. Raises
    Refused `insufficient_scope` if the key has scopes that the caller lacks, `last_managing_key` if a key would leave
    the tenant without a key that manages keys for as long as this one could.
    """
    with transaction.atomic():
        ids = queries.with_descendants(api_key_id) if descendants else {api_key_id}
        living = _locked_keys()
        ending = [key for key in living if key.id in ids]
        if by is not None:
            for key in ending:
                require_rank(by, key.scopes)
            _require_managing_key(living, ending, by)
        makers.end_with(makers.Maker(None, frozenset(ids)))
        return int(ApiKey.objects.filter(id__in=ids, revoked_at=None).update(revoked_at=timezone.now()))


def revoke_keys_of_person(person_id: UUID, *, covered: Collection[str] = ()) -> int:
    """End the keys of the current tenant that a person made, with the keys that these made; return their number.

    covered: scopes that the person still has; keys with no others go on.
    """
    with transaction.atomic():
        outranking = [
            key.id
            for key in _locked_keys()
            if key.created_by_person_id == person_id
            and keys.ALL_SCOPES not in covered
            and not set(key.scopes) <= set(covered)
        ]
        return sum(revoke_api_key(api_key_id=key_id, descendants=True) for key_id in outranking)


def rename_api_key(*, api_key_id: UUID, name: str) -> bool:
    return bool(ApiKey.objects.filter(id=api_key_id).update(name=name))


def rotate_api_key(*, api_key_id: UUID, overlap: timedelta, maker: Principal | None = None) -> tuple[ApiKey, str]:
    """Create a successor with the same name and scopes. The old key ends after the overlap, or earlier by itself.

    The successor's lifetime is the lifetime that the old key was made for, but it ends with its maker at the latest.
    Raises Refused `key_ended` for a revoked or expired key, `insufficient_scope`, `beyond_maker` or
    `last_managing_key`, ApiKey.DoesNotExist for an unknown key.
    """
    now = timezone.now()
    with transaction.atomic():
        living = _locked_keys()
        old: ApiKey = ApiKey.objects.select_for_update().get(id=api_key_id)
        if old.revoked_at is not None or (old.expires_at is not None and old.expires_at <= now):
            raise Refused("key_ended", "A revoked or expired key cannot be rotated; create a new one.")
        ends = None if old.expires_at is None else now + (old.expires_at - old.created_at)
        if maker is not None and maker.expires_at is not None:
            ends = min(ends or maker.expires_at, maker.expires_at)
        successor = issue_api_key(
            name=old.name,
            scopes=old.scopes,
            expires_at=ends,
            allowed_ips=old.allowed_ips,
            requests_per_minute=old.requests_per_minute,
            test=old.test,
            maker=maker,
        )
        if maker is not None:
            _require_managing_key([*living, successor[0]], [old], maker)
        end = now + overlap
        ending: models.QuerySet[Any] = ApiKey.objects.filter(id=old.id)
        ending.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=end)).update(expires_at=end)
    return successor


def require_rank(caller: Principal, scopes: Collection[str]) -> None:
    """Check that a caller has all scopes of a key that it makes or ends. Raises Refused `insufficient_scope`."""
    lacking = sorted(scope for scope in scopes if not caller.may(scope))
    if lacking:
        detail = f"The caller lacks {', '.join(lacking)}, which the key has."
        raise Refused("insufficient_scope", detail, status=403)


def _locked_keys() -> list[ApiKey]:
    """Lock and return the keys of the tenant that have not ended, so that two of them cannot end each other."""
    now = timezone.now()
    rows = ApiKey.objects.select_for_update().filter(models.Q(expires_at=None) | models.Q(expires_at__gt=now))
    return list(rows.filter(revoked_at=None).order_by("id"))


def _require_managing_key(living: Sequence[ApiKey], ending: Sequence[ApiKey], caller: Principal) -> None:
    if caller.api_key_id is None:
        return  # a person can make another key
    last = [key.expires_at for key in ending if keys.MANAGING & set(key.scopes)]
    ids = {key.id for key in ending}
    left = [key.expires_at for key in living if key.id not in ids and keys.MANAGING & set(key.scopes)]
    needed = [end for end in last if end is not None]
    if last and not any(end is None or (len(needed) == len(last) and end >= max(needed)) for end in left):
        raise Refused(
            "last_managing_key",
            "No key would be left that manages keys for as long as this one; create or rotate one first.",
        )
