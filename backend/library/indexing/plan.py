"""Plan a version: give the pieces of a recording their position in time, and cut the time into segments."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.utils import timezone

from backend.library import payloads
from backend.library.indexing.failure import fail_version
from backend.library.indexing.follow_ups import open_next_segments
from backend.library.models import (
    IndexState,
    IndexVersion,
    InputSegment,
    InputStatus,
    Segment,
    Video,
    VideoStatus,
)
from backend.library.recording import is_open, tracks_of
from backend.library.services.media_quota import refused_piece, release
from backend.webhooks.services import emit
from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.indexing.audio_tracks import merged_tracks
from gpu_workers.engine.indexing.segments import SHORTEST_SEGMENT_MS, length_at, plan_segments

MEASURES = ("width", "height", "fps", "rotation", "container", "codec", "bitrate")
"""Columns that a video copies from its first piece."""


def settle(video_id: UUID) -> None:
    """Position the ready pieces on the clock of a growing video, then plan; inside a job's checkpoint.

    A piece gets its position once every earlier piece is ready or failed; a failed piece takes no time. Pieces may
    become ready in any order, and this may run any number of times.
    """
    video: Video | None = Video.objects.select_for_update(no_key=True).filter(id=video_id).first()
    if video is None or video.status == VideoStatus.DELETING:
        return
    settled = True
    for piece in InputSegment.objects.filter(video_id=video_id, start_ms=None).order_by("n"):
        if piece.status == InputStatus.QUEUED:
            settled = False
            break
        _position(video, piece)
    video.save()
    ended = settled and not is_open(video)
    if video.duration_ms is not None:
        plan(video, ended=ended)
    elif ended:
        _fail_for_its_pieces(video)


def _position(video: Video, piece: InputSegment) -> None:
    piece.start_ms = start_ms = video.duration_ms or 0
    end_ms = start_ms + (piece.duration_ms or 0)
    if piece.status == InputStatus.READY and end_ms > settings.MAX_VIDEO_MS:
        piece.status, piece.error_code = InputStatus.FAILED, "too_long"
        piece.error_message = f"The video would be longer than {settings.MAX_VIDEO_MS} ms with this segment."
    if piece.status == InputStatus.READY and (refused := refused_piece(video, piece)) is not None:
        piece.status, piece.error_code, piece.error_message = InputStatus.FAILED, refused.code, refused.detail
    piece.save(update_fields=["start_ms", "status", "error_code", "error_message"])
    if piece.status == InputStatus.FAILED:
        release([piece.id])
        return
    if video.duration_ms is None:
        for name in MEASURES:
            setattr(video, name, getattr(piece, name))
    video.duration_ms = end_ms
    video.size_bytes += piece.size_bytes
    video.has_audio = video.has_audio or piece.has_audio
    video.audio_tracks = [one.as_fields() for one in merged_tracks(tracks_of(video), tracks_of(piece))]
    video.degraded = sorted({*video.degraded, *piece.degraded})
    if video.status == VideoStatus.QUEUED:
        video.status, video.index_started_at = VideoStatus.INDEXING, timezone.now()


def _fail_for_its_pieces(video: Video) -> None:
    first = InputSegment.objects.filter(video_id=video.id).order_by("n").first()
    if first is not None:
        fail_version(
            video_id=video.id,
            version=video.building_index_version,
            code=first.error_code,
            message=f"No segment could be used; the first: {first.error_message}",
        )


def plan(video: Video, *, ended: bool) -> None:
    """Create the work segments that are certain by now for the version being built, and open the first of them.

    While a recorder sends, everything that is recorded is planned but its last chunk, so that nobody waits for the next
    piece. Once the input is closed and pieces are still to be read, a segment is created only if no later plan would
    cut differently. In both cases the last segment, the only one that ends where the video ends, is created when the
    input has ended.
    """
    version = video.building_index_version
    if not IndexVersion.objects.filter(video_id=video.id, n=version, state=IndexState.BUILDING).exists():
        return
    made = Segment.objects.filter(video_id=video.id, index_version=version).order_by("-n").first()
    n, begin = (0, 0) if made is None else (made.n + 1, made.end_ms)
    Segment.objects.bulk_create(
        [
            Segment(
                tenant_id=video.tenant_id,
                video_id=video.id,
                index_version=version,
                n=n + index,
                start_ms=span.start_ms,
                end_ms=span.end_ms,
            )
            for index, span in enumerate(_plannable(video, begin, ended=ended))
        ]
    )
    open_next_segments(video.id, version)
    if made is None:
        emit(type="video.indexing", resource_id=video.id, data=payloads.indexing_data(video), sequence=version)


def _plannable(video: Video, begin_ms: int, *, ended: bool) -> list[Span]:
    known_ms = video.duration_ms or 0
    return live_spans(begin_ms, known_ms) if is_open(video) else certain_spans(begin_ms, known_ms, ended=ended)


def live_spans(begin_ms: int, known_ms: int) -> list[Span]:
    """Return the spans from begin_ms, an earlier cut, to the last chunk border before known_ms."""
    end_ms = (known_ms - 1) // CHUNK_MS * CHUNK_MS
    return plan_segments(end_ms, segment_ms=settings.SEGMENT_MS, begin_ms=begin_ms) if end_ms > begin_ms else []


def certain_spans(begin_ms: int, known_ms: int, *, ended: bool) -> list[Span]:
    """Return the spans from begin_ms, an earlier cut, to known_ms that no later input can change.

    Once the input has ended these are all spans.
    """
    if known_ms <= begin_ms:
        return []
    spans = plan_segments(known_ms, segment_ms=settings.SEGMENT_MS, begin_ms=begin_ms)
    if ended:
        return spans
    return [
        span
        for span in spans
        if span.duration_ms == length_at(span.start_ms, settings.SEGMENT_MS)
        and span.end_ms + SHORTEST_SEGMENT_MS <= known_ms
    ]
