"""Reads of API keys, inside the open tenant_scope, and of tenants before one is entered."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from backend.tenancy.models import ApiKey, Tenant


def tenant_of_slug(slug: str) -> Tenant | None:
    """Return the tenant with this slug. No tenant is entered yet, so the dispatch role reads it."""
    tenant: Tenant | None = Tenant.objects.using("dispatch").filter(slug=slug).first()
    return tenant


def api_keys() -> QuerySet[ApiKey]:
    rows: QuerySet[ApiKey] = ApiKey.objects.all()
    return rows


def living_keys() -> QuerySet[ApiKey]:
    """Return the keys that have neither been revoked nor expired."""
    now = timezone.now()
    return api_keys().filter(Q(revoked_at=None) | Q(revoked_at__gt=now), Q(expires_at=None) | Q(expires_at__gt=now))


def with_descendants(key_id: UUID) -> set[UUID]:
    """Return a key's id with those of the keys that it made, that these made, and so on."""
    found, latest = {key_id}, {key_id}
    while latest:
        latest = _children(latest) - found
        found |= latest
    return found


def _children(key_ids: Collection[UUID]) -> set[UUID]:
    return set(ApiKey.objects.filter(parent_id__in=key_ids).values_list("id", flat=True))
