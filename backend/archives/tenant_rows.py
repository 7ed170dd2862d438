"""The rows of one tenant: written as CSV, read back, and summed up for a comparison.

Every transaction here is under the tenant's row-level security, so it can neither read nor write another tenant's rows.
The tables come from the catalog: a table with a policy named tenant_rows is exported, without being listed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from django.db import connections, transaction
from psycopg import sql

# Triggers of the ledger write these rows while it is loaded, so they are loaded after it.
DERIVED = frozenset(
    {
        "billing_pricedmonth", "billing_quotamonth", "billing_reservation", "billing_stalehour", "billing_tenantday",
        "billing_usageday", "billing_usagemonth",
    }
)  # fmt: skip
SHARED = {
    "migrations": "SELECT md5(string_agg(DISTINCT app || '.' || name, ',' ORDER BY app || '.' || name)) "
    "FROM django_migrations",
    "price books": "SELECT md5(string_agg(book::text, ',' ORDER BY id)) FROM billing_pricebook book",
    "prices": "SELECT md5(string_agg(price::text, ',' ORDER BY id)) FROM billing_price price",
    "plans": "SELECT md5(string_agg(version::text, ',' ORDER BY id)) FROM billing_planversion version",
    # Each installation numbers its documents by itself, so prefixes differ. A document's seller must exist in both.
    "legal entities": "SELECT md5(string_agg(code, ',' ORDER BY code)) FROM billing_legalentity",
}
"""Digest of what two installations must have in common before a tenant can go from one to the other."""
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
    """A table, and its columns except generated columns, in the order of their names."""

    name: str
    columns: tuple[str, ...]

    @property
    def listed(self) -> sql.Composed:
        """Return the columns for a statement."""
        return sql.SQL(", ").join(map(sql.Identifier, self.columns))

    @property
    def select(self) -> sql.Composed:
        """Return the query of all rows."""
        return sql.SQL("SELECT {} FROM {}").format(self.listed, sql.Identifier(self.name))


@contextmanager
def owner_transaction(tenant_id: UUID, *, snapshot: bool = False) -> Iterator[psycopg.Connection[Any]]:
    """Open a transaction as one tenant and as the owner of the tables, without time limits. It passes the tenant's
    fence.

    snapshot: everything is read as of the beginning, and nothing can be written.
    """
    with transaction.atomic(using="owner"):
        connection: psycopg.Connection[Any] = connections["owner"].connection
        if snapshot:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", [str(tenant_id)])
        yield connection


def tables(connection: psycopg.Connection[Any]) -> list[Table]:
    """Return the tables with rows of tenants; those that triggers derive from others come last."""
    rows = connection.execute(_TABLES, [list(DERIVED)]).fetchall()
    return [Table(name, tuple(columns)) for name, columns in rows]


def shared_digests(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Return the digests of SHARED."""
    return {what: str(_only(connection.execute(statement))) for what, statement in SHARED.items()}


def copy_out(connection: psycopg.Connection[Any], query: sql.Composable) -> Iterator[bytes]:
    """Yield the rows of a query as CSV with a header."""
    with connection.cursor().copy(sql.SQL("COPY ({}) TO STDOUT (FORMAT csv, HEADER)").format(query)) as leaving:
        for block in leaving:
            yield bytes(block)


def load_arriving(connection: psycopg.Connection[Any], table: Table, blocks: Iterable[bytes]) -> None:
    """Load CSV into the temporary table `arriving`, which has the columns of the table.

    COPY cannot write to a table under row-level security. Raises psycopg.Error if the CSV has other columns.
    """
    connection.execute("DROP TABLE IF EXISTS pg_temp.arriving")
    connection.execute(
        sql.SQL("CREATE TEMPORARY TABLE arriving ON COMMIT DROP AS {} WITH NO DATA").format(table.select)
    )
    into = sql.SQL("COPY pg_temp.arriving ({}) FROM STDIN (FORMAT csv, HEADER MATCH)").format(table.listed)
    with connection.cursor().copy(into) as arriving:
        for block in blocks:
            arriving.write(block)


def load(connection: psycopg.Connection[Any], table: Table, blocks: Iterable[bytes]) -> None:
    """Load the tenant's rows of one table. Derived tables come after all others."""
    if table.name in DERIVED:
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name)))
    load_arriving(connection, table, blocks)
    connection.execute(
        sql.SQL("INSERT INTO {} ({}) SELECT * FROM pg_temp.arriving").format(sql.Identifier(table.name), table.listed)
    )


def sums(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Return the sum of each table over the tenant's rows."""
    return {table.name: sum_of(connection, table.select) for table in tables(connection)}


def sum_of(connection: psycopg.Connection[Any], query: sql.Composable) -> list[str]:
    """Return the number of a query's rows, and the sum of their hashes, which does not depend on their order."""
    row = connection.execute(
        sql.SQL("SELECT count(*)::text, coalesce(sum(hashtextextended(r::text, 0)), 0)::text FROM ({}) r").format(query)
    ).fetchone()
    assert row is not None
    return list(row)


def _only(cursor: psycopg.Cursor[Any]) -> Any:
    row = cursor.fetchone()
    assert row is not None
    return row[0]
