"""What remains to be swept of deleted videos and questions, in the caller's transaction.

A worker whose lease ended may still be storing an object when its subject is deleted, such as a worker that was
suspended. So each deletion leaves a tombstone that names the folders, and a job sweeps these again until it finds
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now

from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.library.models import Tombstone, Video, VideoStatus
from backend.library.storage import video_prefix
from backend.tenancy.context import current_tenant_id

MARGIN = timedelta(minutes=5)
"""Time beyond the limit of a task after which no process of that task runs any more."""
ATTEMPTS = 20


def sweep_after() -> timedelta:
    """Return the time after which no worker writes any more that held a lease before."""
    return timedelta(seconds=settings.TASK_SECONDS) + MARGIN


def bury_video(video_id: UUID, prefixes: Collection[str]) -> None:
    """Bury a video: the folders, and its own."""
    bury(video_id, {*prefixes, video_prefix(current_tenant_id(), video_id)})


def bury(subject_id: UUID, prefixes: Collection[str], *, at_once: bool = False) -> None:
    """Record that the folders of a deleted video, a question or an upload are to be swept, and queue the sweep.

    at_once: the folders hold objects now, which are erased without waiting for the sweep. Locks the jobs, then the
    tombstone.
    """
    if at_once:
        enqueue(
            kind=JobKind.ERASE_PICTURES,
            subject_id=subject_id,
            dedupe_key=f"erase-pictures:{subject_id}",
            max_attempts=ATTEMPTS,
        )
    queue_sweep(subject_id)
    grave, _ = Tombstone.objects.select_for_update().get_or_create(tenant_id=current_tenant_id(), subject_id=subject_id)
    kept = sorted({*grave.prefixes, *prefixes})
    Tombstone.objects.filter(id=grave.id).update(prefixes=kept, buried_at=Now())


def queue_sweep(subject_id: UUID) -> None:
    """Queue the sweep of what is buried after the longest lease."""
    # Without video_id, because the job's row must outlive the video's row.
    enqueue(
        kind=JobKind.SWEEP_DELETED,
        subject_id=subject_id,
        dedupe_key=f"sweep-deleted:{subject_id}",
        max_attempts=ATTEMPTS,
        wait=sweep_after(),
    )


def bury_deleted(written: Mapping[UUID, Collection[str]]) -> None:
    """Bury those of the videos that are deleted. written: folders by video, into which a worker stored objects."""
    present = Video.objects.filter(id__in=list(written)).exclude(status=VideoStatus.DELETING)
    for video_id in sorted(set(written) - set(present.values_list("id", flat=True))):
        bury_video(video_id, written[video_id])


def grave_of(subject_id: UUID) -> Tombstone | None:
    """Return the tombstone of a deleted video or question; None if it has been swept."""
    grave: Tombstone | None = Tombstone.objects.filter(subject_id=subject_id).first()
    return grave


def level(grave: Tombstone) -> bool:
    """Delete a tombstone that nobody has renewed since it was read. Returns whether it is gone."""
    Tombstone.objects.filter(id=grave.id, buried_at=grave.buried_at).delete()
    return not Tombstone.objects.filter(id=grave.id).exists()
