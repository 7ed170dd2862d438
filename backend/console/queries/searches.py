"""Reads of one search and its scope."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from backend.console.queries.role import across_tenants
from backend.jobs.models import Job
from backend.questions.models import SearchVideo


def videos(search_id: UUID) -> QuerySet[SearchVideo]:
    """Return the scope of a search: its videos with their pinned versions."""
    rows: QuerySet[SearchVideo] = across_tenants(SearchVideo).filter(search_id=search_id)
    return rows.select_related("video").order_by("video_id")


def latest_job(search_id: UUID) -> Job | None:
    """Return the latest job of a search, if any."""
    row: Job | None = across_tenants(Job).filter(subject_id=search_id).order_by("-id").first()
    return row
