"""Reads of the index jobs of videos, inside the open tenant_scope.

A customer sees the indexing of a video as one job. Behind it are a probe, one job per segment, an assembly and a
summary; this module adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Max, Q, Sum

from backend.jobs.models import Job, JobKind, JobState
from backend.library.indexing.versions import is_reindexing
from backend.library.models import Segment, SegmentState, Video, VideoStatus
from backend.library.recording import is_open

INDEX_KINDS = (
    JobKind.PROBE_VIDEO,
    JobKind.FETCH_SEGMENT,
    JobKind.INGEST_SEGMENT,
    JobKind.OBSERVE_SEGMENT,
    JobKind.ASSEMBLE_VIDEO,
)
_STATUS = {
    VideoStatus.QUEUED: "queued",
    VideoStatus.PROBING: "running",
    VideoStatus.INDEXING: "running",
    VideoStatus.READY: "succeeded",
    VideoStatus.FAILED: "failed",
    VideoStatus.DELETING: "canceled",
}


@dataclass(frozen=True, slots=True)
class IndexJob:
    """The latest indexing of one video. done and total count segments; attempt is the maximum over its jobs.

    observed_ms: milliseconds of video observed so far, including the progress of running segments.
    """

    video: Video
    status: str
    stage: str
    done: int
    total: int
    observed_ms: int
    attempt: int
    retryable: bool
    started_at: datetime | None
    completed_at: datetime | None


@dataclass(slots=True)
class _Counts:
    total: int = 0
    observed: int = 0
    assembled: int = 0
    observed_ms: int = 0


def index_jobs(videos: Sequence[Video]) -> list[IndexJob]:
    """Return one job per video, in the given order, with three queries for any number of videos."""
    ids = [video.id for video in videos]
    counts = _segment_counts(videos)
    attempts = {
        row["video_id"]: row
        for row in Job.objects.filter(video_id__in=ids, kind__in=INDEX_KINDS)
        .values("video_id")
        .annotate(
            attempt=Max("attempt"),
            dead=Count("id", filter=Q(state=JobState.DEAD)),
            under_way_s=Sum("progress_done", filter=Q(kind=JobKind.OBSERVE_SEGMENT, state=JobState.RUNNING)),
            completed_at=Max("completed_at"),
        )
    }
    return [_add_up(video, counts.get(video.id, _Counts()), attempts.get(video.id, {})) for video in videos]


def _segment_counts(videos: Sequence[Video]) -> dict[UUID, _Counts]:
    building = {video.id: video.building_index_version for video in videos}
    counts: dict[UUID, _Counts] = {}
    rows = (
        Segment.objects.filter(video_id__in=list(building))
        .values("video_id", "index_version", "state")
        .annotate(n=Count("id"), ms=Sum(F("end_ms") - F("start_ms")))
    )
    for row in rows:
        if row["index_version"] != building[row["video_id"]]:
            continue
        of_video = counts.setdefault(row["video_id"], _Counts())
        of_video.total += row["n"]
        if row["state"] in (SegmentState.OBSERVED, SegmentState.ASSEMBLED):
            of_video.observed += row["n"]
            of_video.observed_ms += row["ms"]
        if row["state"] == SegmentState.ASSEMBLED:
            of_video.assembled += row["n"]
    return counts


def _add_up(video: Video, counts: _Counts, jobs: dict[str, object]) -> IndexJob:
    reindexing = is_reindexing(video)
    ended = video.status in (VideoStatus.READY, VideoStatus.FAILED) and not reindexing
    completed_at = video.ready_at or jobs.get("completed_at") if ended else None
    return IndexJob(
        video=video,
        status="running" if reindexing and video.status == VideoStatus.READY else _STATUS[VideoStatus(video.status)],
        stage=_stage(video, counts),
        done=counts.assembled,
        total=counts.total,
        observed_ms=counts.observed_ms + 1000 * int(str(jobs.get("under_way_s") or 0)),
        attempt=int(str(jobs.get("attempt") or 0)),
        # DEAD: attempts were used up on a fault that may pass. A refused file stays refused.
        retryable=video.status == VideoStatus.FAILED and bool(jobs.get("dead")),
        started_at=video.index_started_at,
        completed_at=completed_at if isinstance(completed_at, datetime) else None,
    )


def _stage(video: Video, counts: _Counts) -> str:
    if video.status in (VideoStatus.QUEUED, VideoStatus.PROBING):
        return "probe"
    if video.status != VideoStatus.INDEXING and not (video.status == VideoStatus.READY and is_reindexing(video)):
        return ""
    if counts.observed < counts.total:
        return "observe"
    if counts.assembled == counts.total and is_open(video):
        return "input"
    return "assemble" if counts.assembled < counts.total else "summarise"
