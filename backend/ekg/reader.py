"""Reads the Event Knowledge Graph for the engine: vectors by pgvector, topology by AGE, text from the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import Any
from uuid import UUID

from backend.ekg.graph_store import NEXT_EVENTS, PREVIOUS_EVENTS, GraphStore
from backend.ekg.models import Chunk
from backend.ekg.moment_reads import EVENTS
from backend.ekg.named_reads import NamedReads
from backend.ekg.scope import Scope, ScopedVideo, T
from backend.ekg.similarity_reads import read_similarities, similarity_statement
from backend.ekg.sketch_search import candidates, is_large
from backend.ekg.thing_reads import OBJECTS_LIKE
from backend.ekg.view_search import half, read_hits, view_statement
from backend.ekg.views import EVENT_IN_SCOPE, SCOPE, Nearby
from backend.ekg.word_columns import RankedEvents
from backend.library.storage import ObjectStorage
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.ports import (
    EntityFact,
    EventSimilarity,
    Hit,
    NearObject,
    StoredEvent,
    StoredFrame,
    ViewName,
    ViewQuery,
)
from gpu_workers.engine.retrieval.facts import Appearance, Participation, StatedRelation, connected_events, facts_of

__all__ = ["GraphOfRequest", "PostgresGraph", "Scope", "ScopedVideo"]

# Both ends of a step are in scope, whatever the graph says. They are looked up together, which is planned in less time.
_HOP_IN_SCOPE = (
    f"WITH {SCOPE}, hop AS MATERIALIZED ({{hop}}) SELECT hop.source, hop.target FROM hop WHERE 2 = (SELECT count(*) "
    f"FROM ekg_event e JOIN scope USING (video_id, index_version) "
    f"WHERE e.id = ANY(ARRAY[hop.source, hop.target]) AND {EVENT_IN_SCOPE})"
)
_NAMES_AND_EVENTS = (
    EVENTS.format(columns="e.id, NULL::text AS name, e.n") + " UNION ALL SELECT u.id, u.name, 0 FROM ekg_entity u "
    "JOIN scope USING (video_id, index_version) WHERE u.tenant_id = %(tenant)s AND u.id = ANY(%(entities)s::uuid[])"
)
# Both kinds of facts in one round trip. ekg_mention and ekg_relation are the relational twins of the graph's edges,
# written together with them, and have the words. The columns are the fields of facts.Participation and StatedRelation.
_FACTS = (
    f"WITH {SCOPE}, wanted AS (SELECT e.id FROM ekg_event e JOIN scope USING (video_id, index_version) "
    f"WHERE {EVENT_IN_SCOPE} AND e.id = ANY(%(ids)s::uuid[])), "
    "part AS (SELECT m.entity_id, m.event_id, m.name, m.type, m.role, m.description, u.weight FROM wanted "
    "JOIN ekg_mention m ON m.tenant_id = %(tenant)s AND m.event_id = wanted.id "
    "JOIN ekg_entity u ON u.tenant_id = m.tenant_id AND u.id = m.entity_id), "
    "stated AS (SELECT r.id, r.event_id, r.source_id, a.name AS source, r.predicate, r.target_id, b.name AS target, "
    "r.description FROM wanted JOIN ekg_relation r ON r.tenant_id = %(tenant)s AND r.event_id = wanted.id "
    "JOIN ekg_entity a ON a.tenant_id = r.tenant_id AND a.id = r.source_id "
    "JOIN ekg_entity b ON b.tenant_id = r.tenant_id AND b.id = r.target_id) "
    "SELECT kind, part.*, stated.* FROM (VALUES ('participation'), ('relation')) AS kinds(kind) "
    "LEFT JOIN part ON kind = 'participation' LEFT JOIN stated ON kind = 'relation' "
    "WHERE part.event_id IS NOT NULL OR stated.event_id IS NOT NULL"
)


COMPUTING = 2
"""Threads that estimate sketches and read texts for one graph, while its other thread waits for the database."""


class PostgresGraph(NamedReads):
    """Implements gpu_workers.engine.ports.KnowledgeGraph over one Scope. close() ends its connection."""

    def __init__(self, scope: Scope, *, text_model: str, frame_model: str, storage: ObjectStorage) -> None:
        super().__init__(scope)
        self._text_model = text_model
        self._frame_model = frame_model
        self._storage = storage
        self._graph = GraphStore()
        self._computing = ThreadPoolExecutor(max_workers=COMPUTING, thread_name_prefix="sketches")

    # --- views ------------------------------------------------------------------------------------------------------

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        searched = {name: cut for name, query in queries.items() if (cut := self._cut(query)) is not None}
        if not any(query.limit > 0 for query in searched.values()):
            return read_hits(queries, [])
        models = {"text_model": self._text_model, "frame_model": self._frame_model}

        def found(
            part: Mapping[ViewName, ViewQuery], nearby: Mapping[ViewName, Nearby | RankedEvents] | None = None
        ) -> list[tuple[Any, ...]]:
            sql, parameters = view_statement(part, floor=floor, nearby=nearby)
            return self._rows(sql, **parameters, **models) if sql else []

        def view_by_view() -> dict[ViewName, list[Hit]]:
            """Compute the next views and read texts while the database compares the items of one."""
            estimates = {
                self._computing.submit(compute): name
                for name, compute in candidates(self._scope, searched, self._rows, **models)
            }
            others = {name: query for name, query in searched.items() if name not in estimates.values()}
            hits = read_hits(queries, found(others, {}))
            reading = []
            for estimate in as_completed(estimates):
                name = estimates[estimate]
                part = {name: searched[name]}
                rows = found(part, {name: estimate.result()})
                reading.append(self._computing.submit(read_hits, part, rows))
            for read in reading:
                hits |= read.result()
            return hits

        if is_large(self._scope):
            return self._run(view_by_view)
        return read_hits(queries, self._run(lambda: found(searched)))

    def similarities(
        self, event_ids: Sequence[UUID], *, text: Vector, frame: Vector, limit: int
    ) -> Mapping[UUID, EventSimilarity]:
        if not event_ids:
            return {}
        sql, parameters = similarity_statement(event_ids, text=text, frame=frame, limit=limit)
        models = {"text_model": self._text_model, "frame_model": self._frame_model}
        return read_similarities(self._run(lambda: self._rows(sql, **parameters, **models)))

    def objects_like(self, vector: Vector, *, limit: int) -> Sequence[NearObject]:
        parameters = {"vector": half(vector), "frame_model": self._frame_model, "limit": max(0, limit)}
        return [NearObject(*row) for row in self._run(lambda: self._rows(OBJECTS_LIKE, **parameters))]

    def close(self) -> None:
        self._computing.shutdown()
        super().close()

    def _cut(self, query: ViewQuery) -> ViewQuery | None:
        """Return the query with its part cut to the scope; None if nothing of it is in scope."""
        if query.within is None:
            return query
        part = self._part_of(query.within.video_id, query.within.span)
        return None if part is None else replace(query, within=replace(query.within, span=part))

    # --- hops -------------------------------------------------------------------------------------------------------

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return self._hop(NEXT_EVENTS, event_ids)

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return self._hop(PREVIOUS_EVENTS, event_ids)

    def _hop(self, hop: str, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return self._run(lambda: self._step(hop, event_ids))

    def _step(self, hop: str, event_ids: Sequence[UUID]) -> dict[UUID, UUID]:
        return dict(self._rows(_HOP_IN_SCOPE.format(hop=hop), ids=list(event_ids)))

    def events_sharing_entities(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[Hit]:
        """Find the events in three round trips: participants and relations, their other events, the scope's filter."""

        def walk() -> list[Hit]:
            participations, relations = self._graph.surroundings(event_ids)
            shared = {row.entity_id for row in participations}
            reached = {end for row in relations for end in (row.source_id, row.target_id)}
            appearances = self._graph.events_of(list(shared | reached))
            events = {row.event_id for row in (*appearances, *participations)} | {row.event_id for row in relations}
            rows = self._rows(_NAMES_AND_EVENTS, ids=list(events), entities=list(shared | reached))
            names = {row[0]: row[1] for row in rows if row[1] is not None}
            inside = {row[0]: row[2] for row in rows if row[1] is None}
            # An event outside the scope counts neither as a participation nor as the source of a relation.
            shared = {row.entity_id for row in participations if row.event_id in inside}
            related = {
                end
                for row in relations
                if row.event_id in inside and shared & {row.source_id, row.target_id}
                for end in (row.source_id, row.target_id)
            }
            return connected_events(
                (
                    Appearance(row.entity_id, names[row.entity_id], row.event_id, inside[row.event_id])
                    for row in appearances
                    if row.event_id in inside and row.entity_id in names and row.entity_id in shared | related
                ),
                seeds=set(event_ids),
                shared=shared,
                limit=limit,
            )

        return self._run(walk)

    def facts(self, event_ids: Sequence[UUID]) -> Sequence[EntityFact]:
        if not event_ids:
            return []
        rows = self._run(lambda: self._rows(_FACTS, ids=list(set(event_ids))))
        participations = (Participation(*row[1:8]) for row in rows if row[0] == "participation")
        return facts_of(event_ids, participations, (StatedRelation(*row[8:]) for row in rows if row[0] == "relation"))

    # --- contents ---------------------------------------------------------------------------------------------------

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]:
        def read() -> dict[UUID, StoredEvent]:
            columns = "e.id, e.video_id, e.n, e.start_ms, e.end_ms, e.summary"
            events = self._rows(EVENTS.format(columns=columns), ids=list(set(event_ids)))
            rows = list(Chunk.objects.filter(event_id__in=[row[0] for row in events]).order_by("n"))
            chunks: defaultdict[UUID, list[ekg.Chunk]] = defaultdict(list)
            for event_id, chunk in self._spoken(rows):
                chunks[event_id].append(chunk)
            return {
                event_id: StoredEvent(
                    id=event_id,
                    video_id=video_id,
                    n=n,
                    span=Span(start_ms, end_ms),
                    summary=summary,
                    chunks=tuple(chunks[event_id]),
                )
                for event_id, video_id, n, start_ms, end_ms, summary in events
            }

        return self._run(read) if event_ids else {}

    def jpeg(self, frame: StoredFrame) -> bytes:
        return self._storage.get(frame.thumbnail_key)


class GraphOfRequest(PostgresGraph):
    """Reads in the open tenant_scope, on its connection: a request has one, and must not wait for a second."""

    def __init__(self, scope: Scope) -> None:
        """The vectors of no model are read."""
        super().__init__(scope, text_model="", frame_model="", storage=ObjectStorage())

    def _run(self, query: Callable[[], T]) -> T:
        return query()
