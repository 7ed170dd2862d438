"""The life of an index version: begun, made active, failed, replaced. Each runs in the caller's transaction.

A job's row is locked before its video's, as in every worker's checkpoint, or two of them would wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.library import payloads
from backend.library.models import IndexState, IndexVersion, Video, VideoStatus
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused
from backend.webhooks.services import emit

# With the queue's longest wait between two attempts these span days: longer than any question runs.
RETIRE_ATTEMPTS = 1_000


def create_video(**columns: Any) -> Video:
    """A video with its first index version, which is to be built."""
    video: Video = Video.objects.create(tenant_id=current_tenant_id(), **columns)
    IndexVersion.objects.create(tenant_id=video.tenant_id, video_id=video.id, n=video.building_index_version)
    return video


def enqueue_probe(video_id: UUID) -> None:
    """Ring for the job that finds out what there is to index and cuts it into segments."""
    enqueue(kind=JobKind.PROBE_VIDEO, subject_id=video_id, video_id=video_id, dedupe_key=f"probe:{video_id}")


def begin_reindex(*, video_id: UUID) -> Video:
    """Begin a new version beside the one that questions read; that of a failed video is read while it is built.

    Raises Refused: video_deleting, already_indexing, not_probed.
    """
    enqueue_probe(video_id)
    video: Video = Video.objects.select_for_update().get(id=video_id)
    if video.status == VideoStatus.DELETING:
        raise Refused("video_deleting", "This video is being deleted.")
    if video.status not in (VideoStatus.READY, VideoStatus.FAILED) or is_reindexing(video):
        raise Refused("already_indexing", "This video is being indexed already.")
    if video.duration_ms is None:
        raise Refused("not_probed", "The recording could not be read, so there is nothing to index; send it again.")
    versions = IndexVersion.objects.filter(video_id=video_id)
    n = versions.aggregate(last=Max("n"))["last"] + 1
    IndexVersion.objects.create(tenant_id=video.tenant_id, video_id=video_id, n=n)
    video.building_index_version = n
    if video.status == VideoStatus.FAILED:
        _retire(versions.get(n=video.active_index_version), after=_grace())
        video.status, video.active_index_version = VideoStatus.INDEXING, n
        video.error_code = video.error_message = ""
        video.indexed_until_ms, video.stage_ms = 0, {}
        video.index_started_at, video.ready_at = timezone.now(), None
    video.save()
    return video


def is_reindexing(video: Video) -> bool:
    """Whether a version is being built beside the one that is read."""
    return bool(video.building_index_version != video.active_index_version)


def set_indexed_until(*, video_id: UUID, version: int, ms: int) -> None:
    """How far a version being built has come; that of the video follows if questions read this version."""
    video: Video = Video.objects.select_for_update().get(id=video_id)
    IndexVersion.objects.filter(video_id=video_id, n=version).update(indexed_until_ms=ms)
    if video.active_index_version == version:
        Video.objects.filter(id=video_id).update(indexed_until_ms=ms)


def activate(*, video_id: UUID, version: int, stage_ms: Mapping[str, float]) -> None:
    """A version is complete: questions read it from now on, customers are told, the one before is retired.

    Nothing happens to a version that is not being built any more.
    """
    video: Video = Video.objects.select_for_update().get(id=video_id)
    row = _building(video, version)
    if row is None:
        return
    now = timezone.now()
    row.state, row.ready_at = IndexState.READY, now
    row.indexed_until_ms, row.stage_ms = video.duration_ms or 0, dict(stage_ms)
    row.save()
    if is_reindexing(video):
        replaced = IndexVersion.objects.get(video_id=video_id, n=video.active_index_version)
        IndexVersion.objects.filter(id=replaced.id).update(state=IndexState.SUPERSEDED)
        _retire(replaced, after=_grace())
        video.index_started_at = row.created_at
    video.status, video.ready_at = VideoStatus.READY, now
    video.active_index_version = version
    video.indexed_until_ms, video.stage_ms = row.indexed_until_ms, row.stage_ms
    video.version += 1
    video.save()
    emit(type="video.ready", resource_id=video.id, data=payloads.video_data(video), sequence=version)


def fail_version(*, video_id: UUID, version: int, code: str, message: str) -> None:
    """A version cannot be built: the video has failed with it, unless it still answers from an older one.

    Then that one stays, and what was built of the new one is removed. Nothing happens to a version that is not being
    built any more, or to a video that is being deleted.
    """
    video: Video | None = Video.objects.select_for_update().filter(id=video_id).first()
    row = _building(video, version) if video is not None else None
    if video is None or row is None:
        return
    row.state, row.error_code, row.error_message = IndexState.FAILED, code, message
    row.save()
    if is_reindexing(video):
        video.building_index_version = video.active_index_version
        video.save()
        _retire(row, after=timedelta(0))
        data = payloads.reindex_data(video, row)
        emit(type="video.reindex_failed", resource_id=video.id, data=data, sequence=version)
        return
    video.status, video.error_code, video.error_message = VideoStatus.FAILED, code, message
    video.save()
    emit(type="video.failed", resource_id=video.id, data=payloads.video_data(video), sequence=version)


def _building(video: Video, version: int) -> IndexVersion | None:
    if video.status == VideoStatus.DELETING:
        return None
    row: IndexVersion | None = (
        IndexVersion.objects.select_for_update().filter(video_id=video.id, n=version, state=IndexState.BUILDING).first()
    )
    return row


def _retire(row: IndexVersion, *, after: timedelta) -> None:
    enqueue(
        kind=JobKind.RETIRE_VERSION,
        subject_id=row.id,
        video_id=row.video_id,
        dedupe_key=f"retire:{row.id}",
        max_attempts=RETIRE_ATTEMPTS,
        not_before=timezone.now() + after,
    )


def _grace() -> timedelta:
    return timedelta(seconds=settings.RETIRE_AFTER_SECONDS)
