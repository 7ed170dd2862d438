"""Writes to tenants and API keys."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.validators import validate_email
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from psycopg import OperationalError
from uuid6 import uuid7

from backend.tenancy import keys
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.directory import Directory, NotPlaced, Taken
from backend.tenancy.models import ApiKey, Tenant
from backend.tenancy.refusals import Refused


def create_tenant(*, name: str, slug: str) -> Tenant:
    """Create a tenant in its own scope, in the cell of this process. Raises Refused `slug_taken`, `cell_closed`."""
    tenant_id = UUID(bytes=uuid7().bytes)
    _place(tenant_id, slug)
    try:
        with tenant_scope(tenant_id):
            placement = {"placement": settings.CELL} if settings.CELL else {}
            return Tenant.objects.create(id=tenant_id, name=name, slug=slug, **placement)
    except IntegrityError:
        raise Refused("slug_taken", f"A tenant with the slug {slug} exists.") from None


def _place(tenant_id: UUID, slug: str) -> None:
    if not settings.CONTROL_URL:
        return
    with Directory(settings.CONTROL_URL) as directory:
        try:
            directory.place_tenant(tenant_id, slug=slug, cell=settings.CELL)
        except Taken as error:
            code = "slug_taken" if "slug" in str(error) else "cell_closed"
            raise Refused(code, f"{str(error)[0].upper()}{str(error)[1:]}.") from None
        except NotPlaced as error:
            raise Refused("cell_closed", f"{str(error)[0].upper()}{str(error)[1:]}.") from None


def _register_key(public_id: str) -> None:
    """Let the router find the cell of a new key. Raises Refused `directory_away` (503)."""
    if not settings.CONTROL_URL:
        return
    try:
        with Directory(settings.CONTROL_URL) as directory:
            directory.register_key(public_id, current_tenant_id())
    except (OperationalError, NotPlaced) as error:
        raise Refused("directory_away", "API keys cannot be created now; try again.", status=503) from error


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
    _register_key(made.public_id)
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
