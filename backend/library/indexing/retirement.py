"""Retire a version that nobody reads any more: its rows are deleted, its entry in the video's history stays."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.library.indexing.versions import version_of
from backend.library.models import IndexVersion, Segment, Video

RETIRE_ATTEMPTS = 10_000
"""Maximum attempts to remove a version in use. With the queue's longest wait in between they span weeks, which a
comparison may wait for its turn."""


def grace() -> timedelta:
    """Return how long a replaced version is kept for the questions that still run on it."""
    return timedelta(seconds=settings.RETIRE_AFTER_SECONDS)


def enqueue_retirement(version: IndexVersion, *, after: timedelta) -> None:
    """Queue the removal of a version's contents."""
    enqueue(
        kind=JobKind.RETIRE_VERSION,
        subject_id=version.id,
        video_id=version.video_id,
        dedupe_key=f"retire:{version.id}",
        max_attempts=RETIRE_ATTEMPTS,
        wait=after,
    )


def retirable(version_id: UUID) -> IndexVersion | None:
    """Return the version if its rows may be deleted; None if it is gone, or if its video reads or builds it.

    A replaced version is never used again, so a version that can be retired once stays so.
    """
    version = version_of(version_id)
    if version is None:
        return None
    video = Video.objects.get(id=version.video_id)
    in_use = version.n in (video.active_index_version, video.building_index_version)
    return None if in_use else version


def is_written(version: IndexVersion) -> bool:
    """Whether a worker may still write to the version, because one of its index jobs holds a lease."""
    segments = Segment.objects.filter(video_id=version.video_id, index_version=version.n).values("id")
    leased = Job.objects.filter(
        Q(kind=JobKind.OBSERVE_SEGMENT, subject_id__in=segments)
        | Q(kind__in=[JobKind.ASSEMBLE_VIDEO, JobKind.SUMMARISE_VIDEO], subject_id=version.id),
        state=JobState.RUNNING,
        lease_until__gt=Now(),
    )
    return bool(leased.exists())


def drop_segments(version: IndexVersion) -> None:
    """Delete the version's segments."""
    Segment.objects.filter(video_id=version.video_id, index_version=version.n).delete()
