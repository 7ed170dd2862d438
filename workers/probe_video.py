"""Probes an arrived object in a bounded child process and cuts it into segments."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from backend.jobs.index_flow import open_next_segments
from backend.jobs.models import Segment
from backend.jobs.services import JobFailed, Lease
from backend.library.models import Video, VideoStatus
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from backend.webhooks.payloads import video_data
from backend.webhooks.services import emit
from gpu_workers.indexing.probe import ProbeError, ProbeLimits, ProbeResult, probe
from gpu_workers.indexing.segments import plan_segments
from workers.runner import FollowUp, Work

URL_LIFETIME = timedelta(hours=1)


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        video = Video.objects.get(id=work.lease.subject_id)
        if video.status not in (VideoStatus.QUEUED, VideoStatus.PROBING):
            with work.checkpoint():
                work.complete()
            return None
        Video.objects.filter(id=video.id, status=video.status).update(status=VideoStatus.PROBING)
    url = ObjectStorage().presign_get(video.object_key, expires=URL_LIFETIME)
    try:
        found = probe(
            url,
            ffprobe=settings.FFPROBE_BINARY,
            limits=ProbeLimits(max_duration_ms=settings.MAX_VIDEO_MS, max_bytes=settings.MAX_UPLOAD_BYTES),
        )
    except ProbeError as error:
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    with work.checkpoint():
        store_probe(video, found)
        work.complete()
    return None


def store_probe(video: Video, found: ProbeResult) -> None:
    """Write what the probe found, the segments, and the first observe jobs; inside the job's checkpoint."""
    Video.objects.filter(id=video.id).update(
        status=VideoStatus.INDEXING,
        duration_ms=found.duration_ms,
        source_start_ms=found.source_start_ms,
        width=found.width,
        height=found.height,
        fps=float(found.fps) if found.fps else None,
        rotation=found.rotation,
        container=found.container,
        codec=found.codec,
        has_audio=found.has_audio,
        bitrate=found.bitrate,
        index_started_at=timezone.now(),
    )
    Segment.objects.bulk_create(
        [
            Segment(
                tenant_id=video.tenant_id,
                video_id=video.id,
                index_version=video.building_index_version,
                n=n,
                start_ms=span.start_ms,
                end_ms=span.end_ms,
            )
            for n, span in enumerate(plan_segments(found.duration_ms, segment_ms=settings.SEGMENT_MS))
        ]
    )
    open_next_segments(video.id, video.building_index_version)


def failed(lease: Lease, error: JobFailed) -> None:
    """The probe's verdict is the video's: nothing of a refused file is kept but its row and its reason."""
    fail_video(lease.subject_id, error)


def fail_video(video_id: object, error: JobFailed) -> None:
    Video.objects.filter(id=video_id).exclude(status=VideoStatus.DELETING).update(
        status=VideoStatus.FAILED, error_code=error.code, error_message=str(error)
    )
    video = Video.objects.get(id=video_id)
    emit(type="video.failed", resource_id=video.id, data=video_data(video))
