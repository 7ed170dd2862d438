"""One ranking of events out of several views (AVA, section 5.1, eq. 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args
from uuid import UUID

from gpu_workers.engine.models.roles import Meter, Reranker
from gpu_workers.engine.ports import Hit

Fusion = Literal["contrast", "borda", "rrf", "sum"]
"""Method of fusion. borda: the paper's. rrf: by ranks. contrast: borda without what all hits of a view share. sum: the
similarities themselves, without what all hits of a view share."""

FUSIONS: tuple[Fusion, ...] = get_args(Fusion)

RRF_CONSTANT = 60.0
"""Constant of reciprocal rank fusion (Cormack et al. 2009): it keeps one first rank from deciding alone."""

COMMON = 0.98
"""Share of a view's lowest similarity that is taken off every hit. With all of it the last hit would count nothing."""

LONG = 8
"""Minimum length of a list that was cut off before other similar hits. A shorter list ends where similarity does."""


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
    """Return events of all views, best first; ties fall to the strongest single hit, then to the id.

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
    """Return events by falling score; the order does not depend on that of the input."""
    return sorted(
        events,
        key=lambda event: (-event.score, -max((hit.similarity for hit in event.reasons), default=0.0), event.event_id),
    )


def of_best_events(hits: Sequence[Hit], count: int) -> list[Hit]:
    """Return the hits of the count events with the highest similarity in one view; ties fall to the earlier hit."""
    hits = distinct_hits(hits)
    scores = _event_scores(hits)
    best = set(sorted(scores, key=lambda event_id: -scores[event_id])[:count])
    return [hit for hit in hits if hit.event_id in best]


def _event_scores(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Return each event's similarity in one view: the sum over its hits, as in the authors' code."""
    scores: dict[UUID, float] = {}
    for hit in hits:
        scores[hit.event_id] = scores.get(hit.event_id, 0.0) + hit.similarity
    return scores


def _borda(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Return each event's share of all similarity in the view (eq. 2)."""
    scores = _event_scores(hits)
    total = sum(scores.values())
    return {event_id: score / total for event_id, score in scores.items()}


def _contrast(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Return shares like _borda, after COMMON of the view's lowest similarity is taken off. The cosines of a long list
    lie close together: plain shares are nearly equal, and any weak second view outvotes the order of a strong first
    view."""
    common = COMMON * min(hit.similarity for hit in hits) if len(hits) >= LONG else 0.0
    return _borda([replace(hit, similarity=hit.similarity - common) for hit in hits])


def _sum(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Return similarities, in a long list without COMMON of the lowest. The similarity of words has no common part: it
    is a share of the query."""
    cosines = bool(hits) and hits[0].view != "words"
    common = COMMON * min(hit.similarity for hit in hits) if cosines and len(hits) >= LONG else 0.0
    return _event_scores([replace(hit, similarity=hit.similarity - common) for hit in hits])


def _reciprocal_rank(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Return scores by rank. Equals share a rank (1, 2, 2, 4): all events of an entity are equally similar, and no id
    is better evidence."""
    scores = _event_scores(hits)
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores.values(), reverse=True), start=1):
        ranks.setdefault(score, rank)
    return {event_id: 1.0 / (RRF_CONSTANT + ranks[score]) for event_id, score in scores.items()}


_SHARES: Mapping[Fusion, Callable[[Sequence[Hit]], dict[UUID, float]]] = {
    "borda": _borda,
    "rrf": _reciprocal_rank,
    "contrast": _contrast,
    "sum": _sum,
}


def reranked(
    ranking: Sequence[RankedEvent], query: str, texts: Sequence[str], reranker: Reranker, *, meter: Meter
) -> list[RankedEvent]:
    """Return the ranking with its first len(texts) events in the reranker's order; the others follow as they are.

    texts: the words of these events, in order. The n-th event keeps the n-th score, so that scores of a later search
    are comparable. reasons: also the reranker's hit, whose similarity is the relevance. Raises ModelError.
    """
    head, rest = ranking[: len(texts)], ranking[len(texts) :]
    if not head:
        return list(rest)
    relevance = [float(value) for value in reranker.rerank(query, texts, meter=meter)]
    order = sorted(range(len(head)), key=lambda n: (-relevance[n], n))
    return [
        *(
            replace(
                head[n],
                score=head[place].score,
                reasons=(*head[n].reasons, Hit(head[n].event_id, relevance[n], "rerank")),
            )
            for place, n in enumerate(order)
        ),
        *rest,
    ]
