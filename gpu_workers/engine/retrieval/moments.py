"""Stretches of time that answer a query: events that were found, and neighbours that were found together.

The merge rule cuts a happening in two where its descriptions differ. If both parts are found, the whole is offered as
well; on ActivityNet's tape that is worth a point of recall at ten (docs/evaluation.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.ekg import Span

WHOLE_SHARE = 0.8
"""What a whole counts of its parts' mean score: the best of 0.5 to 0.9 on three tapes, all of them within a point."""

DISTINCT = 0.75
"""A whole that overlaps one of its parts by as much (intersection over union) says nothing new."""


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


def moments(found: Sequence[FoundSpan]) -> list[RankedMoment]:
    """The events found, and every two neighbours among them as a whole, best first; of equals, events first."""
    alone = [RankedMoment(one.video_id, one.span, one.score, (one.event_id,)) for one in found]
    place = {(one.video_id, one.n): one for one in found}
    wholes = []
    for one in found:
        after = place.get((one.video_id, one.n + 1))
        if after is None:
            continue
        span = Span(min(one.span.start_ms, after.span.start_ms), max(one.span.end_ms, after.span.end_ms))
        if max(one.span.duration_ms, after.span.duration_ms) < DISTINCT * span.duration_ms:
            score = WHOLE_SHARE * (one.score + after.score) / 2
            wholes.append(RankedMoment(one.video_id, span, score, (one.event_id, after.event_id)))
    return sorted([*alone, *wholes], key=lambda moment: (-moment.score, len(moment.event_ids)))
