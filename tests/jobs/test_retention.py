"""What has ended leaves the queue, and leaves history by whole months; what a customer paid for stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connections
from django.utils import timezone

from backend.jobs.models import Job, JobHistory, JobKind, JobState
from backend.jobs.retention import forget_old_jobs, move_ended_jobs
from backend.jobs.services import enqueue
from backend.tenancy.months import empty_months, make_months, month_after
from tests.conftest import Cast
from tests.ekg.recorded import new_id


def ended(cast: Cast, name: str, state: JobState, age: timedelta) -> Any:
    with cast.scope():
        job = enqueue(kind=JobKind.PURGE_VIDEO, subject_id=new_id(), dedupe_key=name)
        Job.objects.filter(id=job.id).update(state=state, completed_at=timezone.now() - age, attempt=2)
        return job.id


def names(cast: Cast, model: Any) -> set[str]:
    with cast.scope():
        return set(model.objects.values_list("dedupe_key", flat=True))


def months(table: str) -> list[str]:
    with connections["console"].cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass ORDER BY 1", [table]
        )
        return [name for (name,) in cursor.fetchall()]


def test_ended_jobs_leave_the_queue_and_keep_their_outcome(acme: Cast, globex: Cast) -> None:
    day = timedelta(days=1)
    moved = ended(acme, "done", JobState.SUCCEEDED, 2 * day)
    ended(globex, "canceled", JobState.CANCELED, 2 * day)
    ended(acme, "fresh", JobState.SUCCEEDED, timedelta(hours=1))
    ended(acme, "dead", JobState.DEAD, 29 * day)
    ended(acme, "long dead", JobState.DEAD, 31 * day)
    with acme.scope():
        enqueue(kind=JobKind.PURGE_VIDEO, subject_id=new_id(), dedupe_key="queued")

    assert move_ended_jobs() == 3
    assert move_ended_jobs() == 0

    assert names(acme, Job) == {"fresh", "dead", "queued"}
    assert names(acme, JobHistory) == {"done", "long dead"}
    assert (names(globex, Job), names(globex, JobHistory)) == (set(), {"canceled"})
    with acme.scope():
        kept = JobHistory.objects.get(dedupe_key="done")
        assert (kept.id, kept.kind, kept.state, kept.attempt) == (moved, "purge_video", "succeeded", 2)


def test_moving_goes_by_batches_from_the_oldest(acme: Cast) -> None:
    for days in (2, 4, 3):
        ended(acme, f"{days} days", JobState.SUCCEEDED, timedelta(days=days))

    assert move_ended_jobs(batch=2) == 2
    assert names(acme, Job) == {"2 days"}


def test_a_job_that_was_moved_can_be_queued_again(acme: Cast) -> None:
    first = ended(acme, "again", JobState.SUCCEEDED, timedelta(days=2))
    move_ended_jobs()

    with acme.scope():
        second = enqueue(kind=JobKind.PURGE_VIDEO, subject_id=new_id(), dedupe_key="again")
        assert (Job.objects.get().id, second.state) == (second.id, JobState.QUEUED)
    assert second.id != first


def test_months_are_made_a_year_ahead_and_dropped_once_they_are_empty(database: None) -> None:
    this = month_after(datetime.now(UTC), 0)
    ahead = [f"{month_after(this, count):%Y%m}" for count in range(14)]
    for table in ("jobs_jobhistory", "billing_modelcall", "billing_usageevent"):
        assert months(table) == [*(f"{table}_{month}" for month in ahead), f"{table}_rest"]

    make_months(now=month_after(this, -2))
    past = [f"{month_after(this, count):%Y%m}" for count in (-2, -1)]
    assert months("jobs_jobhistory")[:3] == [f"jobs_jobhistory_{month}" for month in [*past, ahead[0]]]
    make_months(now=this)

    assert months("jobs_jobhistory")[0] == f"jobs_jobhistory_{ahead[0]}"
    assert months("billing_usageevent")[0] == f"billing_usageevent_{past[0]}", "the ledger keeps its months"


def test_an_old_month_of_history_is_emptied_and_the_kept_months_are_not(acme: Cast) -> None:
    this = month_after(datetime.now(UTC), 0)
    make_months(now=month_after(this, -3))
    for count in (-3, -2, -1, 0):
        JobHistory.unscoped.using("dispatch").create(
            tenant_id=acme.tenant_id, kind="purge_video", queue="system.delete", subject_id=new_id(),
            dedupe_key=f"{count}", state="succeeded", attempt=1, created_at=month_after(this, count),
            completed_at=month_after(this, count) + timedelta(hours=1),
        )  # fmt: skip

    assert empty_months("jobs_jobhistory", before=month_after(this, -1)) == [
        f"jobs_jobhistory_{month_after(this, count):%Y%m}" for count in (-3, -2)
    ]
    assert names(acme, JobHistory) == {"-1", "0"}
    assert forget_old_jobs() == []


def test_the_ledger_is_never_emptied(acme: Cast) -> None:
    this = f"billing_usageevent_{datetime.now(UTC):%Y%m}"
    with pytest.raises(ValueError, match="never emptied"):
        empty_months("billing_usageevent", before=timezone.now())
    for alias in ("default", "dispatch", "console"):
        with pytest.raises(ProgrammingError), connections[alias].cursor() as cursor:
            cursor.execute(f"TRUNCATE {this}")
        connections[alias].close()
