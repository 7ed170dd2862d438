"""Fail a version that cannot be built."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from backend.library import payloads
from backend.library.indexing.retirement import enqueue_retirement
from backend.library.indexing.versions import is_reindexing, lock_building
from backend.library.models import IndexState, Video, VideoStatus
from backend.webhooks.services import emit


def fail_version(*, video_id: UUID, version: int, code: str, message: str) -> None:
    """End a version that cannot be built. The video fails with it, unless an older version still answers.

    In that case the older version stays, and the rows of the new version are removed. Does nothing for a version that
    is no longer being built, or for a video that is being deleted.
    """
    video: Video | None = Video.objects.select_for_update(no_key=True).filter(id=video_id).first()
    row = lock_building(video, version) if video is not None else None
    if video is None or row is None:
        return
    row.state, row.error_code, row.error_message = IndexState.FAILED, code, message
    row.save()
    if is_reindexing(video):
        video.building_index_version = video.active_index_version
        video.save()
        enqueue_retirement(row, after=timedelta(0))
        data = payloads.reindex_data(video, row)
        emit(type="video.reindex_failed", resource_id=video.id, data=data, sequence=version)
        return
    video.status, video.error_code, video.error_message = VideoStatus.FAILED, code, message
    video.save()
    emit(type="video.failed", resource_id=video.id, data=payloads.video_data(video), sequence=version)
