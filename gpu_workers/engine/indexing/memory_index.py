"""A video's index held in memory while it is made: for notebooks, the evaluation harness and tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    Actor,
    Chunk,
    Entity,
    EntityMention,
    EntityObject,
    EventDigest,
    EventRecord,
    FrameRow,
    LinkedMention,
    ObjectState,
    Overview,
    Relation,
    SegmentRecord,
    Span,
    Topic,
    TrackObservation,
    Vector,
)
from gpu_workers.engine.indexing.linking import Compaction
from gpu_workers.engine.indexing.object_links import object_links
from gpu_workers.engine.indexing.objects import LinkedTracks, most_alike
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo


class MemoryIndex:
    """Implements ports.EntityDirectory and ports.EventSink, and keeps segments as a store would."""

    def __init__(self, video_id: UUID) -> None:
        self.video_id = video_id
        self.segments: list[SegmentRecord] = []
        self.records: dict[UUID, EventRecord] = {}
        self.object_of: dict[int, tuple[UUID, ...]] = {}
        self._objects: dict[UUID, ObjectState] = {}
        self.topics: tuple[Topic, ...] = ()
        self.overview: Overview | None = None
        self._entities: list[Entity] = []
        self._rows: dict[UUID, int] = {}
        self._matrix = np.zeros((0, 0), dtype=np.float32)

    def add_segment(self, segment: SegmentRecord) -> None:
        self.segments.append(segment)

    def append(self, record: EventRecord) -> None:
        """Keep record; a record that is already there stays as it is, so that repeated work changes nothing."""
        if record.event.id in self.records:
            return
        self.records[record.event.id] = record
        for entity in record.entities:
            self._put(entity)

    def nearest(
        self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0
    ) -> Sequence[Sequence[tuple[Entity, float]]]:
        if not self._entities:
            return [()] * len(embeddings)
        cosines = embeddings @ self._matrix[: len(self._entities)].T
        return [self._best(row, limit, floor) for row in cosines]

    def expect(self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0) -> None:
        """Do nothing, since a look-up in memory needs no announcement."""

    @property
    def events(self) -> list[EventRecord]:
        return list(self.records.values())

    @property
    def objects(self) -> list[ObjectState]:
        """Return the objects by their number."""
        return sorted(self._objects.values(), key=lambda state: state.n)

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for segment in self.segments for chunk in segment.chunks]

    @property
    def frames(self) -> list[FrameRow]:
        return [frame for segment in self.segments for frame in segment.frames]

    @property
    def tracks(self) -> Mapping[UUID, Sequence[TrackObservation]]:
        """Return the tracks of each object, in order of time."""
        tracks: defaultdict[UUID, list[TrackObservation]] = defaultdict(list)
        for n, owners in sorted(self.object_of.items()):
            for owner, track in zip(owners, self.segments[n].tracks, strict=True):
                tracks[owner].append(track)
        return tracks

    @property
    def entities(self) -> list[Entity]:
        return list(self._entities)

    def put_objects(self, linked: LinkedTracks) -> None:
        """Keep the objects of one segment; a segment that is already there changes nothing."""
        if linked.segment_n not in self.object_of:
            self.object_of[linked.segment_n] = linked.object_of
            self._objects.update((state.id, state) for state in linked.objects)

    def count(self) -> int:
        return len(self._objects)

    def recent(self, since_ms: int) -> Sequence[ObjectState]:
        return [state for state in self.objects if state.span.end_ms > since_ms]

    def alike(
        self, categories: Collection[str], appearance: Vector, *, limit: int
    ) -> Sequence[tuple[ObjectState, float]]:
        return most_alike(self._objects.values(), categories, appearance, limit=limit)

    def frames_for(self, span: Span, limit: int) -> list[tuple[int, bytes]]:
        """Return at most limit thumbnails, spread evenly over span."""
        near = (segment for segment in self.segments if segment.span.overlaps(span))
        inside = [frame for segment in near for frame in segment.frames if span.contains(frame.ms)]
        share = min(limit, len(inside))
        return [(f.ms, f.jpeg) for f in (inside[(2 * i + 1) * len(inside) // (2 * share)] for i in range(share))]

    def digests(self) -> list[EventDigest]:
        """Return the events as the global summary reads them."""
        gaps = {chunk.n for chunk in self.chunks if chunk.gap}
        spoken = sorted({(line.span.start_ms, line.text) for chunk in self.chunks for line in chunk.transcript})
        return [
            EventDigest(
                record.event.n,
                record.event.span,
                record.event.summary,
                record.event.embedding,
                tuple(Actor(m.name, m.type) for m in sorted((m.mention for m in record.mentions), key=_certain_first)),
                described=record.event.first_chunk not in gaps,
                speech=tuple(text for start_ms, text in spoken if record.event.span.contains(start_ms)),
            )
            for record in self.events
        ]

    def frame_times(self, span: Span) -> list[int]:
        return [frame.ms for frame in self.frames if span.contains(frame.ms)]

    def pictures(self, times: Sequence[int]) -> list[tuple[int, bytes]]:
        return [(frame.ms, frame.jpeg) for frame in self.frames if frame.ms in times]

    def store_summary(self, topics: Sequence[Topic], overview: Overview | None) -> None:
        self.topics, self.overview = tuple(topics), overview

    @property
    def links(self) -> tuple[EntityObject, ...]:
        """Return the links between the entities and the tracked objects so far."""
        participations = (
            (record.event.span, [(linked.entity_id, linked.mention) for linked in record.mentions])
            for record in self.events
        )
        return object_links(participations, self.objects)

    def replace_entities(self, compaction: Compaction) -> None:
        """Replace all entities, with their mentions and relations."""
        self._entities.clear()
        self._rows.clear()
        entities = {entity.id: entity for entity in compaction.entities}
        for entity in entities.values():
            self._put(entity)
        mentions: defaultdict[UUID, list[LinkedMention]] = defaultdict(list)
        for mention in compaction.mentions:
            mentions[mention.event_id].append(mention)
        relations: defaultdict[UUID, list[Relation]] = defaultdict(list)
        for relation in compaction.relations:
            relations[relation.event_id].append(relation)
        for event_id, record in self.records.items():
            named = tuple(mentions[event_id])
            of_event = tuple(entities[mention.entity_id] for mention in named)
            self.records[event_id] = EventRecord(record.event, of_event, named, tuple(relations[event_id]))

    def graph(self) -> InMemoryGraph:
        """Return the graph of the index so far, for questions."""
        return InMemoryGraph([self.video()])

    def video(self) -> MemoryVideo:
        """Return the index so far."""
        return MemoryVideo(
            self.video_id,
            self.events,
            self.chunks,
            self.frames,
            topics=self.topics,
            overview=self.overview,
            objects=self.objects,
            tracks=self.tracks,
            links=self.links,
        )

    def _put(self, entity: Entity) -> None:
        row = self._rows.setdefault(entity.id, len(self._rows))
        if row >= len(self._matrix):
            larger = np.zeros((max(64, 2 * row), entity.centroid.shape[0]), dtype=np.float32)
            larger[: len(self._matrix)] = self._matrix if len(self._matrix) else 0.0
            self._matrix = larger
        self._matrix[row] = entity.centroid
        self._entities[row : row + 1] = [entity]

    def _best(self, cosines: NDArray[np.float32], limit: int, floor: float) -> list[tuple[Entity, float]]:
        rows = np.flatnonzero(cosines >= floor)
        if 0 < limit < len(rows):
            # The first `limit` rows and the ties with the last of them: equals are ordered by id.
            rows = rows[cosines[rows] >= np.partition(cosines[rows], -limit)[-limit]]
        pairs = [(self._entities[row], float(cosines[row])) for row in rows]
        return sorted(pairs, key=lambda pair: (-pair[1], str(pair[0].id)))[:limit]


def _certain_first(mention: EntityMention) -> tuple[float, str]:
    return -mention.confidence, mention.name
