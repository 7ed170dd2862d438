"""Begin an index version: the first of a new video, or one more of a video that is indexed again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.library.indexing.retirement import enqueue_retirement, grace
from backend.library.indexing.versions import is_reindexing
from backend.library.indexing.wishes import wishes_of
from backend.library.models import IndexVersion, Video, VideoStatus
from backend.library.services.media_quota import hold_index
from backend.library.services.video_quota import require_room_for_video
from backend.tenancy.callers import current_caller
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused


def create_video(**columns: Any) -> Video:
    """Create a video together with its first index version, which is to be built.

    Raises Refused `video_quota_exceeded` (402).
    """
    require_room_for_video()
    caller = current_caller()
    columns = {"api_key_id": caller.api_key_id, "person_id": caller.person_id, **columns}
    video: Video = Video.objects.create(tenant_id=current_tenant_id(), **columns)
    IndexVersion.objects.create(tenant_id=video.tenant_id, video_id=video.id, n=video.building_index_version)
    return video


def enqueue_probe(video_id: UUID) -> None:
    """Enqueue the job that measures the recording and cuts it into segments."""
    enqueue(
        kind=JobKind.PROBE_VIDEO,
        subject_id=video_id,
        video_id=video_id,
        dedupe_key=f"probe:{video_id}",
        **wishes_of(video_id),
    )


def begin_reindex(*, video_id: UUID, api_key_id: UUID | None = None) -> Video:
    """Begin a new version next to the one that questions read.

    A failed video has no version worth reading, so questions read the new one while it is built.
    Its minutes count again. Raises Refused: video_deleting, already_indexing, not_probed, source_deleted, or as
    media_quota.hold_media().
    """
    enqueue_probe(video_id)
    video: Video = Video.objects.select_for_update(no_key=True).get(id=video_id)
    if video.status == VideoStatus.DELETING:
        raise Refused("video_deleting", "This video is being deleted.")
    if video.status not in (VideoStatus.READY, VideoStatus.FAILED) or is_reindexing(video):
        raise Refused("already_indexing", "This video is being indexed already.")
    if video.source_deleted_at is not None:
        raise Refused("source_deleted", "The recording is deleted, so it cannot be indexed again.")
    if video.duration_ms is None:
        raise Refused("not_probed", "The recording could not be read, so there is nothing to index; send it again.")
    versions = IndexVersion.objects.filter(video_id=video_id)
    n = versions.aggregate(last=Max("n"))["last"] + 1
    IndexVersion.objects.create(tenant_id=video.tenant_id, video_id=video_id, n=n)
    video.building_index_version = n
    if video.status == VideoStatus.FAILED:
        enqueue_retirement(versions.get(n=video.active_index_version), after=grace())
        video.status, video.active_index_version = VideoStatus.INDEXING, n
        video.error_code = video.error_message = ""
        video.indexed_until_ms, video.stage_ms = 0, {}
        video.index_started_at, video.ready_at, video.failed_at = timezone.now(), None, None
    video.save()
    hold_index(video, api_key_id=api_key_id)
    return video
