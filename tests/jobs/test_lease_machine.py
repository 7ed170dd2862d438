"""The lease protocol under every order of steps that Hypothesis finds, on a real server, with workers that die.

Two things must hold whatever the order: no job commits twice for one request, and no request is lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from backend.jobs import control, services
from backend.jobs.dispatching import mark_due
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed, LeaseLost
from tests.conftest import Cast
from tests.jobs.lease_machine import KINDS, WORKERS, KnownJobs, any_of
from tests.jobs.lease_world import (
    FINAL_FAULT,
    LEASE_MINUTES,
    OUTAGE,
    PASSING_FAULT,
    Worker,
    effects,
    effects_table,
    passing,
)

FAULTS = (PASSING_FAULT, FINAL_FAULT)
EXAMPLES, STEPS = int(os.environ.get("AVA_LEASE_EXAMPLES", "30")), 40
"""Number of orders that are tried, and of steps in each. Thousands of orders are for a night, not for every change."""
SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    # The same orders at every run, unless somebody asks for more of them.
    derandomize="AVA_LEASE_EXAMPLES" not in os.environ,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class LeaseProtocol(KnownJobs):
    """Steps of customers, workers and time. Each step is one transaction, or one half of a commit."""

    # --- customers ----------------------------------------------------------------------------------------------------

    @any_of(lambda self: [(tenant, kind) for tenant in self.casts for kind in KINDS])
    def ask(self, chosen: tuple[Cast, JobKind]) -> None:
        self.ask_for(*chosen)

    @any_of(lambda self: [id for id in sorted(self.known) if not self.locked(id)])
    def cancel(self, id: UUID) -> None:
        known = self.known[id]
        with known.cast.scope():
            stopped = services.request_cancel(dedupe_key=known.key)
            state = Job.objects.get(id=id).state
        assert stopped == (not known.ended)
        if state == JobState.CANCELED:
            known.ended, known.running = JobState.CANCELED, False
        elif state == JobState.RUNNING:
            known.canceling, known.again = True, False

    @any_of(lambda self: [id for id, job in sorted(self.known.items()) if not job.ended and not self.locked(id)])
    def pause_or_resume(self, id: UUID) -> None:
        known = self.known[id]
        change = control.resume_jobs if known.paused else control.pause_jobs
        with known.cast.scope():
            assert change(Job.objects.filter(id=id)) == 1
        known.paused = not known.paused

    # --- workers ------------------------------------------------------------------------------------------------------

    @any_of(lambda self: [(worker, kind) for worker in self.idle() for kind in KINDS])
    def claim(self, chosen: tuple[Worker, JobKind]) -> None:
        worker, kind = chosen
        worker.lease = self.claimed(worker, kind)

    @any_of(lambda self: self.free())
    def beat(self, worker: Worker) -> None:
        lease = worker.lease
        assert lease is not None
        held = self.holds(lease)
        assert worker.run(lambda: services.heartbeat(lease)) is held
        if held:
            self.live[lease.job_id] = lease.token

    @any_of(lambda self: [w for w in self.busy() if w.lease and self.locked(w.lease.job_id)])
    def wait_to_commit(self, worker: Worker) -> None:
        """Try to commit while a newer claim of the job commits."""
        worker.begin_late_commit()

    @any_of(lambda self: self.free())
    def begin_commit(self, worker: Worker) -> None:
        """Write a job's effect and its end. Others act before the transaction ends."""
        assert worker.lease is not None
        if self.holds(worker.lease) and worker.lease.attempt <= worker.lease.max_attempts:
            worker.begin_commit(ends=services.complete)
        elif not self.holds(worker.lease):
            with pytest.raises(LeaseLost):
                worker.begin_commit(ends=services.complete)

    @any_of(lambda self: [worker for worker in self.workers.values() if worker.stack])
    def end_commit(self, worker: Worker) -> None:
        worker.end_commit()
        self.after_commit(worker)

    @any_of(lambda self: [(worker, fault) for worker in self.free() for fault in FAULTS])
    def fail(self, chosen: tuple[Worker, JobFailed]) -> None:
        worker, fault = chosen
        lease = worker.lease
        assert lease is not None

        def work() -> JobState:
            with services.checkpoint(lease):
                return services.fail(lease, fault)

        if self.holds(lease):
            self.failed(lease, worker.run(work), fault)
        else:
            with pytest.raises(LeaseLost):
                worker.run(work)
        worker.lease = None

    @any_of(lambda self: self.free())
    def meet_an_outage(self, worker: Worker) -> None:
        """Put the job back, because what it needs is away. The attempt does not count."""
        lease, worker.lease = worker.lease, None
        assert lease is not None

        def work() -> JobState:
            with services.checkpoint(lease):
                return services.put_back(lease, OUTAGE)

        if self.holds(lease):
            assert worker.run(work) == JobState.QUEUED
            self.goes_back(lease)
        else:
            with pytest.raises(LeaseLost):
                worker.run(work)

    @any_of(lambda self: self.free())
    def hand_back(self, worker: Worker) -> None:
        """Release the job, because the worker was asked to stop. The attempt does not count."""
        lease, worker.lease = worker.lease, None
        assert lease is not None
        held = self.holds(lease)
        assert worker.run(lambda: services.release(lease)) is held
        if held:
            self.goes_back(lease)

    @any_of(lambda self: [w for w in self.free() if w.lease and self.known[w.lease.job_id].canceling])
    def notice_cancel(self, worker: Worker) -> None:
        self.gives_up(worker)

    @any_of(lambda self: [w for w in self.workers.values() if w.lease and not w.waiting])
    def die(self, worker: Worker) -> None:
        held = worker.lease if worker.stack is not None else None
        worker.die()
        if held is not None:
            self.late_ones_lose(held.job_id)

    # --- time ---------------------------------------------------------------------------------------------------------

    @rule()
    def time_passes(self) -> None:
        """Every lease that is not renewed ends, and every job that waits becomes due."""
        if not any(worker.stack for worker in self.workers.values()):
            passing(LEASE_MINUTES)
            self.live.clear()
        mark_due()

    @invariant()
    def no_two_commits(self) -> None:
        for job_id, tokens in effects().items():
            assert len(tokens) == len(set(tokens)), f"job {job_id} committed twice under one claim: {tokens}"
            assert tokens == sorted(tokens), f"an older claim of job {job_id} committed after a newer one: {tokens}"


@pytest.fixture
def _effects(acme: Cast) -> Iterator[None]:
    with effects_table():
        yield


@pytest.mark.usefixtures("_effects")
def test_no_order_of_steps_commits_twice_or_loses_a_job(acme: Cast, globex: Cast) -> None:
    workers = {name: Worker(name) for name in WORKERS}
    machine: Any = type("Machine", (LeaseProtocol,), {"casts": (acme, globex), "workers": workers})
    try:
        run_state_machine_as_test(machine, settings=SETTINGS)
    finally:
        for worker in workers.values():
            worker.close()
