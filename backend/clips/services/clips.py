"""Writes to clips, in the caller's transaction inside the open tenant_scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from backend.api.idempotency import forget_replies
from backend.api.public_ids import encode
from backend.clips import payloads, queries
from backend.clips.models import Clip, ClipMode, ClipStatus
from backend.clips.queries import Gap
from backend.jobs.models import Job, JobKind
from backend.jobs.services import enqueue, request_cancel_many
from backend.library.models import InputSegment, Video
from backend.library.recording import recorded_files
from backend.library.services.deletion_ledger import Deleted, record
from backend.library.services.deletions import bury
from backend.library.services.media_quota import ASSUMED_BYTES_PER_SECOND
from backend.library.services.storage_quota import hold_storage, require_room
from backend.questions.models import Question
from backend.tenancy.callers import current_caller
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.refusals import Refused, invalid
from backend.webhooks.redaction import redact_events
from backend.webhooks.services import emit

LONGEST_MS = 600_000
"""Maximum duration of a clip."""
MOST_OPEN = 100
"""Maximum number of clips of a tenant that wait to be made."""
COPIED_CODECS = frozenset({"h264", "hevc", "av1", "vp9", "mpeg4"})
"""Codecs whose packets an MP4 takes as they are."""
MAX_ATTEMPTS = 3
PRIORITY = 1
"""Before the pieces of renditions, because somebody waits."""
EXPIRED_AT_ONCE = 200


def create_clip(
    *,
    video: Video,
    start_ms: int,
    end_ms: int,
    mode: str,
    captions: str,
    title: str = "",
    question: Question | None = None,
) -> Clip:
    """Write a clip and its job.

    Raises Refused: source_deleted, not_probed, clip_needs_exact, beyond_recording (400), too_many_open_clips (429),
    storage_quota_exceeded (402).
    """
    if video.source_deleted_at is not None:
        raise Refused("source_deleted", "The recording is deleted, so no clip can be made of it.")
    if video.duration_ms is None:
        raise Refused("not_probed", "The recording is not measured yet. Try again once it is being indexed.")
    if end_ms > video.duration_ms:
        detail = f"The recording ends at {video.duration_ms} ms."
        raise invalid(pointer="/end_ms", code="beyond_recording", detail=detail)
    files = recorded_files(video, start_ms=start_ms, end_ms=end_ms)
    if mode == ClipMode.FAST:
        _require_copyable(files)
    # Held until the transaction ends, so that requests at once are counted one after another.
    hold_storage()
    if queries.open_clips() >= MOST_OPEN:
        raise Refused(
            "too_many_open_clips", f"{MOST_OPEN} clips wait to be made. Try again once some are ready.", status=429
        )
    caller = current_caller()
    size_bytes = _expected_bytes(files, end_ms - start_ms, mode)
    require_room(size_bytes, api_key_id=caller.api_key_id)
    clip = Clip(
        tenant_id=current_tenant_id(), video=video, question=question, mode=mode, captions=captions, title=title,
        start_ms=start_ms, end_ms=end_ms, size_bytes=size_bytes, api_key_id=caller.api_key_id,
        person_id=caller.person_id, expires_at=timezone.now() + timedelta(days=settings.CLIP_DAYS),
    )  # fmt: skip
    clip.save(force_insert=True)
    _enqueue(clip)
    return clip


def finish(clip_id: UUID, *, gaps: Sequence[Gap], **made: Any) -> None:
    """Store that a clip was made, and emit clip.ready. made: shown_start_ms, shown_end_ms, width, height and
    size_bytes."""
    stored = [asdict(gap) for gap in gaps]
    waiting = Clip.objects.filter(id=clip_id, status=ClipStatus.QUEUED)
    if waiting.update(status=ClipStatus.READY, ready_at=timezone.now(), gaps=stored, **made):
        _tell("clip.ready", clip_id)


def fail(clip_id: UUID, *, code: str, message: str) -> None:
    """End a clip that cannot be made, give its bytes back, and emit clip.failed."""
    waiting = Clip.objects.filter(id=clip_id, status=ClipStatus.QUEUED)
    if waiting.update(status=ClipStatus.FAILED, size_bytes=0, error_code=code, error_message=message):
        _tell("clip.failed", clip_id)


def revive(job: Job) -> None:
    """Run the ended job of a clip again. Raises Refused `not_retryable`."""
    clip: Clip | None = Clip.objects.filter(id=job.subject_id, status=ClipStatus.FAILED).first()
    if clip is None:
        raise Refused("not_retryable", "The clip of this job is made, or gone.")
    _enqueue(clip)
    Clip.objects.filter(id=clip.id).update(status=ClipStatus.QUEUED, error_code="", error_message="")


def cancel(job: Job) -> None:
    """Cancel the clip of an open job."""
    request_cancel_many(dedupe_keys=[job.dedupe_key])
    fail(job.subject_id, code="canceled", message="The clip was canceled.")


def drop_clips(clips: QuerySet[Clip]) -> int:
    """Delete clips with their files; those that are not made are canceled. Returns their number.

    The caller writes the ledger of deletions.
    """
    rows = list(clips.order_by("id"))
    request_cancel_many(dedupe_keys=[_job_key(row.id) for row in rows])
    for row in rows:
        bury(row.id, [queries.folder_of(row)], at_once=True)
    _forget(rows)
    return len(rows)


def drop_clip(clip_id: UUID) -> bool:
    """Delete one clip. Returns whether there was one."""
    return bool(drop_clips(Clip.objects.filter(id=clip_id)))


def forget_video(video_id: UUID) -> None:
    """Delete the clips of a video, before the video's rows are deleted. Its folder is erased by the caller."""
    _forget(list(Clip.objects.filter(video_id=video_id)))


def expire_clips(*, should_stop: Any = lambda: False) -> int:
    """Delete the clips of all tenants whose time is over, and return their number. What is left waits for a sweep."""
    ended = 0
    for clip_id, tenant_id in queries.expired(timezone.now(), limit=EXPIRED_AT_ONCE):
        if should_stop():
            break
        with tenant_scope(tenant_id):
            if drop_clip(clip_id):
                record(Deleted.CLIP, [clip_id])
                ended += 1
    return ended


def _forget(rows: Sequence[Clip]) -> None:
    ids = [row.id for row in rows]
    forget_replies([encode("clp", id) for id in ids])
    redact_events(ids)
    Clip.objects.filter(id__in=ids).delete()


def _tell(event: str, clip_id: UUID) -> None:
    emit(type=event, resource_id=clip_id, data=payloads.clip_data(Clip.objects.get(id=clip_id)))


def _job_key(clip_id: UUID) -> str:
    return f"clip:{clip_id}"


def _enqueue(clip: Clip) -> None:
    enqueue(
        kind=JobKind.MAKE_CLIP,
        subject_id=clip.id,
        video_id=clip.video_id,
        dedupe_key=_job_key(clip.id),
        max_attempts=MAX_ATTEMPTS,
        priority=PRIORITY,
    )


def _require_copyable(files: Sequence[Video | InputSegment]) -> None:
    """Raise Refused `clip_needs_exact` unless the packets of all files can follow each other in one MP4."""
    formats = {(row.codec, row.width, row.height, row.rotation, row.has_audio) for row in files}
    if len(formats) > 1:
        raise Refused("clip_needs_exact", "The recording changes its format within the span. Use the mode exact.")
    if any(row.codec not in COPIED_CODECS for row in files):
        raise Refused("clip_needs_exact", "An MP4 cannot hold the recording as it is. Use the mode exact.")


def _expected_bytes(files: Sequence[Video | InputSegment], duration_ms: int, mode: str) -> int:
    """Return the bytes to reserve for a clip: its share of the recording, or those of usual pictures."""
    if mode == ClipMode.EXACT:
        return duration_ms * ASSUMED_BYTES_PER_SECOND // 1000
    held_ms = sum(row.duration_ms or 0 for row in files)
    held = sum(row.size_bytes for row in files)
    return held * duration_ms // max(held_ms, 1)
