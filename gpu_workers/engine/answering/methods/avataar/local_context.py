"""The local context of a question: the best frames with their neighbours, and the nearest spoken lines (AVATAAR, eq. 10
to 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.captions import search_speech, spoken_lines
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import StoredEvent, StoredFrame, StoredLine, ViewQuery, Within
from gpu_workers.engine.retrieval.frames import frames_of_hits

HITS = 32
"""Frames that a query reads, to find the best of each of a few events."""

NEIGHBOUR_MS = 10_000
"""Maximum distance of a neighbour in the order of frames; they are stored once a second."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event in which something named probably happens. phrase: what was named."""

    event: StoredEvent
    phrase: str


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What is retrieved for one round. frames: in order of video and time. events: those of the frames, or where there
    are no frames, the nearest ones. spoken: lines in words."""

    frames: tuple[StoredFrame, ...]
    events: tuple[StoredEvent, ...]
    spoken: tuple[str, ...]


def gather(
    desk: Desk, queries: Sequence[str], anchors: Sequence[Anchor], *, places: int, lines: int, most: int
) -> LocalContext:
    """Return the local context of queries, the first of which is the question as it is searched, and number it.

    anchors: inside them the first places are sought, by their own words. places: number of distinct events whose best
    frame is taken, each with the frame before and the frame after it; at least one per query. lines: number of spoken
    lines. most: maximum number of frames. Raises ModelError of an embedder.
    """
    frames: list[StoredFrame] = []
    if "frames" in desk.artifacts:
        frames = _frames(desk, queries, anchors, max(places, len(queries)), most)
    events = desk.load(frame.event_id for frame in frames)
    if not frames:
        events = _events(desk, queries, anchors, max(places, len(queries)))
    spoken: tuple[str, ...] = ()
    if "transcript" in desk.artifacts:
        spoken = tuple(spoken_lines(desk, _lines(desk, queries, lines))[0])
    for event in sorted(events, key=lambda event: (event.video_id, event.span)):
        desk.sightings.event(event)
    for frame in frames:
        desk.sightings.frame(frame)
    return LocalContext(tuple(frames), tuple(events), spoken)


def _frames(desk: Desk, queries: Sequence[str], anchors: Sequence[Anchor], places: int, most: int) -> list[StoredFrame]:
    graph, embedder = desk.asked.graph, desk.asked.models.frame_embedder
    vectors = [embedder.embed_query(query, meter=desk.meter) for query in queries]
    best: list[StoredFrame] = []
    for anchor in anchors[:places]:
        vector = embedder.embed_query(anchor.phrase, meter=desk.meter)
        inside = ViewQuery(vector, 1, within=Within(anchor.event.video_id, anchor.event.span))
        hits = graph.search_views({"frame": inside}, floor=-1.0)["frame"]
        best += [frame for frame in frames_of_hits(graph, hits) if frame not in best]
        desk.matched(hit.similarity for hit in hits)
    rankings = []
    for vector in vectors:
        hits = graph.search_views({"frame": ViewQuery(vector, HITS)}, floor=-1.0)["frame"]
        rankings.append(frames_of_hits(graph, hits))
        desk.matched(hit.similarity for hit in hits)
    taken = {frame.event_id for frame in best}
    # The queries take turns, so that each sub-question gets a place.
    for frame in (frame for turn in zip_longest(*rankings) for frame in turn if frame is not None):
        if len(best) >= places:
            break
        if frame.event_id not in taken:
            taken.add(frame.event_id)
            best.append(frame)
    shown: dict[UUID, StoredFrame] = {}
    for frame in best:
        window = _window(desk, frame)
        if len(shown | {near.id: near for near in window}) > most:
            window = [frame] if len(shown) < most else []
        shown.update((near.id, near) for near in window)
    return sorted(shown.values(), key=lambda frame: (frame.video_id, frame.ms))


def _window(desk: Desk, frame: StoredFrame) -> list[StoredFrame]:
    """Return a frame with the stored frames just before and after it."""
    around = Span(max(0, frame.ms - NEIGHBOUR_MS), frame.ms + NEIGHBOUR_MS + 1)
    near = desk.asked.graph.frames_between(frame.video_id, around, limit=8 * NEIGHBOUR_MS // 1_000)
    before = [other for other in near if other.ms < frame.ms][-1:]
    return [*before, frame, *[other for other in near if other.ms > frame.ms][:1]]


def _events(desk: Desk, queries: Sequence[str], anchors: Sequence[Anchor], places: int) -> list[StoredEvent]:
    vectors = embed_queries(desk.asked.models.text_embedder, list(queries), meter=desk.meter)
    rankings = []
    for vector in vectors:
        hits = desk.asked.graph.search_views({"event": ViewQuery(vector, places)}, floor=-1.0)["event"]
        rankings.append([hit.event_id for hit in hits])
        desk.matched(hit.similarity for hit in hits)
    ids = [event_id for turn in zip_longest(*rankings) for event_id in turn if event_id is not None]
    return desk.load([*(anchor.event.id for anchor in anchors), *ids])[: places + len(anchors)]


def _lines(desk: Desk, queries: Sequence[str], limit: int) -> list[StoredLine]:
    """Return at most limit lines, as many of each query."""
    found: dict[UUID, StoredLine] = {}
    for query in queries:
        lines = search_speech(desk, query, limit=max(1, limit // len(queries)))
        found.update((line.id, line) for line in lines)
    return sorted(list(found.values())[:limit], key=lambda line: (line.video_id, line.span))
