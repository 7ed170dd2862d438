"""Several stretches of a scope read as one graph: "in the first and in the last hour", without what lies between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from gpu_workers.engine.ekg import Chunk, EntityObject, Overview, Span, Topic, Vector
from gpu_workers.engine.ports import (
    EntityFact,
    EventPlace,
    Hit,
    KnowledgeGraph,
    NamedView,
    NearObject,
    Recording,
    StoredEntity,
    StoredEvent,
    StoredFrame,
    StoredLine,
    StoredMention,
    StoredObject,
    StoredTrack,
    TimedRelation,
    ViewName,
    ViewQuery,
)
from gpu_workers.engine.retrieval.frames import evenly
from gpu_workers.engine.retrieval.object_search import nearest_objects

T = TypeVar("T")
Name = TypeVar("Name", bound=Hashable)


def stretches_of(graph: KnowledgeGraph, spans: Mapping[UUID, Sequence[Span]]) -> KnowledgeGraph:
    """Return graph narrowed to these spans of each video, in order of time; videos that are missing are not in it."""
    most = max(map(len, spans.values()), default=0)
    parts = [
        graph.narrowed({video_id: own[n] for video_id, own in spans.items() if n < len(own)})
        for n in range(max(1, most))
    ]
    return parts[0] if len(parts) == 1 else GraphOfStretches(parts)


class GraphOfStretches:
    """Implements ports.KnowledgeGraph over narrowed graphs of one scope: what is in one of them is in it, once.

    parts: at least one, of disjoint spans in order of time. Two events are neighbours, or connected, within a part.
    """

    def __init__(self, parts: Sequence[KnowledgeGraph]) -> None:
        self._parts = tuple(parts)

    def recordings(self) -> Mapping[UUID, Recording]:
        found: dict[UUID, Recording] = {}
        for part in self._parts:
            for video_id, recording in part.recordings().items():
                known = found.get(video_id, recording)
                found[video_id] = replace(recording, until_ms=max(known.until_ms, recording.until_ms))
        return dict(sorted(found.items()))

    def narrowed(self, spans: Mapping[UUID, Span]) -> KnowledgeGraph:
        return GraphOfStretches([part.narrowed(spans) for part in self._parts])

    # --- views and edges -------------------------------------------------------------------------------------------

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        found = [part.search_views(queries, floor=floor) for part in self._parts]
        return {name: _best(found, name, query.limit) for name, query in queries.items()}

    def things_named(self, text: str, *, limit: int) -> Mapping[NamedView, Sequence[Hit]]:
        found = [part.things_named(text, limit=limit) for part in self._parts]
        return {name: _best(found, name, limit) for name in dict.fromkeys(name for hits in found for name in hits)}

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return _joined(part.next_events(event_ids) for part in self._parts)

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return _joined(part.previous_events(event_ids) for part in self._parts)

    def events_sharing_entities(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[Hit]:
        hits = [hit for part in self._parts for hit in part.events_sharing_entities(event_ids, limit=limit)]
        ordered = sorted(hits, key=lambda hit: -hit.similarity)
        return [hit for hit in _once(ordered, lambda hit: hit.event_id) if hit.event_id not in event_ids][:limit]

    def facts(self, event_ids: Sequence[UUID]) -> Sequence[EntityFact]:
        return _by_event(event_ids, [part.facts(event_ids) for part in self._parts])

    # --- events, frames and words ----------------------------------------------------------------------------------

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        pages = [part.timeline(after=after, limit=limit) for part in self._parts]
        return _places(pages, limit)

    def undescribed(self) -> Sequence[EventPlace]:
        pages = [part.undescribed() for part in self._parts]
        return _places(pages, sum(map(len, pages)))

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]:
        return _joined(part.load_events(event_ids) for part in self._parts)

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        return _few([part.frames_of(event_ids, limit=limit) for part in self._parts], limit)

    def jpeg(self, frame: StoredFrame) -> bytes:
        return self._parts[0].jpeg(frame)

    def extents(self) -> Mapping[UUID, Span]:
        """Return for each video the stretch from its first event in scope to its last, gaps included."""
        found: dict[UUID, Span] = {}
        for part in self._parts:
            for video_id, span in part.extents().items():
                known = found.get(video_id, span)
                found[video_id] = Span(min(known.start_ms, span.start_ms), max(known.end_ms, span.end_ms))
        return found

    def events_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[EventPlace]:
        return _places([part.events_between(video_id, span, limit=limit) for part in self._parts], limit)

    def chunks_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[Chunk]:
        chunks = [chunk for part in self._parts for chunk in part.chunks_between(video_id, span, limit=limit)]
        return _once(sorted(chunks, key=lambda chunk: chunk.n), lambda chunk: chunk.n)[: max(0, limit)]

    def frames_between(self, video_id: UUID, span: Span, *, limit: int, ends: bool = False) -> Sequence[StoredFrame]:
        return _few([part.frames_between(video_id, span, limit=limit, ends=ends) for part in self._parts], limit)

    def lines(self, line_ids: Sequence[UUID]) -> Sequence[StoredLine]:
        return _lines(part.lines(line_ids) for part in self._parts)

    def lines_containing(self, words: Sequence[str], *, limit: int) -> Sequence[StoredLine]:
        return _lines(part.lines_containing(words, limit=limit) for part in self._parts)[: max(0, limit)]

    # --- topics and things -----------------------------------------------------------------------------------------

    def topics(self, video_id: UUID) -> Sequence[Topic]:
        topics = [topic for part in self._parts for topic in part.topics(video_id)]
        return sorted(topics, key=lambda topic: topic.span)

    def topics_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[Topic]]:
        found = [part.topics_of(video_ids) for part in self._parts]
        topics = {video_id: [topic for own in found for topic in own.get(video_id, ())] for video_id in video_ids}
        return {video_id: sorted(own, key=lambda topic: topic.span) for video_id, own in topics.items() if own}

    def overview(self, video_id: UUID) -> Overview | None:
        return next(filter(None, (part.overview(video_id) for part in self._parts)), None)

    def overviews_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, Overview]:
        return _joined(part.overviews_of(video_ids) for part in self._parts)

    def objects(self, *, limit: int, ids: Sequence[UUID] | None = None) -> Sequence[StoredObject]:
        found: dict[UUID, StoredObject] = {}
        for part in self._parts:
            for thing in part.objects(limit=limit, ids=ids):
                known = found.get(thing.id)
                found[thing.id] = thing if known is None else _seen_again(known, thing)
        return sorted(found.values(), key=lambda thing: (thing.video_id, thing.n))[: max(0, limit)]

    def objects_like(self, vector: Vector, *, limit: int) -> Sequence[NearObject]:
        near = (near for part in self._parts for near in part.objects_like(vector, limit=limit))
        return nearest_objects(near, limit=limit)

    def tracks_of(self, object_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredTrack]:
        tracks = [track for part in self._parts for track in part.tracks_of(object_ids, limit=limit)]
        in_order = sorted(
            tracks, key=lambda t: (t.video_id, t.observed.span.start_ms, t.observed.track_id, t.observed.span.end_ms)
        )
        return in_order[: max(0, limit)]

    def entities(self, entity_ids: Sequence[UUID]) -> Mapping[UUID, StoredEntity]:
        found: dict[UUID, StoredEntity] = {}
        for part in self._parts:
            for entity_id, entity in part.entities(entity_ids).items():
                known = found.get(entity_id)
                found[entity_id] = entity if known is None else replace(known, weight=known.weight + entity.weight)
        return found

    def entities_of(self, event_ids: Sequence[UUID]) -> Sequence[StoredMention]:
        return _by_event(event_ids, [part.entities_of(event_ids) for part in self._parts])

    def events_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[EventPlace]:
        return _places([part.events_of(entity_ids, limit=limit) for part in self._parts], limit)

    def relations_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[TimedRelation]:
        relations = [relation for part in self._parts for relation in part.relations_of(entity_ids, limit=limit)]
        in_order = sorted(relations, key=lambda relation: (*_in_time(relation.place), relation.id))
        return _once(in_order, lambda relation: relation.id)[: max(0, limit)]

    def links_of(self, ids: Sequence[UUID], *, limit: int) -> Sequence[EntityObject]:
        links = [link for part in self._parts for link in part.links_of(ids, limit=limit)]
        in_order = sorted(links, key=lambda link: (-link.confidence, link.entity_id, link.object_id))
        return _once(in_order, lambda link: (link.entity_id, link.object_id))[: max(0, limit)]


def _joined(found: Iterable[Mapping[UUID, T]]) -> dict[UUID, T]:
    joined: dict[UUID, T] = {}
    for each in found:
        joined = {**each, **joined}
    return joined


def _once(items: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Return the items without those whose key came before."""
    first: dict[Hashable, T] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())


def _best(found: Sequence[Mapping[Name, Sequence[Hit]]], name: Name, limit: int) -> list[Hit]:
    """Return the hits of a view's best items over all parts, each event of an item once, at most limit items."""
    by_item: defaultdict[tuple[UUID | None, UUID | None], list[Hit]] = defaultdict(list)
    for hits in found:
        for hit in hits.get(name, ()):
            by_item[hit.item, None if hit.item else hit.event_id].append(hit)
    ranked = sorted(
        by_item.values(), key=lambda hits: (-max(hit.similarity for hit in hits), hits[0].item or hits[0].event_id)
    )
    return [hit for hits in ranked[: max(0, limit)] for hit in _once(hits, lambda hit: hit.event_id)]


def _by_event(event_ids: Sequence[UUID], found: Sequence[Sequence[Any]]) -> list[Any]:
    """Return what each event has, in the order of the events; of an event in two parts, what the first one has."""
    of_event: dict[UUID, list[Any]] = {}
    for items in found:
        own: defaultdict[UUID, list[Any]] = defaultdict(list)
        for item in items:
            own[item.event_id].append(item)
        of_event = {**own, **of_event}
    return [item for event_id in dict.fromkeys(event_ids) for item in of_event.get(event_id, ())]


def _places(pages: Sequence[Sequence[EventPlace]], limit: int) -> list[EventPlace]:
    in_order = sorted((place for page in pages for place in page), key=_in_time)
    return _once(in_order, lambda place: place.event_id)[: max(0, limit)]


def _in_time(place: EventPlace) -> tuple[UUID, int, int, UUID]:
    return place.video_id, place.span.start_ms, place.n, place.event_id


def _few(found: Sequence[Sequence[StoredFrame]], limit: int) -> list[StoredFrame]:
    frames = sorted((frame for frames in found for frame in frames), key=lambda frame: (frame.video_id, frame.ms))
    frames = _once(frames, lambda frame: frame.id)
    return [frames[index] for index in evenly(len(frames), limit)]


def _lines(found: Iterable[Sequence[StoredLine]]) -> list[StoredLine]:
    in_order = sorted((line for lines in found for line in lines), key=lambda line: (line.video_id, line.span, line.id))
    return _once(in_order, lambda line: line.id)


def _seen_again(known: StoredObject, later: StoredObject) -> StoredObject:
    return replace(
        known,
        spans=tuple(sorted((*known.spans, *later.spans))),
        entries=known.entries + later.entries,
        exits=known.exits + later.exits,
    )
