"""Stretches of time that answer a query, none of which overlaps another.

The merge rule cuts a happening in two if its descriptions differ. If both parts fit about equally, they are one moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from gpu_workers.engine.ekg import Span

ALIKE = 0.9
"""Minimum share of an event's score that its neighbour has if both are one moment."""

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """An event of a ranking. n: its number in its video."""

    video_id: UUID
    event_id: UUID
    n: int
    span: Span
    score: float


@dataclass(frozen=True, slots=True)
class RankedMoment:
    """event_ids: one, or two neighbours in order of time. score: that of the better one."""

    video_id: UUID
    span: Span
    score: float
    event_ids: tuple[UUID, ...]


def apart(found: Sequence[Found], *, key: Callable[[Found], tuple[UUID, Span]]) -> list[Found]:
    """Return what overlaps nothing that stands before it. key: video and span."""
    kept: list[Found] = []
    taken: dict[UUID, list[Span]] = {}
    for one in found:
        video_id, span = key(one)
        spans = taken.setdefault(video_id, [])
        if not any(span.overlaps(other) for other in spans):
            spans.append(span)
            kept.append(one)
    return kept


def moments(events: Sequence[FoundSpan]) -> list[RankedMoment]:
    """Return the ranked events as moments, best first, and two neighbours of about equal score as one moment.

    Moments of one video do not overlap: of two events that do, the better one counts.
    """
    best_first = sorted(events, key=lambda event: -event.score)
    by_number = {(event.video_id, event.n): event for event in reversed(best_first)}
    joined: set[UUID] = set()
    made = []
    for event in best_first:
        if event.event_id in joined:
            continue
        around = (by_number.get((event.video_id, event.n + step)) for step in (-1, 1))
        alike = [one for one in around if one and one.event_id not in joined and one.score >= ALIKE * event.score]
        parts = [event, *sorted(alike, key=lambda one: -one.score)[:1]]
        joined |= {part.event_id for part in parts}
        parts.sort(key=lambda part: part.n)
        span = Span(min(part.span.start_ms for part in parts), max(part.span.end_ms for part in parts))
        made.append(RankedMoment(event.video_id, span, event.score, tuple(part.event_id for part in parts)))
    return apart(made, key=lambda moment: (moment.video_id, moment.span))
