"""Reads of one video, its recording and its index."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.console.queries.role import across_tenants, rows
from backend.ekg.models import Overview
from backend.jobs.models import Job
from backend.library.models import IndexVersion, InputSegment, Segment
from backend.questions.models import QuestionVideo


def latest_versions(video_id: UUID) -> QuerySet[Any]:
    """Return the latest 20 index versions of a video, the latest first."""
    return across_tenants(IndexVersion).filter(video_id=video_id).order_by("-n")[:20]


def input_segments(video_id: UUID) -> QuerySet[Any]:
    """Return the first 500 pieces of a video's recording, in order."""
    return across_tenants(InputSegment).filter(video_id=video_id).order_by("n")[:500]


def segments(video_id: UUID, version: int) -> QuerySet[Any]:
    """Return the first 500 segments of an index version, in order."""
    return across_tenants(Segment).filter(video_id=video_id, index_version=version).order_by("n")[:500]


def overview(video_id: UUID, version: int) -> Overview | None:
    """Return the global summary of an index version; None if it is not written yet."""
    row: Overview | None = across_tenants(Overview).filter(video_id=video_id, index_version=version).first()
    return row


def latest_jobs(video_id: UUID) -> QuerySet[Any]:
    """Return the latest 50 jobs of a video, the latest first."""
    return across_tenants(Job).filter(video_id=video_id).order_by("-id")[:50]


def question_count(video_id: UUID) -> int:
    """Return the number of questions whose scope contains the video."""
    return across_tenants(QuestionVideo).filter(video_id=video_id).count()


INDEX_TABLES = (
    "chunk",
    "event",
    "frame",
    "entity",
    "mention",
    "relation",
    "transcriptline",
    "track",
    "trackedobject",
    "topic",
)
"""Tables of the Event Knowledge Graph, without their prefix, in the order of the page."""


def index_counts(video_id: UUID, version: int) -> dict[str, Any]:
    """Return the number of rows of each kind, and of gaps, in an index version."""
    of_version = "video_id = %(video)s AND index_version = %(version)s"
    counted = ", ".join(
        f"(SELECT count(*) FROM ekg_{table} WHERE {of_version}) AS {table}"  # noqa: S608
        for table in INDEX_TABLES
    )
    gaps = f"(SELECT count(*) FROM ekg_chunk WHERE {of_version} AND gap IS NOT NULL)"  # noqa: S608
    return rows(f"SELECT {counted}, {gaps} AS gaps", {"video": video_id, "version": version})[0]
