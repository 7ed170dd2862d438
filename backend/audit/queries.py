"""Reads of the audit log, inside the open tenant_scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.audit.models import AuditEvent
from backend.tenancy.context import tenant_scope

EXPORTED_AT_ONCE = 500
"""Rows of an export that one transaction reads."""

_CONDITIONS = {
    "action": "action",
    "actor_type": "actor_kind",
    "resource_id": "object_id",
    "since": "occurred_at__gte",
    "until": "occurred_at__lt",
}


def events(**wanted: Any) -> QuerySet[AuditEvent]:
    """Return the events of the tenant. wanted: action, actor_type, resource_id, since, until."""
    rows: QuerySet[AuditEvent] = AuditEvent.objects.all()
    return rows.filter(**{_CONDITIONS[name]: value for name, value in wanted.items()})


def exported(tenant_id: UUID, **wanted: Any) -> Iterator[list[AuditEvent]]:
    """Yield the events of a tenant in pages, oldest first, each page read in a transaction of its own."""
    last: UUID | None = None
    while True:
        with tenant_scope(tenant_id):
            rows = events(**wanted).order_by("id")
            page = list((rows if last is None else rows.filter(id__gt=last))[:EXPORTED_AT_ONCE])
        if page:
            yield page
        if len(page) < EXPORTED_AT_ONCE:
            return
        last = page[-1].id
