"""Runs one job under a lease: claims it, renews the lease while a handler works, records the outcome.

A handler does its work outside any transaction and commits through Work.commit(), which fails when the lease is
lost. So killing a worker at any moment loses nothing that was committed, and two workers never commit the same step.
Every way out of a handler records the model calls that no commit has recorded; only a killed process loses those of its
attempt.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from importlib import import_module
from types import ModuleType

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections

from backend.jobs import breakers, commits, services
from backend.jobs.dispatching import claim_next
from backend.jobs.fairness import ANY_PRIORITY_EVERY
from backend.jobs.models import JobKind
from backend.jobs.services import JobFailed, Lease
from backend.library.services import deletions
from backend.tenancy.context import tenant_scope
from workers.draining import DRAIN, EXIT_SECONDS
from workers.endings import close_answered, end_attempt, record_waste, too_long
from workers.observed_job import RELEASED, ended, observed_job
from workers.work import FollowUp as FollowUp
from workers.work import Work as Work

logger = logging.getLogger("ava.jobs")

CLAIM_SECONDS = 10.0
"""Time for which a worker claims jobs at one bell. Then it takes the next bell, which may be of another class."""

_claims = itertools.count(1)

STUCK_SECONDS = 90.0
"""Seconds after the limit of a task at which a job that still runs ends its process. A pool of processes has ended the
task by then. In a pool of threads the job is asked to stop at the limit, and this is for one that does not."""

_running: dict[int, Work] = {}
"""What runs in this process, by its id()."""
_leaving = threading.Lock()
"""Held by the thread that ends the process."""


# Loaded on first use, so that a worker imports only what its queues need (torch stays out of the I/O workers).
HANDLERS: dict[JobKind, str] = {
    JobKind.PROBE_VIDEO: "workers.ingest.probe_video",
    JobKind.FETCH_SEGMENT: "workers.ingest.fetch_segment",
    JobKind.INGEST_SEGMENT: "workers.ingest.ingest_segment",
    JobKind.OBSERVE_SEGMENT: "gpu_workers.tasks.observe_segment",
    JobKind.RENDER_PIECE: "workers.playback.render_piece",
    JobKind.ASSEMBLE_VIDEO: "gpu_workers.tasks.assemble_video",
    JobKind.SUMMARISE_VIDEO: "gpu_workers.tasks.summarise_video",
    JobKind.MAKE_CLIP: "workers.playback.make_clip",
    JobKind.ANSWER_QUESTION: "gpu_workers.tasks.answer_question",
    JobKind.SEARCH_EVENTS: "gpu_workers.tasks.search_events",
    JobKind.GRADE_COMPARISON: "gpu_workers.tasks.grade_comparison",
    JobKind.STOP_COMPARISON: "workers.stop_comparison",
    JobKind.PURGE_VIDEO: "workers.deletion.purge_video",
    JobKind.ERASE_PICTURES: "workers.deletion.erase_pictures",
    JobKind.SWEEP_DELETED: "workers.deletion.sweep_deleted",
    JobKind.RETIRE_VERSION: "workers.deletion.retire_version",
    JobKind.ERASE_TENANT: "workers.deletion.erase_tenant",
    JobKind.SETTLE_FAILURE: "workers.settle_failure",
    JobKind.EXPIRE_UPLOADS: "workers.deletion.expire_uploads",
    JobKind.RESUME_DELETIONS: "workers.deletion.resume_deletions",
    JobKind.DROP_HISTORY: "workers.deletion.drop_history",
    JobKind.APPLY_RETENTION: "workers.deletion.apply_retention",
    JobKind.RECONCILE_COSTS: "workers.billing.reconcile_costs",
    JobKind.CLOSE_MONTHS: "workers.billing.close_months",
    JobKind.EXPORT_BILLING: "workers.billing.export_billing",
    JobKind.METER_STORAGE: "workers.billing.meter_storage",
    JobKind.ROLL_UP_USAGE: "workers.billing.roll_up_usage",
    JobKind.CHECK_INVARIANTS: "workers.billing.check_invariants",
    JobKind.RETRY_SEGMENTS: "workers.retry_segments",
    JobKind.REMIND_OVERDUE: "workers.billing.remind_overdue",
    JobKind.RECORD_ENDINGS: "workers.deletion.record_endings",
}


def owner(host: str, pid: int) -> str:
    """Return the name under which a process claims jobs."""
    return f"{host}:{pid}"


def run_class(queue: str, *, worker: str, clock: Callable[[], float] = time.monotonic) -> int:
    """Claim and run jobs of a class until none may run, CLAIM_SECONDS have passed or the worker drains.

    Returns the number of jobs that ran.
    """
    until, ran = clock() + CLAIM_SECONDS, 0
    while clock() < until and not DRAIN.is_on():
        close_old_connections()
        lease = claim_next(queue, worker=worker, any_priority=next(_claims) % ANY_PRIORITY_EVERY == 0)
        if lease is None:
            break
        run_leased(lease, worker=worker)
        ran += 1
    return ran


def run_leased(lease: Lease, *, worker: str, clock: Callable[[], float] = time.monotonic) -> None:
    """Run a claimed job, then each follow-up that this worker can claim while half of a job's time is left.

    The follow-ups share the time limit of one task. A later one waits for its own.
    """
    until = clock() + settings.TASK_SECONDS / 2
    following: Lease | None = lease
    while following is not None:
        with observed_job(following):
            followup = _run_once(following, worker=worker)
        following = None
        if followup is not None and clock() < until and not DRAIN.is_on():
            with tenant_scope(lease.tenant_id):
                following = services.claim(followup.job_id, worker=worker)


def _run_once(lease: Lease, *, worker: str) -> FollowUp | None:
    # Each handler module has handle(work) and, if its subject must not stay unfinished, failed(lease, error).
    work = Work(lease, worker)
    module = _module(work)
    stop = threading.Event()
    beat = partial(copy_context().run, _beat, work, stop)
    heart = threading.Thread(target=beat, name=f"lease-{lease.job_id}", daemon=True)
    heart.start()
    committed = False
    _running[id(work)] = work
    try:
        if lease.overdue:
            raise services.overdue()
        if lease.attempt > lease.max_attempts:
            raise JobFailed("worker_lost", "every attempt lost its worker", retryable=True)
        followup: FollowUp | None = module.handle(work)
    except Exception as error:  # noqa: BLE001 - every way out is recorded
        end_attempt(work, error, module)
        return None
    else:
        committed = True
        record_waste(work, module, reason="unused")
        close_answered(work)
        return followup
    finally:
        stop.set()
        heart.join()
        if not committed:
            _leave_nothing(work)
        del _running[id(work)]


def _beat(work: Work, stop: threading.Event) -> None:
    began = time.monotonic()
    trying = work.lease.probing
    try:
        while not DRAIN.wait(stop, settings.HEARTBEAT_SECONDS):
            if DRAIN.is_over():
                _hand_back(work, stop)
                return
            late_s = time.monotonic() - began - settings.TASK_SECONDS - CLAIM_SECONDS
            if late_s > STUCK_SECONDS:
                logger.critical("job %s does not end: its process stops", work.lease.job_id)
                try:
                    end_attempt(work, too_long(), _module(work))
                except Exception:
                    logger.exception("job %s: its lease runs out", work.lease.job_id)
                _leave_process(1)
            if late_s > 0 and not work.late:
                work.late = True
                logger.warning("job %s takes too long and is asked to stop", work.lease.job_id)
                # The lease is kept until the attempt has ended.
                work.lost.set()
            try:
                held = work.beat()
                # The other jobs need not wait until this one has ended.
                answered = trying & work.answered()
                breakers.closed(answered)
                trying -= answered
            except Exception:
                # The lease outlives several missed beats; the work itself reports a dead database.
                logger.exception("heartbeat of job %s failed", work.lease.job_id)
                connections.close_all()
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
        commits.commit(
            lambda: tenant_scope(work.lease.tenant_id),
            lambda: deletions.bury_deleted(work.stored),
            patience_s=commits.READ_PATIENCE_SECONDS,
        )
    except DatabaseError:
        # The sweep after the deletion finds what was stored until then.
        logger.exception("objects of job %s are not checked for a deletion", work.lease.job_id)


def _hand_back(work: Work, stop: threading.Event) -> None:
    """Queue the job for another worker at once, then wait until its work here ends; end the process if it does not."""
    work.lost.set()
    try:
        released = services.release(work.lease)
    except Exception:
        # The database is away too: the lease runs out.
        logger.exception("job %s could not be handed back", work.lease.job_id)
    else:
        if released:
            ended(RELEASED)
        logger.warning("job %s: %s", work.lease.job_id, "handed back" if released else "ended while it was handed back")
    if not stop.wait(EXIT_SECONDS):
        logger.critical("job %s does not end: its process stops", work.lease.job_id)
        _leave_process(0)


def _leave_process(status: int) -> None:
    """End this process. What else runs in it is handed back, and every call that nobody recorded is recorded."""
    with _leaving:
        for work in list(_running.values()):
            work.lost.set()
            try:
                services.release(work.lease)
            except Exception:
                logger.exception("job %s could not be handed back", work.lease.job_id)
            record_waste(work, _module(work), reason="stopped")
            _leave_nothing(work)
        os._exit(status)


def _module(work: Work) -> ModuleType:
    return import_module(HANDLERS[work.lease.kind])
