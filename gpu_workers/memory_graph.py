"""An Event Knowledge Graph held in memory, for notebooks, the evaluation harness and tests.

It answers every call of ports.KnowledgeGraph by exact cosine over numpy arrays. Nothing changes after construction,
so any number of threads may read it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID

import numpy as np

from gpu_workers.ekg import (
    Chunk,
    Entity,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    Relation,
    Span,
    TranscriptLine,
    Vector,
    stable_id,
)
from gpu_workers.ports import EntityFact, Hit, StoredEvent, StoredFrame

SHARED, RELATED = 1.0, 0.5
"""What an entity in common counts, and an entity that is one relation away."""


@dataclass(frozen=True, slots=True)
class MemoryVideo:
    """One video's index. events: in order of time. chunks: those of the events at least. frames: in order of time."""

    video_id: UUID
    events: Sequence[EventRecord]
    chunks: Sequence[Chunk] = ()
    frames: Sequence[FrameRow] = ()


class InMemoryGraph:
    """Implements ports.KnowledgeGraph over a set of videos.

    span: if given, only events that overlap it and frames inside it exist for the reader.
    """

    def __init__(self, videos: Iterable[MemoryVideo], *, span: Span | None = None) -> None:
        self._events: dict[UUID, StoredEvent] = {}
        self._next: dict[UUID, UUID] = {}
        self._entities: dict[UUID, Entity] = {}
        self._mentions: dict[UUID, list[LinkedMention]] = defaultdict(list)
        self._relations: dict[UUID, list[Relation]] = defaultdict(list)
        self._events_of_entity: dict[UUID, list[UUID]] = defaultdict(list)
        self._frames: dict[UUID, list[StoredFrame]] = defaultdict(list)
        self._jpegs: dict[str, bytes] = {}
        self._lines: dict[UUID, TranscriptLine] = {}
        self._events_of_line: dict[UUID, list[UUID]] = defaultdict(list)
        self._event_vectors, self._frame_vectors, self._line_vectors = _Vectors(), _Vectors(), _Vectors()
        for video in videos:
            events = [r.event for r in video.events if span is None or r.event.span.overlaps(span)]
            self._add_events(video, events)
            self._add_frames(video, events, span)
        # After all events: an entity's last state is the one that counts.
        self._entity_vectors = _Vectors()
        for entity in self._entities.values():
            self._entity_vectors.add(entity.id, entity.centroid)

    # --- views -----------------------------------------------------------------------------------------------------

    def search_events(self, query: Vector, *, limit: int, floor: float = 0.1) -> Sequence[Hit]:
        found = self._event_vectors.nearest(query, limit=limit, floor=floor)
        return [Hit(event_id, cosine, "event", str(event_id)) for event_id, cosine in found]

    def search_entities(self, query: Vector, *, limit: int, floor: float = 0.1) -> Sequence[Hit]:
        found = self._entity_vectors.nearest(query, limit=limit, floor=floor)
        return [
            Hit(event_id, cosine, "entity", f"{entity_id} {self._entities[entity_id].name}")
            for entity_id, cosine in found
            for event_id in self._events_of_entity[entity_id]
        ]

    def search_frames(self, query: Vector, *, limit: int, floor: float = 0.1) -> Sequence[Hit]:
        frames = {frame.id: frame for owned in self._frames.values() for frame in owned}
        found = self._frame_vectors.nearest(query, limit=limit, floor=floor)
        return [
            Hit(frames[frame_id].event_id, cosine, "frame", f"{frame_id} at {frames[frame_id].ms} ms")
            for frame_id, cosine in found
        ]

    def search_transcript(self, query: Vector, *, limit: int, floor: float = 0.1) -> Sequence[Hit]:
        found = self._line_vectors.nearest(query, limit=limit, floor=floor)
        return [
            Hit(event_id, cosine, "transcript", f"{line_id} {self._lines[line_id].text}")
            for line_id, cosine in found
            for event_id in self._events_of_line[line_id]
        ]

    # --- edges -----------------------------------------------------------------------------------------------------

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return {event_id: self._next[event_id] for event_id in event_ids if event_id in self._next}

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        wanted = set(event_ids)
        return {after: before for before, after in self._next.items() if after in wanted}

    def events_sharing_entities(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[Hit]:
        """similarity: strength of the connection divided by the strongest one's, so in (0, 1]."""
        seeds = set(event_ids)
        shared = {mention.entity_id for event_id in seeds for mention in self._mentions.get(event_id, ())}
        weight = dict.fromkeys(shared, SHARED)
        for relations in self._relations.values():
            for relation in relations:
                for here, there in (
                    (relation.source_id, relation.target_id),
                    (relation.target_id, relation.source_id),
                ):
                    if here in shared:
                        weight.setdefault(there, RELATED)
        strength: dict[UUID, float] = defaultdict(float)
        names: dict[UUID, list[str]] = defaultdict(list)
        for entity_id in sorted(weight):
            for event_id in self._events_of_entity.get(entity_id, ()):
                if event_id not in seeds:
                    strength[event_id] += weight[entity_id]
                    names[event_id].append(f"{entity_id} {self._entities[entity_id].name}")
        order = sorted(strength, key=lambda event_id: (-strength[event_id], self._events[event_id].n, event_id))
        top = max(strength.values(), default=1.0)
        return [
            Hit(event_id, strength[event_id] / top, "graph", "; ".join(names[event_id])) for event_id in order[:limit]
        ]

    def facts(self, event_ids: Sequence[UUID]) -> Sequence[EntityFact]:
        facts: list[EntityFact] = []
        for event_id in dict.fromkeys(event_ids):
            for linked in self._mentions.get(event_id, ()):
                text = f"{linked.mention.name} ({linked.mention.type}), {linked.mention.role}"
                facts.append(EntityFact(event_id, linked.entity_id, _with(text, linked.mention.description)))
            for relation in self._relations.get(event_id, ()):
                source, target = self._entities[relation.source_id].name, self._entities[relation.target_id].name
                text = _with(f"{source} {relation.predicate} {target}", relation.description)
                facts.append(EntityFact(event_id, relation.source_id, text))
        return facts

    # --- rows ------------------------------------------------------------------------------------------------------

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]:
        return {event_id: self._events[event_id] for event_id in event_ids if event_id in self._events}

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        owned = [frames for event_id in dict.fromkeys(event_ids) if (frames := self._frames.get(event_id))]
        shares = _fair_shares([len(frames) for frames in owned], limit)
        chosen = [
            frames[(2 * i + 1) * len(frames) // (2 * share)]
            for frames, share in zip(owned, shares, strict=True)
            for i in range(share)
        ]
        return sorted(chosen, key=lambda frame: (frame.video_id, frame.ms))

    def jpeg(self, frame: StoredFrame) -> bytes:
        """Raises KeyError for a frame of another graph."""
        return self._jpegs[frame.thumbnail_key]

    # --- construction ----------------------------------------------------------------------------------------------

    def _add_events(self, video: MemoryVideo, events: Sequence[Event]) -> None:
        chunks = {chunk.n: chunk for chunk in video.chunks}
        inside = {event.id for event in events}
        for record in video.events:
            event = record.event
            if event.id not in inside:
                continue
            members = tuple(chunks[n] for n in range(event.first_chunk, event.end_chunk) if n in chunks)
            self._events[event.id] = StoredEvent(event.id, video.video_id, event.n, event.span, event.summary, members)
            self._event_vectors.add(event.id, event.embedding)
            self._add_lines(video.video_id, event, members)
            self._entities.update({entity.id: entity for entity in record.entities})
            self._mentions[event.id].extend(record.mentions)
            self._relations[event.id].extend(record.relations)
            for entity_id in dict.fromkeys(mention.entity_id for mention in record.mentions):
                self._events_of_entity[entity_id].append(event.id)
        for before, after in pairwise(events):
            if after.n == before.n + 1:
                self._next[before.id] = after.id

    def _add_lines(self, video_id: UUID, event: Event, members: Sequence[Chunk]) -> None:
        for chunk in members:
            for line in chunk.transcript:
                line_id = stable_id("transcript", video_id, line.span.start_ms, line.span.end_ms)
                if line.embedding is None or not line.span.overlaps(event.span):
                    continue
                if line_id not in self._lines:
                    self._lines[line_id] = line
                    self._line_vectors.add(line_id, line.embedding)
                if event.id not in self._events_of_line[line_id]:
                    self._events_of_line[line_id].append(event.id)

    def _add_frames(self, video: MemoryVideo, events: Sequence[Event], span: Span | None) -> None:
        position = 0
        for row in sorted(video.frames, key=lambda row: row.ms):
            while position < len(events) and events[position].span.end_ms <= row.ms:
                position += 1
            if position == len(events):
                return
            if not events[position].span.contains(row.ms) or (span is not None and not span.contains(row.ms)):
                continue
            key = f"{video.video_id}/{row.ms}.jpg"
            frame_id = stable_id("frame", video.video_id, row.ms)
            event_id = events[position].id
            self._frames[event_id].append(StoredFrame(frame_id, video.video_id, event_id, row.ms, key))
            self._jpegs[key] = row.jpeg
            self._frame_vectors.add(frame_id, row.embedding)


@dataclass(slots=True)
class _Vectors:
    """Unit vectors by id, searched exactly. The matrix is built at the first search."""

    ids: list[UUID] = field(default_factory=list)
    rows: list[Vector] = field(default_factory=list)
    matrix: Vector | None = None

    def add(self, key: UUID, vector: Vector) -> None:
        self.ids.append(key)
        self.rows.append(vector)

    def nearest(self, query: Vector, *, limit: int, floor: float) -> list[tuple[UUID, float]]:
        """(id, cosine) above floor, best first; ties in order of insertion."""
        if not self.ids or limit <= 0:
            return []
        if self.matrix is None:
            self.matrix = np.stack(self.rows)
        cosines = self.matrix @ query
        order = np.argsort(-cosines, kind="stable")[:limit]
        return [(self.ids[i], float(cosines[i])) for i in order if cosines[i] > floor]


def _with(text: str, description: str) -> str:
    return f"{text}: {description}" if description else text


def _fair_shares(available: Sequence[int], limit: int) -> list[int]:
    """How many of each to take so that no one gets a second before all have had a first."""
    shares = [0] * len(available)
    left = min(limit, sum(available))
    while left > 0:
        for i, count in enumerate(available):
            if left > 0 and shares[i] < count:
                shares[i] += 1
                left -= 1
    return shares
