"""Finds out what there is to index of a video and cuts it into segments.

An uploaded object is probed in a bounded child process. A recording that is known already, of a re-index or in pieces,
is only cut.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.plan import plan, settle
from backend.library.indexing.versions import fail_version
from backend.library.models import SourceType, Video, VideoStatus
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.indexing.probe import ProbeError, ProbeLimits, ProbeResult, probe
from workers.runner import FollowUp, Work

URL_LIFETIME = timedelta(hours=1)


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        video = Video.objects.get(id=work.lease.subject_id)
        unknown = video.source_type == SourceType.UPLOAD and video.status in (VideoStatus.QUEUED, VideoStatus.PROBING)
        if unknown:
            Video.objects.filter(id=video.id, status=video.status).update(status=VideoStatus.PROBING)
    if not unknown:
        with work.checkpoint():
            cut_anew(video.id)
            work.complete()
        return None
    found = measure(video.object_key)
    with work.checkpoint():
        store_probe(video.id, found)
        work.complete()
    return None


def measure(object_key: str) -> ProbeResult:
    """What the stored object is. Raises JobFailed with the probe's verdict."""
    url = ObjectStorage().presign_get(object_key, expires=URL_LIFETIME)
    try:
        return probe(
            url,
            ffprobe=settings.FFPROBE_BINARY,
            limits=ProbeLimits(max_duration_ms=settings.MAX_VIDEO_MS, max_bytes=settings.MAX_UPLOAD_BYTES),
        )
    except ProbeError as error:
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error


def measured_columns(found: ProbeResult) -> dict[str, Any]:
    """The columns of a video or of an input segment that a probe fills."""
    return {
        "duration_ms": found.duration_ms,
        "source_start_ms": found.source_start_ms,
        "width": found.width,
        "height": found.height,
        "fps": float(found.fps) if found.fps else None,
        "rotation": found.rotation,
        "container": found.container,
        "codec": found.codec,
        "has_audio": found.has_audio,
        "bitrate": found.bitrate,
    }


def store_probe(video_id: UUID, found: ProbeResult) -> None:
    """Write what the probe found, the segments, and the first observe jobs; inside the job's checkpoint."""
    Video.objects.filter(id=video_id).update(
        status=VideoStatus.INDEXING, index_started_at=timezone.now(), **measured_columns(found)
    )
    plan(Video.objects.get(id=video_id), ended=True)


def cut_anew(video_id: UUID) -> None:
    """Cut a recording that is known; inside the job's checkpoint."""
    video: Video = Video.objects.get(id=video_id)
    if video.source_type != SourceType.UPLOAD:
        settle(video_id)
    elif video.duration_ms is not None and video.status in (VideoStatus.INDEXING, VideoStatus.READY):
        plan(video, ended=True)


def failed(lease: Lease, error: JobFailed) -> None:
    """The probe's verdict is the video's: nothing of a refused file is kept but its row and its reason."""
    fail_video(lease.subject_id, error)


def fail_video(video_id: UUID, error: JobFailed) -> None:
    """End what is being built of a video; the video fails with it unless an older index of it answers."""
    version = Video.objects.values_list("building_index_version", flat=True).get(id=video_id)
    fail_version(video_id=video_id, version=version, code=error.code, message=str(error))
