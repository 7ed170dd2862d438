"""Reads and writes of segments while a version is built: pending, observed, assembled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID

from django.utils import timezone

from backend.library.indexing.automatic_retry import next_retry
from backend.library.indexing.failure import is_ours
from backend.library.indexing.versions import is_indexing, is_settled, version_of
from backend.library.models import SEGMENT_WANTED_AGAIN, Collection, Segment, SegmentState, Video
from backend.library.recording import RecordedPiece, is_open, pieces
from gpu_workers.engine.indexing.frame_stream import Damage


@dataclass(frozen=True, slots=True)
class PendingSegment:
    """A worker's input for observing a segment. instructions: from the video's collection, "" without any."""

    segment: Segment
    video: Video
    pieces: tuple[RecordedPiece, ...]
    instructions: str


def pending_segment(segment_id: UUID) -> PendingSegment | None:
    """Return a segment to observe; None if it was observed, or if its version has failed or is being deleted.

    A segment that is not pending is part of a ready index and failed in it. It is retried, and its gap stays until it
    has been observed.
    """
    segment = Segment.objects.filter(id=segment_id).first()
    if segment is None or not _is_to_be_observed(segment):
        return None
    video = Video.objects.get(id=segment.video_id)
    recorded = pieces(video, start_ms=segment.start_ms, end_ms=segment.end_ms)
    collection = Collection.objects.filter(id=video.collection_id).first() if video.collection_id else None
    return PendingSegment(segment, video, tuple(recorded), collection.instructions if collection else "")


def _is_to_be_observed(segment: Segment) -> bool:
    if segment.state == SegmentState.PENDING:
        return is_indexing(segment.video_id, segment.index_version)
    return segment.error_code == SEGMENT_WANTED_AGAIN and is_settled(segment.video_id, segment.index_version)


def mark_observed(segment_id: UUID, *, stage_ms: Mapping[str, float], damage: Damage) -> None:
    """Record that the segment's chunks are stored. stage_ms: wall time of each stage."""
    Segment.objects.filter(id=segment_id).update(
        state=SegmentState.OBSERVED,
        stage_ms=dict(stage_ms),
        packets=damage.packets,
        damaged=damage.damaged,
        observed_at=timezone.now(),
    )


def mark_heard(video_id: UUID, language: str) -> None:
    """Record the language of a segment's speech, if no segment's was certain before. language: "" if unknown."""
    if language:
        Video.objects.filter(id=video_id, heard_language="").update(heard_language=language)


def mark_gap(pending: PendingSegment, *, code: str) -> bool:
    """Record that the segment could not be observed: its chunks are gaps, so the rest can be assembled.

    A segment that failed for our reasons is retried by itself. Returns whether it failed so for the last time.
    """
    segment, now = pending.segment, timezone.now()
    ours = is_ours(pending.video, code)
    retry_at = next_retry(segment.retries, now=now) if ours else None
    segments = Segment.objects.filter(id=segment.id)
    segments.update(error_code=code, retry_at=retry_at)
    segments.filter(state=SegmentState.PENDING).update(state=SegmentState.OBSERVED, observed_at=now)
    return ours and retry_at is None


@dataclass(frozen=True, slots=True)
class ObservedSegments:
    """Adjacent segments that can be assembled now, in time order. last: the recording ends with them. newest: more may
    be appended, and nothing after them is planned yet, so that their events must not wait for what comes."""

    video: Video
    version: int
    segments: list[Segment]
    last: bool
    newest: bool


def observed_segments(version_id: UUID, *, limit: int) -> ObservedSegments | None:
    """Return the earliest unassembled segments that are observed without interruption; None if there are none."""
    built = version_of(version_id)
    if built is None or not is_indexing(built.video_id, built.n):
        return None
    segments = Segment.objects.filter(video_id=built.video_id, index_version=built.n)
    waiting = segments.exclude(state=SegmentState.ASSEMBLED).order_by("n")[:limit]
    ready = list(takewhile(lambda segment: segment.state == SegmentState.OBSERVED, waiting))
    if not ready:
        return None
    # Read after the segments: the duration of a growing video never shrinks, so it covers these segments.
    video = Video.objects.get(id=built.video_id)
    newest = is_open(video) and not segments.filter(n__gt=ready[-1].n).exists()
    return ObservedSegments(video, built.n, ready, last=ends_recording(ready[-1], video), newest=newest)


def ends_recording(segment: Segment, video: Video) -> bool:
    """Whether the segment is the last. No other segment ends where the recording ends (plan.plan)."""
    return bool(segment.end_ms == video.duration_ms)


def mark_assembled(segments: Sequence[Segment], *, wall_ms: int) -> None:
    """Record that the segments' events are stored. wall_ms: time to make the events of all these segments."""
    now = timezone.now()
    for segment in segments:
        segment.state, segment.assembled_at = SegmentState.ASSEMBLED, now
        segment.stage_ms = {**segment.stage_ms, "assemble": wall_ms // len(segments)}
    Segment.objects.bulk_update(segments, ["state", "assembled_at", "stage_ms"])
