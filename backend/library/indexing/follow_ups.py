"""The order of a video's jobs: the probe, then segments, as many at once as workers take, each followed by the
assembly."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef

from backend.jobs.models import OPEN, Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.library.indexing.wishes import wishes_of
from backend.library.models import IndexVersion, Segment, SegmentState

MODEL_ATTEMPTS = 9
"""Maximum attempts of a job that calls models. An outage spends none; lost workers and unforeseen errors do."""

SUMMARY_ATTEMPTS = 5
"""Maximum attempts of a summary: a video can be ready without one."""


def observe_key(segment_id: UUID) -> str:
    return f"observe:{segment_id}"


def assemble_key(video_id: UUID, version: int) -> str:
    return f"assemble:{video_id}:{version}"


def summarise_key(video_id: UUID, version: int) -> str:
    return f"summarise:{video_id}:{version}"


def open_next_segments(video_id: UUID, version: int) -> None:
    """Enqueue the earliest pending segments until SEGMENTS_WAITING of the video wait for a worker.

    Called when a segment begins. So every free worker finds a segment, however many workers there are,
    and a long video never has more than these few in front of other tenants' segments.
    """
    observations = Job.objects.filter(kind=JobKind.OBSERVE_SEGMENT, video_id=video_id)
    free = settings.SEGMENTS_WAITING - observations.filter(state=JobState.QUEUED).count()
    if free < 1:
        return
    # A pending segment whose job has ended is one that is retried.
    pending = Segment.objects.filter(
        ~Exists(observations.filter(OPEN, subject_id=OuterRef("id"))),
        video_id=video_id,
        index_version=version,
        state=SegmentState.PENDING,
    )
    # In order of time, so that two transactions that open the same segments never wait for each other in a circle.
    for segment_id in pending.order_by("n").values_list("id", flat=True)[:free]:
        enqueue_observation(segment_id, video_id)


def enqueue_observation(segment_id: UUID, video_id: UUID) -> None:
    enqueue(
        kind=JobKind.OBSERVE_SEGMENT,
        subject_id=segment_id,
        video_id=video_id,
        dedupe_key=observe_key(segment_id),
        max_attempts=MODEL_ATTEMPTS,
        **wishes_of(video_id),
    )


def enqueue_assembly(video_id: UUID, version: int) -> Job:
    """Enqueue the version's single assembly job: it runs now, or once more after the run in progress."""
    return enqueue(
        kind=JobKind.ASSEMBLE_VIDEO,
        subject_id=IndexVersion.objects.values_list("id", flat=True).get(video_id=video_id, n=version),
        video_id=video_id,
        dedupe_key=assemble_key(video_id, version),
        max_attempts=MODEL_ATTEMPTS,
        priority=1,
        **wishes_of(video_id),
    )


def enqueue_summary(video_id: UUID, version: int) -> Job:
    """Enqueue the version's single summary job, which summarises the indexed events and completes a whole version."""
    return enqueue(
        kind=JobKind.SUMMARISE_VIDEO,
        subject_id=IndexVersion.objects.values_list("id", flat=True).get(video_id=video_id, n=version),
        video_id=video_id,
        dedupe_key=summarise_key(video_id, version),
        max_attempts=SUMMARY_ATTEMPTS,
        priority=1,
        **wishes_of(video_id),
    )


def summary_is_due(segment_n: int) -> bool:
    """Whether a new summary follows this segment: half as often each time the video doubles in length."""
    every = settings.SUMMARY_EVERY_SEGMENTS
    while segment_n >= 40 * every:
        every *= 2
    return bool((segment_n + 1) % every == 0)
