"""What is left of a tenant in the database, table by table. The tables come from the catalog, so none is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections
from psycopg import sql

from backend.ekg.graph_store import GraphStore
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant

_TABLES = """
SELECT c.relname, has_table_privilege('app_rw', c.oid, 'DELETE'),
    has_table_privilege('app_dispatch', c.oid, 'DELETE') AND has_column_privilege('app_dispatch', a.attrelid, a.attnum,
    'SELECT'), EXISTS (SELECT FROM pg_attribute v JOIN pg_type t ON t.oid = v.atttypid WHERE v.attrelid = c.oid
    AND NOT v.attisdropped AND t.typname IN ('vector', 'halfvec', 'sparsevec'))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relforcerowsecurity
    AND c.relnamespace = 'public'::regnamespace AND NOT c.relname = ANY(%s) ORDER BY 1
"""
KEPT = {"billing_pricebook": "the operator's record of what was sold, without a word of the tenant's"}
"""Tables that name tenants and stay, with the reason."""


@dataclass(frozen=True, slots=True)
class TenantTable:
    """A table with rows of tenants. by_tenant: app_rw may delete its tenant's rows. by_dispatch: app_dispatch may.

    vectors: whether a row holds a vector.
    """

    name: str
    by_tenant: bool
    by_dispatch: bool
    vectors: bool


@dataclass(frozen=True, slots=True)
class Remains:
    """Counts of a tenant. rows: by table, the tenant's own row as tenancy_tenant. vectors: rows that hold a vector.

    people: people and identities of the tenant's provider that wait for the API to erase them.
    """

    rows: dict[str, int]
    vectors: int
    vertices: int
    edges: int
    people: int

    @property
    def total(self) -> int:
        """Return the sum of all rows, vertices, edges and people."""
        return sum(self.rows.values()) + self.vertices + self.edges + self.people


def tenant_tables() -> list[TenantTable]:
    """Return all tables with a tenant's rows, by name.

    They are under forced row-level security. A table without it that names tenants is the operator's record of its
    staff, or holds people (waiting_people).
    """
    with connections["default"].cursor() as cursor:
        cursor.execute(_TABLES, [list(KEPT)])
        return [TenantTable(*row) for row in cursor.fetchall()]


def waiting_people(tenant_id: UUID) -> int:
    """Count the people and identities of a tenant that the API has not looked at yet (backend.people)."""
    with connections["dispatch"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM people_departure WHERE tenant_id = %s", [tenant_id])
        return int(cursor.fetchone()[0])


def remains() -> Remains:
    """Count what the current tenant has left."""
    tables = tenant_tables()
    rows = {table.name: _count(table.name) for table in tables}
    rows["tenancy_tenant"] = _count("tenancy_tenant")
    graph = GraphStore().count_all()
    vectors = sum(rows[table.name] for table in tables if table.vectors)
    return Remains(rows, vectors, graph.vertices, graph.edges, waiting_people(current_tenant_id()))


def _count(table: str) -> int:
    # Row-level security leaves the tenant's rows alone. The name comes from the catalog.
    with connections["default"].cursor() as cursor:
        cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
        row: Any = cursor.fetchone()
        return int(row[0])


def known_tenants(ids: set[UUID]) -> set[UUID]:
    """Return those of the tenants that exist."""
    return set(Tenant.objects.using("dispatch").filter(id__in=ids).values_list("id", flat=True))
