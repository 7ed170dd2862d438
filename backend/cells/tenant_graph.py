"""The part of the Event Knowledge Graph that belongs to one tenant: copied, summed up, erased.

AGE numbers vertices per database. So an edge travels with the uids of its ends, and gets the numbers of the target.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from backend.cells.tenant_rows import Sum, pipe, sum_of

VERTICES = ("Event", "Entity")
EDGES = {"NEXT": ("Event", "Event"), "PARTICIPATES_IN": ("Entity", "Event"), "RELATED_TO": ("Entity", "Entity")}
"""Labels of edges with the labels of their ends."""

# The expression of the unique index, so that joins use it.
_UID = "ag_catalog.agtype_access_operator(VARIADIC ARRAY[{}.properties, '\"uid\"'::ag_catalog.agtype])"


def copy_graph(source: psycopg.Connection[Any], target: psycopg.Connection[Any]) -> None:
    """Copy all vertices and edges of the tenant, in the two transactions."""
    for label in VERTICES:
        target.execute("CREATE TEMPORARY TABLE arriving (properties text) ON COMMIT DROP")
        pipe(source, _vertices(label), target, sql.SQL("COPY arriving FROM STDIN (FORMAT binary)"))
        target.execute(
            sql.SQL("INSERT INTO ekg.{} (properties) SELECT properties::ag_catalog.agtype FROM arriving").format(
                sql.Identifier(label)
            )
        )
        target.execute("DROP TABLE arriving")
    for label, (start, end) in EDGES.items():
        target.execute("CREATE TEMPORARY TABLE arriving (start text, stop text, properties text) ON COMMIT DROP")
        pipe(source, _edges(label), target, sql.SQL("COPY arriving FROM STDIN (FORMAT binary)"))
        row = target.execute("SELECT count(*) FROM arriving").fetchone()
        made = target.execute(
            sql.SQL(
                "INSERT INTO ekg.{} (start_id, end_id, properties) "
                "SELECT a.id, b.id, e.properties::ag_catalog.agtype FROM arriving e "
                f"JOIN ekg.{{}} a ON {_UID.format('a')} = to_json(e.start)::text::ag_catalog.agtype "
                f"JOIN ekg.{{}} b ON {_UID.format('b')} = to_json(e.stop)::text::ag_catalog.agtype"
            ).format(sql.Identifier(label), sql.Identifier(start), sql.Identifier(end))
        )
        if row is None or made.rowcount != row[0]:
            raise LookupError(f"an end of an edge {label} is missing")
        target.execute("DROP TABLE arriving")


def _vertices(label: str) -> sql.Composed:
    return sql.SQL("SELECT properties::text AS properties FROM ekg.{}").format(sql.Identifier(label))


def _edges(label: str) -> sql.Composed:
    start, end = EDGES[label]
    return sql.SQL(
        f"SELECT {_UID.format('a')}::text AS start, {_UID.format('b')}::text AS stop, e.properties::text AS properties "
        "FROM ekg.{} e JOIN ekg.{} a ON a.id = e.start_id JOIN ekg.{} b ON b.id = e.end_id"
    ).format(sql.Identifier(label), sql.Identifier(start), sql.Identifier(end))


def graph_sums(connection: psycopg.Connection[Any]) -> dict[str, Sum]:
    """Return the sum of each label over the tenant's vertices and edges."""
    sums = {f"ekg.{label}": sum_of(connection, _vertices(label)) for label in VERTICES}
    return sums | {f"ekg.{label}": sum_of(connection, _edges(label)) for label in EDGES}


def erase_graph(connection: psycopg.Connection[Any]) -> None:
    """Delete all vertices and edges of the tenant. Edges first, so that none dangles."""
    for label in (*EDGES, *VERTICES):
        connection.execute(sql.SQL("DELETE FROM ekg.{}").format(sql.Identifier(label)))
