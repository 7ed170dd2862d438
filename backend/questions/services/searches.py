"""Searches: the events nearest to a query, ranked, without an answer. Asked, begun, found, failed, forgotten, read.

Each function runs in the caller's transaction. A search's row is locked before the rows of its scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from backend.billing.services import budgets
from backend.billing.services import ledger as billing
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.library.models import VideoStatus
from backend.questions.models import OPEN, QuestionStatus, Search, SearchVideo
from backend.questions.queries.scopes import ScopeWish, resolve
from backend.questions.refusals import invalid
from backend.questions.services.questions import PRIORITY, usage_of
from backend.tenancy.context import current_tenant_id
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings

if TYPE_CHECKING:
    from gpu_workers.engine.models.roles import ModelCall

# Views that find by similarity; the graph adds what is connected to what they found.
FINDING_VIEWS = ("event", "entity", "frame", "transcript")
VIEWS = (*FINDING_VIEWS, "graph")
DEFAULT_WEIGHTS: dict[str, float] = {view: RetrievalSettings().weights.get(view, 1.0) for view in VIEWS}
# Somebody waits for it, so it is not tried for minutes.
MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an event was found: by which view, how near, and what matched in words ("" if the event itself did)."""

    view: str
    similarity: float
    text: str


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """One result. n: its number in its video. Times in ms of its video. frame_ms, frame_key: its best frame in the
    scope, None and "" without."""

    video_id: UUID
    event_id: UUID
    n: int
    start_ms: int
    end_ms: int
    summary: str
    score: float
    frame_ms: int | None
    frame_key: str
    reasons: tuple[Reason, ...]


def job_key(search_id: UUID) -> str:
    """The dedupe key of a search's job."""
    return f"search:{search_id}"


def create_search(
    *,
    text: str,
    video_ids: Sequence[UUID] = (),
    collection_id: UUID | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
    views: Mapping[str, float] | None = None,
    fusion: str = "contrast",
    limit: int = 16,
    api_key_id: UUID | None = None,
) -> Search:
    """A search with its scope and job. views: weights that take the place of the product's.

    Raises QuestionRefused: empty_query, invalid_span, unknown_view, no_views, and as scopes.resolve() does; and
    BudgetExhausted.
    """
    text = text.strip()
    if not text:
        raise invalid("empty_query", "A search needs words.", "/query")
    if start_ms is not None and end_ms is not None and start_ms >= end_ms:
        raise invalid("invalid_span", "end_ms must be greater than start_ms.", "/end_ms")
    weights = weights_of(views or {})
    videos = resolve(ScopeWish(frozenset(video_ids), collection_id))
    budgets.require_left()
    tenant_id = current_tenant_id()
    search: Search = Search.objects.create(
        tenant_id=tenant_id,
        text=text,
        start_ms=start_ms,
        end_ms=end_ms,
        settings={
            "views": weights,
            "fusion": fusion,
            "limit": limit,
            # A search has no charge in the ledger that would remember its key.
            "api_key_id": None if api_key_id is None else str(api_key_id),
        },
    )
    SearchVideo.objects.bulk_create([SearchVideo(tenant_id=tenant_id, search=search, video=video) for video in videos])
    enqueue(
        kind=JobKind.SEARCH_EVENTS,
        subject_id=search.id,
        dedupe_key=job_key(search.id),
        max_attempts=MAX_ATTEMPTS,
        priority=PRIORITY,
    )
    return search


def weights_of(views: Mapping[str, float]) -> dict[str, float]:
    """The weight of every view, 0 for one that is left out.

    Raises QuestionRefused: unknown_view, or no_views when nothing is left that finds by similarity.
    """
    for view in views:
        if view not in VIEWS:
            raise invalid("unknown_view", f"The views are {', '.join(VIEWS)}.", f"/views/{view}")
    weights = {**DEFAULT_WEIGHTS, **views}
    if not any(weights[view] for view in FINDING_VIEWS):
        raise invalid("no_views", f"At least one of {', '.join(FINDING_VIEWS)} needs a weight above 0.", "/views")
    return weights


def _open_search(search_id: UUID) -> Search | None:
    """The search's locked row while it has no outcome."""
    found: Search | None = Search.objects.select_for_update().filter(id=search_id, status__in=OPEN).first()
    return found


def begin(*, search_id: UUID) -> Search | None:
    """Mark a search as running and pin the index version and extent of each video that it will read.

    Nothing is read of a video that is being deleted. None when the search is over.
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
    *, search_id: UUID, found: Sequence[FoundEvent], calls: Sequence[ModelCall], began_at: datetime, retrieval_ms: int
) -> Search | None:
    """Write what a search found and what it consumed. None when it is over already.

    Events of a video that is gone, or going, are left out: who deletes a video takes what searches show of it away
    while this row is locked, or after it.
    """
    search = _open_search(search_id)
    if search is None:
        return None
    scope = SearchVideo.objects.filter(search_id=search_id).exclude(video__status=VideoStatus.DELETING)
    present = set(scope.values_list("video_id", flat=True))
    key = search.settings.get("api_key_id")
    billing.record_model_calls(
        source_type=billing.SEARCH, source_id=search.id, calls=calls, api_key_id=UUID(key) if key else None
    )
    now = timezone.now()
    search.status = QuestionStatus.SUCCEEDED
    search.results = [_stored(event) for event in found if event.video_id in present]
    search.usage = usage_of(calls)
    search.completed_at = now
    search.timings = {
        "queue_ms": max(0, _ms(search.created_at, began_at)),
        "retrieval_ms": retrieval_ms,
        "total_ms": max(0, _ms(search.created_at, now)),
    }
    search.save()
    return search


def _stored(event: FoundEvent) -> dict[str, Any]:
    return {**asdict(event), "video_id": str(event.video_id), "event_id": str(event.event_id)}


def _ms(since: datetime, until: datetime) -> int:
    return round((until - since).total_seconds() * 1000)


def fail_search(*, search_id: UUID, code: str, message: str) -> None:
    """End a search that cannot be done."""
    search = _open_search(search_id)
    if search is None:
        return
    search.status = QuestionStatus.FAILED
    search.error_code, search.error_message = code, message
    search.completed_at = timezone.now()
    search.save()


# --- what stored searches show of a video -----------------------------------------------------------------------------


def forget_video(video_id: UUID) -> None:
    """Take the results of a video out of every stored search, before its rows go."""
    for search in _showing(video_id):
        kept = [result for result in search.results if result["video_id"] != str(video_id)]
        Search.objects.filter(id=search.id).update(results=kept)


def forget_frames(video_id: UUID, index_version: int) -> None:
    """Results of an index version that goes keep their words and times; its thumbnails are no more."""
    read = SearchVideo.objects.filter(video_id=video_id, index_version=index_version).values("search_id")
    for search in _showing(video_id, id__in=read):
        results = [
            {**result, "frame_key": ""} if result["video_id"] == str(video_id) else result for result in search.results
        ]
        Search.objects.filter(id=search.id).update(results=results)


def _showing(video_id: UUID, **more: Any) -> Iterator[Search]:
    """Lock the searches with a result of the video. One that is being stored is waited for, and read as stored."""
    scoped = SearchVideo.objects.filter(video_id=video_id).values("search_id")
    shown = Q(results__contains=[{"video_id": str(video_id)}]) | Q(status__in=OPEN)
    found = Search.objects.select_for_update().filter(shown, id__in=scoped).filter(**more)
    return found.order_by("id").iterator(chunk_size=100)


# --- reads ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchView:
    """A search with the videos of its scope that still exist."""

    search: Search
    videos: tuple[UUID, ...]


def searches(*, status: str = "", video_id: UUID | None = None) -> QuerySet[Search]:
    found: QuerySet[Search] = Search.objects.all()
    if status:
        found = found.filter(status=status)
    if video_id is not None:
        found = found.filter(id__in=SearchVideo.objects.filter(video_id=video_id).values("search_id"))
    return found


def views_of(rows: Sequence[Search]) -> list[SearchView]:
    """The searches with their scopes, in one statement."""
    videos: dict[UUID, list[UUID]] = {row.id: [] for row in rows}
    for search_id, video_id in (
        SearchVideo.objects.filter(search_id__in=videos).order_by("video_id").values_list("search_id", "video_id")
    ):
        videos[search_id].append(video_id)
    return [SearchView(row, tuple(videos[row.id])) for row in rows]


def is_over(search_id: UUID) -> bool:
    return Search.objects.filter(id=search_id).exclude(status__in=OPEN).exists()
