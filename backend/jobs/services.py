"""The queue of record: enqueue and cancel. backend.jobs.leases holds the life of a claimed job, and
backend.jobs.dispatching chooses what runs next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import models
from django.db.models import F
from django.db.models.functions import Now

from backend.jobs.clock import after
from backend.jobs.deadlines import deadline_of
from backend.jobs.failures import JobFailed, LeaseLost, Unavailable
from backend.jobs.fairness import fair_tags, put_in_rank_order
from backend.jobs.leases import (
    Lease,
    acknowledge_cancel,
    cancel_requested,
    checkpoint,
    claim,
    complete,
    fail,
    heartbeat,
    lease_of,
    overdue,
    postpone,
    put_back,
    record_progress,
    release,
)
from backend.jobs.models import LOCK_ORDER, QUEUE_OF, Job, JobKind, JobRank, JobState
from backend.observability.tracing import traceparent
from backend.tenancy.context import current_tenant_id

__all__ = [
    "JobFailed",
    "Lease",
    "LeaseLost",
    "Unavailable",
    "acknowledge_cancel",
    "after",
    "cancel_requested",
    "checkpoint",
    "claim",
    "complete",
    "enqueue",
    "enqueue_many",
    "fail",
    "heartbeat",
    "is_worked_on",
    "lease_of",
    "overdue",
    "postpone",
    "put_back",
    "record_progress",
    "release",
    "request_cancel",
    "request_cancel_many",
]


def enqueue(
    *,
    kind: JobKind,
    subject_id: UUID,
    dedupe_key: str,
    video_id: UUID | None = None,
    max_attempts: int = 5,
    priority: int = 0,
    wait: timedelta = timedelta(0),
    lane: UUID | None = None,
    deadline: timedelta | None = None,
    queue: str | None = None,
    deadline_at: datetime | None = None,
    rank: JobRank = JobRank.NORMAL,
    paused: bool = False,
) -> Job:
    """Write a job into the caller's transaction, once per dedupe_key. wait: time before it may run. lane: Job.lane.
    deadline: time from now after which it ends without a result; None for that of its kind. deadline_at: the same as a
    moment, which goes before. queue: its class; None for that of its kind. rank, paused: what a person decided about it
    (backend.jobs.control).

    An existing job is returned as it is. If it is running, it will run once more, because its subject has changed
    since; if it has ended, it is queued again.

    Locks the job's row until the caller commits. A transaction that locks several jobs locks them in LOCK_ORDER, and
    the row of their video after them.
    """
    tenant_id = current_tenant_id()
    job: Job
    job, created = Job.objects.get_or_create(
        tenant_id=tenant_id,
        dedupe_key=dedupe_key,
        defaults={
            "kind": kind,
            "queue": queue or QUEUE_OF[kind],
            "subject_id": subject_id,
            "video_id": video_id,
            "max_attempts": max_attempts,
            "priority": priority,
            "not_before": after(wait),
            "due": wait <= timedelta(0),
            "fair_tag": lambda: fair_tags(kind, tenant_id, priority=priority, queue=queue)[0],
            "lane": lane,
            "traceparent": traceparent(),
            "deadline_at": deadline_at or deadline_of(kind, deadline),
            "rank": rank,
            "paused_at": Now() if paused else None,
        },
    )
    if not created:
        # Held until the caller commits, so that nobody claims and ends the job without seeing the caller's change.
        Job.objects.select_for_update().get(id=job.id)
        going_on = models.Q(state=JobState.RUNNING, cancel_requested_at=None)
        Job.objects.filter(going_on, id=job.id).update(rerun_requested=True)
        # A canceled run may still go on for some seconds: it loses its lease, and what it does is not committed.
        ended = Job.objects.filter(id=job.id).exclude(going_on).exclude(state=JobState.QUEUED)
        if ended.exists():
            ended.update(
                state=JobState.QUEUED, attempt=0, lease_token=F("lease_token") + 1, lease_until=None,
                not_before=after(wait), due=wait <= timedelta(0), completed_at=None, cancel_requested_at=None,
                error_code="", error_message="", dependency="", outages=0, traceparent=traceparent(),
                deadline_at=deadline_at or deadline_of(kind, deadline), rank=rank,
                paused_at=Now() if paused else None,
                fair_tag=fair_tags(kind, tenant_id, priority=priority, queue=queue)[0],
            )  # fmt: skip
    put_in_rank_order(queue or QUEUE_OF[kind], priority)
    return job


def enqueue_many(
    *,
    kind: JobKind,
    subjects: Mapping[str, UUID],
    max_attempts: int = 5,
    priority: int = 0,
    deadline: timedelta | None = None,
    deadline_at: datetime | None = None,
    rank: JobRank = JobRank.NORMAL,
    lane: UUID | None = None,
) -> None:
    """Call enqueue() for each dedupe_key -> subject_id, due now, in a fixed number of statements.

    Each existing job costs further statements.
    """
    tenant_id = current_tenant_id()
    tags = fair_tags(kind, tenant_id, priority=priority, count=len(subjects))
    jobs = [
        Job(
            tenant_id=tenant_id,
            dedupe_key=dedupe_key,
            kind=kind,
            queue=QUEUE_OF[kind],
            subject_id=subject_id,
            max_attempts=max_attempts,
            priority=priority,
            not_before=Now(),
            fair_tag=tag,
            traceparent=traceparent(),
            deadline_at=deadline_at or deadline_of(kind, deadline),
            rank=rank,
            lane=lane,
        )
        for (dedupe_key, subject_id), tag in zip(subjects.items(), tags, strict=True)
    ]
    Job.objects.bulk_create(jobs, ignore_conflicts=True)
    made = set(Job.objects.filter(id__in=[job.id for job in jobs]).values_list("id", flat=True))
    for job in jobs:
        if job.id not in made:
            enqueue(
                kind=kind,
                subject_id=job.subject_id,
                dedupe_key=job.dedupe_key,
                max_attempts=max_attempts,
                priority=priority,
                deadline=deadline,
                deadline_at=deadline_at,
                rank=rank,
                lane=lane,
            )
    put_in_rank_order(QUEUE_OF[kind], priority)


def request_cancel(*, dedupe_key: str) -> bool:
    """Cancel a queued job at once, or ask a running job to stop. False if there is nothing to cancel."""
    return request_cancel_many(dedupe_keys=[dedupe_key])


def request_cancel_many(*, dedupe_keys: Sequence[str]) -> bool:
    """Call request_cancel() for each key, in a fixed number of statements. False if there is nothing to cancel.

    Locks the jobs in LOCK_ORDER, so that neither two cancellations nor a worker's checkpoint can wait in a circle.
    """
    order = models.Case(*(models.When(kind=kind, then=position) for position, kind in enumerate(LOCK_ORDER)))
    jobs = Job.objects.select_for_update().filter(dedupe_key__in=dedupe_keys).order_by(order, "id")
    locked = Job.objects.filter(id__in=list(jobs.values_list("id", flat=True)))
    stopped = locked.filter(state=JobState.QUEUED).update(
        state=JobState.CANCELED, completed_at=Now(), cancel_requested_at=Now()
    )
    stopping = locked.filter(state=JobState.RUNNING).update(cancel_requested_at=Now(), rerun_requested=False)
    return bool(stopped or stopping)


def is_worked_on(video_id: UUID) -> bool:
    """Whether a worker holds a lease on a job of the video."""
    running = Job.objects.filter(video_id=video_id, state=JobState.RUNNING, lease_until__gt=Now())
    return bool(running.exists())
