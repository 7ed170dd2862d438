"""A worker logs in to the database once, not for each job, and notices when its connection is gone."""

from __future__ import annotations

from uuid import UUID

from celery.fixups.django import DjangoWorkerFixup
from django.db import connections

from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue
from tests.conftest import Cast
from workers.app import app
from workers.runner import run_class


def drain(cast: Cast, name: str) -> JobState:
    """Queue a job whose video does not exist, run its class as a task would, and return how the job ended."""
    fixup = DjangoWorkerFixup(app)
    with cast.scope():
        job = enqueue(kind=JobKind.RETIRE_VERSION, subject_id=UUID(int=1), dedupe_key=name)
    fixup.on_task_prerun(_Task())
    run_class(job.queue, worker="w")
    fixup.on_task_postrun(_Task())
    with cast.scope():
        return JobState(Job.objects.get(id=job.id).state)


class _Task:
    """What Celery hands to its signals: a task whose request ran in a worker."""

    class request:
        is_eager = False


def test_tasks_keep_their_connections(acme: Cast) -> None:
    assert drain(acme, "one") == JobState.SUCCEEDED
    kept = {alias: connections[alias].connection for alias in ("default", "dispatch")}
    assert drain(acme, "two") == JobState.SUCCEEDED

    assert None not in kept.values()
    assert {alias: connections[alias].connection for alias in kept} == kept


def test_a_connection_that_is_gone_is_opened_again_before_the_next_job(acme: Cast) -> None:
    assert drain(acme, "one") == JobState.SUCCEEDED
    lost = connections["dispatch"].connection
    lost.close()

    assert drain(acme, "two") == JobState.SUCCEEDED
    assert connections["dispatch"].connection is not lost
