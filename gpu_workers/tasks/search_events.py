"""Finds the events, or the objects, nearest to a query over a search's scope, and commits them with the usage."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.ekg.queries import best_frames
from backend.ekg.reader import PostgresGraph, Scope
from backend.jobs.services import JobFailed, Lease
from backend.library.storage import ObjectStorage
from backend.questions.models import Search
from backend.questions.queries.pinned_versions import videos_of_search
from backend.questions.queries.searches import FoundEvent, Inside, Match, Reason, ScoreReport, for_objects
from backend.questions.services import searches
from backend.tenancy.context import tenant_scope
from backend.tenancy.sandboxes import is_sandbox
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.ending.notes import QUERY_LANGUAGE
from gpu_workers.engine.answering.presets import RERANKED
from gpu_workers.engine.languages.detection import language_of
from gpu_workers.engine.models.roles import AnswerModels, Meter, ModelError, Reranker
from gpu_workers.engine.models.scripted import ANSWER_MODELS
from gpu_workers.engine.ports import Hit, StoredEvent
from gpu_workers.engine.retrieval.find_events import SEMANTIC, FindSettings, embed_search, find_events
from gpu_workers.engine.retrieval.fusion import reranked
from gpu_workers.engine.retrieval.highlights import Highlight, Highlighter
from gpu_workers.engine.retrieval.scored_search import (
    InnerMoment,
    ScoredEvent,
    inner_moments,
    is_quotation,
    score_events,
    scoring_of,
)
from gpu_workers.engine.retrieval.words import quoted
from gpu_workers.tasks.failures import failing_job
from gpu_workers.tasks.found_objects import find_objects
from gpu_workers.tasks.models import answer_models
from gpu_workers.tasks.scopes import scope_of
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.searches")

NO_RERANKING = "no_reranking"
"""Code of Search.degraded, next to QUERY_LANGUAGE."""

# Maximum reasons of one event: hundreds of frames of an event that lasts an hour may match.
MOST_REASONS = 10


def handle(work: Work) -> FollowUp | None:
    with failing_job(work, message="the models do not answer"):
        models = ANSWER_MODELS if is_sandbox(work.lease.tenant_id) else answer_models()
    began_at, began = timezone.now(), time.monotonic()
    begun = work.commit(lambda: _begin(work))
    if begun is None:
        return None
    search, scope = begun
    meter = work.meter()
    find = find_objects if for_objects(search) else _find
    with failing_job(work, message="the query could not be embedded"):
        results, scores, degraded = find(work.objects(), scope, search.text, search.settings, models, meter)

    def store() -> None:
        searches.store_results(
            search_id=search.id,
            found=results,
            calls=work.bill(meter),
            began_at=began_at,
            retrieval_ms=retrieval_ms,
            scores=scores,
            degraded=degraded,
        )
        work.complete()

    retrieval_ms = round((time.monotonic() - began) * 1000)
    work.commit(store)
    return None


def _begin(work: Work) -> tuple[Search, Scope] | None:
    """Return the search with the hard filter of its reads; None if it is over, and its job with it."""
    search = searches.begin(search_id=work.lease.subject_id)
    if search is None:
        work.complete()
        return None
    scope = scope_of(search.tenant_id, videos_of_search(search), start_ms=search.start_ms, end_ms=search.end_ms)
    return search, scope


def find_settings(search_options: Mapping[str, Any]) -> FindSettings:
    """Return the engine's settings for a search. search_options: mode, views with their weights, fusion and limit."""
    return FindSettings.of(
        search_options["mode"],
        limit=search_options["limit"],
        weights=search_options["views"],
        fusion=search_options["fusion"],
    )


def _find(
    storage: ObjectStorage,
    scope: Scope,
    query: str,
    search_options: Mapping[str, Any],
    models: AnswerModels,
    meter: Meter,
) -> tuple[tuple[FoundEvent, ...], ScoreReport, tuple[str, ...]]:
    """Return the events that a search finds, what their scores mean, and codes of what it had to do without. Raises
    ModelError of an embedder."""
    text, exact = quoted(query)
    settings = find_settings(search_options)
    names = {"text_embedder": models.text_embedder.name, "frame_embedder": models.frame_embedder.name}
    reranker = models.reranker if search_options["mode"] == "hybrid" else None
    degraded = [QUERY_LANGUAGE] if _reads_too_little(query, settings, models) else []
    scoring = scoring_of(text, settings, **names, minutes=scope.readable_ms / 60_000)
    asked = search_options.get("min_score")
    min_score = scoring.min_score if asked is None else asked
    vectors = embed_search(
        text, settings, text_embedder=models.text_embedder, frame_embedder=models.frame_embedder, meter=meter
    )
    # More than the limit are compared: the best scores need not be first in the ranking.
    wide = replace(settings, limit=max(settings.limit, RERANKED))
    with PostgresGraph(
        scope, text_model=names["text_embedder"], frame_model=names["frame_embedder"], storage=storage
    ) as graph:
        ranking = find_events(graph, text, wide, vectors, exact=exact)
        events = graph.load_events([event.event_id for event in ranking])
        scored = score_events(graph, ranking, events, vectors, scoring, quotes_alone=is_quotation(text, exact))
    fitting = sorted((event for event in scored if event.score >= min_score), key=lambda event: -event.score)
    left_out = [event.score for event in scored if event.score < min_score]
    if reranker is not None and fitting:
        try:
            fitting = _reranked(fitting, events, text, reranker, meter)
        except ModelError as error:
            logger.warning("a search keeps the order of its views: the reranker failed: %s", error.code)
            degraded.append(NO_RERANKING)
    fitting = fitting[: settings.limit]
    highlighter = Highlighter(text, exact)
    with tenant_scope(scope.tenant_id):
        frames = best_frames(
            [event.ranked.event_id for event in fitting],
            preferred=_nearest_frames(fitting),
            start_ms=scope.start_ms,
            end_ms=scope.end_ms,
        )
    results = []
    for found in fitting:
        event = events[found.ranked.event_id]
        ms, key = frames.get(event.id, (None, ""))
        shown = highlighter.event(event, found.ranked.reasons)
        results.append(
            FoundEvent(
                video_id=event.video_id,
                event_id=event.id,
                n=event.n,
                start_ms=event.span.start_ms,
                end_ms=event.span.end_ms,
                summary=event.summary,
                score=found.score,
                frame_ms=ms,
                frame_key=key,
                reasons=tuple(_reason(hit) for hit in _nearest(found.ranked.reasons)[:MOST_REASONS]),
                highlights=tuple(map(_match, shown)),
                moments=tuple(map(_inside, inner_moments(event, found, shown, scoring, min_score=min_score))),
            )
        )
    report = ScoreReport(
        calibrated=scoring.calibrated,
        min_score=min_score,
        left_out=len(left_out),
        best_left_out=max(left_out, default=None),
        readable=scope.readable_ms > 0,
    )
    return tuple(results), report, tuple(degraded)


def _reads_too_little(query: str, settings: FindSettings, models: AnswerModels) -> bool:
    """Whether a view searches by meaning, and its embedder is not known to understand the query's language."""
    language, known = language_of(query), models.embedder_languages
    by_text = any(settings.searches(view) for view in SEMANTIC if view != "frame")
    return by_text and bool(language) and bool(known) and language not in known


def _reranked(
    fitting: Sequence[ScoredEvent],
    events: Mapping[UUID, StoredEvent],
    text: str,
    reranker: Reranker,
    meter: Meter,
) -> list[ScoredEvent]:
    """Return the events with the best in the reranker's order, each with its own score. Raises ModelError."""
    texts = [event_text(events[found.ranked.event_id]) for found in fitting[:RERANKED]]
    by_id = {found.ranked.event_id: found for found in fitting}
    order = reranked([found.ranked for found in fitting], text, texts, reranker, meter=meter)
    return [by_id[event.event_id] for event in order]


def _nearest(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.similarity, hit.view, str(hit.item or ""), hit.words))


def _reason(hit: Hit) -> Reason:
    return Reason(hit.view, hit.similarity, hit.words, hit.item)


def _match(shown: Highlight) -> Match:
    span = shown.span
    return Match(
        kind=shown.kind,
        text=shown.text,
        ranges=shown.ranges,
        start_ms=None if span is None else span.start_ms,
        end_ms=None if span is None else span.end_ms,
        item=shown.item,
    )


def _inside(moment: InnerMoment) -> Inside:
    span = moment.span
    return Inside(moment.view, span.start_ms, span.end_ms, moment.score, moment.text, moment.item)


def _nearest_frames(found: Sequence[ScoredEvent]) -> list[UUID]:
    """Return the frame of each event that is nearest to the query, where frames were compared."""
    frames = ([part.id for part in event.parts if part.view == "frame"] for event in found)
    return [ids[0] for ids in frames if ids]


def failed(lease: Lease, error: JobFailed) -> None:
    searches.fail_search(search_id=lease.subject_id, code=error.code, message=str(error))
