"""The frames of events and of frame hits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import TypeVar
from uuid import UUID

import numpy as np

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import FrameEvidence
from gpu_workers.engine.ports import EventPlace, Hit, KnowledgeGraph, StoredEvent, StoredFrame

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


def nearest_to_middles(times: Sequence[int], span: Span, limit: int) -> list[int]:
    """Return the indices of times, in order, that lie nearest to the middles of limit equal parts of span, each once.

    times: rising, at least one. Of two equally near, the earlier one is taken.
    """
    chosen: dict[int, None] = {}
    for part in range(limit):
        middle = span.start_ms + Fraction((2 * part + 1) * span.duration_ms, 2 * limit)
        after = bisect_left(times, middle)
        near = range(max(0, after - 1), min(len(times), after + 1))
        chosen[min(near, key=lambda index: abs(times[index] - middle))] = None
    return list(chosen)


def spread(times: Sequence[int], span: Span, limit: int, *, ends: bool) -> list[int]:
    """Return the indices of at most limit of times, the ones that KnowledgeGraph.frames_between chooses."""
    if ends or len(times) <= limit:
        return evenly(len(times), limit)
    return nearest_to_middles(times, span, max(0, limit))


def frames_of_hits(graph: KnowledgeGraph, hits: Sequence[Hit]) -> list[StoredFrame]:
    """Return the frames that frame hits name, each once, in the order of hits; frames out of scope are left out."""
    owned = {frame.id: frame for frame in graph.frames_of(list(dict.fromkeys(h.event_id for h in hits)), limit=ROWS)}
    named = dict.fromkeys(hit.item for hit in hits if hit.item is not None)
    return [owned[frame_id] for frame_id in named if frame_id in owned]


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
    rows = graph.frames_of(list(dict.fromkeys(event_id for event_id, _ in moments)), limit=ROWS)
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
    with ThreadPoolExecutor(max_workers=min(READS, len(frames)), thread_name_prefix="pictures") as pool:
        return list(pool.map(read, frames))
