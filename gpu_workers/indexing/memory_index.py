"""A video's index held in memory while it is made: for notebooks, the evaluation harness and tests."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from gpu_workers.ekg import Chunk, Entity, EventRecord, FrameRow, SegmentRecord, Span, Vector
from gpu_workers.memory_graph import InMemoryGraph, MemoryVideo


class MemoryIndex:
    """Implements ports.EntityDirectory and ports.EventSink, and keeps segments as a store would."""

    def __init__(self, video_id: UUID) -> None:
        self.video_id = video_id
        self.segments: list[SegmentRecord] = []
        self.records: dict[UUID, EventRecord] = {}
        self._entities: dict[UUID, Entity] = {}
        self._rows: dict[UUID, int] = {}
        self._matrix = np.zeros((0, 0), dtype=np.float32)

    def add_segment(self, segment: SegmentRecord) -> None:
        self.segments.append(segment)

    def append(self, record: EventRecord) -> None:
        """Keep record; one that is already there stays as it is, so that doing the work twice changes nothing."""
        if record.event.id in self.records:
            return
        self.records[record.event.id] = record
        for entity in record.entities:
            self._put(entity)

    def nearest(self, embedding: Vector, *, limit: int) -> Sequence[tuple[Entity, float]]:
        if not self._entities or limit <= 0:
            return []
        cosines = self._matrix[: len(self._rows)] @ embedding
        ids = list(self._rows)
        order = np.argsort(-cosines, kind="stable")[:limit]
        return [(self._entities[ids[i]], float(cosines[i])) for i in order]

    @property
    def events(self) -> list[EventRecord]:
        return list(self.records.values())

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for segment in self.segments for chunk in segment.chunks]

    @property
    def frames(self) -> list[FrameRow]:
        return [frame for segment in self.segments for frame in segment.frames]

    @property
    def entities(self) -> list[Entity]:
        return list(self._entities.values())

    def frames_for(self, span: Span, limit: int) -> list[tuple[int, bytes]]:
        """At most limit thumbnails spread evenly over span."""
        inside = [frame for frame in self.frames if span.contains(frame.ms)]
        share = min(limit, len(inside))
        return [(f.ms, f.jpeg) for f in (inside[(2 * i + 1) * len(inside) // (2 * share)] for i in range(share))]

    def graph(self) -> InMemoryGraph:
        """What is indexed so far, for questions."""
        return InMemoryGraph([MemoryVideo(self.video_id, self.events, self.chunks, self.frames)])

    def _put(self, entity: Entity) -> None:
        row = self._rows.setdefault(entity.id, len(self._rows))
        if row >= len(self._matrix):
            larger = np.zeros((max(64, 2 * row), entity.centroid.shape[0]), dtype=np.float32)
            larger[: len(self._matrix)] = self._matrix if len(self._matrix) else 0.0
            self._matrix = larger
        self._matrix[row] = entity.centroid
        self._entities[entity.id] = entity
