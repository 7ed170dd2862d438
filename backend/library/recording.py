"""Where a video's recording lies: which object holds which stretch of its clock. The one place that knows.

An uploaded video is one object; any other is its ready input segments, one behind the other. All of it runs inside the
open tenant_scope.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.library.models import InputSegment, InputStatus, SourceType, Video


@dataclass(frozen=True, slots=True)
class RecordedPiece:
    """One object of the recording, and where it lies on the video's clock.

    source_start_ms: the object's own first timestamp, which is start_ms of the video.
    """

    object_key: str
    start_ms: int
    end_ms: int
    source_start_ms: int
    has_audio: bool


def pieces(
    video: Video, *, start_ms: int = 0, end_ms: int | None = None, limit: int | None = None
) -> list[RecordedPiece]:
    """The pieces that overlap start_ms <= t < end_ms, in order of time; none of what is not probed yet."""
    if video.duration_ms is None:
        return []
    until = video.duration_ms if end_ms is None else min(end_ms, video.duration_ms)
    if video.source_type == SourceType.UPLOAD:
        whole = RecordedPiece(
            video.object_key, 0, video.duration_ms, source_start_ms=video.source_start_ms, has_audio=video.has_audio
        )
        return [whole] if start_ms < until else []
    # What lies before the first piece of interest is left out by the database: positions rise with n.
    ready = InputSegment.objects.filter(video_id=video.id, status=InputStatus.READY, start_ms__lt=until)
    first = ready.filter(start_ms__lte=start_ms).order_by("-start_ms").values_list("start_ms", flat=True).first()
    rows = ready.filter(start_ms__gte=first or 0).order_by("start_ms")
    found = [
        RecordedPiece(
            row.object_key, row.start_ms, row.start_ms + row.duration_ms, row.source_start_ms, has_audio=row.has_audio
        )
        for row in (rows if limit is None else rows[: limit + 1])
    ]
    return [piece for piece in found if piece.end_ms > start_ms][:limit]


def piece_at(video: Video, ms: int) -> RecordedPiece | None:
    """The piece that shows the moment ms; None where nothing was recorded, or no longer is."""
    found = pieces(video, start_ms=ms, end_ms=ms + 1)
    return found[0] if found else None


def object_keys(video: Video) -> list[str]:
    """Every object that was or may yet be stored for the recording, failed pieces too: what a purge deletes."""
    keys = [video.object_key] if video.object_key else []
    keys += InputSegment.objects.filter(video_id=video.id).exclude(object_key="").values_list("object_key", flat=True)
    return keys


def is_open(video: Video) -> bool:
    """Whether more input may be appended."""
    return video.input_closed_at is None and video.source_type != SourceType.UPLOAD
