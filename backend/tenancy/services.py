"""Writes to tenants and API keys."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.validators import validate_email
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from uuid6 import uuid7

from backend.tenancy import keys
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.models import ApiKey, Tenant
from backend.tenancy.refusals import Refused


def create_tenant(*, name: str, slug: str) -> Tenant:
    """Create a tenant in its own scope. Raises Refused `slug_taken`."""
    tenant_id = UUID(bytes=uuid7().bytes)
    try:
        with tenant_scope(tenant_id):
            return Tenant.objects.create(id=tenant_id, name=name, slug=slug)
    except IntegrityError:
        raise Refused("slug_taken", f"A tenant with the slug {slug} exists.") from None


def set_notice_email(*, address: str) -> None:
    """Set where notices to the current tenant are mailed; "" for nowhere. Raises ValidationError of Django."""
    if address:
        validate_email(address)
    Tenant.objects.filter(id=current_tenant_id()).update(notice_email=address)


def issue_api_key(*, name: str, scopes: Collection[str], expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """Create a key of the current tenant; return it with its text, of which only a digest is stored.

    Raises ValueError for an unknown scope, or for no scope at all.
    """
    unknown = set(scopes) - {*keys.SCOPES, keys.ALL_SCOPES}
    if unknown or not scopes:
        raise ValueError(f"unknown scopes: {', '.join(sorted(unknown)) or 'none given'}")
    made = keys.generate()
    pepper_id = keys.current_pepper_id()
    key = ApiKey.objects.create(
        tenant_id=current_tenant_id(),
        name=name,
        public_id=made.public_id,
        digest=keys.digest_of(made.text, pepper_id=pepper_id),
        pepper_id=pepper_id,
        scopes=sorted(set(scopes)),
        expires_at=expires_at,
    )
    return key, made.text


def revoke_api_key(*, api_key_id: UUID) -> bool:
    """End a key at once. True also if it had ended before; False if the tenant has no such key."""
    mine = ApiKey.objects.filter(id=api_key_id)
    mine.filter(revoked_at=None).update(revoked_at=timezone.now())
    return bool(mine.exists())


def rename_api_key(*, api_key_id: UUID, name: str) -> bool:
    return bool(ApiKey.objects.filter(id=api_key_id).update(name=name))


def rotate_api_key(*, api_key_id: UUID, overlap: timedelta) -> tuple[ApiKey, str]:
    """Create a successor with the same name and scopes. The old key ends after the overlap, or earlier by itself.

    The successor's lifetime is the lifetime that the old key was made for. Raises Refused `key_ended` for a revoked or
    expired key, ApiKey.DoesNotExist for an unknown key.
    """
    now = timezone.now()
    with transaction.atomic():
        old: ApiKey = ApiKey.objects.select_for_update().get(id=api_key_id)
        if old.revoked_at is not None or (old.expires_at is not None and old.expires_at <= now):
            raise Refused("key_ended", "A revoked or expired key cannot be rotated; create a new one.")
        lifetime = None if old.expires_at is None else old.expires_at - old.created_at
        successor = issue_api_key(
            name=old.name, scopes=old.scopes, expires_at=None if lifetime is None else now + lifetime
        )
        end = now + overlap
        ending: models.QuerySet[Any] = ApiKey.objects.filter(id=old.id)
        ending.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=end)).update(expires_at=end)
    return successor
