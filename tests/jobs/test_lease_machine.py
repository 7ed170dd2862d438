"""The lease protocol under every order of steps that Hypothesis finds, on a real server, with workers that die.

Two things must hold whatever the order: no job commits twice for one request, and no request is lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid5

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from backend.jobs import services
from backend.jobs.dispatching import claim_next, mark_due
from backend.jobs.models import QUEUE_OF, Job, JobKind, JobState
from backend.jobs.services import JobFailed, Lease, LeaseLost
from tests.conftest import Cast
from tests.jobs.lease_world import (
    FINAL_FAULT,
    LEASE_MINUTES,
    PASSING_FAULT,
    PATIENCE_S,
    Worker,
    at_superuser,
    effects,
    effects_table,
    passing,
)

WORKERS = ("first", "second", "third")
FAULTS = (PASSING_FAULT, FINAL_FAULT)
KINDS = (JobKind.OBSERVE_SEGMENT, JobKind.ANSWER_QUESTION)
MAX_ATTEMPTS = 3
SUBJECTS = UUID(int=0)
ENDED = {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED, JobState.DEAD}
EXAMPLES, STEPS = int(os.environ.get("AVA_LEASE_EXAMPLES", "30")), 40
"""Number of orders that are tried, and of steps in each. Thousands of orders are for a night, not for every change."""
SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    # The same orders at every run, unless somebody asks for more of them.
    derandomize="AVA_LEASE_EXAMPLES" not in os.environ,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


T = TypeVar("T")
Step = Callable[["LeaseProtocol", T], None]


@dataclass
class Known:
    """What the model knows of a job. asked: the token of the job when somebody last asked for its work.

    token: the token of the last claim. again: whether somebody asked since a worker began with the work. ended: the
    outcome that a worker or a customer chose, "" for an open job.
    """

    cast: Cast
    kind: JobKind
    key: str
    asked: int
    token: int = 0
    again: bool = False
    canceling: bool = False
    ended: str = ""


def any_of(choose: Callable[[LeaseProtocol], Sequence[T]]) -> Callable[[Step[T]], Any]:
    """Make a method a rule whose argument is one of what choose() offers; without an offer the rule does not run."""

    def decorate(step: Step[T]) -> Any:
        def run(machine: LeaseProtocol, data: st.DataObject) -> None:
            step(machine, data.draw(st.sampled_from(choose(machine))))

        run.__name__ = step.__name__
        return rule(data=st.data())(precondition(lambda machine: bool(choose(machine)))(run))

    return decorate


class LeaseProtocol(RuleBasedStateMachine):
    """Steps of customers, workers and time. Each step is one transaction, or one half of a commit."""

    casts: tuple[Cast, ...]
    workers: dict[str, Worker]

    @initialize()
    def begin(self) -> None:
        at_superuser("DELETE FROM lease_effect")
        at_superuser("DELETE FROM jobs_job")
        at_superuser("DELETE FROM jobs_classclock")
        self.known: dict[UUID, Known] = {}
        self.live: dict[UUID, int] = {}
        for tenant in self.casts:
            self.ask_for(tenant, KINDS[0])

    # --- customers ----------------------------------------------------------------------------------------------------

    @any_of(lambda self: [(tenant, kind) for tenant in self.casts for kind in KINDS])
    def ask(self, chosen: tuple[Cast, JobKind]) -> None:
        self.ask_for(*chosen)

    def ask_for(self, tenant: Cast, kind: JobKind) -> None:
        """Ask for the work of a job, perhaps again."""
        key = f"{kind}:1"
        if any(job.cast is tenant and job.key == key and self.locked(id) for id, job in self.known.items()):
            return
        with tenant.scope():
            job = services.enqueue(
                kind=kind, subject_id=uuid5(SUBJECTS, key), dedupe_key=key, max_attempts=MAX_ATTEMPTS
            )
            job = Job.objects.get(id=job.id)
        known = self.known.setdefault(job.id, Known(tenant, kind, key, asked=0))
        if known.ended or known.canceling:
            # Begun again: a canceled run that still goes on has lost its lease.
            known.token, known.canceling = known.token + 1, False
            self.live.pop(job.id, None)
        assert job.lease_token == known.token
        known.asked, known.ended, known.again = known.token, "", job.state == JobState.RUNNING

    @any_of(lambda self: [id for id in sorted(self.known) if not self.locked(id)])
    def cancel(self, id: UUID) -> None:
        known = self.known[id]
        with known.cast.scope():
            stopped = services.request_cancel(dedupe_key=known.key)
            state = Job.objects.get(id=id).state
        assert stopped == (not known.ended)
        if state == JobState.CANCELED:
            known.ended = JobState.CANCELED
        elif state == JobState.RUNNING:
            known.canceling, known.again = True, False

    # --- workers ------------------------------------------------------------------------------------------------------

    @any_of(lambda self: [(worker, kind) for worker in self.idle() for kind in KINDS])
    def claim(self, chosen: tuple[Worker, JobKind]) -> None:
        worker, kind = chosen
        worker.lease = self.claimed(worker, kind)

    def claimed(self, worker: Worker, kind: JobKind) -> Lease | None:
        lease = worker.run(lambda: claim_next(QUEUE_OF[kind], worker=worker.name))
        if lease is None:
            return None
        known = self.known[lease.job_id]
        assert lease.job_id not in self.live, "a job that somebody works on was claimed"
        assert not self.locked(lease.job_id), "a job was claimed while its commit was open"
        assert not known.ended, "a job that has ended was claimed"
        assert lease.token == known.token + 1
        known.token = self.live[lease.job_id] = lease.token
        known.again = known.again and known.canceling
        return lease

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

    def after_commit(self, worker: Worker) -> None:
        lease, worker.lease = worker.lease, None
        assert lease is not None
        known = self.known[lease.job_id]
        self.live.pop(lease.job_id, None)
        known.ended, known.again = "" if known.again else JobState.SUCCEEDED, False
        self.late_ones_lose(lease.job_id)

    def late_ones_lose(self, job_id: UUID) -> None:
        for worker in self.workers.values():
            if worker.waiting is not None and worker.lease is not None and worker.lease.job_id == job_id:
                assert worker.waiting.result(timeout=PATIENCE_S) == "lost"
                worker.waiting = worker.lease = None

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

    def failed(self, lease: Lease, state: JobState, fault: JobFailed) -> None:
        retried = fault.retryable and lease.attempt < MAX_ATTEMPTS
        known = self.known[lease.job_id]
        assert (state == JobState.QUEUED) is (retried or known.again)
        self.live.pop(lease.job_id, None)
        known.ended, known.again = "" if state == JobState.QUEUED else state, retried and known.again

    @any_of(lambda self: [w for w in self.free() if w.lease and self.known[w.lease.job_id].canceling])
    def notice_cancel(self, worker: Worker) -> None:
        self.gives_up(worker)

    def gives_up(self, worker: Worker) -> None:
        """End a canceled job as the runner does when it finds its lease gone."""
        lease, worker.lease = worker.lease, None
        assert lease is not None
        known = self.known[lease.job_id]

        def work() -> bool:
            with known.cast.scope():
                return services.cancel_requested(lease) and services.acknowledge_cancel(lease)

        if worker.run(work):
            assert known.canceling
            assert known.token == lease.token
            self.live.pop(lease.job_id, None)
            known.ended = "" if known.again else JobState.CANCELED
            known.canceling = known.again = False

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

    # --- what always holds --------------------------------------------------------------------------------------------

    def idle(self) -> list[Worker]:
        return [worker for worker in self.workers.values() if worker.lease is None]

    def busy(self) -> list[Worker]:
        """Return the workers that have a lease, perhaps an old one, and no commit under way."""
        return [w for w in self.workers.values() if w.lease and not w.stack and not w.waiting]

    def free(self) -> list[Worker]:
        """Return the busy workers whose job no open commit holds."""
        return [w for w in self.busy() if w.lease and not self.locked(w.lease.job_id)]

    def locked(self, job_id: UUID) -> bool:
        """Whether an open commit holds the job's row."""
        return any(w.stack and w.lease and w.lease.job_id == job_id for w in self.workers.values())

    def holds(self, lease: Lease) -> bool:
        known = self.known[lease.job_id]
        return known.token == lease.token and not known.ended and not known.canceling

    @invariant()
    def no_two_commits(self) -> None:
        for job_id, tokens in effects().items():
            assert len(tokens) == len(set(tokens)), f"job {job_id} committed twice under one claim: {tokens}"
            assert tokens == sorted(tokens), f"an older claim of job {job_id} committed after a newer one: {tokens}"

    def teardown(self) -> None:
        """Let one honest worker run what is left: every job ends, and every request was worked on after it came."""
        for worker in self.workers.values():
            if worker.stack is not None:
                worker.die()
        for worker in self.workers.values():
            if worker.waiting is not None:
                assert worker.waiting.result(timeout=PATIENCE_S) == "lost"
            worker.waiting = worker.lease = None
        self.drain()
        self.check_ends()

    def drain(self) -> None:
        worker = self.workers[WORKERS[0]]
        rounds = 0
        while any(not known.ended for known in self.known.values()):
            rounds += 1
            assert rounds <= 2 * MAX_ATTEMPTS, "a job is never claimed again"
            passing(24 * 60)
            self.live.clear()
            mark_due()
            for kind in KINDS:
                worker.lease = None
                while lease := self.claimed(worker, kind):
                    worker.lease = lease
                    self.run_honestly(worker, lease)
                    worker.lease = None

    def run_honestly(self, worker: Worker, lease: Lease) -> None:
        if lease.attempt > lease.max_attempts:
            lost = JobFailed("worker_lost", "every attempt lost its worker", retryable=True)
            try:
                self.failed(lease, worker.run(lambda: _fail(lease, lost)), lost)
            except LeaseLost:
                self.gives_up(worker)
        elif self.holds(lease):
            worker.begin_commit(ends=services.complete)
            worker.end_commit()
            self.after_commit(worker)
        else:
            self.gives_up(worker)

    def check_ends(self) -> None:
        done = effects()
        for id, known in self.known.items():
            with known.cast.scope():
                job = Job.objects.get(id=id)
            assert job.state in ENDED, f"a job is lost in state {job.state}"
            assert job.state == known.ended
            assert job.lease_until is None or job.state == JobState.CANCELED
            if job.state == JobState.SUCCEEDED:
                assert done[id][-1] > known.asked, "the request came after the last work on the job"


def _fail(lease: Lease, error: JobFailed) -> JobState:
    with services.checkpoint(lease):
        return services.fail(lease, error)


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
