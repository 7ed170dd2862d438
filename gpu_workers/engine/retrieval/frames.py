"""The frames of events and of frame hits."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.models.roles import FrameEvidence
from gpu_workers.engine.ports import Hit, KnowledgeGraph, StoredEvent, StoredFrame, ViewQuery

ROWS = 4_096
"""Maximum number of rows read at once for all frames of a few events, or for all events of a scope."""


def frames_of_hits(graph: KnowledgeGraph, hits: Sequence[Hit]) -> list[StoredFrame]:
    """Return the frames that frame hits name, each once, in the order of hits; frames out of scope are left out."""
    owned = {frame.id: frame for frame in graph.frames_of(list(dict.fromkeys(h.event_id for h in hits)), limit=ROWS)}
    named = dict.fromkeys(hit.item for hit in hits if hit.item is not None)
    return [owned[frame_id] for frame_id in named if frame_id in owned]


def all_events(graph: KnowledgeGraph, probe: Vector) -> list[StoredEvent]:
    """Return every event in scope, in order of video and time. probe: any query vector; no similarity is too low."""
    hits = graph.search_views({"event": ViewQuery(probe, ROWS)}, floor=-2.0)["event"]
    events = graph.load_events([hit.event_id for hit in hits])
    return sorted(events.values(), key=lambda event: (event.video_id, event.span))


def uniform_frames(graph: KnowledgeGraph, events: Sequence[StoredEvent], *, count: int) -> list[StoredFrame]:
    """Return at most count frames, evenly spaced over the running time of events (in order of time), each once."""
    total = sum(event.span.duration_ms for event in events)
    moments: list[tuple[StoredEvent, int]] = []
    start, n = 0, 0
    for event in events:
        end = start + event.span.duration_ms
        while n < count and (middle := (2 * n + 1) * total // (2 * count)) < end:
            moments.append((event, event.span.start_ms + middle - start))
            n += 1
        start = end
    chosen: dict[UUID, StoredFrame] = {}
    rows = graph.frames_of(list(dict.fromkeys(event.id for event, _ in moments)), limit=ROWS)
    by_event: dict[UUID, list[StoredFrame]] = {}
    for frame in rows:
        by_event.setdefault(frame.event_id, []).append(frame)
    for event, ms in moments:
        near = min(by_event.get(event.id, ()), key=lambda frame: abs(frame.ms - ms), default=None)
        if near is not None:
            chosen[near.id] = near
    return list(chosen.values())


def frame_evidence(
    graph: KnowledgeGraph, frames: Sequence[StoredFrame], events: Sequence[StoredEvent]
) -> tuple[FrameEvidence, ...]:
    """Return frames as a checker takes them, in the order given.

    observation: the description of the chunk around the frame, if it rests on measurements (chunk.facts). A VLM's words
    are left out, since a checker that sees pictures must not read what another model saw.
    """
    by_id = {event.id: event for event in events}

    def observation(frame: StoredFrame) -> str:
        event = by_id.get(frame.event_id)
        for chunk in event.chunks if event else ():
            if chunk.span.contains(frame.ms) and chunk.facts:
                return chunk.description or ""
        return ""

    return tuple(FrameEvidence(frame.ms, graph.jpeg(frame), observation(frame)) for frame in frames)
