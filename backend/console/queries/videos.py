"""Reads of one video, its recording and its index."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from backend.console.queries.role import of_same_tenant, rows
from backend.ekg.models import Overview
from backend.jobs.models import Job
from backend.library.models import IndexVersion, InputSegment, Segment, Video
from backend.questions.models import QuestionVideo


def latest_versions(video: Video) -> QuerySet[Any]:
    """Return the latest 20 index versions of a video, the latest first."""
    return of_same_tenant(IndexVersion, video).filter(video_id=video.id).order_by("-n")[:20]


def input_segments(video: Video) -> QuerySet[Any]:
    """Return the pieces of a video's recording, in order."""
    return of_same_tenant(InputSegment, video).filter(video_id=video.id).order_by("n")


def segments(video: Video) -> QuerySet[Any]:
    """Return the segments of the active index version, in order."""
    of_video = of_same_tenant(Segment, video).filter(video_id=video.id, index_version=video.active_index_version)
    return of_video.order_by("n")


def overview(video: Video) -> Overview | None:
    """Return the global summary of the active index version; None if it is not written yet."""
    found = of_same_tenant(Overview, video).filter(video_id=video.id, index_version=video.active_index_version)
    row: Overview | None = found.first()
    return row


def latest_jobs(video: Video) -> QuerySet[Any]:
    """Return the latest 50 jobs of a video, the latest first."""
    return of_same_tenant(Job, video).filter(video_id=video.id).order_by("-id")[:50]


def question_count(video: Video) -> int:
    """Return the number of questions whose scope contains the video."""
    return of_same_tenant(QuestionVideo, video).filter(video_id=video.id).count()


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


def index_counts(video: Video) -> dict[str, Any]:
    """Return the number of rows of each kind, and of gaps, in the active index version."""
    of_version = "tenant_id = %(tenant)s AND video_id = %(video)s AND index_version = %(version)s"
    counted = ", ".join(
        f"(SELECT count(*) FROM ekg_{table} WHERE {of_version}) AS {table}"  # noqa: S608
        for table in INDEX_TABLES
    )
    gaps = f"(SELECT count(*) FROM ekg_chunk WHERE {of_version} AND gap IS NOT NULL)"  # noqa: S608
    named = {"tenant": video.tenant_id, "video": video.id, "version": video.active_index_version}
    return rows(f"SELECT {counted}, {gaps} AS gaps", named)[0]
