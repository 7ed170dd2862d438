"""Finds the tracked objects nearest to a query over a search's scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.ekg.reader import PostgresGraph, Scope
from backend.library.storage import ObjectStorage
from backend.questions.queries.searches import FoundObject, ScoreReport
from gpu_workers.engine.answering.ending.notes import QUERY_LANGUAGE
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.detection import language_of
from gpu_workers.engine.models.roles import AnswerModels, Meter
from gpu_workers.engine.ports import KnowledgeGraph, StoredFrame
from gpu_workers.engine.retrieval.object_search import RankedObject, rank_objects
from gpu_workers.engine.retrieval.words import quoted

TOO_MANY_OBJECTS = "too_many_objects"
"""Code of Search.degraded: the scope has more objects than were compared."""

DIGITS = 4
"""Decimal digits of a score: the cosines of pictures and words lie close together."""

NEAR_MS = 1_000
"""Maximum distance of a frame from the moment that it shows: about one frame a second is kept."""


def find_objects(
    storage: ObjectStorage,
    scope: Scope,
    query: str,
    search_options: Mapping[str, Any],
    models: AnswerModels,
    meter: Meter,
) -> tuple[tuple[FoundObject, ...], ScoreReport, tuple[str, ...]]:
    """Return the objects that a search finds, what their scores mean, and codes of what it had to do without. Raises
    ModelError of an embedder."""
    text, _ = quoted(query)
    # Nobody measured what a similarity of an object means, so no minimum applies unless the request names one.
    min_score = search_options.get("min_score") or 0.0
    with PostgresGraph(
        scope, text_model=models.text_embedder.name, frame_model=models.frame_embedder.name, storage=storage
    ) as graph:
        ranked = rank_objects(
            graph,
            text,
            limit=search_options["limit"],
            text_embedder=models.text_embedder,
            frame_embedder=models.frame_embedder,
            meter=meter,
        )
        scores = [round(max(0.0, min(1.0, one.similarity)), DIGITS) for one in ranked.objects]
        fitting = [(one, score) for one, score in zip(ranked.objects, scores, strict=True) if score >= min_score]
        found = tuple(_found(graph, one, score) for one, score in fitting)
    left_out = [score for score in scores if score < min_score]
    report = ScoreReport(
        calibrated=False,
        min_score=min_score,
        left_out=len(left_out),
        best_left_out=max(left_out, default=None),
        readable=scope.readable_ms > 0,
        compared_by=ranked.compared_by,
    )
    language, known = language_of(text), models.embedder_languages
    foreign = ranked.compared_by == "words" and bool(language) and bool(known) and language not in known
    degraded = [code for code, true in ((QUERY_LANGUAGE, foreign), (TOO_MANY_OBJECTS, ranked.cut)) if true]
    return found, report, tuple(degraded)


def _found(graph: KnowledgeGraph, one: RankedObject, score: float) -> FoundObject:
    thing, span = one.thing, one.span
    frame = _frame(graph, one)
    return FoundObject(
        video_id=thing.video_id,
        object_id=thing.id,
        n=thing.n,
        category=thing.category,
        colour=thing.colour,
        start_ms=span.start_ms,
        end_ms=span.end_ms,
        score=score,
        frame_ms=None if frame is None else frame.ms,
        frame_key="" if frame is None else frame.thumbnail_key,
    )


def _frame(graph: KnowledgeGraph, one: RankedObject) -> StoredFrame | None:
    """Return the stored frame that is nearest to the object's best moment and shows it; None if there is none."""
    around = one.span.cut_to(Span(max(0, one.ms - NEAR_MS), one.ms + NEAR_MS + 1))
    frames = [] if around is None else graph.frames_between(one.thing.video_id, around, limit=4)
    return min(frames, key=lambda frame: (abs(frame.ms - one.ms), frame.ms), default=None)
