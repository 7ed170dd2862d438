"""A real worker that is asked to stop: it claims nothing, its jobs end or are handed back, and it exits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from uuid6 import uuid7

from backend.jobs.models import Job, JobState
from tests.conftest import Cast
from tests.workers.worker_process import PROJECT, WorkerProcess, enqueue, state_of

pytestmark = pytest.mark.slow


@pytest.fixture
def start(tmp_path: Path, database: None) -> Iterator[Callable[..., WorkerProcess]]:
    """Start workers that share one script; their leases outlive the test, so that only a hand-back frees a job."""
    workers: list[WorkerProcess] = []

    def started(pool: str = "prefork", **settings: str) -> WorkerProcess:
        worker = WorkerProcess(tmp_path, os.environ["REDIS_URL"], **{"AVA_LEASE_SECONDS": "600", **settings})
        worker.start(pool)
        workers.append(worker)
        return worker

    yield started
    for worker in workers:
        worker.stop()


def claims_of(acme: Cast, job: object) -> tuple[str, int, int]:
    """Return state, attempt and number of claims of a job."""
    with acme.scope():
        state, attempt, claims = Job.objects.values_list("state", "attempt", "lease_token").get(id=job)
        return state, attempt, claims


@contextmanager
def running(command: list[str], worker: WorkerProcess) -> Iterator[subprocess.Popen[str]]:
    """Run a command in the worker's environment. A test that fails ends it."""
    with subprocess.Popen(command, cwd=PROJECT, env=worker.env, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


@pytest.mark.long
@pytest.mark.parametrize(("pool", "attentive"), [("prefork", False), ("threads", True)])
def test_a_job_that_does_not_end_is_taken_over_at_once_by_another_worker(
    acme: Cast, start: Callable[..., WorkerProcess], pool: str, attentive: bool
) -> None:
    leaving = start(pool, AVA_DRAIN_SECONDS="0")
    if attentive:
        (leaving.script / "attentive").touch()
    subject = leaving.hold()
    job = enqueue(acme, subject)
    leaving.wait(lambda: len(leaving.starts(subject)) == 1, "the job does not start")
    heir = start(pool)
    heir.wait(lambda: len(heir.loads()) == 2, "the other worker does not start")
    assert claims_of(acme, job) == (JobState.RUNNING, 1, 1), "it has a lease of ten minutes"

    leaving.terminate()
    heir.wait(lambda: len(heir.starts(subject)) == 2, "no other worker takes the job over")
    assert claims_of(acme, job) == (JobState.RUNNING, 1, 2)
    assert leaving.process is not None
    if not attentive:
        assert leaving.process.poll() is None, "the job is handed over before its work in the first worker has ended"
    assert leaving.exit_status() == 0
    # The work of the worker that left has ended, and has committed nothing.
    assert claims_of(acme, job) == (JobState.RUNNING, 1, 2)
    heir.release(subject)
    heir.wait(lambda: state_of(acme, job) == JobState.SUCCEEDED, "the job is not done")
    (first, _), (second, attempt) = heir.starts(subject)
    assert (first != second, attempt) == (True, 1)


def test_a_job_that_ends_in_time_is_finished_and_no_other_is_claimed(
    acme: Cast, start: Callable[..., WorkerProcess]
) -> None:
    worker = start(AVA_DRAIN_SECONDS="600")
    subject, later = worker.hold(), uuid7()
    job = enqueue(acme, subject)
    worker.wait(lambda: len(worker.starts(subject)) == 1, "the job does not start")
    waiting = enqueue(acme, later)

    worker.terminate()
    worker.wait(lambda: "Warm shutdown" in worker.log.read_text(), "the worker does not notice the signal")
    worker.release(subject)
    assert worker.exit_status() == 0
    assert claims_of(acme, job) == (JobState.SUCCEEDED, 1, 1)
    assert claims_of(acme, waiting) == (JobState.QUEUED, 0, 0)
    assert worker.starts(later) == []


@pytest.mark.long
def test_the_command_waits_for_what_runs_and_lets_nothing_begin(
    acme: Cast, start: Callable[..., WorkerProcess]
) -> None:
    worker = start("threads")
    subject, later = worker.hold(), uuid7()
    job = enqueue(acme, subject)
    worker.wait(lambda: len(worker.starts(subject)) == 1, "the job does not start")

    command = [sys.executable, "manage.py", "drain", "--finish-seconds", "600"]
    with running(command, worker) as draining:
        assert draining.stdout is not None
        # The worker's own process learns of its children with its next beat.
        lines = iter(draining.stdout.readline, "")
        assert next(line for line in lines if line != "jobs that run: 0\n") == "jobs that run: 1\n"
        worker.wait(lambda: "Canceling queue cpu.probe" in worker.log.read_text(), "the worker still takes bells")
        waiting = enqueue(acme, later)
        worker.release(subject)
        assert draining.stdout.read() == "drained\n"
    assert draining.returncode == 0
    assert claims_of(acme, job) == (JobState.SUCCEEDED, 1, 1)
    assert claims_of(acme, waiting) == (JobState.QUEUED, 0, 0)
    worker.terminate()
    assert worker.exit_status() == 0
