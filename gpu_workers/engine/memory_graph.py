"""An Event Knowledge Graph held in memory, for notebooks, the evaluation harness and tests.

It answers every call of ports.KnowledgeGraph by exact cosine over numpy arrays. Nothing changes after construction,
so any number of threads may read it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    Chunk,
    Entity,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    Relation,
    Span,
    Vector,
    stable_id,
)
from gpu_workers.engine.ports import EntityFact, EventPlace, Hit, StoredEvent, StoredFrame, ViewName, ViewQuery
from gpu_workers.engine.retrieval.expansion import Appearance, connected_events
from gpu_workers.engine.retrieval.facts import Participation, StatedRelation, facts_of
from gpu_workers.engine.retrieval.frames import evenly


@dataclass(frozen=True, slots=True)
class MemoryVideo:
    """One video's index. events, frames: in order of time. chunks: at least those of the events."""

    video_id: UUID
    events: Sequence[EventRecord]
    chunks: Sequence[Chunk] = ()
    frames: Sequence[FrameRow] = ()
    index_version: int = 1


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
        self._events_of_line: dict[UUID, list[UUID]] = defaultdict(list)
        self._views: dict[ViewName, _View] = {name: _View() for name in ("event", "entity", "frame", "transcript")}
        # In one order everywhere: videos by id, events by time.
        for video in sorted(videos, key=lambda video: video.video_id):
            events = [r.event for r in video.events if span is None or r.event.span.overlaps(span)]
            self._add_events(video, events)
            self._add_frames(video, events, span)
        self._views["event"].following = self._next
        places = (EventPlace(event.id, event.video_id, event.n, event.span) for event in self._events.values())
        self._timeline = sorted(places, key=_moment)
        # After all events, since an entity's last state counts.
        for entity_id, event_ids in self._events_of_entity.items():
            entity = self._entities[entity_id]
            self._views["entity"].add(entity_id, entity.centroid, event_ids, entity.name)

    # --- views -----------------------------------------------------------------------------------------------------

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        return {
            name: [
                Hit(event_id, cosine, name, item.id, item.words.strip())
                for item, cosine in self._views[name].nearest(query, floor=floor)
                for event_id in item.event_ids
            ]
            for name, query in queries.items()
        }

    # --- edges -----------------------------------------------------------------------------------------------------

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return {event_id: self._next[event_id] for event_id in event_ids if event_id in self._next}

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        later = set(event_ids)
        return {after: before for before, after in self._next.items() if after in later}

    def events_sharing_entities(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[Hit]:
        seeds = set(event_ids)
        shared = {mention.entity_id for event_id in seeds for mention in self._mentions.get(event_id, ())}
        ends = [(r.source_id, r.target_id) for relations in self._relations.values() for r in relations]
        reached = {end for pair in ends if shared & set(pair) for end in pair}
        return connected_events(
            (
                Appearance(entity_id, self._entities[entity_id].name, event_id, self._events[event_id].n)
                for entity_id in shared | reached
                for event_id in self._events_of_entity.get(entity_id, ())
            ),
            seeds=seeds,
            shared=shared,
            limit=limit,
        )

    def facts(self, event_ids: Sequence[UUID]) -> Sequence[EntityFact]:
        wanted = dict.fromkeys(event_ids)
        mentions = (mention for event_id in wanted for mention in self._mentions.get(event_id, ()))
        relations = (relation for event_id in wanted for relation in self._relations.get(event_id, ()))
        return facts_of(
            event_ids,
            (
                Participation(
                    linked.entity_id,
                    linked.event_id,
                    linked.mention.name,
                    linked.mention.type,
                    linked.mention.role,
                    linked.mention.description,
                    self._entities[linked.entity_id].weight,
                )
                for linked in mentions
            ),
            (
                StatedRelation(
                    relation.id,
                    relation.event_id,
                    relation.source_id,
                    self._entities[relation.source_id].name,
                    relation.predicate,
                    relation.target_id,
                    self._entities[relation.target_id].name,
                    relation.description,
                )
                for relation in relations
            ),
        )

    # --- rows ------------------------------------------------------------------------------------------------------

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        first = 0 if after is None else bisect_right(self._timeline, _moment(after), key=_moment)
        return self._timeline[first : first + max(0, limit)]

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]:
        return {event_id: self._events[event_id] for event_id in event_ids if event_id in self._events}

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        owned = [frame for event_id in dict.fromkeys(event_ids) for frame in self._frames.get(event_id, ())]
        owned.sort(key=lambda frame: (frame.video_id, frame.ms))
        return [owned[index] for index in evenly(len(owned), limit)]

    def jpeg(self, frame: StoredFrame) -> bytes:
        """Return the JPEG of a frame. Raises KeyError for a frame of another graph."""
        return self._jpegs[frame.thumbnail_key]

    # --- construction ----------------------------------------------------------------------------------------------

    def _add_events(self, video: MemoryVideo, events: Sequence[Event]) -> None:
        chunks = {chunk.n: chunk for chunk in video.chunks}
        inside = {event.id for event in events}
        for record in video.events:
            event = record.event
            self._entities.update({entity.id: entity for entity in record.entities})
            if event.id not in inside:
                continue
            members = tuple(chunks[n] for n in range(event.first_chunk, event.end_chunk) if n in chunks)
            self._events[event.id] = StoredEvent(event.id, video.video_id, event.n, event.span, event.summary, members)
            self._views["event"].add(event.id, event.embedding, [event.id])
            self._add_lines(video, event, members)
            self._mentions[event.id].extend(record.mentions)
            self._relations[event.id].extend(record.relations)
            for entity_id in dict.fromkeys(mention.entity_id for mention in record.mentions):
                self._events_of_entity[entity_id].append(event.id)
        for before, after in pairwise(events):
            if after.n == before.n + 1:
                self._next[before.id] = after.id

    def _add_lines(self, video: MemoryVideo, event: Event, members: Sequence[Chunk]) -> None:
        for chunk in members:
            for line in chunk.transcript:
                times = (line.span.start_ms, line.span.end_ms)
                line_id = stable_id("transcript", video.video_id, video.index_version, *times)
                if line.embedding is None or not line.span.overlaps(event.span):
                    continue
                if line_id not in self._events_of_line:
                    self._views["transcript"].add(line_id, line.embedding, self._events_of_line[line_id], line.text)
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
            frame_id = stable_id("frame", video.video_id, video.index_version, row.ms)
            event_id = events[position].id
            self._frames[event_id].append(StoredFrame(frame_id, video.video_id, event_id, row.ms, key))
            self._jpegs[key] = row.jpeg
            self._views["frame"].add(frame_id, row.embedding, [event_id], f"at {row.ms} ms")


@dataclass(frozen=True, slots=True)
class _Item:
    """An item that a view can match. event_ids: the events it belongs to, in order; may grow during construction."""

    id: UUID
    vector: Vector
    event_ids: Sequence[UUID]
    words: str


@dataclass(slots=True)
class _View:
    """Items with unit vectors, searched exactly. The matrix is built at the first search. following: by item, the next
    item in time; None for a view without order in time, which has no context."""

    items: list[_Item] = field(default_factory=list)
    following: Mapping[UUID, UUID] | None = None
    matrix: Vector | None = None

    def add(self, key: UUID, vector: Vector, event_ids: Sequence[UUID], words: str = "") -> None:
        self.items.append(_Item(key, vector, event_ids, words))

    def nearest(self, query: ViewQuery, *, floor: float) -> list[tuple[_Item, float]]:
        """Return (item, cosine) above floor, best first; ties by id."""
        if not self.items or query.limit <= 0:
            return []
        if self.matrix is None:
            # Sorted before the matrix is set: another thread may search in between and must find both in one order.
            items = sorted(self.items, key=lambda item: item.id)
            self.items, self.matrix = items, np.stack([item.vector for item in items])
        cosines: NDArray[np.floating[Any]] = self.matrix @ query.vector
        if query.context and self.following is not None:
            cosines = self._in_context(cosines, self.following, query.context)
        order = np.argsort(-cosines, kind="stable")[: query.limit]
        return [(self.items[i], float(cosines[i])) for i in order if cosines[i] > floor]

    def _in_context(
        self, cosines: NDArray[np.floating[Any]], following: Mapping[UUID, UUID], context: float
    ) -> NDArray[np.float64]:
        """Return the cosines in context, in double precision like a database. An item without neighbours is its own."""
        row_of = {item.id: row for row, item in enumerate(self.items)}
        alone = cosines.astype(np.float64)
        around = np.full(len(alone), -np.inf)
        for before, after in following.items():
            left, right = row_of[before], row_of[after]
            around[left] = max(around[left], alone[right])
            around[right] = max(around[right], alone[left])
        around = np.where(np.isneginf(around), alone, around)
        return np.asarray((alone + context * around) / (1 + context))


def _moment(place: EventPlace) -> tuple[UUID, int, int, UUID]:
    return place.video_id, place.span.start_ms, place.n, place.event_id
