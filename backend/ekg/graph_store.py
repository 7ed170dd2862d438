"""The only module with Cypher: the topology of the Event Knowledge Graph in Apache AGE.

Vertices Event and Entity carry uid, tenant, video and version; edges NEXT, PARTICIPATES_IN (role) and RELATED_TO
(predicate, event). Text and vectors are in the relational rows. The statements below have the forms that are fast on
AGE 1.7 and 1.8: vertices and edges are inserted by SQL, edges joined on the uid index; reads start from UNWIND with one
MATCH per hop. A step along NEXT reads AGE's label tables by SQL, so that the scope filters it in the same statement.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection

from backend.library.index_contents import GraphSize
from backend.tenancy.context import current_tenant_id

# The uid of a vertex, written as in the unique expression index. A `%` would have to be doubled; there is none.
_UID = "ag_catalog.agtype_access_operator(VARIADIC ARRAY[{0}.properties, '\"uid\"'::ag_catalog.agtype])"
_UID_OF_ROW = _UID.replace("{0}.", "")
# From vertices by their uid over edges to vertices by their id. OFFSET 0 keeps this order: the planner, which cannot
# estimate an expression on agtype, would otherwise read all edges.
_HOP = (
    "SELECT i.event_id AS source, "
    "(f.properties OPERATOR(ag_catalog.->>) '\"uid\"'::ag_catalog.agtype)::uuid AS target "
    "FROM unnest(%(ids)s::uuid[]) AS i(event_id) "
    'CROSS JOIN LATERAL (SELECT e.id FROM ekg."Event" e WHERE '
    + _UID.format("e")
    + " = to_json(i.event_id)::text::ag_catalog.agtype OFFSET 0) e "
    'CROSS JOIN LATERAL (SELECT n.{to} AS id FROM ekg."NEXT" n WHERE n.{of} = e.id OFFSET 0) n '
    'CROSS JOIN LATERAL (SELECT v.properties FROM ekg."Event" v WHERE v.id = n.id OFFSET 0) f'
)
NEXT_EVENTS = _HOP.replace("{of}", "start_id").replace("{to}", "end_id")
"""SELECT of source and target: the NEXT edges that leave the events %(ids)s."""
PREVIOUS_EVENTS = _HOP.replace("{of}", "end_id").replace("{to}", "start_id")
"""SELECT of source and target: against the NEXT edges that reach the events %(ids)s."""
_VIDEO = "ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '\"video\"'::ag_catalog.agtype])"
_VERSION = "ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '\"version\"'::ag_catalog.agtype])"
_EDGE_LABELS = ("NEXT", "PARTICIPATES_IN", "RELATED_TO")
_VERTEX_LABELS = ("Event", "Entity")


@dataclass(frozen=True, slots=True)
class Participation:
    entity_id: UUID
    event_id: UUID
    role: str


@dataclass(frozen=True, slots=True)
class RelatedTo:
    source_id: UUID
    target_id: UUID
    predicate: str
    event_id: UUID


@dataclass(frozen=True, slots=True)
class Topology:
    """The whole graph of one index version. An edge that is counted more than once is a fault."""

    events: Counter[UUID]
    entities: Counter[UUID]
    next: Counter[tuple[UUID, UUID]]
    participations: Counter[Participation]
    relations: Counter[RelatedTo]


# RELATED_TO edges of the entities u, in both directions.
_RELATED = (
    "MATCH (u)-[r:RELATED_TO]->(v:Entity) RETURN u.uid, v.uid, r.predicate, r.event",
    "MATCH (v:Entity)-[r:RELATED_TO]->(u) RETURN v.uid, u.uid, r.predicate, r.event",
)


def _relations(rows: Iterable[tuple[Any, ...]]) -> list[RelatedTo]:
    """Return each edge once, if both its ends are given."""
    return [
        RelatedTo(UUID(source), UUID(target), predicate, UUID(event))
        for source, target, predicate, event in dict.fromkeys(rows)
    ]


class GraphStore:
    """Reads and writes inside the open tenant_scope."""

    def _cursor(self) -> psycopg.Cursor[Any]:
        connection.ensure_connection()
        # cypher() takes its parameters only with server-side binding, which psycopg's plain cursor provides.
        return psycopg.Cursor(connection.connection)

    # --- writing: one transaction with the relational rows, one writer per video ------------------------------------

    def lock_video(self, video_id: UUID) -> None:
        """Keep other writers from this video's part of the graph until the transaction ends."""
        with self._cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"ekg:{video_id}"])

    def add_events(self, video_id: UUID, version: int, event_ids: Sequence[UUID]) -> None:
        self._add_vertices("Event", video_id, version, event_ids)

    def add_entities(self, video_id: UUID, version: int, entity_ids: Sequence[UUID]) -> None:
        """Add entities; existing entities stay as they are."""
        self._add_vertices("Entity", video_id, version, entity_ids)

    def _add_vertices(self, label: str, video_id: UUID, version: int, ids: Sequence[UUID]) -> None:
        if not ids:
            return
        with self._cursor() as cursor:
            cursor.execute(
                f'INSERT INTO ekg."{label}" (properties) SELECT agtype_build_map('
                "'uid', uid, 'tenant', %s::text, 'video', %s::text, 'version', %s::bigint) "
                f"FROM unnest(%s::text[]) AS uid ON CONFLICT ({_UID_OF_ROW}) DO NOTHING",
                [str(current_tenant_id()), str(video_id), version, sorted(map(str, ids))],
            )

    def link_next(self, video_id: UUID, version: int, pairs: Sequence[tuple[UUID, UUID]]) -> None:
        """Add a NEXT edge from the first event of each pair to the second."""
        self._add_edges("NEXT", ("Event", "Event"), video_id, version, [(a, b, {}) for a, b in pairs])

    def add_participations(self, video_id: UUID, version: int, rows: Sequence[Participation]) -> None:
        self._add_edges(
            "PARTICIPATES_IN",
            ("Entity", "Event"),
            video_id,
            version,
            [(row.entity_id, row.event_id, {"role": row.role}) for row in rows],
        )

    def add_relations(self, video_id: UUID, version: int, rows: Sequence[RelatedTo]) -> None:
        self._add_edges(
            "RELATED_TO",
            ("Entity", "Entity"),
            video_id,
            version,
            [(row.source_id, row.target_id, {"predicate": row.predicate, "event": str(row.event_id)}) for row in rows],
        )

    def _add_edges(
        self,
        label: str,
        ends: tuple[str, str],
        video_id: UUID,
        version: int,
        edges: Sequence[tuple[UUID, UUID, dict[str, str]]],
    ) -> None:
        if not edges:
            return
        common = {"tenant": str(current_tenant_id()), "video": str(video_id), "version": version}
        with self._cursor() as cursor:
            cursor.execute(
                f'INSERT INTO ekg."{label}" (start_id, end_id, properties) '
                "SELECT a.id, b.id, e.properties::ag_catalog.agtype "
                "FROM unnest(%s::text[], %s::text[], %s::text[]) AS e(source, target, properties) "
                f'JOIN ekg."{ends[0]}" a ON {_UID.format("a")} = e.source::ag_catalog.agtype '
                f'JOIN ekg."{ends[1]}" b ON {_UID.format("b")} = e.target::ag_catalog.agtype',
                [
                    [json.dumps(str(source)) for source, _, _ in edges],
                    [json.dumps(str(target)) for _, target, _ in edges],
                    [json.dumps({**common, **properties}) for _, _, properties in edges],
                ],
            )
            if cursor.rowcount != len(edges):
                raise LookupError(f"{len(edges) - cursor.rowcount} of {len(edges)} {label} edges have an unknown end")

    def drop_version(self, video_id: UUID, version: int | None = None) -> None:
        """Remove a video's part of the graph: one version, or all versions. Edges first, so that none dangles."""
        self._drop((*_EDGE_LABELS, *_VERTEX_LABELS), video_id, version)

    def drop_all(self) -> None:
        """Remove the current tenant's whole graph. Row-level security keeps the graphs of other tenants."""
        with self._cursor() as cursor:
            for label in (*_EDGE_LABELS, *_VERTEX_LABELS):
                cursor.execute(f'DELETE FROM ekg."{label}"')

    def drop_entities(self, video_id: UUID, version: int) -> None:
        """Remove one version's entities with their participations and relations; events and NEXT stay."""
        self._drop(("PARTICIPATES_IN", "RELATED_TO", "Entity"), video_id, version)

    def _drop(self, labels: Sequence[str], video_id: UUID, version: int | None) -> None:
        with self._cursor() as cursor:
            for label in labels:
                condition = f"{_VIDEO} = %s::ag_catalog.agtype"
                parameters: list[object] = [json.dumps(str(video_id))]
                if version is not None:
                    condition += f" AND {_VERSION} = %s::ag_catalog.agtype"
                    parameters.append(str(version))
                cursor.execute(f'DELETE FROM ekg."{label}" WHERE {condition}', parameters)

    # --- reading ----------------------------------------------------------------------------------------------------

    def _cypher(self, query: str, columns: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        return self._cypher_each([query], columns, parameters)

    def _cypher_each(
        self, queries: Sequence[str], columns: str, parameters: Mapping[str, object]
    ) -> list[tuple[Any, ...]]:
        """Return the rows of several queries with the same columns, in one round trip."""
        # All queries take the same parameter: cypher() accepts nothing but a placeholder there.
        calls = [f"SELECT * FROM cypher('ekg', $cypher$ {query} $cypher$, %(p)s) AS ({columns})" for query in queries]
        with self._cursor() as cursor:
            cursor.execute(" UNION ALL ".join(calls), {"p": json.dumps(parameters)})
            return cursor.fetchall()

    def next_events(self, event_ids: Sequence[UUID]) -> dict[UUID, UUID]:
        """Follow NEXT forward. Returns the next event by event."""
        return self._step(event_ids, NEXT_EVENTS)

    def previous_events(self, event_ids: Sequence[UUID]) -> dict[UUID, UUID]:
        """Follow NEXT backward. Returns the previous event by event."""
        return self._step(event_ids, PREVIOUS_EVENTS)

    def _step(self, event_ids: Sequence[UUID], hop: str) -> dict[UUID, UUID]:
        with self._cursor() as cursor:
            cursor.execute(hop, {"ids": list(event_ids)})
            return dict(cursor.fetchall())

    def events_of(self, entity_ids: Sequence[UUID]) -> list[Participation]:
        """Return the events that these entities take part in."""
        rows = self._cypher(
            "UNWIND $ids AS i MATCH (u:Entity) WHERE u.uid = i MATCH (u)-[p:PARTICIPATES_IN]->(e:Event) "
            "RETURN u.uid, e.uid, p.role",
            "entity text, event text, role text",
            {"ids": [str(entity_id) for entity_id in entity_ids]},
        )
        return [Participation(UUID(entity), UUID(event), role or "") for entity, event, role in rows]

    def surroundings(self, event_ids: Sequence[UUID]) -> tuple[list[Participation], list[RelatedTo]]:
        """Return the participations in these events and the RELATED_TO edges of their entities, in one round trip."""
        start = "UNWIND $ids AS i MATCH (e:Event) WHERE e.uid = i MATCH (u:Entity)-[p:PARTICIPATES_IN]->(e)"
        rows = self._cypher_each(
            [f"{start} RETURN u.uid, '', p.role, e.uid", *(f"{start} WITH DISTINCT u {hop}" for hop in _RELATED)],
            "source text, target text, name text, event text",
            {"ids": [str(event_id) for event_id in event_ids]},
        )
        participations = [
            Participation(UUID(entity), UUID(event), role or "") for entity, target, role, event in rows if not target
        ]
        return participations, _relations([row for row in rows if row[1]])

    def topology(self, video_id: UUID, version: int) -> Topology:
        """Return the whole graph of one index version: for checks, not for questions."""
        where = {"video": str(video_id), "version": version}
        of_version = "{video: $video, version: $version}"

        def vertices(label: str) -> Counter[UUID]:
            rows = self._cypher(f"MATCH (v:{label} {of_version}) RETURN v.uid", "uid text", where)
            return Counter(UUID(uid) for (uid,) in rows)

        next_rows = self._cypher(
            f"MATCH (a:Event {of_version})-[n:NEXT]->(b) RETURN a.uid, b.uid", "source text, target text", where
        )
        part_rows = self._cypher(
            f"MATCH (u)-[p:PARTICIPATES_IN]->(e:Event {of_version}) RETURN u.uid, e.uid, p.role",
            "entity text, event text, role text",
            where,
        )
        related_rows = self._cypher(
            f"MATCH (u:Entity {of_version})-[r:RELATED_TO]->(v) RETURN u.uid, v.uid, r.predicate, r.event",
            "source text, target text, predicate text, event text",
            where,
        )
        return Topology(
            events=vertices("Event"),
            entities=vertices("Entity"),
            next=Counter((UUID(a), UUID(b)) for a, b in next_rows),
            participations=Counter(Participation(UUID(u), UUID(e), role or "") for u, e, role in part_rows),
            relations=Counter(RelatedTo(UUID(u), UUID(v), name, UUID(e)) for u, v, name, e in related_rows),
        )

    def count_all(self) -> GraphSize:
        """Count vertices and edges of the current tenant."""
        totals = []
        with self._cursor() as cursor:
            for labels in (_VERTEX_LABELS, _EDGE_LABELS):
                counts = ", ".join(f'(SELECT count(*) FROM ekg."{label}")' for label in labels)
                row = cursor.execute(f"SELECT {counts}").fetchone()
                totals.append(sum(row or ()))
        return GraphSize(vertices=totals[0], edges=totals[1])

    def count(self, video_id: UUID, version: int) -> GraphSize:
        """Count vertices and edges of one index version."""
        totals = []
        with self._cursor() as cursor:
            for labels in (_VERTEX_LABELS, _EDGE_LABELS):
                total = 0
                for label in labels:
                    cursor.execute(
                        f'SELECT count(*) FROM ekg."{label}" '
                        f"WHERE {_VIDEO} = %s::ag_catalog.agtype AND {_VERSION} = %s::ag_catalog.agtype",
                        [json.dumps(str(video_id)), str(version)],
                    )
                    row = cursor.fetchone()
                    total += row[0] if row else 0
                totals.append(total)
        return GraphSize(vertices=totals[0], edges=totals[1])
