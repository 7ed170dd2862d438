"""Leases: a worker claims a job, renews its lease while it works, and commits or ends the job under it.

A job is claimed by one conditional UPDATE that raises its lease token. A worker that commits must still hold this
token: if a worker lost its lease (paused, partitioned, presumed dead), its commit touches no row. All times are those
of PostgreSQL's clock, because the clocks of hosts differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F
from django.db.models.functions import Greatest, Now

from backend.jobs import breakers
from backend.jobs.clock import after
from backend.jobs.deadlines import deadline_of
from backend.jobs.failures import JobFailed, LeaseLost, Unavailable
from backend.jobs.fairness import tag_of_next_run
from backend.jobs.models import SYSTEM, Job, JobKind, JobState
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Fence, Tenant

RETRY_BASE_SECONDS = 2
RETRY_CAP_SECONDS = 300
PUT_BACK_CAP_SECONDS = 60
"""Longest wait of a job whose dependency was away; its breaker may hold it for longer."""
PUT_BACK_ALONE_CAP_SECONDS = 3_600
"""Longest wait of a job whose dependency answers others."""


# Not a join: the row that a competing claim changed is checked again, and a subquery of a join would not be.
_OPEN_TENANT = models.Q(queue__startswith=SYSTEM) | models.Exists(
    Tenant.objects.filter(id=models.OuterRef("tenant_id"), suspended_at=None)
)
# A tenant that moves to another cell begins nothing here; what runs goes on until the move takes it back.
_STAYING_TENANT = models.Exists(Tenant.objects.filter(id=models.OuterRef("tenant_id"), fence=Fence.NONE))


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one job until it expires.

    overdue: whether the job's deadline had passed when it was claimed. outages: Job.outages. probing: dependencies that
    were away and that this job tries first. traceparent: Job.traceparent.
    """

    job_id: UUID
    tenant_id: UUID
    kind: JobKind
    subject_id: UUID
    video_id: UUID | None
    token: int
    attempt: int
    max_attempts: int
    queued_at: datetime
    overdue: bool = False
    outages: int = 0
    probing: frozenset[str] = frozenset()
    traceparent: str = ""


def claim(job_id: UUID, *, worker: str) -> Lease | None:
    """Claim this job if it is due or its lease has expired. None if another worker has it, if it is not due or paused,
    if its tenant is suspended or moves to another cell, or if a dependency that it needs is away: only claim_next()
    lets one job try it.

    The job's tenant must be entered. A job whose last allowed attempt lost its worker
    is claimed once more, with attempt > max_attempts, so that its failure is recorded.
    """
    runnable = models.Q(state=JobState.QUEUED, not_before__lte=Now(), paused_at=None) | models.Q(
        state=JobState.RUNNING, lease_until__lt=Now()
    )
    away = {outage.dependency for outage in breakers.outages(using="default")}
    # A job whose deadline has passed waits for nothing: it ends.
    waiting = Job.objects.filter(id=job_id).exclude(deadline_at__lte=Now())
    wanted = waiting.values_list("kind", "dependency").first() if away else None
    if wanted is not None and not away.isdisjoint(breakers.needs(JobKind(wanted[0]), wanted[1])):
        return None
    claimed = Job.objects.filter(runnable, _OPEN_TENANT, _STAYING_TENANT, id=job_id).update(
        state=JobState.RUNNING,
        lease_owner=worker,
        lease_token=F("lease_token") + 1,
        attempt=F("attempt") + 1,
        lease_until=after(timedelta(seconds=settings.LEASE_SECONDS)),
        heartbeat_at=Now(),
        started_at=Now(),
        # A worker that finds a canceled job does none of its work, so what was asked for since is still to be done.
        rerun_requested=models.Q(rerun_requested=True, cancel_requested_at__isnull=False),
    )
    return lease_of(Job.objects.annotate(now=Now()).get(id=job_id)) if claimed else None


def lease_of(job: Job, probing: frozenset[str] = frozenset()) -> Lease:
    """Return the lease that a claim wrote into the job's row, which is annotated with the clock of the database."""
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
        overdue=job.deadline_at is not None and job.deadline_at <= job.now,  # type: ignore[attr-defined]
        outages=job.outages,
        probing=probing,
        traceparent=job.traceparent,
    )


def _held(lease: Lease) -> models.QuerySet[Any]:
    return Job.objects.filter(id=lease.job_id, lease_token=lease.token, state=JobState.RUNNING)


def heartbeat(lease: Lease, *, stage: str = "", done: int | None = None, total: int | None = None) -> bool:
    """Renew the lease in a transaction of its own. False if the lease is lost, if cancellation was requested, or if the
    tenant is suspended."""
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
            .filter(_OPEN_TENANT, cancel_requested_at=None)
            .update(heartbeat_at=Now(), lease_until=after(timedelta(seconds=settings.LEASE_SECONDS)), **progress)
        )
    return bool(held)


def record_progress(lease: Lease, *, stage: str, done: int, total: int) -> None:
    """Record the progress of the work inside checkpoint(): whoever watches it does not wait for the next heartbeat."""
    _held(lease).update(progress_stage=stage, progress_done=done, progress_total=total)


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
    ended = (
        _held(lease)
        .filter(rerun_requested=False)
        .update(state=JobState.SUCCEEDED, completed_at=Now(), lease_until=None, error_code="", error_message="")
    )
    if not ended and not _queued_again(lease):
        raise LeaseLost(f"job {lease.job_id} is no longer held with token {lease.token}")


def _queued_again(lease: Lease) -> bool:
    """Queue the job once more if it was enqueued while it ran, however it ends. Returns whether it was."""
    again = _held(lease).filter(rerun_requested=True)
    job = again.values("queue", "priority", "fair_tag").first()
    if job is None:
        return False
    tag = tag_of_next_run(
        lease.kind, lease.tenant_id, priority=job["priority"], queue=job["queue"], tag=job["fair_tag"]
    )
    return bool(
        again.update(
            state=JobState.QUEUED, rerun_requested=False, attempt=0, not_before=Now(), due=True, lease_until=None,
            deadline_at=deadline_of(lease.kind), outages=0, dependency="", error_code="", error_message="",
            cancel_requested_at=None, completed_at=None, fair_tag=tag,
        )
    )  # fmt: skip


def fail(lease: Lease, error: JobFailed) -> JobState:
    """Schedule another attempt with jittered backoff, or end the job; inside checkpoint().

    Returns the new state: QUEUED (will be retried, or was enqueued while it ran), FAILED (no retry can help) or DEAD
    (attempts or time used up).
    """
    if error.retryable and lease.attempt < lease.max_attempts and not _is_overdue(lease):
        wait = min(RETRY_CAP_SECONDS, RETRY_BASE_SECONDS * 2 ** (lease.attempt - 1)) * random.uniform(0.5, 1.0)
        _held(lease).update(
            state=JobState.QUEUED,
            not_before=after(timedelta(seconds=wait)),
            due=False,
            lease_until=None,
            dependency="",
            error_code=error.code,
            error_message=str(error),
        )
        return JobState.QUEUED
    if _queued_again(lease):
        return JobState.QUEUED
    state = JobState.DEAD if error.retryable else JobState.FAILED
    _held(lease).update(
        state=state, completed_at=Now(), lease_until=None, error_code=error.code, error_message=str(error)
    )
    return state


def put_back(lease: Lease, error: Unavailable, *, alone: bool = False, met: int | None = None) -> JobState:
    """Queue the job again without spending an attempt, to wait for its dependency; inside checkpoint().

    alone: whether the dependency answers others, so that each further attempt may cost as much in vain: the wait then
    grows to an hour. met: outages that count before this one, those of the lease by default; 0 after progress.
    Returns QUEUED, or DEAD if the job's deadline has passed.
    """
    before = lease.outages if met is None else met
    if _is_overdue(lease):
        return fail(lease, overdue())
    cap = PUT_BACK_ALONE_CAP_SECONDS if alone else PUT_BACK_CAP_SECONDS
    wait = min(cap, RETRY_BASE_SECONDS * 2 ** min(before, 20)) * random.uniform(0.5, 1.0)
    _held(lease).update(
        state=JobState.QUEUED,
        not_before=after(timedelta(seconds=wait)),
        due=False,
        lease_until=None,
        attempt=lease.attempt - 1,
        outages=before + 1,
        dependency=error.dependency,
        error_code=error.code,
        error_message=str(error),
    )
    return JobState.QUEUED


def release(lease: Lease) -> bool:
    """Give the job back for another worker to claim at once, in a transaction of its own; the attempt does not count.

    What checkpoints committed stays. False if the lease is lost, or if cancellation was requested.
    """
    with tenant_scope(lease.tenant_id):
        released = (
            _held(lease)
            .filter(cancel_requested_at=None)
            .update(
                state=JobState.QUEUED,
                attempt=Greatest(F("attempt") - 1, 0),
                not_before=Now(),
                due=True,
                lease_until=None,
            )
        )
    return bool(released)


def postpone(lease: Lease, *, wait: timedelta) -> None:
    """Queue the job again without spending the attempt, because its work may not begin yet; inside checkpoint()."""
    _held(lease).update(
        state=JobState.QUEUED, attempt=lease.attempt - 1, not_before=after(wait), due=False, lease_until=None
    )


def overdue() -> JobFailed:
    """Return the failure of a job that was not done before its deadline."""
    return JobFailed("deadline_exceeded", "the work could not be done before its deadline", retryable=True)


def _is_overdue(lease: Lease) -> bool:
    return _held(lease).filter(deadline_at__lte=Now()).exists()


def cancel_requested(lease: Lease) -> bool:
    """Whether a customer asked to stop the job, which this lease still holds."""
    return _held(lease).exclude(cancel_requested_at=None).exists()


def acknowledge_cancel(lease: Lease) -> bool:
    """End a running job whose cancellation was requested, or queue it once more if it was enqueued after that. False if
    the lease is lost."""
    canceled = {"state": JobState.CANCELED, "completed_at": Now(), "lease_until": None}
    return _queued_again(lease) or bool(_held(lease).update(**canceled))
