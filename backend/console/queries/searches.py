"""Reads of one search and its scope."""

from __future__ import annotations

from django.db.models import QuerySet

from backend.console.queries.role import joined, of_same_tenant
from backend.jobs.models import Job
from backend.questions.models import Search, SearchVideo


def videos(search: Search) -> QuerySet[SearchVideo]:
    """Return the scope of a search: its videos with their pinned versions."""
    rows: QuerySet[SearchVideo] = joined(of_same_tenant(SearchVideo, search), "video").filter(search_id=search.id)
    return rows.order_by("video_id")


def latest_job(search: Search) -> Job | None:
    """Return the latest job of a search, if any."""
    row: Job | None = of_same_tenant(Job, search).filter(subject_id=search.id).order_by("-id").first()
    return row
