"""The read-only database role of the console, which reads across tenants."""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.models import F, QuerySet

from backend.tenancy.models import TenantRow

CONSOLE = "console"
STAFF = "staff"
"""Alias of the role that writes what belongs to the console alone: sessions, prices, the log of the staff."""


def across_tenants(model: type[TenantRow]) -> QuerySet[Any]:
    """Return the rows of all tenants, read as the console role."""
    all_rows: QuerySet[Any] = model.unscoped.using(CONSOLE)
    return all_rows


def of_same_tenant(model: type[TenantRow], row: TenantRow) -> QuerySet[Any]:
    """Return the rows of the tenant that a row belongs to: by the tenant every table is indexed."""
    return across_tenants(model).filter(tenant_id=row.tenant_id)


def joined(found: QuerySet[Any], *relations: str) -> QuerySet[Any]:
    """Return rows with the rows of their tenant that they refer to, joined by tenant and id: the key of every table of
    tenants. By the id alone, no key serves the join. relations: none of them may be null."""
    same_tenant = {f"{name}__tenant_id": F("tenant_id") for name in relations}
    return found.select_related(*relations).filter(**same_tenant)


def rows(sql: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return the rows of one statement of the console role, by column name."""
    with connections[CONSOLE].cursor() as cursor:
        cursor.execute(sql, parameters or {})
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
