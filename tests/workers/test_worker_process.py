"""A real worker process outlives its child, its broker and work without end; a worker without models stops."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from celery import Celery

from backend.billing.models import ModelCall
from backend.jobs.models import Job, JobState
from infra.local.child_process import Identity
from infra.local.stack import Stack
from tests.conftest import Cast
from tests.faults.chaos.doors import Door, Way
from tests.workers.worker_process import PATIENCE_S, WorkerProcess, enqueue, finish_a_later_job, state_of

pytestmark = pytest.mark.slow


@pytest.fixture
def worker(tmp_path: Path, database: None) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(tmp_path, os.environ["REDIS_URL"])
    yield worker
    worker.stop()


@pytest.mark.long
def test_a_child_killed_during_its_work_is_replaced_by_one_that_loads_slowly(acme: Cast, worker: WorkerProcess) -> None:
    # Longer than the 4 s that Celery gives a replaced child by default.
    (worker.script / "load_seconds").write_text("6")
    worker.start()
    subject = worker.hold()
    job = enqueue(acme, subject)
    worker.wait(lambda: len(worker.starts(subject)) == 1, "the job does not start")
    worker.wait(worker.is_healthy, "the worker is not healthy")
    killed = worker.starts(subject)[0][0]

    os.kill(killed, signal.SIGKILL)
    worker.wait(lambda: len(worker.starts(subject)) == 2, "no other child takes the job over")
    worker.release(subject)
    worker.wait(lambda: state_of(acme, job) == JobState.SUCCEEDED, "the job is not done")

    assert worker.starts(subject)[1] == (worker.loads()[1], 2)
    assert finish_a_later_job(acme, worker) == worker.loads()[1] != killed
    assert len(worker.loads()) == 2, "the new child was killed while it loaded"
    worker.wait(worker.is_healthy, "the worker is not healthy")


@pytest.mark.long
def test_nobody_stops_a_worker_through_the_broker(acme: Cast, worker: WorkerProcess) -> None:
    worker.start()
    before = finish_a_later_job(acme, worker)
    control = Celery("intruder", broker=worker.env["REDIS_URL"]).control
    control.broadcast("pool_shrink", arguments={"n": 1})
    assert control.ping(timeout=3) == []
    control.shutdown()
    assert finish_a_later_job(acme, worker) == before


@pytest.mark.long
def test_a_restart_of_the_broker_ends_no_work(acme: Cast, tmp_path: Path) -> None:
    root = tmp_path / "valkey"
    root.mkdir()
    tmp_path.chmod(0o755)
    root.chmod(0o755)
    with Stack(root, frozenset({"valkey"}), durable=False, environ={}) as stack:
        worker = WorkerProcess(tmp_path, stack.env()["REDIS_URL"])
        try:
            worker.start()
            subject = worker.hold()
            job = enqueue(acme, subject)
            worker.wait(lambda: len(worker.starts(subject)) == 1, "the job does not start")

            stack.servers[0].stop()
            worker.wait(lambda: "onnection" in worker.log.read_text(), "the worker does not notice the loss")
            stack.servers[0].start()
            worker.release(subject)
            worker.wait(lambda: state_of(acme, job) == JobState.SUCCEEDED, "the job is not done")

            assert worker.starts(subject) == [(worker.loads()[0], 1)], "the work was ended with the connection"
            assert finish_a_later_job(acme, worker) == worker.loads()[0]
            worker.wait(worker.is_healthy, "the worker is not healthy")
        finally:
            worker.stop()


@pytest.mark.long
def test_work_that_ends_while_the_broker_is_away_leaves_the_worker_its_slot(
    acme: Cast, tmp_path: Path, database: None
) -> None:
    """Celery logs an acknowledgement that fails, and would count its message as one that the worker still holds."""
    given = urlsplit(os.environ["REDIS_URL"])
    broker = Door(given.geturl())
    credentials, door = given.netloc.rpartition("@")[0], urlsplit(broker.url).netloc
    worker = WorkerProcess(tmp_path, given._replace(netloc=f"{credentials}@{door}").geturl())
    try:
        worker.start()
        subject = worker.hold()
        enqueue(acme, subject)
        worker.wait(lambda: len(worker.starts(subject)) == 1, "the job does not start")

        broker.turn(Way.SHUT)
        worker.release(subject)
        worker.wait(lambda: "Couldn't" in worker.log.read_text(), "the acknowledgement does not fail")
        broker.turn(Way.OPEN)
        finish_a_later_job(acme, worker)
        worker.wait(worker.is_healthy, "the worker is not healthy")
    finally:
        worker.stop()
        broker.close()


@pytest.mark.long
def test_a_task_beyond_its_limit_costs_only_its_own_child(acme: Cast, tmp_path: Path, database: None) -> None:
    worker = WorkerProcess(tmp_path, os.environ["REDIS_URL"], AVA_TASK_SECONDS="5", AVA_LEASE_SECONDS="60")
    try:
        worker.start()
        subject = worker.hold()
        enqueue(acme, subject)
        worker.wait(lambda: len(worker.loads()) == 2, "the child is not replaced")

        assert finish_a_later_job(acme, worker) == worker.loads()[1]
        assert worker.process is not None
        assert worker.process.poll() is None
    finally:
        worker.stop()


@pytest.mark.long
def test_a_thread_beyond_its_limit_is_asked_to_stop_and_ends_alone(acme: Cast, tmp_path: Path, database: None) -> None:
    worker = WorkerProcess(tmp_path, os.environ["REDIS_URL"], AVA_TASK_SECONDS="5", AVA_LEASE_SECONDS="60")
    (worker.script / "attentive").touch()
    try:
        worker.start("threads")
        subject = worker.hold()
        job = enqueue(acme, subject)
        worker.wait(lambda: bool(calls_of(acme)), "the calls of the attempt are not recorded")

        assert error_of(acme, job) == "time_limit"
        assert finish_a_later_job(acme, worker) == worker.loads()[0]
    finally:
        worker.stop()


@pytest.mark.long
def test_a_thread_that_does_not_stop_ends_its_process_and_the_others_are_handed_back(
    acme: Cast, tmp_path: Path, database: None
) -> None:
    settings = {"AVA_TASK_SECONDS": "5", "AVA_LEASE_SECONDS": "600", "STUCK_SECONDS": "5"}
    worker = WorkerProcess(tmp_path, os.environ["REDIS_URL"], **settings)
    try:
        worker.start("threads", at_once=2)
        stuck = worker.hold()
        stuck_job = enqueue(acme, stuck)
        worker.wait(lambda: len(worker.starts(stuck)) == 1, "the job does not start")
        # It begins later, so its own limit is not reached.
        worker.wait(lambda: "is asked to stop" in worker.log.read_text(), "the job is not asked to stop")
        other = worker.hold()
        other_job = enqueue(acme, other)
        worker.wait(lambda: len(worker.starts(other)) == 1, "the other job does not start")

        assert worker.exit_status() == 1
        with acme.scope():
            jobs = {job.id: job for job in Job.objects.filter(id__in=[stuck_job, other_job])}
        assert (jobs[stuck_job].state, jobs[stuck_job].attempt, jobs[stuck_job].error_code) == (
            JobState.QUEUED, 1, "time_limit",
        )  # fmt: skip
        assert (jobs[other_job].state, jobs[other_job].attempt) == (JobState.QUEUED, 0)
        assert calls_of(acme) == ["wasted_attempt", "wasted_attempt"]
    finally:
        worker.stop()


def calls_of(acme: Cast) -> list[str]:
    with acme.scope():
        return list(ModelCall.objects.values_list("source_type", flat=True))


def error_of(acme: Cast, job: UUID) -> str:
    with acme.scope():
        return Job.objects.get(id=job).error_code


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_that_cannot_load_its_models_stops_with_the_reason(worker: WorkerProcess, pool: str) -> None:
    (worker.script / "broken").touch()
    worker.start(pool)
    assert worker.process is not None
    assert worker.process.wait(timeout=PATIENCE_S) == 1
    assert "the weights are damaged" in worker.log.read_text()
    assert worker.health() == (1, "no worker runs here\n")


@pytest.mark.long
def test_a_worker_stops_when_a_replaced_child_cannot_load_its_models(acme: Cast, worker: WorkerProcess) -> None:
    worker.start()
    child = finish_a_later_job(acme, worker)
    (worker.script / "broken").touch()
    os.kill(child, signal.SIGKILL)
    assert worker.process is not None
    assert worker.process.wait(timeout=PATIENCE_S) == 1
    assert "cannot load its models: ValueError: the weights are damaged" in worker.log.read_text()


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_that_waits_for_a_model_server_ends_when_it_is_asked_to(worker: WorkerProcess, pool: str) -> None:
    (worker.script / "unserved").touch()
    worker.start(pool)
    worker.wait(lambda: "models are not ready" in worker.log.read_text(), "the worker does not wait")
    assert worker.process is not None
    pid = worker.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    assert bool(children) == (pool == "prefork")

    worker.terminate()

    assert worker.exit_status() == 0
    assert "the worker stops before it was ready" in worker.log.read_text()
    assert not any(Identity.of(int(child)) for child in children)


def test_a_worker_waits_for_a_server_that_lacks_its_model(acme: Cast, worker: WorkerProcess) -> None:
    (worker.script / "unserved").touch()
    worker.start("threads")
    worker.wait(lambda: "the server does not list qwen" in "".join(worker.faults()), "its state does not say so")
    code, found = worker.health()
    assert (code, "the server does not list qwen" in found) == (1, True)
    assert worker.loads() == []
    (worker.script / "unserved").unlink()
    assert finish_a_later_job(acme, worker) == worker.loads()[0]
    worker.wait(worker.is_healthy, "the health check still names the fault")
