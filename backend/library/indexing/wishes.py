"""What people decided about an index job, for the jobs in the queue that it is made of."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from django.db.models import QuerySet

from backend.jobs.models import Job, JobKind, JobRank
from backend.library.models import SourceType, Video

INDEX_KINDS = (
    JobKind.FETCH_SEGMENT,
    JobKind.INGEST_SEGMENT,
    JobKind.PROBE_VIDEO,
    JobKind.OBSERVE_SEGMENT,
    JobKind.ASSEMBLE_VIDEO,
    JobKind.SUMMARISE_VIDEO,
)
"""Kinds of the jobs that an index job is made of."""


class Wishes(TypedDict):
    """Arguments of backend.jobs.services.enqueue()."""

    rank: JobRank
    paused: bool
    deadline_at: datetime | None


def jobs_of(video_id: UUID) -> QuerySet[Job]:
    """Return the jobs in the queue that the index job of a video is made of."""
    rows: QuerySet[Job] = Job.objects.filter(video_id=video_id, kind__in=INDEX_KINDS)
    return rows


def wishes_of(video_id: UUID) -> Wishes:
    """Return what a new job of the video inherits from its index job.

    A recording that still grows comes before the tenant's archive, unless somebody gave it another rank. A job that
    is enqueued while a person decides may miss the decision; then it runs once as before.
    """
    row: dict[str, Any] = Video.objects.values(
        "source_type", "input_closed_at", "index_rank", "index_paused_at", "index_deadline_at"
    ).get(id=video_id)
    grows = row["source_type"] == SourceType.SEGMENTS and row["input_closed_at"] is None
    rank = JobRank(row["index_rank"])
    return {
        "rank": JobRank.HIGH if grows and rank == JobRank.NORMAL else rank,
        "paused": row["index_paused_at"] is not None,
        "deadline_at": row["index_deadline_at"],
    }


def forget_wishes(video: Video) -> None:
    """Clear a pause and a deadline on the unsaved row, because the index job is over. Its rank stays for a retry."""
    video.index_paused_at = video.index_deadline_at = None
