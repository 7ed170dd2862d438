"""The best unseen frame of a segment for each thing that is looked for (VideoAgent, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.methods.videoagent.replies import Wanted
from gpu_workers.engine.answering.methods.videoagent.seeing import Seen, chunk_text, of_frame
from gpu_workers.engine.answering.methods.videoagent.segments import Moment, Segment, free
from gpu_workers.engine.answering.words import content_words
from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import Hit, ViewName, ViewQuery, Within
from gpu_workers.engine.retrieval.frames import frames_of_hits

SPARE = 24
"""Hits that are read per part of a segment: up to three frames are too near to each of six that a round chooses."""

MOST_PARTS = 4
"""Maximum number of videos of a segment that are searched one by one; a longer segment is searched with its scope."""

WIDE = 128
"""Hits that are read of the scope for a segment over many videos."""

EVENTS = 4
"""Events whose chunks are compared where there are no frames."""


@dataclass(frozen=True, slots=True)
class Found:
    """A moment found for a description, with the cosine of its frame, or of its event where there is no frame."""

    seen: Seen
    wanted: Wanted
    similarity: float


def find(
    desk: Desk,
    segments: Mapping[int, Segment],
    wanted: Sequence[Wanted],
    seen: Sequence[Moment],
    *,
    brief: bool = False,
) -> list[Found]:
    """Return for each wanted thing the unseen moment of its segment that is nearest to the description.

    No moment is returned that was seen, or within a second of one, or of another that is returned: two descriptions in
    one segment find two moments. A thing that nothing is left for is left out. Raises ModelError of an embedder.
    """
    found: list[Found] = []
    taken = list(seen)
    for item in wanted:
        parts = segments[item.segment].parts
        best = _by_frame(desk, item, parts, taken, brief) or _by_words(desk, item, parts, taken)
        if best is not None:
            found.append(best)
            taken.append(best.seen.moment)
    return found


def _by_frame(desk: Desk, item: Wanted, parts: Sequence[Within], taken: Sequence[Moment], brief: bool) -> Found | None:
    if "frames" not in desk.artifacts or not parts:
        return None
    vector = desk.asked.models.frame_embedder.embed_query(item.description, meter=desk.meter)
    hits = _hits(desk, "frame", vector, parts, SPARE)
    similarity: dict[UUID | None, float] = {hit.item: hit.similarity for hit in reversed(hits)}
    for frame in frames_of_hits(desk.asked.graph, hits):
        if free(parts, taken, (frame.video_id, frame.ms)):
            events = desk.load([frame.event_id])
            if events:
                return Found(of_frame(events[0], frame, brief=brief), item, similarity[frame.id])
    return None


def _by_words(desk: Desk, item: Wanted, parts: Sequence[Within], taken: Sequence[Moment]) -> Found | None:
    """Return the chunk with most words of the description, of the events nearest to it: where there are no frames."""
    if not parts:
        return None
    models = desk.asked.models
    vector = embed_queries(models.text_embedder, [item.description], meter=desk.meter)[0]
    hits = _hits(desk, "event", vector, parts, EVENTS)
    similarity = {hit.event_id: hit.similarity for hit in reversed(hits)}
    words = set(content_words(item.description))
    best: tuple[int, Seen] | None = None
    for event in desk.load(hit.event_id for hit in hits):
        for chunk in event.chunks:
            ms = (chunk.span.start_ms + chunk.span.end_ms) // 2
            was_seen = any(video_id == event.video_id and chunk.span.contains(at) for video_id, at in taken)
            if was_seen or not free(parts, taken, (event.video_id, ms)):
                continue
            text = chunk_text(chunk)
            shared = len(words & set(content_words(text)))
            if best is None or shared > best[0]:
                best = shared, Seen(event.video_id, ms, event, None, text)
    return Found(best[1], item, similarity[best[1].event.id]) if best else None


def _hits(desk: Desk, view: ViewName, vector: Vector, parts: Sequence[Within], limit: int) -> list[Hit]:
    """Return the hits of a view in parts, best first."""
    graph = desk.asked.graph
    if len(parts) > MOST_PARTS:
        return list(graph.search_views({view: ViewQuery(vector, WIDE)}, floor=-1.0)[view])
    hits = [
        hit
        for part in parts
        for hit in graph.search_views({view: ViewQuery(vector, limit, within=part)}, floor=-1.0)[view]
    ]
    return sorted(hits, key=lambda hit: -hit.similarity)
