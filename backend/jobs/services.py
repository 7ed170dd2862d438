"""The queue of record: enqueue, claim, beat, commit, fail. backend.jobs.dispatching chooses what runs next.

A job is claimed by one conditional UPDATE that raises its lease token. A worker that commits must still hold this
token: if a worker lost its lease (paused, partitioned, presumed dead), its commit touches no row. All times are those
of PostgreSQL's clock, because the clocks of hosts differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import ExpressionWrapper, F
from django.db.models.functions import Now

from backend.jobs.fairness import fair_tags
from backend.jobs.models import LOCK_ORDER, QUEUE_OF, Job, JobKind, JobState
from backend.tenancy.context import current_tenant_id, tenant_scope

RETRY_BASE_SECONDS = 2
RETRY_CAP_SECONDS = 300
OPERATOR_SECONDS = 20
"""Longest wait before a job that fails through a fault of the configuration is tried again."""


class LeaseLost(Exception):
    """The job belongs to another worker now, or was canceled: nothing of this attempt may be committed."""


class JobFailed(Exception):
    """A failure of the work with a stable code. retryable: another attempt may succeed.

    counted: whether the attempt is one of the job's max_attempts. A fault that an operator has to mend is not counted,
    so that it never becomes an outcome of the work.
    """

    def __init__(self, code: str, message: str, *, retryable: bool, counted: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.counted = counted


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one job until it expires."""

    job_id: UUID
    tenant_id: UUID
    kind: JobKind
    subject_id: UUID
    video_id: UUID | None
    token: int
    attempt: int
    max_attempts: int
    queued_at: datetime


def after(wait: timedelta) -> ExpressionWrapper[Any]:
    """Return the time of PostgreSQL's clock that is wait from now, for use in a statement."""
    return ExpressionWrapper(Now() + wait, output_field=models.DateTimeField())


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
) -> Job:
    """Write a job into the caller's transaction, once per dedupe_key. wait: time before it may run. lane: Job.lane.

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
            "queue": QUEUE_OF[kind],
            "subject_id": subject_id,
            "video_id": video_id,
            "max_attempts": max_attempts,
            "priority": priority,
            "not_before": after(wait),
            "due": wait <= timedelta(0),
            "fair_tag": lambda: fair_tags(kind, tenant_id, priority=priority)[0],
            "lane": lane,
        },
    )
    if not created:
        # Held until the caller commits, so that nobody claims and ends the job without seeing the caller's change.
        Job.objects.select_for_update().get(id=job.id)
        Job.objects.filter(id=job.id, state=JobState.RUNNING).update(rerun_requested=True)
        ended = Job.objects.filter(
            id=job.id, state__in=[JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED, JobState.DEAD]
        )
        if ended.exists():
            ended.update(
                state=JobState.QUEUED, attempt=0, not_before=after(wait), due=wait <= timedelta(0), completed_at=None,
                cancel_requested_at=None, error_code="", error_message="",
                fair_tag=fair_tags(kind, tenant_id, priority=priority)[0],
            )  # fmt: skip
    return job


def enqueue_many(
    *,
    kind: JobKind,
    subjects: Mapping[str, UUID],
    max_attempts: int = 5,
    priority: int = 0,
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
                lane=lane,
            )


def claim(job_id: UUID, *, worker: str) -> Lease | None:
    """Claim this job if it is due or its lease has expired. None if another worker has it or it is not due.

    The job's tenant must be entered. A job whose last allowed attempt lost its worker
    is claimed once more, with attempt > max_attempts, so that its failure is recorded.
    """
    runnable = models.Q(state=JobState.QUEUED, not_before__lte=Now()) | models.Q(
        state=JobState.RUNNING, lease_until__lt=Now()
    )
    claimed = Job.objects.filter(runnable, id=job_id).update(
        state=JobState.RUNNING,
        lease_owner=worker,
        lease_token=F("lease_token") + 1,
        attempt=F("attempt") + 1,
        lease_until=after(timedelta(seconds=settings.LEASE_SECONDS)),
        heartbeat_at=Now(),
        started_at=Now(),
        rerun_requested=False,
    )
    return lease_of(Job.objects.get(id=job_id)) if claimed else None


def lease_of(job: Job) -> Lease:
    """Return the lease that a claim wrote into the job's row."""
    return Lease(
        job_id=job.id,
        tenant_id=job.tenant_id,
        kind=JobKind(job.kind),
        subject_id=job.subject_id,
        video_id=job.video_id,
        token=job.lease_token,
        attempt=job.attempt,
        max_attempts=job.max_attempts,
        queued_at=job.created_at,
    )


def _held(lease: Lease) -> models.QuerySet[Any]:
    return Job.objects.filter(id=lease.job_id, lease_token=lease.token, state=JobState.RUNNING)


def heartbeat(lease: Lease, *, stage: str = "", done: int | None = None, total: int | None = None) -> bool:
    """Renew the lease in a transaction of its own. False if the lease is lost or cancellation was requested."""
    progress: dict[str, Any] = {}
    if stage:
        progress["progress_stage"] = stage
    if done is not None:
        progress["progress_done"] = done
    if total is not None:
        progress["progress_total"] = total
    with tenant_scope(lease.tenant_id):
        held = (
            _held(lease)
            .filter(cancel_requested_at=None)
            .update(heartbeat_at=Now(), lease_until=after(timedelta(seconds=settings.LEASE_SECONDS)), **progress)
        )
    return bool(held)


@contextmanager
def checkpoint(lease: Lease) -> Iterator[None]:
    """Open a transaction of the lease's tenant in which the job's row is locked and the lease is still held.

    Everything that a step produces is committed here together. Raises LeaseLost before anything is written if the lease
    is lost.
    """
    with tenant_scope(lease.tenant_id):
        held = list(_held(lease).select_for_update().values_list("cancel_requested_at", flat=True))
        if held != [None]:
            raise LeaseLost(f"job {lease.job_id} is no longer held with token {lease.token}")
        yield


def complete(lease: Lease) -> None:
    """End the job, or queue it once more if its subject changed while it ran; inside checkpoint()."""
    if (
        _held(lease)
        .filter(rerun_requested=True)
        .update(state=JobState.QUEUED, rerun_requested=False, attempt=0, not_before=Now(), due=True, lease_until=None)
    ):
        return
    if not _held(lease).update(
        state=JobState.SUCCEEDED, completed_at=Now(), lease_until=None, error_code="", error_message=""
    ):
        raise LeaseLost(f"job {lease.job_id} is no longer held with token {lease.token}")


def fail(lease: Lease, error: JobFailed) -> JobState:
    """Schedule another attempt with jittered backoff, or end the job; inside checkpoint().

    Returns the new state: QUEUED (will be retried), FAILED (no retry can help) or DEAD (attempts used up).
    """
    if error.retryable and (lease.attempt < lease.max_attempts or not error.counted):
        wait = min(RETRY_CAP_SECONDS, RETRY_BASE_SECONDS * 2 ** (lease.attempt - 1)) * random.uniform(0.5, 1.0)
        if not error.counted:
            wait = OPERATOR_SECONDS * random.uniform(0.5, 1.0)
        state = JobState.QUEUED
        _held(lease).update(
            state=state,
            not_before=after(timedelta(seconds=wait)),
            due=False,
            lease_until=None,
            error_code=error.code,
            error_message=str(error),
            attempt=lease.attempt if error.counted else lease.attempt - 1,
        )
        return state
    state = JobState.DEAD if error.retryable else JobState.FAILED
    _held(lease).update(
        state=state, completed_at=Now(), lease_until=None, error_code=error.code, error_message=str(error)
    )
    return state


def postpone(lease: Lease, *, wait: timedelta) -> None:
    """Queue the job again without spending the attempt, because its work may not begin yet; inside checkpoint()."""
    _held(lease).update(
        state=JobState.QUEUED,
        attempt=F("attempt") - 1,
        not_before=after(wait),
        due=False,
        lease_until=None,
    )


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
    stopping = locked.filter(state=JobState.RUNNING).update(cancel_requested_at=Now())
    return bool(stopped or stopping)


def cancel_requested(lease: Lease) -> bool:
    """Whether a customer asked to stop the job, which this lease still holds."""
    return _held(lease).exclude(cancel_requested_at=None).exists()


def acknowledge_cancel(lease: Lease) -> bool:
    """End a running job whose cancellation was requested. False if the lease is lost."""
    return bool(_held(lease).update(state=JobState.CANCELED, completed_at=Now(), lease_until=None))


def is_worked_on(video_id: UUID) -> bool:
    """Whether a worker holds a lease on a job of the video."""
    running = Job.objects.filter(video_id=video_id, state=JobState.RUNNING, lease_until__gt=Now())
    return bool(running.exists())
