"""The frames of events and of frame hits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeVar
from uuid import UUID

import numpy as np

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import FrameEvidence
from gpu_workers.engine.ports import EventPlace, Hit, KnowledgeGraph, StoredEvent, StoredFrame
from gpu_workers.engine.threads import ContextPool

T = TypeVar("T")

ROWS = 4_096
"""Maximum number of rows read at once: all frames of a few events, or a page of a scope's events."""

READS = 16
"""Maximum number of pictures that are read from the store at once."""


def evenly(count: int, limit: int) -> list[int]:
    """Return at most limit of the indices 0..count-1, spread evenly, with both ends."""
    if count <= limit:
        return list(range(count))
    return [int(index) for index in np.linspace(0, count - 1, max(0, limit)).round()]


def spread_first(count: int) -> list[int]:
    """Return the indices 0..count-1 in an order whose every beginning is spread over all of them: that of their bits
    from right to left (van der Corput)."""
    bits = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda index: f"{index:0{bits}b}"[::-1])


def nearest_to_middles(times: Sequence[int], span: Span, limit: int) -> list[int]:
    """Return the indices of times, in order, that lie nearest to the middles of limit equal parts of span, each once.

    times: rising, at least one. If two are equally near, the earlier one counts.
    """
    chosen: dict[int, None] = {}
    for part in range(limit):
        middle = span.start_ms + Fraction((2 * part + 1) * span.duration_ms, 2 * limit)
        after = bisect_left(times, middle)
        near = range(max(0, after - 1), min(len(times), after + 1))
        chosen[min(near, key=lambda index: abs(times[index] - middle))] = None
    return list(chosen)


def spread(times: Sequence[int], span: Span, limit: int, *, ends: bool) -> list[int]:
    """Return the indices of at most limit of times, the ones that KnowledgeGraph.frames_between chooses.

    ends: in equal steps from the first to the last, cut down to whole indices, as VideoAgent (arXiv 2403.10517) takes
    its first frames.
    """
    if len(times) <= limit:
        return list(range(len(times)))
    if ends and limit > 1:
        return [step * (len(times) - 1) // (limit - 1) for step in range(limit)]
    return evenly(len(times), limit) if ends else nearest_to_middles(times, span, max(0, limit))


def frames_of_hits(graph: KnowledgeGraph, hits: Sequence[Hit]) -> list[StoredFrame]:
    """Return the frames that frame hits name, each once, in the order of hits; frames out of scope are left out."""
    owned = {frame.id: frame for frame in all_frames(graph, list(dict.fromkeys(hit.event_id for hit in hits)))}
    named = dict.fromkeys(hit.item for hit in hits if hit.item is not None)
    return [owned[frame_id] for frame_id in named if frame_id in owned]


def all_frames(graph: KnowledgeGraph, event_ids: Sequence[UUID]) -> list[StoredFrame]:
    """Return every frame of the events, at most ROWS in one read.

    Some of ROWS frames or more are left out by a read, perhaps all of a short event, so it is made again in halves.
    """
    rows = list(graph.frames_of(event_ids, limit=ROWS))
    if len(rows) < ROWS:
        return rows
    if len(event_ids) > 1:
        half = len(event_ids) // 2
        return all_frames(graph, event_ids[:half]) + all_frames(graph, event_ids[half:])
    inside = _all_between(graph, rows[0].video_id, Span(rows[0].ms, rows[-1].ms + 1))
    return [frame for frame in inside if frame.event_id == rows[0].event_id]


def _all_between(graph: KnowledgeGraph, video_id: UUID, span: Span) -> list[StoredFrame]:
    # With both ends a read returns as many as it may, so fewer are all.
    rows = list(graph.frames_between(video_id, span, limit=ROWS, ends=True))
    if len(rows) < ROWS or span.duration_ms < 2:
        return rows
    middle = span.start_ms + span.duration_ms // 2
    first, second = Span(span.start_ms, middle), Span(middle, span.end_ms)
    return _all_between(graph, video_id, first) + _all_between(graph, video_id, second)


def all_places(graph: KnowledgeGraph) -> Iterator[EventPlace]:
    """Yield the place of every event in scope, by video and time, a page of ROWS at a time."""
    after: EventPlace | None = None
    while page := graph.timeline(after=after, limit=ROWS):
        yield from page
        after = page[-1]


def uniform_frames(graph: KnowledgeGraph, *, count: int) -> list[StoredFrame]:
    """Return at most count frames, evenly spaced over the running time of all events in scope, each once."""
    events = list(all_places(graph))
    total = sum(event.span.duration_ms for event in events)
    moments: list[tuple[UUID, int]] = []
    start, n = 0, 0
    for event in events:
        end = start + event.span.duration_ms
        while n < count and (middle := (2 * n + 1) * total // (2 * count)) < end:
            moments.append((event.event_id, event.span.start_ms + middle - start))
            n += 1
        start = end
    chosen: dict[UUID, StoredFrame] = {}
    rows = all_frames(graph, list(dict.fromkeys(event_id for event_id, _ in moments)))
    by_event: dict[UUID, list[StoredFrame]] = {}
    for frame in rows:
        by_event.setdefault(frame.event_id, []).append(frame)
    for event_id, ms in moments:
        near = min(by_event.get(event_id, ()), key=lambda frame: abs(frame.ms - ms), default=None)
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

    pictures = in_parallel(graph.jpeg, frames)
    return tuple(
        FrameEvidence(frame.ms, jpeg, observation(frame)) for frame, jpeg in zip(frames, pictures, strict=True)
    )


def in_parallel(read: Callable[[StoredFrame], T], frames: Sequence[StoredFrame]) -> list[T]:
    """Return what read returns for each frame, in the order of frames; at most READS are read at once.

    A store answers in milliseconds, and a look has up to 64 frames. Raises what read raises.
    """
    if len(frames) < 2:
        return [read(frame) for frame in frames]
    with ContextPool(max_workers=min(READS, len(frames)), thread_name_prefix="pictures") as pool:
        return list(pool.map(read, frames))
