"""What people decided about an index job, for the jobs in the queue that it is made of."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict
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

    A job that is enqueued while a person decides may miss the decision; then it runs once as before.
    """
    columns = ("source_type", "input_closed_at", "index_rank", "index_paused_at", "index_deadline_at")
    video: Video = Video.objects.only(*columns).get(id=video_id)
    return {
        "rank": rank_among_jobs(video, JobRank(video.index_rank)),
        "paused": video.index_paused_at is not None,
        "deadline_at": video.index_deadline_at,
    }


def rank_among_jobs(video: Video, rank: JobRank) -> JobRank:
    """Return the rank of the jobs of an index job that was given this rank.

    A recording that still grows comes before the tenant's archive, unless somebody gave it another rank than normal.
    """
    grows = video.source_type == SourceType.SEGMENTS and video.input_closed_at is None
    return JobRank.HIGH if grows and rank == JobRank.NORMAL else rank


def forget_wishes(video: Video) -> None:
    """Clear a pause and a deadline on the unsaved row, because the index job is over. Its rank stays for a retry."""
    video.index_paused_at = video.index_deadline_at = None
