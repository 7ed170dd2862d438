"""The rows of one tenant in one cell: copied to another cell, summed up for a comparison, erased.

Every connection is under the tenant's row-level security, so a move can neither read nor write another tenant's rows.
The tables come from the catalog: a table with a policy named tenant_rows is moved, without being listed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

# Triggers of the ledger write these rows while it is copied, so they are copied after it.
DERIVED = frozenset(
    {
        "billing_pricedmonth", "billing_quotamonth", "billing_reservation", "billing_stalehour", "billing_tenantday",
        "billing_usageday", "billing_usagemonth",
    }
)  # fmt: skip
# What both cells must have in common before a tenant can move.
SHARED = {
    "migrations": "SELECT md5(string_agg(DISTINCT app || '.' || name, ',' ORDER BY app || '.' || name)) "
    "FROM django_migrations",
    "price books": "SELECT md5(string_agg(book::text, ',' ORDER BY id)) FROM billing_pricebook book",
    "prices": "SELECT md5(string_agg(price::text, ',' ORDER BY id)) FROM billing_price price",
    "plans": "SELECT md5(string_agg(version::text, ',' ORDER BY id)) FROM billing_planversion version",
    # Each cell counts its documents by itself, so prefixes differ. The seller of a document must exist in both.
    "legal entities": "SELECT md5(string_agg(code, ',' ORDER BY code)) FROM billing_legalentity",
}
_TABLES = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attname) FILTER (WHERE a.attgenerated = '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant_rows')
GROUP BY c.relname ORDER BY c.relname = ANY(%s), c.relname
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with rows of tenants, and its columns, generated columns apart, in the order of their names."""

    name: str
    columns: tuple[str, ...]

    @property
    def listed(self) -> sql.Composed:
        """Return the columns for a statement."""
        return sql.SQL(", ").join(map(sql.Identifier, self.columns))


@dataclass(frozen=True, slots=True)
class Sum:
    """Number of rows, and the sum of their hashes, which does not depend on their order."""

    rows: int
    hashes: str


@contextmanager
def transaction_of(url: str, tenant_id: UUID, *, snapshot: bool = False) -> Iterator[psycopg.Connection[Any]]:
    """Open a transaction as one tenant, without time limits. It passes the tenant's fence.

    snapshot: everything is read as of the beginning, and nothing can be written.
    """
    # A pooler in transaction mode keeps no prepared statements.
    with psycopg.connect(url, connect_timeout=10, prepare_threshold=None) as connection:
        if snapshot:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
        for setting in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.execute(sql.SQL("SET LOCAL {} = 0").format(sql.Identifier(setting)))
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", [str(tenant_id)])
        yield connection


def tables(connection: psycopg.Connection[Any]) -> list[Table]:
    """Return the tables with rows of tenants; those that triggers derive from others come last."""
    rows = connection.execute(_TABLES, [list(DERIVED)]).fetchall()
    return [Table(name, tuple(columns)) for name, columns in rows]


def differences(source: psycopg.Connection[Any], target: psycopg.Connection[Any]) -> list[str]:
    """Return what differs between two cells that must be alike; an empty list if a tenant can move."""
    faults = [
        f"the {what} differ"
        for what, statement in SHARED.items()
        if source.execute(statement).fetchone() != target.execute(statement).fetchone()
    ]
    return faults + (["the tables differ"] if tables(source) != tables(target) else [])


def copy_rows(source: psycopg.Connection[Any], target: psycopg.Connection[Any]) -> None:
    """Copy all rows of the tenant, in the two transactions. The target holds none of them yet."""
    target.execute("SET CONSTRAINTS ALL DEFERRED")
    for table in tables(source):
        if table.name in DERIVED:
            target.execute("SET CONSTRAINTS ALL IMMEDIATE")
            target.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name)))
        _copy(table, source, target)
    target.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _copy(table: Table, source: psycopg.Connection[Any], target: psycopg.Connection[Any]) -> None:
    # COPY cannot write to a table under row-level security, so the rows pass through a temporary table.
    name = sql.Identifier(table.name)
    target.execute(
        sql.SQL("CREATE TEMPORARY TABLE arriving ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA").format(
            table.listed, name
        )
    )
    pipe(
        source,
        sql.SQL("SELECT {} FROM {}").format(table.listed, name),
        target,
        sql.SQL("COPY arriving ({}) FROM STDIN (FORMAT binary)").format(table.listed),
    )
    target.execute(sql.SQL("INSERT INTO {} ({}) SELECT * FROM arriving").format(name, table.listed))
    target.execute("DROP TABLE arriving")


def pipe(
    source: psycopg.Connection[Any],
    query: sql.Composable,
    target: psycopg.Connection[Any],
    into: sql.SQL | sql.Composed,
) -> None:
    """Send the rows of a query of the source through COPY to the target."""
    out = sql.SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(query)
    with source.cursor().copy(out) as leaving, target.cursor().copy(into) as arriving:
        for block in leaving:
            arriving.write(block)


def sums(connection: psycopg.Connection[Any]) -> dict[str, Sum]:
    """Return the sum of each table over the tenant's rows."""
    found = {}
    for table in tables(connection):
        found[table.name] = sum_of(
            connection, sql.SQL("SELECT {} FROM {}").format(table.listed, sql.Identifier(table.name))
        )
    return found


def sum_of(connection: psycopg.Connection[Any], query: sql.Composable) -> Sum:
    """Return the sum of a query's rows."""
    row = connection.execute(
        sql.SQL("SELECT count(*), coalesce(sum(hashtextextended(r::text, 0)), 0)::text FROM ({}) r").format(query)
    ).fetchone()
    assert row is not None
    return Sum(*row)


def erase_rows(connection: psycopg.Connection[Any], *, keep: Sequence[str] = ()) -> None:
    """Delete all rows of the tenant, as the owner of the tables. keep: tables that stay."""
    connection.execute("SET CONSTRAINTS ALL DEFERRED")
    for table in reversed(tables(connection)):
        if table.name not in keep:
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name)))
