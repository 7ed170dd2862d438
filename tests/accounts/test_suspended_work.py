"""A real sender and a real worker stop the work of a suspended tenant, keep it, and go on when the suspension ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings

from backend.api.monitoring import deployment
from backend.api.server import open_callers
from backend.jobs.models import Job, JobState
from backend.webhooks.models import Attempt, DeliveryState
from tests.accounts.test_suspension import resume, suspend
from tests.conftest import Cast
from tests.webhooks.receiver import hanging, receiving
from tests.webhooks.sending import sending, until
from tests.webhooks.test_sender import emit, states
from tests.workers.worker_process import WorkerProcess, enqueue, finish_a_later_job, state_of
from workers.webhooks import webhook_sender


@pytest.fixture
def worker(tmp_path: Path, database: None) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(tmp_path, os.environ["REDIS_URL"])
    yield worker
    worker.stop()


def test_open_and_waiting_webhooks_stop_and_go_on(acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "HEARTBEAT_SECONDS", 1)
    with hanging() as (url, opened), receiving() as receiver, sending():
        emit(acme, url, 1)
        until(lambda: len(opened) == 1)
        suspend(acme)
        emit(acme, receiver.url, 3)
        # Without a time-out: the sender itself hangs up, as its renewal of the lease is refused.
        opened[0].setblocking(True)
        while opened[0].recv(65_536):
            continue
        emit(globex, receiver.url, 3)
        until(lambda: states(globex) == {DeliveryState.SUCCEEDED: 3})

        assert len(receiver.received) == 3
        assert states(acme) == {DeliveryState.PENDING: 4}
        with acme.scope():
            assert not Attempt.objects.exists()
            assert set(Job.objects.values_list("state", "attempt", "lease_until")) == {(JobState.QUEUED, 0, None)}

        resume(acme)
        until(lambda: len(receiver.received) == 6 and len(opened) == 2)


@pytest.mark.slow
def test_a_running_and_a_waiting_job_stop_and_go_on(acme: Cast, globex: Cast, worker: WorkerProcess) -> None:
    (worker.script / "attentive").touch()
    worker.start()
    held = worker.hold()
    running, waiting = enqueue(acme, held), enqueue(acme, worker.hold())
    worker.wait(lambda: len(worker.starts(held)) == 1, "the job does not start")

    suspend(acme)
    # The one child is free for another tenant's job only after it has given up that of the suspended tenant.
    finish_a_later_job(globex, worker)
    finish_a_later_job(globex, worker)

    assert {state_of(acme, running), state_of(acme, waiting)} == {JobState.QUEUED}
    with acme.scope():
        assert set(Job.objects.values_list("attempt", "lease_until")) == {(0, None)}
    assert len(worker.starts(held)) == 1

    for file in worker.script.glob("hold-*"):
        file.unlink()
    resume(acme)
    for job in (running, waiting):
        worker.wait(partial(_succeeded, acme, job), "the job does not go on")


def _succeeded(cast: Cast, job: UUID) -> bool:
    return state_of(cast, job) == JobState.SUCCEEDED


def test_a_suspension_is_noticed_within_the_promised_seconds() -> None:
    """Whoever works for a tenant asks again after these waits. The rest is for the question and the end of the work."""
    waits = [settings.HEARTBEAT_SECONDS, open_callers.CHECK_SECONDS, webhook_sender.POLL_SECONDS]
    assert max(waits) <= deployment.SUSPENDED_WITHIN_SECONDS / 2 == 5
