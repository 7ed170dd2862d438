"""Reads of the index jobs of videos, inside the open tenant_scope.

A customer sees the indexing of a video as one job. Behind it are a probe, one job per segment, an assembly and a
summary; this module adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Min, Q, Sum
from django.db.models.functions import Now

from backend.jobs.models import Job, JobKind, JobRank, JobState
from backend.library.indexing.failure import CANCELED, is_final
from backend.library.indexing.versions import is_reindexing
from backend.library.indexing.wishes import INDEX_KINDS
from backend.library.models import Segment, SegmentState, Video, VideoStatus
from backend.library.recording import is_open

PACE_OF = timedelta(hours=1)
"""The last segments by which the time left is estimated: the pace of workers and models changes within hours."""
_STATUS: dict[str, str] = {
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

    observed_ms: milliseconds of video observed so far, including the progress of running segments. seconds_left: at
    the pace of the last hour; None while nothing can be said.
    """

    video: Video
    status: str
    stage: str
    done: int
    total: int
    observed_ms: int
    attempt: int
    retryable: bool
    seconds_left: int | None
    started_at: datetime | None
    completed_at: datetime | None

    @property
    def rank(self) -> JobRank:
        """Return the position of the job among those of its tenant."""
        return JobRank(self.video.index_rank)


@dataclass(slots=True)
class _Pace:
    """Segments that went through a stage in the last hour: their number and length, when the first and last did."""

    n: int = 0
    ms: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, row: dict[str, Any], stage: str) -> None:
        n, first, last = row[f"{stage}_n"], row[f"{stage}_first"], row[f"{stage}_last"]
        if not n:
            return
        self.n += n
        self.ms += row[f"{stage}_ms"]
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)

    def seconds_for(self, ms: int) -> float | None:
        """Return how long the stage takes for so much video; None after fewer than two segments."""
        if ms <= 0:
            return 0.0
        if self.n < 2 or self.first is None or self.last is None:
            return None
        # The first of them began before the measured time.
        measured_ms = self.ms * (self.n - 1) / self.n
        return ms * (self.last - self.first).total_seconds() / measured_ms if measured_ms else None


@dataclass(slots=True)
class _Counts:
    total: int = 0
    observed: int = 0
    assembled: int = 0
    observed_ms: int = 0
    assembled_ms: int = 0
    observing: _Pace = field(default_factory=_Pace)
    assembling: _Pace = field(default_factory=_Pace)


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
        .annotate(n=Count("id"), ms=_LENGTH, **_recent("observed"), **_recent("assembled"))
    )
    for row in rows:
        if row["index_version"] != building[row["video_id"]]:
            continue
        of_video = counts.setdefault(row["video_id"], _Counts())
        of_video.total += row["n"]
        if row["state"] in (SegmentState.OBSERVED, SegmentState.ASSEMBLED):
            of_video.observed += row["n"]
            of_video.observed_ms += row["ms"]
            of_video.observing.add(row, "observed")
        if row["state"] == SegmentState.ASSEMBLED:
            of_video.assembled += row["n"]
            of_video.assembled_ms += row["ms"]
            of_video.assembling.add(row, "assembled")
    return counts


_LENGTH = Sum(F("end_ms") - F("start_ms"))


def _recent(stage: str) -> dict[str, Any]:
    """Return the aggregates of the segments that went through a stage in the last hour, as _Pace.add() reads them."""
    at = f"{stage}_at"
    recent = Q(**{f"{at}__gt": Now() - PACE_OF})
    return {
        f"{stage}_n": Count("id", filter=recent),
        f"{stage}_ms": Sum(F("end_ms") - F("start_ms"), filter=recent),
        f"{stage}_first": Min(at, filter=recent),
        f"{stage}_last": Max(at, filter=recent),
    }


def _add_up(video: Video, counts: _Counts, jobs: dict[str, object]) -> IndexJob:
    reindexing = is_reindexing(video)
    ended = video.status in (VideoStatus.READY, VideoStatus.FAILED) and not reindexing
    completed_at = video.ready_at or jobs.get("completed_at") if ended else None
    observed_ms = counts.observed_ms + 1000 * int(str(jobs.get("under_way_s") or 0))
    return IndexJob(
        video=video,
        status=status_of(video),
        stage=_stage(video, counts),
        done=counts.assembled,
        total=counts.total,
        observed_ms=observed_ms,
        attempt=int(str(jobs.get("attempt") or 0)),
        retryable=video.status == VideoStatus.FAILED and not is_final(video.error_code),
        seconds_left=_seconds_left(video, counts, observed_ms),
        started_at=video.index_started_at,
        completed_at=completed_at if isinstance(completed_at, datetime) else None,
    )


def status_of(video: Video) -> str:
    """Return the status of a video's index job."""
    status = "running" if is_reindexing(video) and video.status == VideoStatus.READY else _STATUS[video.status]
    if status == "failed" and video.error_code == CANCELED:
        return "canceled"
    return "paused" if status in ("queued", "running") and video.index_paused_at is not None else status


def _seconds_left(video: Video, counts: _Counts, observed_ms: int) -> int | None:
    if status_of(video) != "running" or video.duration_ms is None or is_open(video):
        return None
    stages = (
        counts.observing.seconds_for(video.duration_ms - observed_ms),
        counts.assembling.seconds_for(video.duration_ms - counts.assembled_ms),
    )
    # Segments are assembled while others are observed, so the slower stage decides.
    known = [seconds for seconds in stages if seconds is not None]
    return None if stages[0] is None or not known else round(max(known))


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
