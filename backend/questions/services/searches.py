"""Writes of searches: created, begun, found, failed, forgotten.

Each function runs in the caller's transaction. A search's row is locked before the rows of its scope.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from backend.billing.charges import Charge
from backend.billing.models import SEARCH, Ended
from backend.billing.rates import rates_at
from backend.billing.services.limits import budgets, quotas
from backend.billing.services.limits.free_work import Ending, free_endings
from backend.billing.services.limits.quotes import search_charge
from backend.billing.services.usage import ledger
from backend.billing.services.usage.rows import Attribution
from backend.jobs.models import Job, JobKind
from backend.jobs.services import enqueue, request_cancel_many
from backend.library.models import VideoStatus
from backend.questions.models import OPEN, QuestionStatus, Search, SearchVideo
from backend.questions.queries.scopes import ScopeWish, resolve, resolve_all
from backend.questions.queries.searches import OBJECTS, FoundEvent, FoundObject, ScoreReport
from backend.questions.services.consumption import usage_of
from backend.questions.services.drafts import check_span
from backend.questions.services.holds import hold_search
from backend.questions.services.questions import PRIORITY
from backend.tenancy.callers import current_caller
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused, invalid
from backend.webhooks.thresholds import report_budget
from gpu_workers.engine.retrieval.find_events import FINDING, MODES, SearchMode, fusion_in, weights_in
from gpu_workers.engine.retrieval.words import quoted

if TYPE_CHECKING:
    from gpu_workers.engine.models.roles import ModelCall
    from gpu_workers.engine.retrieval.fusion import Fusion

# The view graph adds events that are connected with those that the others find.
VIEWS = (*FINDING, "graph")
DEFAULT_MODE: SearchMode = "hybrid"
ALL_MODES: tuple[str, ...] = (*MODES, OBJECTS)
# A customer waits for a search, so it is not tried for minutes.
MAX_ATTEMPTS = 3


def job_key(search_id: UUID) -> str:
    """Return the dedupe key of a search's job."""
    return f"search:{search_id}"


def create_search(
    *,
    text: str,
    video_ids: Sequence[UUID] = (),
    collection_id: UUID | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
    mode: SearchMode | Literal["objects"] = DEFAULT_MODE,
    views: Mapping[str, float] | None = None,
    fusion: Fusion | None = None,
    limit: int = 16,
    min_score: float | None = None,
    api_key_id: UUID | None = None,
) -> Search:
    """Create a search with its scope and job. views: weights that replace those of the mode; fusion: None for its own.

    Without videos and a collection the scope is every video that the caller may read. min_score: None for the usual.

    Raises Refused: empty_query, invalid_span, unknown_view, no_views, views_not_applicable, and as scopes.resolve() and
    hold_search() do; and MonthlyBudgetExhausted.
    """
    text = text.strip()
    if not quoted(text)[0]:
        raise invalid(pointer="/query", code="empty_query", detail="Write a query of at least one word.")
    check_span(start_ms, end_ms)
    ranking = _ranking(mode, views, fusion)
    wish = ScopeWish(frozenset(video_ids), collection_id)
    videos = resolve_all() if wish == ScopeWish() else resolve(wish)
    budgets.require_left()
    tenant_id, person_id = current_tenant_id(), current_caller().person_id
    search: Search = Search.objects.create(
        tenant_id=tenant_id,
        text=text,
        start_ms=start_ms,
        end_ms=end_ms,
        settings={
            "mode": mode,
            **ranking,
            "limit": limit,
            "min_score": min_score,
            # A search is charged when it has its results: until then it remembers what it belongs to.
            "api_key_id": None if api_key_id is None else str(api_key_id),
            "person_id": None if person_id is None else str(person_id),
            "collection_id": None if collection_id is None else str(collection_id),
        },
    )
    SearchVideo.objects.bulk_create([SearchVideo(tenant_id=tenant_id, search=search, video=video) for video in videos])
    _enqueue(search.id)
    hold_search(search.id, api_key_id=api_key_id)
    return search


def _ranking(
    mode: SearchMode | Literal["objects"], views: Mapping[str, float] | None, fusion: Fusion | None
) -> dict[str, Any]:
    """Return the settings of a search that say how events are ranked; objects have no views to weigh and to join."""
    if mode != "objects":
        return {"views": weights_of(views or {}, mode=mode), "fusion": fusion or fusion_in(mode)}
    named = {"views": views, "fusion": fusion}
    for field in (field for field, value in named.items() if value is not None):
        detail = "A search for objects has no views: leave views and fusion out."
        raise invalid(pointer=f"/{field}", code="views_not_applicable", detail=detail)
    return {"views": {}, "fusion": None}


def weights_of(views: Mapping[str, float], *, mode: SearchMode = DEFAULT_MODE) -> dict[str, float]:
    """Return the weight of every view, 0 for a view that is left out. views: those that differ from the mode's.

    Raises Refused: unknown_view, or no_views when no view is left that finds events by itself.
    """
    for view in views:
        if view not in VIEWS:
            raise invalid(
                pointer=f"/views/{view}", code="unknown_view", detail=f"Name views out of {', '.join(VIEWS)}."
            )
    weights = {**weights_in(mode), **views}
    if not any(weights[view] for view in FINDING):
        detail = f"Give at least one of {', '.join(FINDING)} a weight above 0."
        raise invalid(pointer="/views", code="no_views", detail=detail)
    return weights


def _open_search(search_id: UUID) -> Search | None:
    """Lock and return a search that has no outcome; None if there is none."""
    search: Search | None = Search.objects.select_for_update().filter(id=search_id, status__in=OPEN).first()
    return search


def begin(*, search_id: UUID) -> Search | None:
    """Mark a search as running and pin the index version and extent of each video that it will read.

    A video that is being deleted is pinned at no extent. Returns None when the search is over.
    """
    search = _open_search(search_id)
    if search is None:
        return None
    search.status = QuestionStatus.RUNNING
    search.save(update_fields=["status"])
    scope = list(SearchVideo.objects.filter(search_id=search_id).select_related("video"))
    for row in scope:
        row.index_version = row.video.active_index_version
        row.indexed_until_ms = 0 if row.video.status == VideoStatus.DELETING else row.video.indexed_until_ms
    SearchVideo.objects.bulk_update(scope, ["index_version", "indexed_until_ms"])
    return search


def store_results(
    *,
    search_id: UUID,
    found: Sequence[FoundEvent] | Sequence[FoundObject],
    calls: Sequence[ModelCall],
    began_at: datetime,
    retrieval_ms: int,
    scores: ScoreReport,
    degraded: Sequence[str] = (),
) -> Search | None:
    """Write the results of a search and its usage. degraded: codes of what it had to do without. Returns None when the
    search is over already.

    What was found in a video that is deleted, or being deleted, is left out: a deletion removes the results of its
    video from searches while this row is locked, or after it.
    """
    search = _open_search(search_id)
    if search is None:
        return None
    scope = SearchVideo.objects.filter(search_id=search_id).exclude(video__status=VideoStatus.DELETING)
    present = set(scope.values_list("video_id", flat=True))
    belongs = _attribution_of(search)
    ledger.record_model_calls(source_type=SEARCH, source_id=search.id, calls=calls, attribution=belongs)
    _charge(search)
    now = timezone.now()
    search.status = QuestionStatus.SUCCEEDED
    search.results = [_stored(result) for result in found if result.video_id in present]
    search.scoring = asdict(replace(scores, kept=len(search.results)))
    search.degraded = list(degraded)
    search.usage = usage_of(calls)
    search.completed_at = now
    search.timings = {
        "queue_ms": max(0, _ms(search.created_at, began_at)),
        "retrieval_ms": retrieval_ms,
        "total_ms": max(0, _ms(search.created_at, now)),
    }
    search.save()
    quotas.settle([search_id], ended=Ended.CHARGED)
    report_budget()
    return search


def _charge(search: Search) -> None:
    """Bill a search, and set its charge on the unsaved row."""
    charge = ledger.charge_search(search_id=search.id, attribution=_attribution_of(search))
    search.charge_amount, search.charge_currency = charge.amount, charge.currency
    search.price_version = charge.price_version


def _attribution_of(search: Search) -> Attribution:
    def known(name: str) -> UUID | None:
        text = search.settings.get(name)
        return UUID(text) if text else None

    return Attribution(
        api_key_id=known("api_key_id"), person_id=known("person_id"), collection_id=known("collection_id")
    )


def _stored(result: FoundEvent | FoundObject) -> dict[str, Any]:
    """Return a result as JSON: its class's stored() reads it."""
    return json.loads(json.dumps(asdict(result), default=str))  # type: ignore[no-any-return]


def _ms(since: datetime, until: datetime) -> int:
    return round((until - since).total_seconds() * 1000)


def fail_search(*, search_id: UUID, code: str, message: str) -> None:
    """End a search that failed. Nothing happens when the search is over already."""
    search = _open_search(search_id)
    if search is None:
        return
    search.status = QuestionStatus.FAILED
    search.error_code, search.error_message = code, message
    search.completed_at = timezone.now()
    search.save()
    quotas.settle([search_id], ended=Ended.VOID)


def cancel_search(*, search_id: UUID) -> Search | None:
    """Cancel a queued or running search and ask its job to stop. Returns None when the search has an outcome."""
    if not Search.objects.filter(id=search_id, status__in=OPEN).exists():
        return None
    canceled = cancel_open([search_id])
    return canceled[0] if canceled else None


def cancel_open(ids: Collection[UUID]) -> list[Search]:
    """Cancel those of the searches that have no outcome, and return them.

    A search that was begun is free within the share of billing.services.limits.free_work, and charged beyond it.
    """
    # The jobs before the searches, as a worker locks them.
    request_cancel_many(dedupe_keys=[job_key(id) for id in ids])
    rows = list(Search.objects.select_for_update().filter(id__in=list(ids), status__in=OPEN).order_by("id"))
    begun = [row for row in rows if row.status == QuestionStatus.RUNNING]
    rates = rates_at(timezone.now())
    price = Charge(search_charge(rates), rates.currency)
    free = free_endings([Ending(row.id, price) for row in begun])
    for row in rows:
        row.status, row.completed_at = QuestionStatus.CANCELED, timezone.now()
        if row in begun and row.id not in free:
            _charge(row)
            ended = Ended.CHARGED
        else:
            ended = Ended.FREE if row in begun else Ended.VOID
        row.save()
        quotas.settle([row.id], ended=ended)
    return rows


def retry_search(*, search_id: UUID) -> Search:
    """Run a search again that failed or was canceled, with the same id.

    Raises Refused: search_over, search_still_open, not_retryable; MonthlyBudgetExhausted, and as hold_search().
    """
    search: Search = Search.objects.get(id=search_id)
    if search.status == QuestionStatus.SUCCEEDED:
        raise Refused("search_over", "The search has its results already.")
    if search.status in OPEN:
        raise Refused("search_still_open", "The search is still open, so there is nothing to retry.")
    if search.charge_amount:
        raise Refused("not_retryable", "This search was begun before it was canceled and is charged; search anew.")
    budgets.require_left()
    key = quotas.key_of(search_id)
    _enqueue(search_id)
    Search.objects.filter(id=search_id).update(
        status=QuestionStatus.QUEUED, error_code="", error_message="", completed_at=None
    )
    hold_search(search_id, api_key_id=key, again=True)
    reopened: Search = Search.objects.get(id=search_id)
    return reopened


def revive(job: Job) -> None:
    """Run the ended job of a search again: the search is run again. Raises Refused as retry_search()."""
    if not Search.objects.filter(id=job.subject_id).exists():
        raise Refused("not_retryable", "The search of this job is gone.")
    retry_search(search_id=job.subject_id)


def cancel(job: Job) -> None:
    """Cancel the search of an open job."""
    cancel_search(search_id=job.subject_id)


def _enqueue(search_id: UUID) -> None:
    enqueue(
        kind=JobKind.SEARCH_EVENTS,
        subject_id=search_id,
        dedupe_key=job_key(search_id),
        max_attempts=MAX_ATTEMPTS,
        priority=PRIORITY,
    )


# --- results of a video in stored searches ----------------------------------------------------------------------------


def forget_video(video_id: UUID) -> None:
    """Remove the results of a video from every stored search, before the video's rows are deleted."""
    for search in _showing(video_id):
        remaining = [result for result in search.results if result["video_id"] != str(video_id)]
        Search.objects.filter(id=search.id).update(results=remaining)


def forget_frames(video_id: UUID, index_version: int) -> None:
    """Remove the thumbnails of an index version from stored results, which keep their words and times."""
    read = SearchVideo.objects.filter(video_id=video_id, index_version=index_version).values("search_id")
    for search in _showing(video_id, id__in=read):
        results = [
            {**result, "frame_key": ""} if result["video_id"] == str(video_id) else result for result in search.results
        ]
        Search.objects.filter(id=search.id).update(results=results)


def _showing(video_id: UUID, **more: Any) -> Iterator[Search]:
    """Lock and yield the searches with a result of the video; waits for a search that is being stored."""
    scoped = SearchVideo.objects.filter(video_id=video_id).values("search_id")
    shown = Q(results__contains=[{"video_id": str(video_id)}]) | Q(status__in=OPEN)
    rows = Search.objects.select_for_update().filter(shown, id__in=scoped).filter(**more)
    return rows.order_by("id").iterator(chunk_size=100)
