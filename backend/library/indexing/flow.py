"""How the jobs of one video follow each other: probe, then segments in a sliding window, each followed by assembly."""

from __future__ import annotations

from uuid import UUID

from backend.jobs.models import Job, JobKind
from backend.jobs.services import enqueue
from backend.library.models import IndexState, IndexVersion, Segment, SegmentState, VideoStatus

# Segments of one video that may wait or run at once. Small, so that videos of many tenants share the workers fairly.
SEGMENTS_IN_FLIGHT = 4


# With the backoff of backend.jobs.services these span several minutes: the restart of a model server leaves no gaps.
MODEL_ATTEMPTS = 9

# Half a minute: a video is not kept from being ready by what it can do without.
SUMMARY_ATTEMPTS = 5


def observe_key(segment_id: UUID) -> str:
    return f"observe:{segment_id}"


def assemble_key(video_id: UUID, version: int) -> str:
    return f"assemble:{video_id}:{version}"


def summarise_key(video_id: UUID, version: int) -> str:
    return f"summarise:{video_id}:{version}"


def is_indexing(video_id: UUID, version: int) -> bool:
    """Whether work on the version still has a use: one that failed, or of a video that goes, is not seen or billed."""
    return bool(
        IndexVersion.objects.filter(
            video_id=video_id,
            n=version,
            state=IndexState.BUILDING,
            video__status__in=[VideoStatus.INDEXING, VideoStatus.READY],
        ).exists()
    )


def open_next_segments(video_id: UUID, version: int) -> None:
    """Enqueue the earliest pending segments up to the window; those enqueued already are left as they are."""
    pending = Segment.objects.filter(video_id=video_id, index_version=version, state=SegmentState.PENDING)
    for segment_id in pending.order_by("n").values_list("id", flat=True)[:SEGMENTS_IN_FLIGHT]:
        enqueue_observation(segment_id, video_id)


def enqueue_observation(segment_id: UUID, video_id: UUID) -> None:
    if not Job.objects.filter(dedupe_key=observe_key(segment_id)).exists():
        enqueue(
            kind=JobKind.OBSERVE_SEGMENT,
            subject_id=segment_id,
            video_id=video_id,
            dedupe_key=observe_key(segment_id),
            max_attempts=MODEL_ATTEMPTS,
        )


def enqueue_assembly(video_id: UUID, version: int) -> Job:
    """Ring for the version's single assembly job: it runs now, or once more after the run in progress."""
    return enqueue(
        kind=JobKind.ASSEMBLE_VIDEO,
        subject_id=IndexVersion.objects.values_list("id", flat=True).get(video_id=video_id, n=version),
        video_id=video_id,
        dedupe_key=assemble_key(video_id, version),
        max_attempts=MODEL_ATTEMPTS,
        priority=1,
    )


def enqueue_summary(video_id: UUID, version: int) -> Job:
    """Ring for the version's single summary job: it tells what is indexed by then, and ends a version that is whole."""
    return enqueue(
        kind=JobKind.SUMMARISE_VIDEO,
        subject_id=IndexVersion.objects.values_list("id", flat=True).get(video_id=video_id, n=version),
        video_id=video_id,
        dedupe_key=summarise_key(video_id, version),
        max_attempts=SUMMARY_ATTEMPTS,
        priority=1,
    )
