"""Rows of a large installation, made by the server itself: one INSERT … SELECT for each table."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg

from bench.figures import show_progress

DAYS = 90
"""Days over which the rows are spread, up to now."""
_DEFAULTS = {
    "varchar": "''", "text": "''", "bool": "false", "int2": "0", "int4": "0", "int8": "0", "float8": "0",
    "numeric": "0", "jsonb": "'{}'", "timestamptz": "at", "uuid": "gen_random_uuid()", "date": "current_date",
    "bytea": "''", "halfvec": "'[0,0,1]'",
}  # fmt: skip
# The newest row comes last, so that ids rise with time as they do in production.
_ID = (
    "(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' "
    "|| substr(md5('{table}' || n), 1, 19))::uuid"
)
_CHANCE = "((hashint8(n) & 1048575) / 1048576.0)"


def spread(count: int) -> str:
    """Return count rows over DAYS as SQL: n from 1, `at`, and tenant_id.

    A third of the rows belongs to the largest 4 % of the tenants.
    """
    return (
        f"SELECT n, now() - interval '{DAYS} days' * (1 - n::float / {count}) AS at, "
        f"(SELECT ids[1 + floor(power({_CHANCE}, 3) * cardinality(ids))::int] FROM tenants) AS tenant_id "
        f"FROM generate_series(1, {count}) n"
    )


def of_each(parent: str, each: int, *, newest: int | None = None, at: str = "created_at", where: str = "true") -> str:
    """Return rows that belong to the rows of a table as SQL: n, at, tenant_id, k from 0, parts, and parent, the row.

    each: rows of one parent. newest: those of the newest parent, which is as large as rows get. at: the parent's time.
    """
    most = each if newest is None else newest
    parts = (
        f"CASE WHEN p.id = (SELECT id FROM {parent} WHERE {where} ORDER BY id DESC LIMIT 1) THEN {most} ELSE {each} END"
    )
    return (
        f"SELECT row_number() OVER (ORDER BY parent.id, k) AS n, parent.{at} AS at, parent.tenant_id, k, parts, parent "
        f"FROM (SELECT p.*, {parts} AS parts FROM {parent} p WHERE {where}) parent, generate_series(0, parts - 1) k"
    )


def insert(server: psycopg.Connection, table: str, rows: str, values: Mapping[str, str]) -> int:
    """Insert rows into a table and return their number.

    rows: SQL with n, which no two rows share, `at`, the time of a row, and tenant_id. values: SQL over its columns, by
    column of the table. Other columns that must have a value get an empty one.
    """
    columns = server.execute(
        "SELECT column_name, udt_name, is_nullable = 'NO' AND column_default IS NULL "
        "FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s",
        [table],
    ).fetchall()
    made = {name: _DEFAULTS[kind] for name, kind, needed in columns if needed}
    if "tenant_id" in made:
        made["tenant_id"] = "tenant_id"
    if ("id", "uuid") in [column[:2] for column in columns]:
        made["id"] = _ID.format(table=table)
    made |= values
    named = ", ".join(f'"{name}"' for name in made)
    inserted = server.execute(
        f"INSERT INTO {table} ({named}) SELECT {', '.join(made.values())} FROM ({rows}) r"
    ).rowcount
    show_progress(f"{table}: {inserted} rows")
    return inserted
