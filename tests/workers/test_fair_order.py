"""Who is served next by real workers while one tenant has a backlog: counted in claims, not in seconds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from uuid6 import uuid7

from backend.jobs.models import Job, JobState
from tests.conftest import Cast
from tests.workers.worker_process import WorkerProcess, enqueue, state_of

pytestmark = [pytest.mark.slow, pytest.mark.long]

WORKERS, BACKLOG = 2, 40
ALONE = 1
"""Claims until a job of a tenant without company begins: its own."""


@pytest.fixture
def workers(tmp_path: Path, database: None) -> Iterator[list[WorkerProcess]]:
    """Two workers, each with one process and a broker's bells, that share one script."""
    settings = {"AVA_LEASE_SECONDS": "600", "AVA_JOBS_PER_TENANT": "io.fetch=4"}
    started = [WorkerProcess(tmp_path, os.environ["REDIS_URL"], **settings) for _ in range(WORKERS)]
    for worker in started:
        worker.start()
    yield started
    for worker in started:
        worker.stop()


def claims_before(job: UUID, cast: Cast, others: Cast) -> int:
    """Return how many claims, its own included, were made from the moment a job was queued until it began."""
    with cast.scope():
        queued, began = Job.objects.values_list("created_at", "started_at").get(id=job)
    with others.scope():
        return 1 + Job.objects.filter(started_at__gt=queued, started_at__lt=began).count()


def test_one_job_behind_a_backlog_is_among_the_next_two_claims(
    acme: Cast, globex: Cast, workers: list[WorkerProcess]
) -> None:
    first = workers[0]
    held = [first.hold() for _ in range(WORKERS)]
    for subject in held:
        enqueue(acme, subject)
    first.wait(lambda: all(first.starts(subject) for subject in held), "the workers are not busy")
    backlog = [enqueue(acme, uuid7()) for _ in range(BACKLOG)]
    late = enqueue(globex, uuid7())

    for subject in held:
        first.release(subject)
    first.wait(lambda: state_of(globex, late) == JobState.SUCCEEDED, "the newcomer's job is not done")
    first.wait(lambda: all(state_of(acme, job) == JobState.SUCCEEDED for job in backlog), "the backlog does not end")

    assert claims_before(late, globex, acme) <= 2 * ALONE
