"""What the state machine of the lease protocol knows of its jobs, and how it lets an honest worker end all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid5

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from backend.jobs import control, services
from backend.jobs.dispatching import claim_next, mark_due
from backend.jobs.models import QUEUE_OF, Job, JobKind, JobState
from backend.jobs.services import JobFailed, Lease, LeaseLost
from tests.conftest import Cast
from tests.jobs.lease_world import PATIENCE_S, Worker, at_superuser, effects, passing

WORKERS = ("first", "second", "third")
KINDS = (JobKind.OBSERVE_SEGMENT, JobKind.ANSWER_QUESTION)
MAX_ATTEMPTS = 3
SUBJECTS = UUID(int=0)
ENDED = {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED, JobState.DEAD}
T = TypeVar("T")


@dataclass
class Known:
    """What the model knows of a job. asked: the token of the job when somebody last asked for its work.

    token: the token of the last claim. running: whether that claim has had no end. again: whether somebody asked since
    a worker began with the work. ended: the outcome that a worker or a customer chose, "" for an open job.
    """

    cast: Cast
    kind: JobKind
    key: str
    asked: int
    token: int = 0
    again: bool = False
    canceling: bool = False
    paused: bool = False
    running: bool = False
    ended: str = ""


class KnownJobs(RuleBasedStateMachine):
    """The state that the steps change and check, and the end of every order of steps."""

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
            known.token, known.canceling, known.running, known.paused = known.token + 1, False, False, False
            self.live.pop(job.id, None)
        assert job.lease_token == known.token
        known.asked, known.ended, known.again = known.token, "", job.state == JobState.RUNNING

    def claimed(self, worker: Worker, kind: JobKind) -> Lease | None:
        lease = worker.run(lambda: claim_next(QUEUE_OF[kind], worker=worker.name))
        if lease is None:
            return None
        known = self.known[lease.job_id]
        assert lease.job_id not in self.live, "a job that somebody works on was claimed"
        assert not self.locked(lease.job_id), "a job was claimed while its commit was open"
        assert not known.ended, "a job that has ended was claimed"
        assert known.running or not known.paused, "a paused job was claimed"
        assert lease.token == known.token + 1
        known.running = True
        known.token = self.live[lease.job_id] = lease.token
        known.again = known.again and known.canceling
        return lease

    def after_commit(self, worker: Worker) -> None:
        lease, worker.lease = worker.lease, None
        assert lease is not None
        known = self.known[lease.job_id]
        self.live.pop(lease.job_id, None)
        known.ended, known.again, known.running = "" if known.again else JobState.SUCCEEDED, False, False
        self.late_ones_lose(lease.job_id)

    def late_ones_lose(self, job_id: UUID) -> None:
        for worker in self.workers.values():
            if worker.waiting is not None and worker.lease is not None and worker.lease.job_id == job_id:
                assert worker.waiting.result(timeout=PATIENCE_S) == "lost"
                worker.waiting = worker.lease = None

    def failed(self, lease: Lease, state: JobState, fault: JobFailed) -> None:
        retried = fault.retryable and lease.attempt < MAX_ATTEMPTS
        known = self.known[lease.job_id]
        assert (state == JobState.QUEUED) is (retried or known.again)
        self.live.pop(lease.job_id, None)
        known.ended, known.again = "" if state == JobState.QUEUED else state, retried and known.again
        known.running = False

    def goes_back(self, lease: Lease) -> None:
        known = self.known[lease.job_id]
        self.live.pop(lease.job_id, None)
        known.running = False
        with known.cast.scope():
            job = Job.objects.get(id=lease.job_id)
        assert (job.state, job.attempt, job.lease_until) == (JobState.QUEUED, lease.attempt - 1, None)

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
            known.canceling = known.again = known.running = False

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

    # --- the end -----

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
        for id, known in self.known.items():
            with known.cast.scope():
                control.resume_jobs(Job.objects.filter(id=id))
            known.paused = False
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


Step = Callable[[Any, T], None]


def any_of(choose: Callable[[KnownJobs], Sequence[T]]) -> Callable[[Step[T]], Any]:
    """Make a method a rule whose argument is one of what choose() offers; without an offer the rule does not run."""

    def decorate(step: Step[T]) -> Any:
        def run(machine: KnownJobs, data: st.DataObject) -> None:
            step(machine, data.draw(st.sampled_from(choose(machine))))

        run.__name__ = step.__name__
        return rule(data=st.data())(precondition(lambda machine: bool(choose(machine)))(run))

    return decorate


def _fail(lease: Lease, error: JobFailed) -> JobState:
    with services.checkpoint(lease):
        return services.fail(lease, error)
