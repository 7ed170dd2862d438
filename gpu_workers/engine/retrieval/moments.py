"""Stretches of time that answer a query: events that were found, and neighbours that were found together.

The merge rule cuts a happening in two if its descriptions differ. If both parts are found, the whole is offered as
well; on ActivityNet's tape this adds a point of recall at ten (docs/lab/evaluation.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.ekg import Span

WHOLE_SHARE = 0.8
"""Score of a whole over its parts' mean score: the best of 0.5 to 0.9 on three tapes, all of them within a point."""

DISTINCT = 0.75
"""Intersection over union of a whole and its part from which the whole adds nothing."""


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
    """event_ids: one, or two neighbours in order of time."""

    video_id: UUID
    span: Span
    score: float
    event_ids: tuple[UUID, ...]


def moments(events: Sequence[FoundSpan]) -> list[RankedMoment]:
    """Return the ranked events, and every two neighbours among them as a whole, best first; of equals, events first."""
    alone = [RankedMoment(event.video_id, event.span, event.score, (event.event_id,)) for event in events]
    by_number = {(event.video_id, event.n): event for event in events}
    wholes = []
    for event in events:
        after = by_number.get((event.video_id, event.n + 1))
        if after is None:
            continue
        span = Span(min(event.span.start_ms, after.span.start_ms), max(event.span.end_ms, after.span.end_ms))
        if max(event.span.duration_ms, after.span.duration_ms) < DISTINCT * span.duration_ms:
            score = WHOLE_SHARE * (event.score + after.score) / 2
            wholes.append(RankedMoment(event.video_id, span, score, (event.event_id, after.event_id)))
    return sorted([*alone, *wholes], key=lambda moment: (-moment.score, len(moment.event_ids)))
