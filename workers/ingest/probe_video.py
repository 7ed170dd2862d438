"""Measures an uploaded video in a bounded child process and plans it; a measured recording is only planned again."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from backend.ekg.repair import enqueue_what_remains, repair_version
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing import intake
from backend.library.models import Video
from backend.library.services import contents
from backend.library.storage import source_prefix
from backend.playback.services.renditions import plan_kept
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.indexing.container import DecoderUnavailable
from gpu_workers.engine.indexing.probe import ProbeError, ProbeLimits, ProbeResult, probe
from workers.endings import without_decoder
from workers.ingest.source_digest import digest_of
from workers.runner import FollowUp, Work

URL_LIFETIME = timedelta(hours=1)


def handle(work: Work) -> FollowUp | None:
    video_id = work.lease.subject_id
    with tenant_scope(work.lease.tenant_id):
        video = intake.begin_probe(video_id)
    probed = measure(work, identified(work, video)) if video is not None else None

    def end() -> None:
        repaired = repair_version(video_id)
        if probed is not None:
            intake.store_probe(video_id, probed)
        else:
            intake.plan_again(video_id)
        plan_kept(video_id)
        if repaired is not None:
            enqueue_what_remains(video_id, repaired)
        work.complete()

    work.commit(end)
    return None


def identified(work: Work, video: Video) -> str:
    """Store the SHA-256 of an upload, and return the key of the object that holds its bytes from now on.

    Raises JobFailed (checksum_mismatch).
    """
    with tenant_scope(video.tenant_id):
        announced = contents.announced_sha256(video.upload_id)
    if not video.content_sha256:
        digest = digest_of(work, video.object_key, size_bytes=video.size_bytes, announced=announced)
        work.commit(lambda: contents.share_content(video.id, digest))
    with tenant_scope(video.tenant_id):
        video = Video.objects.get(id=video.id)
        unread = contents.unread_object(video)
    if unread:
        # At each attempt, because one before may have died between the commit and this.
        work.objects().erase(source_prefix(unread))
    return video.object_key


def measure(work: Work, object_key: str) -> ProbeResult:
    """Return the measurement of the stored object. Raises JobFailed with the probe's verdict, and Unavailable."""
    url = work.objects().presign_get(object_key, expires=URL_LIFETIME)
    try:
        return probe(
            url,
            limits=ProbeLimits(max_duration_ms=settings.MAX_VIDEO_MS, max_bytes=settings.MAX_UPLOAD_BYTES),
        )
    except ProbeError as error:
        if error.code == DecoderUnavailable.code:
            raise without_decoder(work, error.code, str(error)) from error
        if error.retryable:
            # Raises StorageAway if the store, and not the recording, is at fault.
            work.objects().head(object_key)
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error


def failed(lease: Lease, error: JobFailed) -> None:
    """End the version with the probe's verdict: only the row of a refused file and the reason are kept."""
    intake.fail_probe(lease.subject_id, code=error.code, message=str(error))
