"""Tracked objects ranked by free text, such as "a man with a blue backpack".

Where the frame embedder puts words and pictures into one space, the words are compared with the picture of each object.
Otherwise they are compared with the words that there are: the object's colour and category, and the descriptions of the
events in which it is visible.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args
from uuid import UUID

from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.models.roles import FrameEmbedder, Meter, TextEmbedder, embed_queries
from gpu_workers.engine.ports import EventPlace, KnowledgeGraph, NearObject, StoredObject, ViewQuery
from gpu_workers.engine.retrieval.frames import all_places
from gpu_workers.engine.retrieval.object_names import name_of

ComparedBy = Literal["pictures", "words"]
"""What a text was compared with: pictures of the objects, or their names and the descriptions of their events."""

COMPARED_BY: tuple[ComparedBy, ...] = get_args(ComparedBy)

MOST_OBJECTS, MOST_EVENTS = 20_000, 100_000
"""Maximum number of objects whose words are compared, and of events that are read for it."""

NEAREST_EVENTS = 2_000
"""Maximum number of events whose descriptions count. An object that is visible in none of them counts by its name."""


@dataclass(frozen=True, slots=True)
class RankedObject:
    """An object that a text was compared with. similarity: a cosine. ms: when it resembles the text most."""

    thing: StoredObject
    similarity: float
    ms: int

    @property
    def span(self) -> Span:
        """Return the time around ms in which the object is visible without a break."""
        return min(self.thing.spans, key=lambda span: max(span.start_ms - self.ms, self.ms - span.end_ms + 1, 0))


@dataclass(frozen=True, slots=True)
class RankedObjects:
    """objects: best first. cut: whether the scope has more objects than were compared."""

    compared_by: ComparedBy
    objects: tuple[RankedObject, ...]
    cut: bool = False


def rank_objects(
    graph: KnowledgeGraph,
    text: str,
    *,
    limit: int,
    text_embedder: TextEmbedder,
    frame_embedder: FrameEmbedder,
    meter: Meter,
) -> RankedObjects:
    """Return at most limit objects of the scope, those nearest to text first. Raises ModelError of an embedder.

    Pictures count where there are any (rank_by_pictures), words elsewhere.
    """
    by_pictures = rank_by_pictures(graph, text, limit=limit, embedder=frame_embedder, meter=meter)
    if by_pictures:
        return RankedObjects("pictures", tuple(by_pictures))
    things_of_scope = graph.objects(limit=MOST_OBJECTS + 1)
    compared = things_of_scope[:MOST_OBJECTS]
    by_words = rank_by_words(graph, text, compared, embedder=text_embedder, meter=meter)
    return RankedObjects("words", tuple(by_words[:limit]), cut=len(things_of_scope) > MOST_OBJECTS)


def rank_by_pictures(
    graph: KnowledgeGraph, text: str, *, limit: int, embedder: FrameEmbedder, meter: Meter
) -> list[RankedObject]:
    """Return at most limit objects whose pictures are nearest to text, best first; none if the embedder has no open
    vocabulary, or made a vector of no object's picture. Raises ModelError."""
    if not embedder.open_vocabulary:
        return []
    near = graph.objects_like(embedder.embed_query(text, meter=meter), limit=limit)
    things = {thing.id: thing for thing in graph.objects(limit=limit, ids=[one.object_id for one in near])}
    return [RankedObject(things[one.object_id], one.similarity, one.ms) for one in near if one.object_id in things]


def rank_by_words(
    graph: KnowledgeGraph, text: str, things: Sequence[StoredObject], *, embedder: TextEmbedder, meter: Meter
) -> list[RankedObject]:
    """Return the objects by the words that there are, best first, ties by video and number.

    The similarity is the mean of two: of the text with the object's colour and category, and of the text with the most
    similar description of an event in which the object is visible. Raises ModelError.
    """
    if not things:
        return []
    names = sorted({name_of(thing) for thing in things})
    query: Vector = embed_queries(embedder, [text], meter=meter)[0]
    nearness = dict(zip(names, (embedder.embed(names, meter=meter) @ query).tolist(), strict=True))
    hits = graph.search_views({"event": ViewQuery(query, NEAREST_EVENTS)}, floor=0.0)["event"]
    similarity = {hit.event_id: hit.similarity for hit in hits}
    places: defaultdict[UUID, list[EventPlace]] = defaultdict(list)
    for place in islice(all_places(graph), MOST_EVENTS):
        places[place.video_id].append(place)
    ranked = []
    for thing in things:
        seen = list(visible_in(thing, places[thing.video_id]))
        best = max(seen, key=lambda place: similarity.get(place.event_id, 0.0), default=None)
        told = 0.0 if best is None else similarity.get(best.event_id, 0.0)
        ranked.append(RankedObject(thing, (nearness[name_of(thing)] + told) / 2, _moment(thing, best)))
    ranked.sort(key=lambda one: (-one.similarity, one.thing.video_id, one.thing.n))
    return ranked


def nearest_objects(near: Iterable[NearObject], *, limit: int) -> list[NearObject]:
    """Return the result of ports.KnowledgeGraph.objects_like over pictures, of which an object may have several."""
    best: dict[UUID, NearObject] = {}
    for one in near:
        known = best.get(one.object_id)
        if known is None or (-one.similarity, one.ms) < (-known.similarity, known.ms):
            best[one.object_id] = one
    return sorted(best.values(), key=lambda one: (-one.similarity, one.object_id))[: max(0, limit)]


def visible_in(thing: StoredObject, places: Sequence[EventPlace]) -> Iterator[EventPlace]:
    """Yield the events in which the object is visible for at least 1 ms, each once. places: the events of its video, in
    order of time, which do not overlap."""
    at = 0
    for span in thing.spans:
        at = bisect_right(places, span.start_ms, at, key=lambda place: place.span.end_ms)
        while at < len(places) and places[at].span.start_ms < span.end_ms:
            yield places[at]
            at += 1


def _moment(thing: StoredObject, place: EventPlace | None) -> int:
    """Return the middle of the first stretch in which the object is visible in the event; without one, of its first."""
    parts = [part for span in thing.spans if place is not None and (part := span.cut_to(place.span)) is not None]
    shown = parts[0] if parts else thing.spans[0]
    return (shown.start_ms + shown.end_ms) // 2
