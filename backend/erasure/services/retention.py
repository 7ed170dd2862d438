"""Deletes what is older than a tenant keeps it. Each step is a transaction of its own and stands in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone
from uuid6 import uuid7

from backend.clips.models import Clip
from backend.clips.services.clips import drop_clips
from backend.ekg.models import Frame
from backend.library.models import IndexVersion, InputSegment, Retention, Video, VideoStatus
from backend.library.recording import erasable_keys
from backend.library.services.deletion_ledger import Deleted, record
from backend.library.services.deletions import bury
from backend.library.services.storage_quota import hold_storage
from backend.library.services.videos import delete_video
from backend.library.storage import question_prefix, source_prefix, version_prefix
from backend.playback.services.renditions import forget_rendition
from backend.questions.models import (
    OPEN,
    Comparison,
    ComparisonStatus,
    Evidence,
    Question,
    QuestionBatch,
    Search,
    Session,
)
from backend.questions.services import deletions, searches
from backend.tenancy.context import tenant_scope

AT_ONCE = 200
SETTLED = (VideoStatus.READY, VideoStatus.FAILED)
OVER = (ComparisonStatus.COMPLETED, ComparisonStatus.CANCELED)
Step = Callable[[], int]


def tenants_with_retention() -> list[UUID]:
    """Return the tenants that keep something for a limited time, read by the dispatch role."""
    rows = Retention.unscoped.using("dispatch").exclude(
        source_days=None, thumbnails_days=None, index_days=None, questions_days=None
    )
    return list(rows.order_by("tenant_id").values_list("tenant_id", flat=True))


def apply_retention(
    tenant_id: UUID, *, now: datetime | None = None, should_stop: Callable[[], bool] = lambda: False
) -> int:
    """Delete what is older than the tenant keeps it. Returns the number of deleted things.

    should_stop: asked before each step; what is left waits for the next sweep.
    """
    at, deleted = now or timezone.now(), 0
    with tenant_scope(tenant_id):
        kept = Retention.objects.filter(tenant_id=tenant_id).first()
    for step in _steps(kept, at) if kept is not None else ():
        while not should_stop():
            with tenant_scope(tenant_id):
                done = step()
            deleted += done
            if not done:
                break
    return deleted


def _steps(kept: Retention, at: datetime) -> Iterator[Step]:
    """Yield functions that delete some old things of one kind and return their number, 0 once none is left."""

    def before(days: int) -> datetime:
        return at - timedelta(days=days)

    if kept.questions_days is not None:
        asked = before(kept.questions_days)
        yield from (partial(_old_questions, asked), partial(_old_searches, asked), partial(_old_groups, asked))
    if kept.index_days is not None:
        yield partial(_old_videos, before(kept.index_days))
    if kept.source_days is not None:
        yield partial(_old_sources, before(kept.source_days))
    if kept.thumbnails_days is not None:
        yield partial(_old_thumbnails, before(kept.thumbnails_days))


def _old_questions(old: datetime) -> int:
    rows = Question.objects.filter(created_at__lt=old, comparison_id=None).exclude(status__in=OPEN).order_by("id")
    ids = list(rows.values_list("id", flat=True)[:AT_ONCE])
    deletions.drop_questions(Question.objects.filter(id__in=ids), grave=UUID(bytes=uuid7().bytes))
    record(Deleted.QUESTION, ids)
    return len(ids)


def _old_searches(old: datetime) -> int:
    rows = Search.objects.filter(created_at__lt=old).exclude(status__in=OPEN).order_by("id")
    ids = list(rows.values_list("id", flat=True)[:AT_ONCE])
    if ids:
        deletions.drop_searches(ids)
    record(Deleted.SEARCH, ids)
    return len(ids)


def _old_groups(old: datetime) -> int:
    """Delete old batches and sessions without questions, and old comparisons that are over."""
    count = 0
    empty: tuple[tuple[Any, str, Deleted, Callable[[UUID], bool]], ...] = (
        (QuestionBatch, "batch_id", Deleted.BATCH, deletions.drop_batch),
        (Session, "session_id", Deleted.SESSION, deletions.drop_session),
    )
    for model, column, kind, drop in empty:
        held = Question.objects.filter(**{column: OuterRef("id")})
        rows = model.objects.filter(~Exists(held), created_at__lt=old).order_by("id")
        count += _each(rows, drop, kind)
    over = Comparison.objects.filter(created_at__lt=old, status__in=OVER).order_by("id")
    return count + _each(over, deletions.drop_comparison, Deleted.COMPARISON)


def _old_videos(old: datetime) -> int:
    rows = list(Video.objects.filter(created_at__lt=old).exclude(status=VideoStatus.DELETING).order_by("id")[:1])
    for video in rows:
        delete_video(video=video)
        record(Deleted.VIDEO, [video.id])
    return len(rows)


def _old_sources(old: datetime) -> int:
    return _each(_settled(old).filter(source_deleted_at=None), drop_source, Deleted.SOURCE)


def _old_thumbnails(old: datetime) -> int:
    return _each(_settled(old).filter(thumbnails_deleted_at=None), drop_thumbnails, Deleted.THUMBNAILS)


def _settled(old: datetime) -> QuerySet[Video]:
    """Return the videos from before, with no index under way and no input to come."""
    rows: QuerySet[Video] = Video.objects.filter(created_at__lt=old, status__in=SETTLED)
    done = rows.exclude(input_closed_at=None).filter(building_index_version=F("active_index_version"))
    return done.order_by("id")


def _each(rows: QuerySet[Any], drop: Callable[[UUID], bool], kind: Deleted) -> int:
    """Drop the first AT_ONCE of the rows and record them."""
    ids = list(rows.values_list("id", flat=True)[:AT_ONCE])
    for id in ids:
        drop(id)
    record(kind, ids)
    return len(ids)


def drop_source(video_id: UUID) -> bool:
    """Remove the recording of a video, whose index stays. Returns whether there was one.

    Its objects are erased by a job, except those that another video shares.
    """
    hold_storage()
    grave = UUID(bytes=uuid7().bytes)
    video: Video | None = Video.objects.filter(id=video_id).exclude(status=VideoStatus.DELETING).first()
    if video is None or video.source_deleted_at is not None:
        return False
    # What people watch of a recording goes with it.
    drop_clips(Clip.objects.filter(video_id=video_id))
    folders = [*map(source_prefix, erasable_keys(video)), *forget_rendition(video_id)]
    bury(grave, folders, at_once=True)
    InputSegment.objects.filter(video_id=video_id).update(object_key="")
    Video.objects.filter(id=video_id).update(object_key="", source_deleted_at=timezone.now())
    return True


def drop_thumbnails(video_id: UUID) -> bool:
    """Remove the pictures of a video's index and those that answers show of it. Returns whether there were any.

    Searches and answers keep their words and times. Pictures of a later index have folders of their own.
    """
    video: Video | None = Video.objects.filter(id=video_id).exclude(status=VideoStatus.DELETING).first()
    if video is None or video.thumbnails_deleted_at is not None:
        return False
    versions = list(IndexVersion.objects.filter(video_id=video_id).values_list("n", flat=True))
    shown = Evidence.objects.filter(video_id=video_id).exclude(frame_key="")
    asked = sorted(set(shown.values_list("question_id", flat=True)))
    folders = [version_prefix(video.tenant_id, video_id, n) for n in versions]
    folders += [question_prefix(video.tenant_id, video_id, question) for question in asked]
    bury(UUID(bytes=uuid7().bytes), folders, at_once=True)
    for n in versions:
        searches.forget_frames(video_id, n)
    shown.update(frame_key="")
    Frame.objects.filter(video_id=video_id).update(thumbnail_key="")
    Video.objects.filter(id=video_id).update(thumbnails_deleted_at=timezone.now())
    return True
