"""Reads and locks of index versions that all steps share, inside the open tenant_scope."""

from __future__ import annotations

from uuid import UUID, uuid5

from django.db.models import Sum

from backend.library.models import IndexState, IndexVersion, Video, VideoStatus


def version_of(version_id: UUID) -> IndexVersion | None:
    """Return the index version that a job names as its subject; None once its video is deleted."""
    version: IndexVersion | None = IndexVersion.objects.filter(id=version_id).first()
    return version


def is_indexing(video_id: UUID, version: int) -> bool:
    """Whether work on the version is still useful.

    Work on a failed version, or on a video being deleted, is neither shown nor billed. Nothing is written to a version
    before it is repaired.
    """
    return bool(
        IndexVersion.objects.filter(
            video_id=video_id,
            n=version,
            state=IndexState.BUILDING,
            repair=False,
            video__status__in=[VideoStatus.INDEXING, VideoStatus.READY],
        ).exists()
    )


def is_settled(video_id: UUID, version: int) -> bool:
    """Whether the version is ready and questions read it, while nothing of the video is being indexed."""
    return bool(
        IndexVersion.objects.filter(
            video_id=video_id,
            n=version,
            state=IndexState.READY,
            video__status=VideoStatus.READY,
            video__source_deleted_at=None,
            video__active_index_version=version,
            video__building_index_version=version,
        ).exists()
    )


def is_reindexing(video: Video) -> bool:
    """Whether a version is being built next to the one that questions read."""
    return bool(video.building_index_version != video.active_index_version)


def lock_building(video: Video, version: int) -> IndexVersion | None:
    """Lock and return a version that is being built; None if it has ended or its video is being deleted.

    The caller holds the lock on the video's row.
    """
    if video.status == VideoStatus.DELETING:
        return None
    row: IndexVersion | None = (
        IndexVersion.objects.select_for_update().filter(video_id=video.id, n=version, state=IndexState.BUILDING).first()
    )
    return row


def building_round(video_id: UUID) -> int:
    """Return how often an index of the video was begun: its versions and the retries of each, as events number them."""
    versions = IndexVersion.objects.filter(video_id=video_id)
    latest = versions.order_by("-n").values_list("n", flat=True).first() or 1
    return int(latest) + int(versions.aggregate(n=Sum("retries", default=0))["n"])


def round_of(video_id: UUID, version: int, work_id: UUID) -> UUID:
    """Return the id under which the ledger records a piece of work on the version: its own in the first round.

    A retry works again, and what an attempt before it consumed stands as recorded.
    """
    retries = IndexVersion.objects.values_list("retries", flat=True).get(video_id=video_id, n=version)
    return uuid5(work_id, f"retry {retries}") if retries else work_id
