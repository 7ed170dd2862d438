"""One ranking of events out of several views (AVA, section 5.1, eq. 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args
from uuid import UUID

from gpu_workers.engine.ports import Hit

Fusion = Literal["contrast", "borda", "rrf"]
"""borda: the paper's. rrf: by ranks. contrast: borda, with what every hit of a view has in common taken off first."""

FUSIONS: tuple[Fusion, ...] = get_args(Fusion)

RRF_CONSTANT = 60.0
"""Cormack et al. 2009: keeps one first place from deciding alone."""

COMMON = 0.98
"""The part of a view's lowest similarity that tells nothing. With all of it the last hit would count nothing at all."""

LONG = 8
"""Hits of a list that was cut off where others as similar follow. A shorter one ends where nothing else is similar."""


@dataclass(frozen=True, slots=True)
class RankedEvent:
    """An event of a ranking. reasons: every hit that brought it here, so that a reader can see why."""

    event_id: UUID
    score: float
    reasons: tuple[Hit, ...] = ()


def distinct_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without repeats of the same (view, event, item): an entity counts once per event."""
    best: dict[tuple[str, UUID, UUID | None], Hit] = {}
    for hit in hits:
        key = (hit.view, hit.event_id, hit.item)
        if key not in best or hit.similarity > best[key].similarity:
            best[key] = hit
    return list(best.values())


def fuse(
    views: Mapping[str, Sequence[Hit]], *, fusion: Fusion = "borda", weights: Mapping[str, float] | None = None
) -> list[RankedEvent]:
    """Events of all views, best first; ties fall to the strongest single hit, then to the id.

    views: hits by view name; an empty view adds nothing. weights: by view name, 1.0 where missing.
    """
    scores: dict[UUID, float] = {}
    reasons: dict[UUID, list[Hit]] = {}
    for view, raw in views.items():
        weight = (weights or {}).get(view, 1.0)
        hits = [hit for hit in distinct_hits(raw) if hit.similarity > 0.0]
        for event_id, score in _SHARES[fusion](hits).items():
            scores[event_id] = scores.get(event_id, 0.0) + weight * score
        for hit in hits:
            reasons.setdefault(hit.event_id, []).append(hit)
    return ranked(RankedEvent(event_id, score, tuple(reasons[event_id])) for event_id, score in scores.items())


def ranked(events: Iterable[RankedEvent]) -> list[RankedEvent]:
    """events by falling score, in an order that does not depend on how they came in."""
    return sorted(
        events,
        key=lambda event: (-event.score, -max((hit.similarity for hit in event.reasons), default=0.0), event.event_id),
    )


def _event_scores(hits: Sequence[Hit]) -> dict[UUID, float]:
    """An event's similarity in one view is the sum over its hits, as in the authors' code."""
    scores: dict[UUID, float] = {}
    for hit in hits:
        scores[hit.event_id] = scores.get(hit.event_id, 0.0) + hit.similarity
    return scores


def _borda(hits: Sequence[Hit]) -> dict[UUID, float]:
    """An event's share of all similarity in the view (eq. 2)."""
    scores = _event_scores(hits)
    total = sum(scores.values())
    return {event_id: score / total for event_id, score in scores.items()}


def _contrast(hits: Sequence[Hit]) -> dict[UUID, float]:
    """As _borda, of what each hit is above the view's lowest. The cosines of a long list lie close together, so that
    plain shares are nearly equal and any weak second view outvotes the order of a strong first one."""
    common = COMMON * min(hit.similarity for hit in hits) if len(hits) >= LONG else 0.0
    return _borda([replace(hit, similarity=hit.similarity - common) for hit in hits])


def _reciprocal_rank(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Equals share a place (1, 2, 2, 4): all events of one entity are equally similar, and no id is better evidence."""
    scores = _event_scores(hits)
    places: dict[float, int] = {}
    for place, score in enumerate(sorted(scores.values(), reverse=True), start=1):
        places.setdefault(score, place)
    return {event_id: 1.0 / (RRF_CONSTANT + places[score]) for event_id, score in scores.items()}


_SHARES: Mapping[Fusion, Callable[[Sequence[Hit]], dict[UUID, float]]] = {
    "borda": _borda,
    "rrf": _reciprocal_rank,
    "contrast": _contrast,
}
