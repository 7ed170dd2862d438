"""Fail a version that cannot be built."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from backend.billing.services.credit.credits import credit_media
from backend.library import payloads
from backend.library.indexing.retirement import enqueue_retirement
from backend.library.indexing.versions import building_round, is_reindexing, lock_building
from backend.library.indexing.wishes import forget_wishes
from backend.library.models import IndexState, IndexVersion, Segment, Video, VideoStatus
from backend.library.services.media_quota import release_media
from backend.webhooks.services import emit

CONTENT_GAPS = frozenset({"no_frames", "model_refused", "source_undecodable"})
"""Codes of gaps that lie in the recording itself: it shows nothing, ends its
decoder, or a provider declines to describe it."""
CANCELED = "canceled"
"""Code of an index job that a person canceled."""
DEADLINE = "deadline_exceeded"
REFUSED_FILES = frozenset(
    {
        "source_refused", "too_large", "too_long", "empty_file", "not_a_video", "no_video_stream", "truncated",
        "playlist_refused", "duration_unknown", "too_many_pixels", "too_many_streams", "frame_rate_too_high",
        "too_few_packets", "no_input", "checksum_mismatch", *CONTENT_GAPS,
    }
)  # fmt: skip
"""Codes of failures that lie in the recording itself, so that no retry can help and nothing is credited."""


def is_final(code: str) -> bool:
    """Whether a version that failed with this code cannot be built out of the same recording."""
    return code in REFUSED_FILES


def fail_version(*, video_id: UUID, version: int, code: str, message: str) -> None:
    """End a version that cannot be built. The video fails with it, unless an older version still answers.

    In that case the older version stays, and the rows of the new version are removed. Its media is credited if the
    reason is ours. Does nothing for a version that is no longer being built, or for a video that is being deleted.
    """
    video: Video | None = Video.objects.select_for_update(no_key=True).filter(id=video_id).first()
    row = lock_building(video, version) if video is not None else None
    if video is None or row is None:
        return
    row.state, row.error_code, row.error_message = IndexState.FAILED, code, message
    row.save()
    release_media(video_id)
    if is_ours(video, code):
        _credit(row, reason=code)
    else:
        # Nobody wants what is left of it.
        Segment.objects.filter(video_id=video_id, index_version=version).update(retry_at=None)
    forget_wishes(video)
    if is_reindexing(video):
        video.building_index_version = video.active_index_version
        video.save()
        enqueue_retirement(row, after=timedelta(0))
        data = payloads.reindex_data(video, row)
        emit(type="video.reindex_failed", resource_id=video.id, data=data, sequence=building_round(video_id))
        return
    video.status, video.error_code, video.error_message = VideoStatus.FAILED, code, message
    video.failed_at = timezone.now()
    video.save()
    emit(type="video.failed", resource_id=video.id, data=payloads.video_data(video), sequence=building_round(video_id))


def is_ours(video: Video, code: str) -> bool:
    """Whether a version failed for our reasons: neither for its recording, nor because a person ended it."""
    if is_final(code) or code == CANCELED:
        return False
    return not (code == DEADLINE and video.index_deadline_at is not None)


def _credit(version: IndexVersion, *, reason: str) -> None:
    segments = Segment.objects.filter(video_id=version.video_id, index_version=version.n)
    credit_media(
        video_id=version.video_id,
        segment_ids=list(segments.values_list("id", flat=True)),
        reason=reason,
        round=version.retries,
    )
