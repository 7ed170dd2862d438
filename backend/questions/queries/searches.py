"""Reads of searches, within the entered tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.questions.models import OPEN, Failure, Search, SearchVideo, failure_of
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.moments import FoundSpan, RankedMoment, moments


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an event was found: the view, its similarity, and the words that matched ("" if the event itself matched)."""

    view: str
    similarity: float
    text: str


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """One result. n: the event's number in its video. start_ms, end_ms, frame_ms: times of the video.

    frame_ms, frame_key: the event's best frame in the scope, None and "" if it has none there.
    """

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

    @classmethod
    def stored(cls, result: Mapping[str, Any]) -> FoundEvent:
        """Return a result as a search stores it in `results`."""
        ids = {name: UUID(result[name]) for name in ("video_id", "event_id")}
        reasons = tuple(Reason(**reason) for reason in result["reasons"])
        return cls(**{**result, **ids, "reasons": reasons})


@dataclass(frozen=True, slots=True)
class SearchView:
    """A search with the videos of its scope that still exist."""

    search: Search
    video_ids: tuple[UUID, ...]

    @property
    def results(self) -> tuple[FoundEvent, ...]:
        """Return the events of the results, best first."""
        return tuple(FoundEvent.stored(result) for result in self.search.results)

    @property
    def result_count(self) -> int:
        """Return the number of results."""
        return len(self.search.results)

    @property
    def moments(self) -> Sequence[RankedMoment]:
        """Return the stretches of time that the results make up, best first."""
        return moments(
            [
                FoundSpan(event.video_id, event.event_id, event.n, Span(event.start_ms, event.end_ms), event.score)
                for event in self.results
            ]
        )

    @property
    def usage(self) -> dict[str, Any] | None:
        """Return the consumption of the search's model calls; None while it has no results."""
        return self.search.usage or None

    @property
    def timings(self) -> dict[str, int] | None:
        """Return durations in ms; None while the search has no results."""
        return self.search.timings or None

    @property
    def error(self) -> Failure | None:
        """Return why the search failed; None if it did not."""
        return failure_of(self.search)


def searches(*, status: str = "", video_id: UUID | None = None) -> QuerySet[Search]:
    """Return the searches of the entered tenant. status "" and video_id None restrict nothing."""
    rows: QuerySet[Search] = Search.objects.all()
    if status:
        rows = rows.filter(status=status)
    if video_id is not None:
        rows = rows.filter(id__in=SearchVideo.objects.filter(video_id=video_id).values("search_id"))
    return rows


def views_of(rows: Sequence[Search]) -> list[SearchView]:
    """Return the searches with their scopes, read in one statement."""
    videos: dict[UUID, list[UUID]] = {row.id: [] for row in rows}
    scopes = SearchVideo.objects.filter(search_id__in=videos).order_by("video_id")
    for search_id, video_id in scopes.values_list("search_id", "video_id"):
        videos[search_id].append(video_id)
    return [SearchView(row, tuple(videos[row.id])) for row in rows]


def view_of(search: Search) -> SearchView:
    """Return one search with its scope."""
    return views_of([search])[0]


def is_over(search_id: UUID) -> bool:
    """Whether a search has an outcome."""
    return Search.objects.filter(id=search_id).exclude(status__in=OPEN).exists()
