"""A commit outlives a broken connection, and what was committed is not written again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import DataError, OperationalError, connection

from backend.jobs import commits, leases, services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import QUEUE_OF, Job, JobKind, JobState
from tests.conftest import Cast


def backend_pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end_connection() -> None:
    """End this thread's connection, as a restart of PostgreSQL does."""
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        assert server.execute("SELECT pg_terminate_backend(%s, 10000)", [backend_pid()]).fetchone() == (True,)


def queue(*, before: Callable[[], None] = lambda: None) -> Callable[[], UUID]:
    def write() -> UUID:
        subject = uuid4()
        job = services.enqueue(kind=JobKind.SEARCH_EVENTS, subject_id=subject, dedupe_key=f"search:{subject}")
        before()
        return UUID(str(job.id))

    return write


def jobs(cast: Cast) -> list[UUID]:
    with cast.scope():
        return list(Job.objects.values_list("id", flat=True))


def test_a_connection_that_ends_before_the_commit_is_opened_again(acme: Cast) -> None:
    broken = [True]

    def before() -> None:
        if broken.pop() if broken else False:
            end_connection()

    written = commits.commit(acme.scope, queue(before=before), sleep=lambda seconds: None)
    assert jobs(acme) == [written]


def test_a_commit_whose_answer_was_lost_is_not_written_again(acme: Cast) -> None:
    entered = []

    @contextmanager
    def scope() -> Iterator[None]:
        entered.append(backend_pid)
        with acme.scope():
            yield
        raise OperationalError("the connection was lost")

    written = commits.commit(scope, queue(), sleep=lambda seconds: None)
    assert (jobs(acme), len(entered)) == ([written], 1)


def test_a_rollback_whose_answer_was_lost_is_written_again(acme: Cast) -> None:
    lost = [True]

    def scope() -> AbstractContextManager[None]:
        return acme.scope()

    def write() -> UUID:
        made = queue()()
        if lost.pop() if lost else False:
            raise OperationalError("the connection was lost")
        return made

    written = commits.commit(scope, write, sleep=lambda seconds: None)
    assert jobs(acme) == [written]


def test_a_commit_that_waited_too_long_for_a_row_is_written_after_its_release(acme: Cast) -> None:
    """The work keeps its lease and its attempt."""
    with acme.scope():
        queue()()
    lease = claim_next(QUEUE_OF[JobKind.SEARCH_EVENTS], worker="one")
    assert lease is not None

    with psycopg.connect(os.environ["DATABASE_LISTEN_URL"]) as other:
        other.execute("SELECT set_config('app.tenant_id', %s, true)", [str(acme.tenant_id)])
        other.execute("SELECT 1 FROM jobs_job WHERE id = %s FOR UPDATE", [lease.job_id])
        tries = []

        def write() -> None:
            tries.append(lease.attempt)
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '200ms'")
            leases.complete(lease)

        commits.commit(acme.scope, write, sleep=lambda seconds: other.rollback())

    with acme.scope():
        job = Job.objects.get()
    assert tries == [1, 1]
    assert (job.state, job.attempt) == (JobState.SUCCEEDED, 1)


def test_a_fault_of_the_statement_is_raised_at_once(acme: Cast) -> None:
    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    with pytest.raises(DataError, match="division"):
        commits.commit(acme.scope, write)


def test_a_database_that_stays_away_is_an_error_after_a_while(acme: Cast) -> None:
    def write() -> None:
        raise OperationalError("the server is starting up")

    seconds = iter(range(0, 10_000, 100))
    with pytest.raises(OperationalError, match="starting up"):
        commits.commit(
            acme.scope, write, patience_s=250.0, sleep=lambda pause: None, clock=lambda: float(next(seconds))
        )
