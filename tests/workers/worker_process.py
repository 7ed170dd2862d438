"""A real Celery worker for scripted probe jobs, and what a test does with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from kombu import Connection, Exchange, Producer, Queue
from redis.exceptions import RedisError
from uuid6 import uuid7

from backend.jobs import services
from backend.jobs.dispatching import mark_due, runnable
from backend.jobs.models import Job, JobKind, JobState
from tests.conftest import Cast
from workers.liveness import living_workers

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

    def start(self, pool: str = "prefork", *, at_once: int = 1) -> None:
        command = [sys.executable, "-m", "celery", "-A", "tests.workers.slow_worker", "worker", "--loglevel=INFO"]
        command += [
            "--queues=cpu.probe",
            f"--concurrency={at_once}",
            f"--pool={pool}",
            f"--hostname={uuid7().hex}@test",
            "--without-gossip",
            "--without-mingle",
        ]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=PROJECT, env=self.env, stdout=log, stderr=log)

    def terminate(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)

    def exit_status(self) -> int:
        """Wait for the end of the worker's own process."""
        assert self.process is not None
        return self.process.wait(timeout=PATIENCE_S)

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
                        # A broker that has come back empty knows no queue.
                        declare=[Queue("cpu.probe", Exchange("cpu.probe"), routing_key="cpu.probe")],
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
        return self.faults() == [] and self.health() == (0, "")

    def faults(self) -> list[str]:
        """Return what the health check would find in the states of the worker, without the start of a process."""
        alive, now = living_workers(Path(self.env["AVA_WORKER_STATE"])), time.monotonic()
        found = [fault for state in alive if (fault := state.fault(now, broker_answers=True))]
        return found if alive else ["no worker runs here"]

    def health(self) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "workers.health"], cwd=PROJECT, env=self.env, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr


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
