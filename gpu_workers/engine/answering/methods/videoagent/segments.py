"""The segments between seen moments, in which a search for one missing thing stays (VideoAgent, section 3.3).

With moments i, j and k seen there are four segments, and number 2 lies between i and j: the first one ends at i, and
the last one begins at k. So nothing of the scope is out of reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from gpu_workers.engine.answering.methods.videoagent.timeline import Stretch, Timeline
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Within

GAP_MS = 1_000
"""Minimum distance of two seen moments of a video: closer ones show the same."""

Moment = tuple[UUID, int]
"""A video and a time in ms."""


@dataclass(frozen=True, slots=True)
class Segment:
    """What lies between two seen moments that follow each other. number: from 1 in order of time.

    parts: what may still be retrieved, at least GAP_MS from each seen moment, one part per video that the segment
    reaches into, in order; empty if nothing is left.
    """

    number: int
    parts: tuple[Within, ...]


def segments_between(timeline: Timeline, seen: Sequence[Moment]) -> list[Segment]:
    """Return the segments that the seen moments cut the timeline into: one more than there are moments.

    A segment between moments of two videos goes on from the one to the other; its parts say so.
    """
    cuts: list[Moment | None] = [None, *sorted(seen), None]
    return [
        Segment(number, tuple(_parts(timeline.stretches, after, before)))
        for number, (after, before) in enumerate(pairwise(cuts), start=1)
    ]


def free(parts: Sequence[Within], seen: Sequence[Moment], moment: Moment) -> bool:
    """Whether a moment lies in parts and is at least GAP_MS from every seen moment of its video."""
    video_id, ms = moment
    inside = any(part.video_id == video_id and part.span.contains(ms) for part in parts)
    return inside and all(other != video_id or abs(at - ms) >= GAP_MS for other, at in seen)


def _parts(stretches: Sequence[Stretch], after: Moment | None, before: Moment | None) -> list[Within]:
    parts = []
    for stretch in stretches:
        if after is not None and stretch.video_id < after[0]:
            continue
        if before is not None and stretch.video_id > before[0]:
            break
        start, end = stretch.span.start_ms, stretch.span.end_ms
        if after is not None and stretch.video_id == after[0]:
            start = max(start, after[1] + GAP_MS)
        if before is not None and stretch.video_id == before[0]:
            end = min(end, before[1] - GAP_MS + 1)
        if start < end:
            parts.append(Within(stretch.video_id, Span(start, end)))
    return parts
