"""The part of the Event Knowledge Graph that belongs to one tenant: built from the rows, and summed up.

An archive holds no graph, because the rows say all of it; it holds the graph's sums. AGE numbers vertices per database,
so an edge is summed up with the uids of its ends.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from backend.archives.tenant_rows import sum_of

_UID = "ag_catalog.agtype_access_operator(VARIADIC ARRAY[{}.properties, '\"uid\"'::ag_catalog.agtype])"
"""The expression of the unique index of vertices, so that joins use it."""
_COMMON = "'tenant', tenant_id::text, 'video', video_id::text, 'version', index_version"
_VERTICES = {"Event": "ekg_event", "Entity": "ekg_entity"}
"""Labels of vertices with the tables that have a row for each vertex."""
_ENDS = {"NEXT": ("Event", "Event"), "PARTICIPATES_IN": ("Entity", "Event"), "RELATED_TO": ("Entity", "Entity")}
_ROWS = {
    "NEXT": "SELECT * FROM (SELECT id AS start, "
    "lead(id) OVER (PARTITION BY video_id, index_version ORDER BY n) AS stop, "
    f"jsonb_build_object({_COMMON}) AS properties FROM ekg_event) pair WHERE stop IS NOT NULL",
    "PARTICIPATES_IN": "SELECT entity_id AS start, event_id AS stop, "
    f"jsonb_build_object({_COMMON}, 'role', role) AS properties FROM ekg_mention",
    "RELATED_TO": "SELECT source_id AS start, target_id AS stop, "
    f"jsonb_build_object({_COMMON}, 'predicate', predicate, 'event', event_id::text) AS properties FROM ekg_relation",
}
"""Queries of the rows that have an edge each."""


def build_graph(connection: psycopg.Connection[Any]) -> None:
    """Make the tenant's graph from its rows; the database has none of it yet."""
    for label, table in _VERTICES.items():
        connection.execute(
            sql.SQL(
                "INSERT INTO ekg.{} (properties) "
                f"SELECT jsonb_build_object('uid', id::text, {_COMMON})::text::ag_catalog.agtype FROM {{}}"
            ).format(sql.Identifier(label), sql.Identifier(table))
        )
    for label, (start, end) in _ENDS.items():
        connection.execute(
            sql.SQL(
                "INSERT INTO ekg.{} (start_id, end_id, properties) "
                f"SELECT a.id, b.id, edge.properties::text::ag_catalog.agtype FROM ({_ROWS[label]}) edge "
                f"JOIN ekg.{{}} a ON {_UID.format('a')} = to_json(edge.start)::text::ag_catalog.agtype "
                f"JOIN ekg.{{}} b ON {_UID.format('b')} = to_json(edge.stop)::text::ag_catalog.agtype"
            ).format(sql.Identifier(label), sql.Identifier(start), sql.Identifier(end))
        )


def graph_sums(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Return the sum of each label over the tenant's vertices and edges."""
    vertices = {
        label: sql.SQL("SELECT properties::text AS properties FROM ekg.{}").format(sql.Identifier(label))
        for label in _VERTICES
    }
    edges = {
        label: sql.SQL(
            f"SELECT {_UID.format('a')}::text AS start, {_UID.format('b')}::text AS stop, "
            "e.properties::text AS properties "
            "FROM ekg.{} e JOIN ekg.{} a ON a.id = e.start_id JOIN ekg.{} b ON b.id = e.end_id"
        ).format(sql.Identifier(label), sql.Identifier(start), sql.Identifier(end))
        for label, (start, end) in _ENDS.items()
    }
    return {f"ekg.{label}": sum_of(connection, query) for label, query in {**vertices, **edges}.items()}
