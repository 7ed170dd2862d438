"""What people decide about an index job: cancel, pause, resume, put first, give a deadline, retry in place.

Each function locks the jobs in the queue in LOCK_ORDER and the video after them, as workers do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, Value
from django.db.models.functions import Now

from backend.jobs import control
from backend.jobs.models import OPEN, Job, JobRank
from backend.library.index_contents import index_contents
from backend.library.indexing.automatic_retry import POSTPONED, due_segments
from backend.library.indexing.begin import enqueue_probe
from backend.library.indexing.failure import CANCELED, fail_version, is_final
from backend.library.indexing.follow_ups import enqueue_observation, summarise_key
from backend.library.indexing.intake import take_in_again
from backend.library.indexing.rebuilding import build_again
from backend.library.indexing.versions import is_reindexing, is_settled
from backend.library.indexing.wishes import jobs_of, rank_among_jobs
from backend.library.models import (
    SEGMENT_WANTED_AGAIN,
    IndexVersion,
    InputSegment,
    InputStatus,
    Segment,
    SegmentState,
    SourceType,
    Video,
    VideoStatus,
)
from backend.library.services.media_quota import hold_index
from backend.tenancy.refusals import Refused

UNDER_WAY = (VideoStatus.QUEUED, VideoStatus.PROBING, VideoStatus.INDEXING)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A part of a recording, in milliseconds from its start; end_ms is not part of it."""

    start_ms: int
    end_ms: int


def cancel_indexing(*, video_id: UUID) -> Video:
    """Stop building the index. What is indexed so far can be read, and a retry goes on from there.

    A re-index ends, and the old index stays. Safe to repeat. Raises Refused: video_deleting, index_job_over.
    """
    control.cancel_jobs(jobs_of(video_id))
    video = _lock(video_id)
    if not is_under_way(video):
        if video.status == VideoStatus.FAILED and video.error_code == CANCELED:
            return video
        raise _over()
    fail_version(
        video_id=video_id, version=video.building_index_version, code="canceled", message="Indexing was canceled."
    )
    canceled: Video = Video.objects.get(id=video_id)
    return canceled


def pause_indexing(*, video_id: UUID) -> Video:
    """Start nothing more of the index job until it is resumed. Segments that workers have begun are finished.

    Safe to repeat. Raises Refused: video_deleting, index_job_over.
    """
    control.pause_jobs(jobs_of(video_id))
    video = _lock_under_way(video_id)
    return video if video.index_paused_at is not None else _changed(video_id, index_paused_at=Now())


def resume_indexing(*, video_id: UUID) -> Video:
    """Go on with a paused index job. Safe to repeat. Raises Refused: video_deleting, index_job_over."""
    control.resume_jobs(jobs_of(video_id))
    _lock_under_way(video_id)
    return _changed(video_id, index_paused_at=None)


def prioritise_indexing(*, video_id: UUID, rank: JobRank) -> Video:
    """Put the index job before, among or after the tenant's others. Raises Refused: video_deleting, index_job_over.

    With the normal rank a recording that still grows comes first again, see rank_among_jobs().
    """
    control.set_rank(jobs_of(video_id), rank_among_jobs(Video.objects.get(id=video_id), rank))
    _lock_under_way(video_id)
    return _changed(video_id, index_rank=rank)


def set_index_deadline(*, video_id: UUID, at: datetime) -> Video:
    """Let the index job end by this time with what it has. Raises Refused: video_deleting, index_job_over."""
    control.set_deadline(jobs_of(video_id), at)
    _lock_under_way(video_id)
    return _changed(video_id, index_deadline_at=at)


def retry_indexing(*, video_id: UUID, part: TimeSpan | None = None, api_key_id: UUID | None = None) -> Video:
    """Build on the same version: what failed is done again with the same ids, what is done stays and costs nothing.

    An index job that failed or was canceled goes on from where it ended. In a ready index the segments with gaps that
    are not the recording's own are observed again, and the events are put together again out of all segments. part:
    only segments with gaps that overlap it; other gaps stay. Raises Refused: video_deleting, already_indexing,
    nothing_to_retry, not_retryable, or as media_quota.hold_media().
    """
    return _retry(video_id, api_key_id, part=part)


def retry_segment(*, video_id: UUID, n: int) -> Video:
    """Observe one segment of the active version once more, and put the events together again out of all segments.

    Other segments with gaps stay as they are; segments that were never observed are observed, because a version ends
    when it is whole. It costs the customer nothing. Raises Refused as retry_indexing(), and `unknown_segment`.
    """
    return _retry(video_id, None, only=n)


def retry_by_itself(*, video_id: UUID) -> Video:
    """Retry the segments of the active version that failed for our reasons and are due (automatic_retry.PAUSES).

    A failed video goes on as retry_indexing() does. In a ready video one segment is observed first, and the index stays
    as it is until that has succeeded (backend.ekg.repair.reopen). Raises Refused as retry_indexing().
    """
    if Video.objects.values_list("status", flat=True).get(id=video_id) != VideoStatus.READY:
        return _retry(video_id, None, by_itself=True)
    due = due_segments(video_id).order_by("n").first()
    if due is None:
        raise _nothing_failed()
    if jobs_of(video_id).filter(OPEN).exists():
        raise _indexed_already()
    enqueue_observation(due.id, video_id)
    video = _lock(video_id)
    if video.source_deleted_at is not None:
        raise _source_deleted()
    if not is_settled(video_id, due.index_version):
        raise _indexed_already()
    Segment.objects.filter(id=due.id).update(
        error_code=SEGMENT_WANTED_AGAIN, retry_at=Now() + POSTPONED, retries=F("retries") + 1
    )
    return video


def _retry(
    video_id: UUID,
    api_key_id: UUID | None,
    *,
    only: int | None = None,
    part: TimeSpan | None = None,
    by_itself: bool = False,
) -> Video:
    """Go on with the active version, and mark the segments that are observed again.

    only: this segment, whether it failed or not. part: those that failed and overlap it. by_itself: those that are
    still to be retried. Without all three all that failed.
    """
    take_in_again(video_id)
    # The probe plans what is missing and opens the first segments, as it does for a re-index.
    enqueue_probe(video_id)
    video = _lock(video_id)
    if video.status in UNDER_WAY or is_reindexing(video):
        raise _indexed_already()
    version = IndexVersion.objects.select_for_update().get(video_id=video_id, n=video.active_index_version)
    segments = Segment.objects.filter(video_id=video_id, index_version=version.n)
    if by_itself:
        chosen = list(segments.exclude(retry_at=None).values_list("n", flat=True))
    elif only is not None:
        chosen = [only]
    else:
        chosen = index_contents().failed_segments(video_id, version.n)
    wanted = segments.filter(n__in=chosen)
    if part is not None:
        wanted = wanted.filter(start_ms__lt=part.end_ms, end_ms__gt=part.start_ms)
    if only is not None and not wanted.exists():
        raise Refused("unknown_segment", "The index has no such segment.")
    if video.status == VideoStatus.FAILED:
        _require_retryable(video)
    elif part is not None and not wanted.exists():
        raise Refused("nothing_to_retry", "This part of the index has no gap that a retry could fill.")
    elif not chosen and not _lacks_summary(version):
        raise _nothing_failed()
    elif video.source_deleted_at is not None and chosen:
        raise _source_deleted()
    if by_itself and not chosen:
        raise _nothing_failed()
    from_start = wanted.filter(state=SegmentState.ASSEMBLED).exists()
    unpaid_ms = None
    if video.status == VideoStatus.READY:
        unpaid_ms = sum(segment.end_ms - segment.start_ms for segment in wanted)
    wanted.update(error_code=SEGMENT_WANTED_AGAIN, retry_at=None, retries=F("retries") + 1 if by_itself else Value(0))
    hold_index(video, duration_ms=unpaid_ms, api_key_id=api_key_id)
    build_again(video, version, repair=True, from_start=from_start)
    again: Video = Video.objects.get(id=video_id)
    return again


def revive(job: Job) -> None:
    """Run an ended job of an index job again: its index job is retried in place. Raises Refused as retry_indexing."""
    if job.video_id is None:
        raise Refused("not_retryable", "The video of this job is gone.")
    retry_indexing(video_id=job.video_id)


def cancel(job: Job) -> None:
    """Cancel the index job that an open job belongs to. Raises Refused as cancel_indexing."""
    if job.video_id is not None:
        cancel_indexing(video_id=job.video_id)


def _require_retryable(video: Video) -> None:
    """Raise Refused if the recording itself is at fault, or is not here to be read again."""
    if is_final(video.error_code):
        raise Refused("not_retryable", "The recording itself cannot be indexed; send another file.")
    if video.source_deleted_at is not None:
        raise _source_deleted()
    unread = video.duration_ms is None and video.source_type != SourceType.UPLOAD
    if unread and not InputSegment.objects.filter(video_id=video.id, status=InputStatus.QUEUED).exists():
        # The URL of a piece is forgotten after its fetch, because it may be signed.
        raise Refused("not_retryable", "The recording did not arrive, so there is nothing to retry; send it again.")


def _lacks_summary(version: IndexVersion) -> bool:
    jobs = Job.objects.filter(dedupe_key=summarise_key(version.video_id, version.n), state__in=control.ENDED_BADLY)
    return bool(jobs.exists())


def is_under_way(video: Video) -> bool:
    """Whether an index of the video is being built, be it the first one or a later one."""
    return video.status in UNDER_WAY or (video.status == VideoStatus.READY and is_reindexing(video))


def _lock(video_id: UUID) -> Video:
    video: Video = Video.objects.select_for_update(no_key=True).get(id=video_id)
    if video.status == VideoStatus.DELETING:
        raise Refused("video_deleting", "This video is being deleted.")
    return video


def _lock_under_way(video_id: UUID) -> Video:
    video = _lock(video_id)
    if not is_under_way(video):
        raise _over()
    return video


def _changed(video_id: UUID, **columns: object) -> Video:
    Video.objects.filter(id=video_id).update(**columns)
    changed: Video = Video.objects.get(id=video_id)
    return changed


def _indexed_already() -> Refused:
    return Refused("already_indexing", "This video is being indexed already.")


def _nothing_failed() -> Refused:
    return Refused("nothing_to_retry", "Nothing of this index failed; index the video again to build a new one.")


def _source_deleted() -> Refused:
    return Refused("source_deleted", "The recording is deleted, so it cannot be indexed again.")


def _over() -> Refused:
    return Refused("index_job_over", "This index job is over already.")
