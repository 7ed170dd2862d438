"""Runs one job under a lease: claims it, renews the lease while a handler works, records the outcome.

A handler does its work outside any transaction and commits through Work.checkpoint(), which fails when the lease is
lost. So killing a worker at any moment loses nothing that was committed, and two workers never commit the same step.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from uuid import UUID

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, connections

from backend.jobs import breakers, services
from backend.jobs.dispatching import claim_next
from backend.jobs.fairness import ANY_PRIORITY_EVERY
from backend.jobs.models import JobKind, JobState
from backend.jobs.services import JobFailed, Lease, LeaseLost, Unavailable
from backend.library.services import deletions
from backend.tenancy.context import tenant_scope

logger = logging.getLogger("ava.jobs")

CLAIM_SECONDS = 10.0
"""Time for which a worker claims jobs at one bell. Then it takes the next bell, which may be of another class."""

_claims = itertools.count(1)

STUCK_SECONDS = 90
"""Seconds after the limit of a task at which a job that still runs ends its process. A pool of processes has killed the
task by then; a pool of threads cannot."""


@dataclass(slots=True)
class Work:
    """A handler's argument: its lease, a way to commit under the lease, a way to report progress."""

    lease: Lease
    worker: str
    lost: threading.Event = field(default_factory=threading.Event)
    stored: dict[UUID, set[str]] = field(default_factory=dict)
    _stage: str = ""
    _done: int = 0
    _total: int = 0

    def checkpoint(self) -> AbstractContextManager[None]:
        """Open a transaction of the job's tenant in which the lease is held. Raises LeaseLost if it is not held."""
        return services.checkpoint(self.lease)

    def complete(self) -> None:
        """Mark the job as done, inside checkpoint()."""
        services.complete(self.lease)

    def finish(self) -> None:
        """End the job in a transaction of its own, because nothing is left to do."""
        with self.checkpoint():
            self.complete()

    def should_stop(self) -> bool:
        return self.lost.is_set()

    def require_lease(self) -> None:
        """Raise LeaseLost once a heartbeat has found the lease gone: further work would be wasted."""
        if self.lost.is_set():
            raise LeaseLost(f"job {self.lease.job_id} was lost or canceled while it ran")

    def stores_under(self, video_id: UUID, *prefixes: str) -> None:
        """Note that this work stores objects of the video, in its own folder or under these prefixes.

        They are swept again if the attempt commits nothing and the video is deleted.
        """
        self.stored.setdefault(video_id, set()).update(prefixes)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Keep the progress, which the next heartbeat records."""
        self._stage, self._done, self._total = stage, done, total

    def beat(self) -> bool:
        return services.heartbeat(self.lease, stage=self._stage, done=self._done, total=self._total)


FailureHandler = Callable[[Lease, JobFailed], None]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A job to run at once in this process. Any worker of its class may claim it, so nothing depends on this
    shortcut."""

    job_id: UUID


# Loaded on first use, so that a worker imports only what its queues need (torch stays out of the I/O workers).
HANDLERS: dict[JobKind, str] = {
    JobKind.PROBE_VIDEO: "workers.probe_video",
    JobKind.FETCH_SEGMENT: "workers.fetch_segment",
    JobKind.INGEST_SEGMENT: "workers.ingest_segment",
    JobKind.OBSERVE_SEGMENT: "gpu_workers.tasks.observe_segment",
    JobKind.ASSEMBLE_VIDEO: "gpu_workers.tasks.assemble_video",
    JobKind.SUMMARISE_VIDEO: "gpu_workers.tasks.summarise_video",
    JobKind.ANSWER_QUESTION: "gpu_workers.tasks.answer_question",
    JobKind.SEARCH_EVENTS: "gpu_workers.tasks.search_events",
    JobKind.GRADE_COMPARISON: "gpu_workers.tasks.grade_comparison",
    JobKind.STOP_COMPARISON: "workers.stop_comparison",
    JobKind.PURGE_VIDEO: "workers.purge_video",
    JobKind.SWEEP_VIDEO: "workers.sweep_video",
    JobKind.RETIRE_VERSION: "workers.retire_version",
    JobKind.EXPIRE_UPLOADS: "workers.expire_uploads",
    JobKind.RESUME_DELETIONS: "workers.resume_deletions",
}


def run_class(queue: str, *, worker: str, clock: Callable[[], float] = time.monotonic) -> int:
    """Claim and run jobs of a class until none may run or CLAIM_SECONDS have passed. Returns their number."""
    until, ran = clock() + CLAIM_SECONDS, 0
    while clock() < until:
        lease = claim_next(queue, worker=worker, any_priority=next(_claims) % ANY_PRIORITY_EVERY == 0)
        if lease is None:
            break
        run_leased(lease, worker=worker)
        ran += 1
    return ran


def run_job(job_id: UUID, tenant_id: UUID, *, worker: str) -> None:
    """Run this job if this worker can claim it, then each follow-up."""
    with tenant_scope(tenant_id):
        lease = services.claim(job_id, worker=worker)
    if lease is not None:
        run_leased(lease, worker=worker)


def run_leased(lease: Lease, *, worker: str) -> None:
    """Run a claimed job, then each follow-up that this worker can claim."""
    following: Lease | None = lease
    while following is not None:
        followup = _run_once(following, worker=worker)
        following = None
        if followup is not None:
            with tenant_scope(lease.tenant_id):
                following = services.claim(followup.job_id, worker=worker)


def _run_once(lease: Lease, *, worker: str) -> FollowUp | None:
    # Each handler module has handle(work) and, if its subject must not stay unfinished, failed(lease, error).
    module = import_module(HANDLERS[lease.kind])
    work = Work(lease, worker)
    stop = threading.Event()
    heart = threading.Thread(target=_beat, args=(work, stop), name=f"lease-{lease.job_id}", daemon=True)
    heart.start()
    committed = False
    try:
        if lease.overdue:
            raise services.overdue()
        if lease.attempt > lease.max_attempts:
            raise JobFailed("worker_lost", "every attempt lost its worker", retryable=True)
        followup: FollowUp | None = module.handle(work)
        committed = True
        breakers.closed(lease.probing)
        return followup
    except LeaseLost:
        _give_up(lease)
    except Unavailable as error:
        _put_back(lease, error, getattr(module, "failed", None))
    except JobFailed as error:
        _record_failure(lease, error, getattr(module, "failed", None))
    except SoftTimeLimitExceeded:
        late = JobFailed("time_limit", f"the work took longer than {settings.TASK_SECONDS} s", retryable=True)
        _record_failure(lease, late, getattr(module, "failed", None))
    except Exception as error:
        # An unforeseen error may be a passing fault of the machine: it is retried, and at last recorded with its type.
        logger.exception("job %s (%s) failed", lease.job_id, lease.kind)
        unforeseen = JobFailed("internal_error", f"unexpected {type(error).__name__}", retryable=True)
        _record_failure(lease, unforeseen, getattr(module, "failed", None))
    finally:
        stop.set()
        heart.join()
        if not committed:
            _leave_nothing(work)
    return None


def _beat(work: Work, stop: threading.Event) -> None:
    began = time.monotonic()
    try:
        while not stop.wait(settings.HEARTBEAT_SECONDS):
            if time.monotonic() - began > settings.TASK_SECONDS + CLAIM_SECONDS + STUCK_SECONDS:
                logger.critical("job %s does not end: its process stops, and its lease runs out", work.lease.job_id)
                _leave_nothing(work)
                os._exit(1)
            try:
                held = work.beat()
            except Exception:
                # The lease outlives several missed beats; the work itself reports a dead database.
                logger.exception("heartbeat of job %s failed", work.lease.job_id)
                continue
            if not held:
                work.lost.set()
                return
    finally:
        connections.close_all()


def _leave_nothing(work: Work) -> None:
    """Let the objects be swept that this attempt stored for a video which was deleted meanwhile."""
    if not work.stored:
        return
    try:
        with tenant_scope(work.lease.tenant_id):
            deletions.bury_deleted(work.stored)
    except DatabaseError:
        # The sweep after the deletion finds what was stored until then.
        logger.exception("objects of job %s are not checked for a deletion", work.lease.job_id)


def _give_up(lease: Lease) -> None:
    with tenant_scope(lease.tenant_id):
        canceled = services.acknowledge_cancel(lease) if services.cancel_requested(lease) else False
    logger.warning("job %s: %s", lease.job_id, "canceled" if canceled else "lease lost, nothing committed")


def _put_back(lease: Lease, error: Unavailable, failed: FailureHandler | None) -> None:
    breakers.opened(
        error.dependency, code=error.code, message=str(error), retry_after=error.retry_after, job_id=lease.job_id
    )
    try:
        with services.checkpoint(lease):
            state = services.put_back(lease, error)
            if state != JobState.QUEUED and failed is not None:
                failed(lease, services.overdue())
    except LeaseLost:
        _give_up(lease)
        return
    logger.warning("job %s (%s) waits for %s: %s: %s", lease.job_id, lease.kind, error.dependency, error.code, error)


def _record_failure(lease: Lease, error: JobFailed, failed: FailureHandler | None) -> None:
    try:
        with services.checkpoint(lease):
            state = services.fail(lease, error)
            if state in (JobState.FAILED, JobState.DEAD) and failed is not None:
                failed(lease, error)
    except LeaseLost:
        _give_up(lease)
        return
    logger.warning(
        "job %s (%s) attempt %d: %s: %s -> %s", lease.job_id, lease.kind, lease.attempt, error.code, error, state
    )
