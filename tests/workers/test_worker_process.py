"""A real worker process outlives its child, its broker and work without end; a worker without models stops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from kombu import Connection, Exchange, Producer
from redis.exceptions import RedisError
from uuid6 import uuid7

from backend.jobs import services
from backend.jobs.dispatching import mark_due, runnable
from backend.jobs.models import Job, JobKind, JobState
from infra.local.stack import Stack
from tests.conftest import Cast

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120


class WorkerProcess:
    """A Celery worker for probe jobs with one child, and what a relay does for it."""

    def __init__(self, folder: Path, redis_url: str, **settings: str) -> None:
        self.script, self.log = folder / "script", folder / "worker.log"
        self.script.mkdir(parents=True, exist_ok=True)
        self.env = {
            **os.environ,
            "REDIS_URL": redis_url,
            "SCRIPT": str(self.script),
            "AVA_WORKER_STATE": str(folder / "state"),
            "AVA_LEASE_SECONDS": "3",
            "AVA_HEARTBEAT_SECONDS": "1",
            **settings,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, pool: str = "prefork") -> None:
        command = [sys.executable, "-m", "celery", "-A", "tests.workers.slow_worker", "worker", "--loglevel=INFO"]
        command += ["--queues=cpu.probe", "--concurrency=1", f"--pool={pool}", f"--hostname={uuid7().hex}@test"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=PROJECT, env=self.env, stdout=log, stderr=log)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=PATIENCE_S)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition and do the relay's work meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            hopeless = time.monotonic() > deadline or self.process is None or self.process.poll() is not None
            assert not hopeless, f"{what}: {self.log.read_text()[-4000:]}"
            self.ring()
            time.sleep(0.1)

    def ring(self) -> None:
        """Do the relay's work, but with this worker's own broker."""
        mark_due()
        try:
            with Connection(self.env["REDIS_URL"]) as broker:
                channel = broker.channel()
                for _ in range(runnable("cpu.probe", most=2)["cpu.probe"] - channel.client.llen("cpu.probe")):
                    Producer(channel).publish(
                        [["cpu.probe"], {}, {}],
                        exchange=Exchange("cpu.probe"),
                        routing_key="cpu.probe",
                        serializer="json",
                        headers={"task": "workers.tasks.run_class", "id": uuid7().hex},
                    )
        except (OSError, RedisError):
            return

    def hold(self) -> UUID:
        """Return a subject whose job does not end until release()."""
        subject = uuid7()
        (self.script / f"hold-{subject}").touch()
        return subject

    def release(self, subject: UUID) -> None:
        (self.script / f"hold-{subject}").unlink()

    def starts(self, subject: UUID) -> list[tuple[int, int]]:
        """Return process id and attempt of each start of the subject's job."""
        file = self.script / f"started-{subject}"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(int(pid), int(attempt)) for pid, attempt in (line.split() for line in lines)]

    def loads(self) -> list[int]:
        file = self.script / "loaded"
        return [int(line) for line in file.read_text().splitlines()] if file.exists() else []

    def is_healthy(self) -> bool:
        """Whether the health check passes; the worker publishes the state of its children every two seconds."""
        return self.health() == (0, "")

    def health(self) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "workers.health"], cwd=PROJECT, env=self.env, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def worker(tmp_path: Path, database: None) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(tmp_path, os.environ["REDIS_URL"])
    yield worker
    worker.stop()


def enqueue(acme: Cast, subject: UUID) -> UUID:
    with acme.scope():
        return services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=subject, dedupe_key=f"probe:{subject}").id


def state_of(acme: Cast, job: UUID) -> str:
    with acme.scope():
        return str(Job.objects.values_list("state", flat=True).get(id=job))


def finish_a_later_job(acme: Cast, worker: WorkerProcess) -> int:
    """Let the worker do one more job. Returns the process that did it."""
    subject = uuid7()
    job = enqueue(acme, subject)
    worker.wait(lambda: state_of(acme, job) == JobState.SUCCEEDED, "a later job is not done")
    return worker.starts(subject)[-1][0]


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


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_that_cannot_load_its_models_stops_with_the_reason(worker: WorkerProcess, pool: str) -> None:
    (worker.script / "broken").touch()
    worker.start(pool)
    assert worker.process is not None
    assert worker.process.wait(timeout=PATIENCE_S) == 1
    assert "the weights are damaged" in worker.log.read_text()
    assert worker.health() == (1, "no worker runs here\n")


def test_a_worker_stops_when_a_replaced_child_cannot_load_its_models(acme: Cast, worker: WorkerProcess) -> None:
    worker.start()
    child = finish_a_later_job(acme, worker)
    (worker.script / "broken").touch()
    os.kill(child, signal.SIGKILL)
    assert worker.process is not None
    assert worker.process.wait(timeout=PATIENCE_S) == 1
    assert "cannot load its models: ValueError: the weights are damaged" in worker.log.read_text()


def test_a_worker_waits_for_a_server_that_lacks_its_model(acme: Cast, worker: WorkerProcess) -> None:
    (worker.script / "unserved").touch()
    worker.start("threads")
    worker.wait(lambda: "the server does not list qwen" in worker.health()[1], "the health check does not say so")
    assert worker.health()[0] == 1
    assert worker.loads() == []
    (worker.script / "unserved").unlink()
    assert finish_a_later_job(acme, worker) == worker.loads()[0]
    worker.wait(worker.is_healthy, "the health check still names the fault")
