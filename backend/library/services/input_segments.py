"""Recordings that arrive in pieces: begin, append, close. Each function runs in the caller's transaction.

workers.ingest.fetch_segment fetches the pieces that have a URL. workers.ingest.ingest_segment measures all pieces and
sets their positions on the video's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Max
from django.utils import timezone
from uuid6 import uuid7

from backend.library.indexing.begin import create_video, enqueue_probe
from backend.library.indexing.failure import fail_version
from backend.library.indexing.intake import enqueue_fetch, enqueue_intake
from backend.library.models import InputSegment, SourceType, Upload, Video, VideoStatus
from backend.library.recording import is_open
from backend.library.services import media_quota
from backend.library.services.storage_quota import require_room
from backend.library.storage import source_key
from backend.outbound import transport
from backend.tenancy.refusals import Refused


def begin(*, fields: Mapping[str, Any], api_key_id: UUID | None = None) -> Video:
    """Create a video without a recording, open for segments. fields: columns that the customer may set.

    Raises Refused: too_many_open_jobs (429).
    """
    video = create_video(source_type=SourceType.SEGMENTS, **fields)
    media_quota.hold_index(video, api_key_id=api_key_id)
    return video


def begin_from_url(
    *, url: str, fields: Mapping[str, Any], duration_ms: int | None = None, api_key_id: UUID | None = None
) -> Video:
    """Create a video of one file that is fetched from url. duration_ms: as the customer announces it, if so.

    Raises Refused like append_url.
    """
    check_url(url)
    require_room(1, api_key_id=api_key_id)
    video = create_video(source_type=SourceType.URL, **fields)
    piece = _append(video, url=url)
    Video.objects.filter(id=video.id).update(input_closed_at=timezone.now())
    media_quota.hold_index(video, api_key_id=api_key_id)
    _hold_piece(video, piece, duration_ms, api_key_id)
    created: Video = Video.objects.get(id=video.id)
    return created


def append_url(
    *,
    video_id: UUID,
    url: str,
    recorded: Mapping[str, Any] | None = None,
    duration_ms: int | None = None,
    api_key_id: UUID | None = None,
) -> InputSegment:
    """Append a piece to be fetched. recorded: recorded_at and time_zone, if the customer said.

    duration_ms: as the customer announces it, if so. Raises Refused: invalid_url or address_refused (400),
    storage_quota_exceeded, or as require_growing and media_quota.hold_media().
    """
    check_url(url)
    require_room(1, api_key_id=api_key_id)
    video = locked_growing(video_id)
    piece = _append(video, url=url, recorded=recorded)
    _hold_piece(video, piece, duration_ms, api_key_id)
    return piece


def append_upload(*, video_id: UUID, upload: Upload, recorded: Mapping[str, Any] | None = None) -> InputSegment:
    """Append a piece from a complete upload. recorded: as in append_url. Raises Refused as require_growing."""
    piece = _append(locked_growing(video_id), upload=upload, recorded=recorded)
    media_quota.hand_over(upload.id, source_type=media_quota.PIECE, to=piece.id)
    return piece


def close(*, video_id: UUID) -> Video:
    """End the input; the version is complete when the pieces so far are indexed. Safe to repeat.

    Raises Refused: not_growing, video_deleting. A video without any segment fails with no_input.
    """
    # The probe's job is locked before the video's row, see LOCK_ORDER.
    enqueue_probe(video_id)
    video: Video = Video.objects.select_for_update().get(id=video_id)
    if video.source_type == SourceType.UPLOAD:
        raise _not_growing()
    if video.status == VideoStatus.DELETING:
        raise Refused("video_deleting", "This video is being deleted.")
    if is_open(video):
        Video.objects.filter(id=video_id).update(input_closed_at=timezone.now())
        if not InputSegment.objects.filter(video_id=video_id).exists():
            fail_version(
                video_id=video_id,
                version=video.building_index_version,
                code="no_input",
                message="The video was closed before anything was appended.",
            )
    closed: Video = Video.objects.get(id=video_id)
    return closed


def require_growing(video: Video) -> None:
    """Raise Refused (not_growing, input_closed, video_failed, video_deleting) if nothing can be appended."""
    if video.source_type == SourceType.UPLOAD:
        raise _not_growing()
    if video.status == VideoStatus.DELETING:
        raise Refused("video_deleting", "This video is being deleted.")
    if video.status == VideoStatus.FAILED:
        raise Refused("video_failed", "Indexing this video has failed; nothing can be appended.")
    if not is_open(video):
        raise Refused("input_closed", "This video is closed; nothing can be appended.")


def locked_growing(video_id: UUID) -> Video:
    """Lock and return the row of a video that takes more input. Raises Refused as require_growing."""
    video: Video = Video.objects.select_for_update().get(id=video_id)
    require_growing(video)
    return video


def check_url(url: str) -> None:
    """Raise Refused (400) for a URL that is never fetched. Its host is resolved and checked at the fetch."""
    try:
        transport.check_url(url, allow_private=settings.SOURCE_ALLOW_PRIVATE)
    except transport.TransportError as error:
        detail = f"This URL cannot be fetched: {error}."
        raise Refused(error.code, detail, status=400, pointer="/source/url") from None


def _append(
    video: Video, *, upload: Upload | None = None, url: str = "", recorded: Mapping[str, Any] | None = None
) -> InputSegment:
    said = recorded or {}
    if said.get("time_zone") and not video.time_zone:
        Video.objects.filter(id=video.id).update(time_zone=said["time_zone"])
    rows = InputSegment.objects.filter(video_id=video.id)
    last = rows.aggregate(last=Max("n"))["last"]
    segment_id = UUID(bytes=uuid7().bytes)
    segment: InputSegment = InputSegment.objects.create(
        id=segment_id,
        tenant_id=video.tenant_id,
        video_id=video.id,
        n=0 if last is None else last + 1,
        upload=upload,
        url=url,
        # Named before the fetch, so that a purge finds the object of an unfinished fetch.
        object_key=upload.object_key if upload else source_key(video.tenant_id, segment_id),
        size_bytes=upload.size_bytes if upload else 0,
        recorded_at=said.get("recorded_at"),
    )
    if url:
        enqueue_fetch(segment)
    else:
        enqueue_intake(segment)
    return segment


def _hold_piece(video: Video, piece: InputSegment, duration_ms: int | None, api_key_id: UUID | None) -> None:
    seconds = media_quota.seconds_of(duration_ms=duration_ms)
    media_quota.hold_media(
        media_quota.PIECE, piece.id, seconds, profile=video.profile, live=True, api_key_id=api_key_id
    )


def _not_growing() -> Refused:
    return Refused("not_growing", "This video is one uploaded file; it takes no segments.")
