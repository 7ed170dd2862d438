"""Reads of clips, inside the open tenant_scope, and of those that have expired, before a tenant is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from uuid import UUID

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from backend.clips.models import Clip, ClipCaptions, ClipStatus
from backend.library.models import InputSegment, InputStatus, Video, VideoStatus
from backend.library.storage import video_prefix

CLIP, POSTER, CAPTIONS = "clip.mp4", "poster.jpg", "captions.vtt"
"""Names of the objects of a clip in its folder."""
_JITTER_MS = 1_000
"""Shortest gap between recordings that is reported: cameras state their times by the second."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Where recordings with a gap between them meet. at_ms: on the video's clock. gap_ms: None if it is unknown."""

    at_ms: int
    gap_ms: int | None


def clips(*, status: str = "", video_id: UUID | None = None, question_id: UUID | None = None) -> QuerySet[Clip]:
    """Return the clips of the tenant that have not expired, of videos that are not being deleted.

    An argument that is empty or None restricts nothing.
    """
    living: QuerySet[Clip] = Clip.objects.filter(expires_at__gt=timezone.now())
    rows = living.exclude(video__status=VideoStatus.DELETING)
    if status:
        rows = rows.filter(status=status)
    if video_id is not None:
        rows = rows.filter(video_id=video_id)
    return rows if question_id is None else rows.filter(question_id=question_id)


def folder_of(clip: Clip) -> str:
    """Return the folder of the clip's objects, and of nothing else."""
    return f"{video_prefix(clip.tenant_id, clip.video_id)}clips/{clip.id}/"


def objects_of(clip: Clip) -> dict[str, str]:
    """Return the keys of the objects of a clip that is ready, by the names CLIP, POSTER and CAPTIONS."""
    names = (CLIP, POSTER, CAPTIONS) if clip.captions == ClipCaptions.FILE else (CLIP, POSTER)
    return {name: folder_of(clip) + name for name in names}


def open_clips() -> int:
    """Return the number of clips that are not made yet."""
    return clips(status=ClipStatus.QUEUED).count()


def clip_bytes(api_key_id: UUID | None = None, before: datetime | None = None) -> int:
    """Return the bytes of clips, and those that are reserved for clips that are not made yet.

    api_key_id: only those of this key. before: only clips that were ready before a moment.
    """
    rows = Clip.objects.exclude(status=ClipStatus.FAILED)
    if api_key_id is not None:
        rows = rows.filter(api_key_id=api_key_id)
    if before is not None:
        rows = rows.filter(ready_at__lt=before)
    return int(rows.aggregate(total=Sum("size_bytes"))["total"] or 0)


def gaps_within(video: Video, start_ms: int, end_ms: int) -> list[Gap]:
    """Return the gaps between the recordings of a span: missing pieces, and jumps of the times that were stated."""
    rows = InputSegment.objects.filter(video_id=video.id).exclude(start_ms=None)
    near = rows.filter(Q(start_ms__lte=end_ms)).order_by("n")
    found = []
    for before, after in pairwise(near.filter(status=InputStatus.READY)):
        at_ms = after.start_ms
        if not start_ms < at_ms < end_ms:
            continue
        gap_ms = None
        if before.recorded_at is not None and after.recorded_at is not None:
            gap_ms = round((after.recorded_at - before.recorded_at).total_seconds() * 1000) - before.duration_ms
        is_missing = any(row.status == InputStatus.FAILED and before.n < row.n < after.n for row in near)
        if is_missing or (gap_ms is not None and gap_ms >= _JITTER_MS):
            found.append(Gap(at_ms, gap_ms if gap_ms is not None and gap_ms > 0 else None))
    return found


def expired(now: datetime, *, limit: int) -> list[tuple[UUID, UUID]]:
    """Return the ids of clips of all tenants that have expired, with their tenants, read by the dispatch role."""
    rows = Clip.unscoped.using("dispatch").filter(expires_at__lte=now).order_by("expires_at")
    return [(row.id, row.tenant_id) for row in rows.only("id", "tenant_id")[:limit]]
