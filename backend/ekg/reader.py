"""Reads the Event Knowledge Graph for the engine: vectors by pgvector, topology by AGE, text from the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from django.db import connection, connections
from numpy.typing import NDArray
from pgvector import HalfVector

from backend.ekg.graph_store import GraphStore
from backend.ekg.models import Chunk, Entity, Frame, TranscriptLine
from backend.ekg.view_search import EVENT_IN_SCOPE, EVENT_OF_LINE, SCOPE, half, read_hits, view_statement
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import Span, Vector, unit
from gpu_workers.engine.ports import EntityFact, EventPlace, Hit, StoredEvent, StoredFrame, ViewName, ViewQuery
from gpu_workers.engine.retrieval.expansion import Appearance, connected_events
from gpu_workers.engine.retrieval.facts import Participation, StatedRelation, facts_of
from gpu_workers.engine.retrieval.frames import evenly

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScopedVideo:
    """One video of a question's scope: its index version, and how far this was indexed when work began."""

    video_id: UUID
    index_version: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Scope:
    """The hard filter of every query of a question. start_ms and end_ms narrow every video."""

    tenant_id: UUID
    videos: tuple[ScopedVideo, ...]
    start_ms: int = 0
    end_ms: int = 2**62


def read_chunk(row: Chunk, transcript: Sequence[TranscriptLine] = ()) -> ekg.Chunk:
    return ekg.Chunk(
        n=row.n,
        span=Span(row.start_ms, row.end_ms),
        description=row.description,
        gap=row.gap,
        facts=row.facts,
        on_screen_text=tuple(row.on_screen_text),
        transcript=tuple(
            ekg.TranscriptLine(Span(line.start_ms, line.end_ms), line.text)
            for line in transcript
            if line.start_ms < row.end_ms and line.end_ms > row.start_ms
        ),
        inherited=row.inherited,
    )


def stored_vector(value: object) -> Vector:
    return unit(np.asarray(value.to_list() if isinstance(value, HalfVector) else value, dtype=np.float32))


def nearest_entities(
    tenant_id: UUID, video_id: UUID, version: int, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0
) -> list[list[tuple[ekg.Entity, float]]]:
    """Return, for each row of embeddings, entities of one index version with the cosine similarity of their centroid.

    Nearest first, ties by id, none below floor; one query for all rows. Exact: every centroid is compared.
    """
    nearest: list[list[tuple[ekg.Entity, float]]] = [[] for _ in embeddings]
    with tenant_scope(tenant_id):
        rows = list(Entity.objects.raw(_NEAREST_ENTITIES, {
            "vectors": [half(row) for row in embeddings], "tenant": tenant_id, "video": video_id, "version": version,
            "limit": limit, "floor": floor,
        }))  # fmt: skip
    entities: dict[UUID, ekg.Entity] = {}
    for row in rows:
        entity = entities.get(row.id) or entities.setdefault(row.id, read_entity(row))
        nearest[row.ordinality - 1].append((entity, float(row.similarity)))
    return nearest


# Each centroid is read once and compared with all vectors. OFFSET 0 keeps the planner from swapping the loops, which
# would read all centroids again for every vector. The cheaper inner product excludes most before the exact cosine.
_NEAREST_ENTITIES = """
    SELECT ranked.ordinality, ranked.similarity, entity.*
    FROM (
        SELECT near.ordinality, e.id, near.similarity,
            row_number() OVER (PARTITION BY near.ordinality ORDER BY near.similarity DESC, e.id) AS rank
        FROM ekg_entity e CROSS JOIN LATERAL (
            SELECT wanted.ordinality, 1 - (e.centroid <=> wanted.vector) AS similarity
            FROM unnest(%(vectors)s::halfvec[]) WITH ORDINALITY AS wanted(vector)
            WHERE -(e.centroid <#> wanted.vector) >= %(floor)s - 0.01 OFFSET 0
        ) near
        WHERE e.tenant_id = %(tenant)s AND e.video_id = %(video)s AND e.index_version = %(version)s
        AND near.similarity >= %(floor)s
    ) ranked JOIN ekg_entity entity ON entity.id = ranked.id
    WHERE ranked.rank <= %(limit)s
    ORDER BY ranked.ordinality, ranked.similarity DESC, entity.id"""


def read_entity(row: Entity) -> ekg.Entity:
    return ekg.Entity(
        id=row.id,
        name=row.name,
        type=row.type,
        description=row.description,
        aliases=tuple(row.aliases),
        centroid=stored_vector(row.centroid),
        weight=row.weight,
    )


_EVENTS = (
    f"WITH {SCOPE} SELECT {{columns}} FROM ekg_event e JOIN scope USING (video_id, index_version) "
    f"WHERE {EVENT_IN_SCOPE} AND e.id = ANY(%(ids)s::uuid[])"
)
_NAMES_AND_EVENTS = (
    _EVENTS.format(columns="e.id, NULL::text AS name, e.n") + " UNION ALL SELECT u.id, u.name, 0 FROM ekg_entity u "
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
_PLACES = (
    f"WITH {SCOPE} SELECT e.id, e.video_id, e.n, e.start_ms, e.end_ms FROM ekg_event e "
    f"JOIN scope USING (video_id, index_version) WHERE {EVENT_IN_SCOPE} "
    "AND (NOT %(paged)s OR (e.video_id, e.start_ms, e.n, e.id) "
    "> (%(video)s::uuid, %(start_of)s::bigint, %(number)s::bigint, %(event)s::uuid)) "
    "ORDER BY e.video_id, e.start_ms, e.n, e.id LIMIT %(limit)s"
)
_LINES = (
    "SELECT line.id, line.start_ms, line.end_ms, line.text, e.id AS in_event FROM ekg_event e JOIN ekg_transcriptline "
    f"line ON line.tenant_id = e.tenant_id AND {EVENT_OF_LINE} WHERE e.tenant_id = %(tenant)s "
    "AND e.id = ANY(%(ids)s::uuid[]) ORDER BY line.start_ms"
)


class PostgresGraph:
    """Implements gpu_workers.engine.ports.KnowledgeGraph over one Scope.

    Queries run one after another on a thread of their own with its own connection, because the engine calls from many
    threads and each query takes milliseconds. close() ends the thread.
    """

    def __init__(self, scope: Scope, *, text_model: str, frame_model: str, storage: ObjectStorage) -> None:
        self._scope = scope
        self._scope_parameters: dict[str, Any] = {
            "videos": [video.video_id for video in scope.videos],
            "versions": [video.index_version for video in scope.videos],
            "untils": [video.until_ms for video in scope.videos],
            "tenant": scope.tenant_id,
            "start": scope.start_ms,
            "end": scope.end_ms,
        }
        self._text_model = text_model
        self._frame_model = frame_model
        self._storage = storage
        self._graph = GraphStore()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="graph")

    def close(self) -> None:
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()

    def __enter__(self) -> PostgresGraph:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _run(self, query: Callable[[], T]) -> T:
        def scoped() -> T:
            with tenant_scope(self._scope.tenant_id):
                return query()

        return self._thread.submit(scoped).result()

    def _rows(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql, self._scope_parameters | parameters)
            return list(cursor.fetchall())

    # --- views ------------------------------------------------------------------------------------------------------

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        sql, parameters = view_statement(queries, floor=floor)
        models = {"text_model": self._text_model, "frame_model": self._frame_model}
        rows = self._run(lambda: self._rows(sql, **parameters, **models)) if sql else []
        return read_hits(queries, rows)

    def _inside(self, event_ids: Collection[UUID]) -> dict[UUID, int]:
        """Return the number n of each event that the scope admits: the scope filters what the graph reaches, too."""
        if not event_ids:
            return {}
        return dict(self._rows(_EVENTS.format(columns="e.id, e.n"), ids=list(set(event_ids))))

    # --- hops -------------------------------------------------------------------------------------------------------

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return self._hop(self._graph.next_events, event_ids)

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return self._hop(self._graph.previous_events, event_ids)

    def _hop(
        self, step: Callable[[Sequence[UUID]], dict[UUID, UUID]], event_ids: Sequence[UUID]
    ) -> Mapping[UUID, UUID]:
        def walk() -> Mapping[UUID, UUID]:
            reached = step(event_ids)
            inside = self._inside([*reached, *reached.values()])
            return {source: target for source, target in reached.items() if {source, target} <= inside.keys()}

        return self._run(walk)

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

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        first = after or EventPlace(UUID(int=0), UUID(int=0), 0, Span(0, 1))
        rows = self._run(
            lambda: self._rows(
                _PLACES,
                paged=after is not None,
                video=first.video_id,
                start_of=first.span.start_ms,
                number=first.n,
                event=first.event_id,
                limit=max(0, limit),
            )
        )
        return [EventPlace(row[0], row[1], row[2], Span(row[3], row[4])) for row in rows]

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]:
        def read() -> dict[UUID, StoredEvent]:
            columns = "e.id, e.video_id, e.n, e.start_ms, e.end_ms, e.summary"
            events = self._rows(_EVENTS.format(columns=columns), ids=list(set(event_ids)))
            inside = [row[0] for row in events]
            chunks: defaultdict[UUID, list[Chunk]] = defaultdict(list)
            for chunk in Chunk.objects.filter(event_id__in=inside).order_by("n"):
                chunks[chunk.event_id].append(chunk)
            lines: defaultdict[UUID, list[TranscriptLine]] = defaultdict(list)
            for line in TranscriptLine.objects.raw(_LINES, {"tenant": self._scope.tenant_id, "ids": inside}):
                lines[line.in_event].append(line)
            return {
                event_id: StoredEvent(
                    id=event_id,
                    video_id=video_id,
                    n=n,
                    span=Span(start_ms, end_ms),
                    summary=summary,
                    chunks=tuple(read_chunk(chunk, lines[event_id]) for chunk in chunks[event_id]),
                )
                for event_id, video_id, n, start_ms, end_ms, summary in events
            }

        return self._run(read) if event_ids else {}

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        def read() -> list[StoredFrame]:
            inside = self._inside(event_ids)
            span = {"ms__gte": self._scope.start_ms, "ms__lt": self._scope.end_ms}
            frames = Frame.objects.filter(event_id__in=inside, **span)
            rows = list(frames.order_by("video_id", "ms").defer("embedding"))
            rows = [rows[index] for index in evenly(len(rows), limit)]
            return [
                StoredFrame(row.id, row.video_id, row.event_id, row.ms, row.thumbnail_key)
                for row in rows
                if row.event_id is not None
            ]

        return self._run(read)

    def jpeg(self, frame: StoredFrame) -> bytes:
        return self._storage.get(frame.thumbnail_key)
