"""Where a video's recording is stored: which object holds which span of its clock. No other module decides this.

An uploaded video is one object; any other video is its ready input segments, one after the other. Everything here runs
inside the open tenant_scope.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from backend.library.models import InputSegment, InputStatus, ProbedRow, SourceType, Upload, Video, VideoStatus
from gpu_workers.engine.indexing.audio_tracks import AudioTrack, listened_tracks
from gpu_workers.engine.indexing.file_clock import FileClock


@dataclass(frozen=True, slots=True)
class RecordedPiece:
    """One object of the recording, and its span on the video's clock.

    tracks: the audio tracks to listen to. clock: the object's own, which counts from its beginning. source_start_ms:
    its timestamp at start_ms of the video.
    """

    object_key: str
    start_ms: int
    end_ms: int
    source_start_ms: int
    tracks: tuple[AudioTrack, ...]
    clock: FileClock


def pieces(
    video: Video, *, start_ms: int = 0, end_ms: int | None = None, limit: int | None = None
) -> list[RecordedPiece]:
    """Return the pieces that overlap start_ms <= t < end_ms, in time order; none before the recording is probed."""
    if video.duration_ms is None or video.source_deleted_at is not None:
        return []

    def heard(row: ProbedRow) -> tuple[AudioTrack, ...]:
        return listened_tracks(tracks_of(row), video.audio).tracks

    until = video.duration_ms if end_ms is None else min(end_ms, video.duration_ms)
    if video.source_type == SourceType.UPLOAD:
        whole = RecordedPiece(
            video.object_key, 0, video.duration_ms, video.source_start_ms, heard(video), clock_of(video)
        )
        return [whole] if start_ms < until else []
    # The query leaves out pieces before the first relevant one, because positions rise with n.
    ready = InputSegment.objects.filter(video_id=video.id, status=InputStatus.READY, start_ms__lt=until)
    first = ready.filter(start_ms__lte=start_ms).order_by("-start_ms").values_list("start_ms", flat=True).first()
    rows = ready.filter(start_ms__gte=first or 0).order_by("start_ms")
    recorded = [
        RecordedPiece(
            row.object_key,
            row.start_ms,
            row.start_ms + row.duration_ms,
            row.source_start_ms,
            heard(row),
            clock_of(row),
        )
        for row in (rows if limit is None else rows[: limit + 1])
    ]
    return [piece for piece in recorded if piece.end_ms > start_ms][:limit]


def recorded_files(video: Video, *, start_ms: int, end_ms: int) -> list[Video | InputSegment]:
    """Return the rows of the measured files that overlap start_ms <= t < end_ms, in time order.

    A file of an uploaded recording is the video itself.
    """
    if video.source_type == SourceType.UPLOAD:
        return [video]
    ready = InputSegment.objects.filter(video_id=video.id, status=InputStatus.READY, start_ms__lt=end_ms)
    return [row for row in ready.order_by("start_ms") if row.start_ms + row.duration_ms > start_ms]


def clock_of(row: ProbedRow) -> FileClock:
    """Return the clock of a measured file."""
    return FileClock.of_rows(row.clock) if row.clock else FileClock.steady(row.source_start_ms, row.duration_ms or 1)


def tracks_of(row: ProbedRow) -> list[AudioTrack]:
    """Return the audio tracks of a measured file."""
    return [AudioTrack.of_fields(fields) for fields in row.audio_tracks]


def piece_at(video: Video, ms: int) -> RecordedPiece | None:
    """Return the piece that shows the moment ms; None if nothing was recorded then, or the recording is deleted."""
    showing = pieces(video, start_ms=ms, end_ms=ms + 1)
    return showing[0] if showing else None


def erasable_keys(video: Video) -> list[str]:
    """Return the keys of all objects that are or may be stored for the recording and for no other video, for a purge.

    Failed pieces are among them, and the object of an upload whose bytes another video had already. A video that is
    being deleted keeps nothing for others: no recording begins to share its object (contents).
    """
    pieces = InputSegment.objects.filter(video_id=video.id)
    pieced = pieces.exclude(upload_id=None).values("upload_id")
    uploads = Upload.objects.filter(Q(id=video.upload_id) | Q(id__in=pieced))
    keys = {video.object_key, *pieces.values_list("object_key", flat=True)} - {""}
    keys |= set(uploads.values_list("object_key", flat=True))
    others = Video.objects.exclude(id=video.id).exclude(status=VideoStatus.DELETING)
    shared = InputSegment.objects.filter(video_id__in=others.values("id"), object_key__in=keys)
    kept = {*others.filter(object_key__in=keys).values_list("object_key", flat=True)}
    return sorted(keys - kept - {*shared.values_list("object_key", flat=True)})


def is_open(video: Video) -> bool:
    """Whether more input may be appended."""
    return video.input_closed_at is None and video.source_type != SourceType.UPLOAD
