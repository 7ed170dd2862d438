"""How an attempt at a job ends: put back, tried again, failed or given up; its unrecorded model calls are recorded."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from backend.billing.services.usage.ledger import record_wasted_calls
from backend.jobs import breakers, commits, services
from backend.jobs.models import QUEUE_OF, JobKind, JobState
from backend.jobs.services import JobFailed, Lease, LeaseLost, Unavailable
from backend.library.storage import StorageAway, StorageError
from backend.observability.metrics import OUTAGES
from backend.tenancy.context import tenant_scope
from workers.observed_job import LOST, ended
from workers.work import Work

if TYPE_CHECKING:
    from gpu_workers.engine.models.roles import ModelCall

logger = logging.getLogger("ava.jobs")

FailureHandler = Callable[[Lease, JobFailed], None]

DATABASE, HOST = "database", "host"
"""Dependencies of a job without a breaker: its connection, and the machine that it runs on."""
SETTLE_ATTEMPTS = 20
LOST_DECODERS = 12
"""Number of decoders that a job may lose without spending an attempt, within an hour of waiting: after that its own
recording may be what no host can bear."""
SUSPECT_OUTAGES = 5
"""Number of outages after which a job that meets another one, while all others go on, opens no breaker: its own content
may be what its dependency cannot bear."""


def end_attempt(work: Work, error: Exception, module: ModuleType) -> None:
    """End an attempt that raised error. module: the handler's."""
    ending = _ending_of(work.lease, error)
    if work.late and isinstance(ending, LeaseLost):
        ending = too_long()
    record_waste(work, module, reason=_reason_of(ending))
    close_answered(work)
    try:
        if isinstance(ending, LeaseLost):
            _give_up(work.lease)
        elif isinstance(ending, Unavailable):
            _put_back(work, ending, module)
        else:
            _record_failure(work.lease, ending, module)
    except LeaseLost:
        _give_up(work.lease)


def _reason_of(ending: JobFailed | Unavailable | LeaseLost) -> str:
    """Return why the calls of an attempt are nobody's. Budgets do not count an attempt that an outage ended."""
    if isinstance(ending, LeaseLost):
        return "stopped"
    return f"outage:{ending.code}" if isinstance(ending, Unavailable) else ending.code


def close_answered(work: Work) -> None:
    """Close the breakers of the dependencies that this job probed and that answered it, at its end.

    A job can end without a call of what it probed: its result was kept, or its video has gone. Such an end shows
    nothing, and the next job probes. No meter counts calls of the storage, so the bucket is asked for its head.
    """
    answered = work.lease.probing & work.answered()
    if breakers.STORAGE in work.lease.probing:
        try:
            work.objects().ping()
        except StorageError as error:
            logger.warning("job %s ended while the storage is away: %s", work.lease.job_id, error)
        else:
            answered |= {breakers.STORAGE}
    breakers.closed(answered)


def record_waste(work: Work, module: ModuleType, *, reason: str) -> None:
    """Record the calls that no commit has recorded: they have a cost, and nobody is billed for them.

    A handler's module may attribute them itself, by waste(lease, calls, reason).
    """
    with work.recording:
        calls = work.wasted_calls()
        if calls:
            _record(work, module, calls, reason)
            work.waste_recorded()


def without_decoder(work: Work, code: str, message: str) -> Unavailable | JobFailed:
    """Return the ending of an attempt whose decoder was killed by the host, or could not be started."""
    if outages_met(work) < LOST_DECODERS:
        return Unavailable(HOST, code, message)
    return JobFailed(code, message, retryable=True)


def too_long() -> JobFailed:
    """Return the failure of an attempt that took longer than a job may."""
    return JobFailed("time_limit", f"the work took longer than {settings.TASK_SECONDS} s", retryable=True)


def _record(work: Work, module: ModuleType, calls: tuple[ModelCall, ...], reason: str) -> None:
    lease = work.lease
    attribute: Callable[..., object] | None = getattr(module, "waste", None)

    def write() -> None:
        if attribute is not None:
            attribute(lease, calls, reason)
        else:
            record_wasted_calls(calls=calls, reason=reason, video_id=lease.video_id)

    try:
        commits.commit(lambda: tenant_scope(lease.tenant_id), write)
    except Exception:
        # The outcome of the job must be recorded all the same.
        logger.exception("%d calls of job %s have no record of their cost", len(calls), lease.job_id)


def _ending_of(lease: Lease, error: Exception) -> LeaseLost | Unavailable | JobFailed:
    """Return what an exception of a handler means for its job."""
    if isinstance(error, LeaseLost | Unavailable | JobFailed):
        return error
    if isinstance(error, SoftTimeLimitExceeded):
        return too_long()
    if isinstance(error, StorageAway):
        return Unavailable(breakers.STORAGE, "storage_unavailable", str(error))
    if commits.connection_broke(error):
        return Unavailable(DATABASE, "database_unavailable", str(error))
    # An unforeseen error may be a passing fault of the machine: it is retried, and at last recorded with its type.
    logger.error("job %s (%s) failed", lease.job_id, lease.kind, exc_info=error)
    return JobFailed("internal_error", f"unexpected {type(error).__name__}", retryable=True)


def _give_up(lease: Lease) -> None:
    def write() -> bool:
        return services.acknowledge_cancel(lease) if services.cancel_requested(lease) else False

    canceled = commits.commit(lambda: tenant_scope(lease.tenant_id), write)
    ended("canceled" if canceled else LOST)
    logger.warning("job %s: %s", lease.job_id, "canceled" if canceled else "lease lost, nothing committed")


def _put_back(work: Work, error: Unavailable, module: ModuleType) -> None:
    lease = work.lease
    opens = _opens(work, error)
    if opens:
        breakers.opened(
            error.dependency, code=error.code, message=str(error), retry_after=error.retry_after, job_id=lease.job_id
        )
    alone = not opens and error.dependency != DATABASE
    met = outages_met(work)
    state = _end(lease, services.overdue(), module, lambda: services.put_back(lease, error, alone=alone, met=met))
    OUTAGES.labels(error.dependency).inc()
    ended("outage" if state == JobState.QUEUED else state)
    logger.warning(
        "job %s (%s) waits for %s: %s: %s -> %s", lease.job_id, lease.kind, error.dependency, error.code, error, state
    )


def _opens(work: Work, error: Unavailable) -> bool:
    """Whether an error shows that the dependency is away for all jobs, and not for this one alone."""
    if error.dependency in (DATABASE, HOST):
        return False
    if error.retry_after:
        return True
    if error.dependency in work.answered():
        return False
    return error.dependency in work.lease.probing or outages_met(work) < SUSPECT_OUTAGES


def outages_met(work: Work) -> int:
    """Return how many outages the job has met since it last committed something.

    A job whose work goes on between outages is not what its dependency cannot bear.
    """
    return 0 if work.advanced else work.lease.outages


def _record_failure(lease: Lease, error: JobFailed, module: ModuleType) -> None:
    state = _end(lease, error, module, lambda: services.fail(lease, error))
    ended(state)
    logger.warning(
        "job %s (%s) attempt %d: %s: %s -> %s", lease.job_id, lease.kind, lease.attempt, error.code, error, state
    )


def _end(lease: Lease, error: JobFailed, module: ModuleType, write: Callable[[], JobState]) -> JobState:
    """Commit the outcome that write records; with the end of a job, what follows for its subject.

    If that cannot be written, the outcome is committed alone, and a job of its own writes the rest.
    """
    failed: FailureHandler | None = getattr(module, "failed", None)

    def whole() -> JobState:
        state = write()
        if failed is not None and state != JobState.QUEUED:
            failed(lease, error)
        return state

    def alone() -> JobState:
        state = write()
        services.enqueue(
            kind=JobKind.SETTLE_FAILURE,
            subject_id=lease.job_id,
            video_id=lease.video_id,
            dedupe_key=f"settle:{lease.job_id}:{lease.token}",
            queue=QUEUE_OF[lease.kind],
            max_attempts=SETTLE_ATTEMPTS,
        )
        return state

    def scope() -> AbstractContextManager[None]:
        return services.checkpoint(lease)

    try:
        return commits.commit(scope, whole)
    except LeaseLost:
        raise
    except Exception:
        if failed is None:
            raise
        logger.exception("job %s (%s) has ended, its consequence follows", lease.job_id, lease.kind)
        return commits.commit(scope, alone)
