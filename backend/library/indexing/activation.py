"""Activate a version: extend the time that questions can read, and switch questions to a version that is ready."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.utils import timezone

from backend.billing.services.credit.credits import restore_media
from backend.library import payloads
from backend.library.indexing.retirement import enqueue_retirement, grace
from backend.library.indexing.versions import building_round, is_reindexing, lock_building
from backend.library.indexing.wishes import forget_wishes
from backend.library.models import IndexState, IndexVersion, Segment, Video, VideoStatus
from backend.library.services.media_quota import release_media
from backend.webhooks.services import emit


def set_indexed_until(*, video_id: UUID, version: int, ms: int) -> None:
    """Record how far the indexing of a version has come; the video follows if questions read this version.

    The video's row is locked without its key (so in this whole package): a transaction that inserts a job of the video
    shares the key, and may then wait for the job that this transaction holds.
    """
    video: Video = Video.objects.select_for_update(no_key=True).get(id=video_id)
    IndexVersion.objects.filter(video_id=video_id, n=version).update(indexed_until_ms=ms)
    if video.active_index_version == version:
        Video.objects.filter(id=video_id).update(indexed_until_ms=ms)


def activate(*, video_id: UUID, version: int, stage_ms: Mapping[str, float], is_damaged: bool) -> None:
    """Switch questions to a version that is ready, emit video.ready, retire the previous version.

    is_damaged: whether the decoder found more damage in the recording than the probe, which only reads packets.
    Does nothing for a version that is no longer being built.
    """
    video: Video = Video.objects.select_for_update(no_key=True).get(id=video_id)
    row = lock_building(video, version)
    if row is None:
        return
    now = timezone.now()
    row.state, row.ready_at = IndexState.READY, now
    row.indexed_until_ms, row.stage_ms = video.duration_ms or 0, dict(stage_ms)
    row.save()
    if is_reindexing(video):
        replaced = IndexVersion.objects.get(video_id=video_id, n=video.active_index_version)
        IndexVersion.objects.filter(id=replaced.id).update(state=IndexState.SUPERSEDED)
        enqueue_retirement(replaced, after=grace())
        video.index_started_at = row.created_at
    video.status, video.ready_at = VideoStatus.READY, now
    video.active_index_version = version
    video.indexed_until_ms, video.stage_ms = row.indexed_until_ms, row.stage_ms
    if is_damaged:
        video.degraded = sorted({*video.degraded, "damaged"})
    video.version += 1
    forget_wishes(video)
    video.save()
    if row.retries:
        segments = Segment.objects.filter(video_id=video_id, index_version=version).values_list("id", flat=True)
        restore_media(video_id=video_id, segment_ids=list(segments), round=row.retries)
    release_media(video_id)
    sequence = building_round(video_id)
    emit(type="video.ready", resource_id=video.id, data=payloads.video_data(video), sequence=sequence)
