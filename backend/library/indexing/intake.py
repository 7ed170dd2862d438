"""Record the measurements of a recording: of an uploaded file, or of one appended piece.

Each function that writes runs inside the checkpoint of the job that measured the file.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.utils import timezone

from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.library.indexing.failure import fail_version
from backend.library.indexing.plan import plan, settle
from backend.library.indexing.wishes import wishes_of
from backend.library.models import InputSegment, InputStatus, SourceType, Video, VideoStatus
from backend.library.services.media_quota import refused_as_measured
from gpu_workers.engine.indexing.probe import ProbeResult


def begin_probe(video_id: UUID) -> Video | None:
    """Mark an uploaded video as being probed and return it; None if it was measured before."""
    video: Video = Video.objects.get(id=video_id)
    unprobed = (VideoStatus.QUEUED, VideoStatus.PROBING)
    if video.source_type != SourceType.UPLOAD or video.status not in unprobed:
        return None
    Video.objects.filter(id=video.id, status=video.status).update(status=VideoStatus.PROBING)
    return video


def store_probe(video_id: UUID, probed: ProbeResult) -> None:
    """Store the probe's result, and plan the whole upload. A recording without room in a quota fails."""
    Video.objects.filter(id=video_id).update(
        status=VideoStatus.INDEXING, index_started_at=timezone.now(), **measured_columns(probed)
    )
    video: Video = Video.objects.get(id=video_id)
    refused = refused_as_measured(video, probed.duration_ms)
    if refused is not None:
        fail_version(video_id=video_id, version=video.building_index_version, code=refused.code, message=refused.detail)
        return
    plan(video, ended=True)


def plan_again(video_id: UUID) -> None:
    """Plan a recording that was measured before: a growing video, or a video that is indexed again."""
    video: Video = Video.objects.get(id=video_id)
    if video.source_type != SourceType.UPLOAD:
        settle(video_id)
    elif video.duration_ms is not None and video.status in (VideoStatus.INDEXING, VideoStatus.READY):
        plan(video, ended=True)


def fail_probe(video_id: UUID, *, code: str, message: str) -> None:
    """End the version being built: a file that the probe refuses cannot be indexed."""
    version = Video.objects.values_list("building_index_version", flat=True).get(id=video_id)
    fail_version(video_id=video_id, version=version, code=code, message=message)


def enqueue_fetch(piece: InputSegment) -> None:
    """Enqueue the job that fetches a piece from its URL. Its lane is the tenant's use of the URL's host."""
    host = uuid5(piece.tenant_id, urlsplit(piece.url).netloc.lower())
    enqueue(
        kind=JobKind.FETCH_SEGMENT,
        subject_id=piece.id,
        video_id=piece.video_id,
        dedupe_key=f"fetch:{piece.id}",
        lane=host,
        **wishes_of(piece.video_id),
    )


def enqueue_intake(piece: InputSegment) -> None:
    """Enqueue the job that measures a stored piece."""
    enqueue(
        kind=JobKind.INGEST_SEGMENT,
        subject_id=piece.id,
        video_id=piece.video_id,
        dedupe_key=f"ingest:{piece.id}",
        **wishes_of(piece.video_id),
    )


def take_in_again(video_id: UUID) -> None:
    """Enqueue the jobs of the pieces that still await intake, where they ended."""
    for piece in InputSegment.objects.filter(video_id=video_id, status=InputStatus.QUEUED).order_by("n"):
        fetched = Job.objects.filter(dedupe_key=f"fetch:{piece.id}", state=JobState.SUCCEEDED).exists()
        if piece.url and not fetched:
            enqueue_fetch(piece)
        else:
            enqueue_intake(piece)


def queued_piece(piece_id: UUID) -> InputSegment | None:
    """Return an appended piece that still awaits intake; None if its intake is done or its video is being deleted."""
    piece: InputSegment | None = InputSegment.objects.filter(id=piece_id, status=InputStatus.QUEUED).first()
    if piece is not None and Video.objects.filter(id=piece.video_id, status=VideoStatus.DELETING).exists():
        return None
    return piece


def store_piece(piece: InputSegment, probed: ProbeResult, *, size_bytes: int) -> None:
    """Store the probe's result of a piece, and settle its position in time. Its URL is cleared: it may be signed."""
    InputSegment.objects.filter(id=piece.id).update(
        status=InputStatus.READY, url="", size_bytes=size_bytes, ready_at=timezone.now(), **measured_columns(probed)
    )
    settle(piece.video_id)


def fail_piece(piece_id: UUID, *, code: str, message: str) -> None:
    """Record that a piece cannot be used. It takes no time; the pieces after it move up."""
    piece = InputSegment.objects.filter(id=piece_id, status=InputStatus.QUEUED).first()
    if piece is None:
        return
    InputSegment.objects.filter(id=piece.id).update(
        status=InputStatus.FAILED, url="", error_code=code, error_message=message
    )
    settle(piece.video_id)


def measured_columns(probed: ProbeResult) -> dict[str, Any]:
    """Return the columns of a video or of an input segment that a probe fills."""
    return {
        "duration_ms": probed.duration_ms,
        "source_start_ms": probed.source_start_ms,
        "width": probed.width,
        "height": probed.height,
        "fps": float(probed.fps) if probed.fps else None,
        "rotation": probed.rotation,
        "container": probed.container,
        "codec": probed.codec,
        "has_audio": probed.has_audio,
        "audio_tracks": [track.as_fields() for track in probed.audio_tracks],
        "bitrate": probed.bitrate,
        "clock": probed.clock.as_rows(),
        "degraded": list(probed.degraded),
        "picture_format": probed.pictures.as_fields(),
    }
