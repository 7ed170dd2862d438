"""Writes to videos, in the caller's transaction inside the open tenant_scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import F

from backend.api.idempotency import forget_replies
from backend.api.public_ids import encode
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue, request_cancel_many
from backend.library import payloads
from backend.library.models import InputSegment, Video, VideoStatus
from backend.library.services.media_quota import release_media
from backend.library.services.upload_records import drop_uploads
from backend.tenancy.refusals import Refused
from backend.webhooks.redaction import redact_events
from backend.webhooks.services import emit


def update_video(*, video: Video, version: int, fields: Mapping[str, Any]) -> Video:
    """Change the customer's fields of a video, if the video still has this version.

    Raises Refused `version_mismatch` (412) after another change, `video_deleting` if the video is being deleted.
    """
    if video.status == VideoStatus.DELETING:
        raise Refused("video_deleting", "This video is being deleted.")
    changed = Video.objects.filter(id=video.id, version=version).update(version=F("version") + 1, **fields)
    if not changed:
        raise _changed()
    updated: Video = Video.objects.get(id=video.id)
    return updated


def delete_video(*, video: Video, version: int | None = None) -> Video:
    """Stop the video's jobs and queue its purge. No question reads the video from now on. Safe to repeat.

    version: the only version that is deleted; any if None. The caller writes the ledger of deletions. Raises Refused
    `version_mismatch` (412) after another change, or `not_found` (404) if another deletion has ended meanwhile.

    Locks the jobs in LOCK_ORDER and the video after them, as workers do that commit meanwhile.
    """
    unfinished = Job.objects.filter(video_id=video.id, state__in=[JobState.QUEUED, JobState.RUNNING])
    request_cancel_many(dedupe_keys=list(unfinished.values_list("dedupe_key", flat=True)))
    # Without video_id, because the job's row must outlive the video's row.
    enqueue(kind=JobKind.PURGE_VIDEO, subject_id=video.id, dedupe_key=f"purge:{video.id}", max_attempts=20)
    kept = Video.objects.filter(id=video.id).exclude(status=VideoStatus.DELETING)
    if version is not None and kept.select_for_update().exclude(version=version).exists():
        raise _changed()
    kept.update(status=VideoStatus.DELETING, version=F("version") + 1)
    release_media(video.id)
    deleting: Video | None = Video.objects.filter(id=video.id).first()
    if deleting is None:
        raise Refused("not_found", "There is no such video.", status=404)
    return deleting


def _changed() -> Refused:
    return Refused("version_mismatch", "The video has changed since you read it; read it again.", status=412)


def drop_video(video_id: UUID) -> None:
    """Delete the video's row, its uploads and everything that refers to it, and emit video.deleted."""
    video: Video | None = Video.objects.filter(id=video_id).first()
    if video is not None:
        pieces = InputSegment.objects.filter(video_id=video_id).exclude(upload_id=None)
        uploads = {*pieces.values_list("upload_id", flat=True), video.upload_id} - {None}
        redact_events([video_id])
        forget_replies([encode("vid", video_id)])
        emit(type="video.deleted", resource_id=video.id, data=payloads.deleted_data(video))
        Video.objects.filter(id=video_id).delete()
        drop_uploads(uploads)
