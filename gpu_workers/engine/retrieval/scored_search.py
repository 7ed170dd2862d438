"""Events that were found, with what a client needs to trust them: a score, and the moments inside that fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventSimilarity, NearPart, SearchedGraph, StoredEvent
from gpu_workers.engine.retrieval.find_events import FindSettings, QueryVectors
from gpu_workers.engine.retrieval.fusion import RankedEvent
from gpu_workers.engine.retrieval.highlights import Highlight
from gpu_workers.engine.retrieval.moments import apart
from gpu_workers.engine.retrieval.scores import Kind, Scoring, evidence
from gpu_workers.engine.retrieval.word_terms import asked_words
from gpu_workers.engine.retrieval.words import tokens

MOST_PARTS = 5
"""Maximum number of moments inside an event, and of frames and lines that each event is compared by."""

FRAME_MS = 1_000
"""Length of the moment of a frame: about one frame a second is kept."""

PartView = Literal["frame", "speech", "writing"]
"""What fits inside an event: a picture, a spoken line, or writing on screen."""


@dataclass(frozen=True, slots=True)
class InnerMoment:
    """A moment inside an event that fits by itself. item: id of the frame; None for lines and writing."""

    view: PartView
    span: Span
    score: float
    text: str = ""
    item: UUID | None = None


@dataclass(frozen=True, slots=True)
class ScoredEvent:
    """An event of a ranking with its score, 0 to 1, and its nearest frames and lines."""

    ranked: RankedEvent
    score: float
    parts: tuple[NearPart, ...] = ()


def scoring_of(
    text: str, settings: FindSettings, *, text_embedder: str, frame_embedder: str, minutes: float
) -> Scoring:
    """Return the curves of the kinds that a search with these settings compares. minutes: length of the scope.

    Words and names count where meaning is not searched, and where the query names something by its letters: elsewhere
    they add nothing to the cosines (docs/lab/retrieval.md).
    """
    kinds: list[Kind] = []
    if settings.searches("event") or settings.searches("entity") or settings.searches("topic"):
        kinds += ["description", "measurement"]
    if settings.searches("transcript"):
        kinds.append("speech")
    if settings.searches("frame"):
        kinds.append("frame")
    if settings.searches("words") and (not kinds or asked_words(text).literal):
        kinds.append("words")
    if not kinds or set(kinds) == {"words"}:
        kinds.append("name")
    return Scoring.of(kinds, text_embedder=text_embedder, frame_embedder=frame_embedder, minutes=minutes, text=text)


def score_events(
    graph: SearchedGraph,
    ranking: Sequence[RankedEvent],
    events: Mapping[UUID, StoredEvent],
    vectors: QueryVectors,
    scoring: Scoring,
    *,
    quotes_alone: bool = False,
) -> list[ScoredEvent]:
    """Return the events of a ranking with their scores, in its order; events that are not in events are left out.

    quotes_alone: the query is nothing but quotations, which every event of the ranking contains: each fits for certain.
    """
    known = [event for event in ranking if event.event_id in events]
    near: Mapping[UUID, EventSimilarity] = {}
    if len(vectors.text) or len(vectors.frame):
        ids = [event.event_id for event in known]
        near = graph.similarities(ids, text=vectors.text, frame=vectors.frame, limit=MOST_PARTS)
    scored = []
    for event in known:
        own = near.get(event.event_id)
        measured = any(chunk.facts for chunk in events[event.event_id].chunks)
        score = 1.0 if quotes_alone else scoring.score(evidence(own, event.reasons, measured=measured))
        scored.append(ScoredEvent(event, score, own.parts if own is not None else ()))
    return scored


def is_quotation(text: str, exact: Sequence[str]) -> bool:
    """Whether a query is nothing but its quotations."""
    quoted = {token.folded for phrase in exact for token in tokens(phrase)}
    return bool(exact) and all(token.folded in quoted for token in tokens(text))


def inner_moments(
    event: StoredEvent, found: ScoredEvent, shown: Sequence[Highlight], scoring: Scoring, *, min_score: float
) -> tuple[InnerMoment, ...]:
    """Return the moments inside an event that fit, best first, at most MOST_PARTS, without overlap.

    shown: the texts of the event that have words of the query. A spoken line or writing among them has the event's
    score where no similarity says more: it is what the words found.
    """
    inside = [
        InnerMoment("frame", _held(part.span, event.span), scoring.of_part(part), item=part.id)
        if part.view == "frame"
        else InnerMoment("speech", part.span.cut_to(event.span) or part.span, scoring.of_part(part), part.words)
        for part in found.parts
    ]
    inside = [moment for moment in inside if moment.score >= min_score]
    for text in shown:
        cut = text.span.cut_to(event.span) if text.span is not None else None
        if cut is not None and text.kind in ("speech", "writing"):
            inside.append(InnerMoment(text.kind, cut, found.score, text.text))
    inside.sort(key=lambda moment: (-moment.score, moment.span, moment.view))
    return tuple(apart(inside, key=lambda moment: (event.video_id, moment.span))[:MOST_PARTS])


def _held(frame: Span, event: Span) -> Span:
    """Return the moment of a frame, cut to the end of its event."""
    return Span(frame.start_ms, max(frame.end_ms, min(frame.start_ms + FRAME_MS, event.end_ms)))
