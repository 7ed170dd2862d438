"""Workers of the lease protocol, one thread and one pair of connections each, so that their transactions interleave."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection, connections

from backend.jobs import services
from backend.jobs.services import JobFailed, Lease, LeaseLost, Unavailable

T = TypeVar("T")

PATIENCE_S = 60
EFFECTS = "lease_effect"
"""Table of what jobs do: one row for each commit, in the transaction that ends the job."""


def at_superuser(statement: str, *values: object) -> list[tuple[object, ...]]:
    """Run a statement past row-level security, as the passing of time or an operator."""
    cursor = _superuser().execute(statement, values)
    return list(cursor.fetchall()) if cursor.description else []


@cache
def _superuser() -> psycopg.Connection[tuple[object, ...]]:
    own = urlsplit(os.environ["DATABASE_URL"]).path
    url = urlunsplit(urlsplit(os.environ["DATABASE_SUPERUSER_URL"])._replace(path=own))
    return psycopg.connect(url, autocommit=True)


@contextmanager
def effects_table() -> Iterator[None]:
    """Make the table of effects, and drop it afterwards."""
    at_superuser(f"DROP TABLE IF EXISTS {EFFECTS}")
    at_superuser(f"CREATE TABLE {EFFECTS} (n bigserial, job_id uuid NOT NULL, token bigint NOT NULL)")
    at_superuser(f"GRANT INSERT ON {EFFECTS} TO app_rw")
    at_superuser(f"GRANT USAGE ON SEQUENCE {EFFECTS}_n_seq TO app_rw")
    try:
        yield
    finally:
        at_superuser(f"DROP TABLE {EFFECTS}")
        _superuser().close()
        _superuser.cache_clear()


class Worker:
    """One worker. A commit may be left open, so that others act while it holds the job's row."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lease: Lease | None = None
        self.stack: ExitStack | None = None
        self.waiting: Future[str] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    def run(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result(timeout=PATIENCE_S)

    def begin_commit(self, *, ends: Callable[[Lease], object]) -> None:
        """Write the effect and the job's end, and leave the transaction open. Raises LeaseLost."""
        self.run(lambda: self._begin(ends))

    def _begin(self, ends: Callable[[Lease], object]) -> None:
        assert self.lease is not None
        stack = ExitStack()
        try:
            stack.enter_context(services.checkpoint(self.lease))
            with connection.cursor() as cursor:
                cursor.execute(
                    f"INSERT INTO {EFFECTS} (job_id, token) VALUES (%s, %s)", [self.lease.job_id, self.lease.token]
                )
            ends(self.lease)
        except BaseException as error:
            stack.__exit__(type(error), error, error.__traceback__)
            raise
        self.stack = stack

    def end_commit(self) -> None:
        stack, self.stack = self.stack, None
        assert stack is not None
        self.run(stack.close)

    def begin_late_commit(self) -> None:
        """Try a whole commit in the background: it waits for the row that another transaction holds."""
        lease = self.lease
        assert lease is not None

        def attempt() -> str:
            try:
                self._begin(services.complete)
            except LeaseLost:
                return "lost"
            assert self.stack is not None
            self.stack.close()
            self.stack = None
            return "committed"

        self.waiting = self._thread.submit(attempt)

    def die(self) -> None:
        """Vanish as by SIGKILL: PostgreSQL rolls back what was open, and nobody ends the lease."""
        stack, self.stack = self.stack, None
        self.lease = None
        # Without an open transaction a dead worker is a worker that does nothing more.
        if stack is not None:
            self.run(lambda: _vanish(stack))

    def close(self) -> None:
        self.die()
        self.run(connections.close_all)
        self._thread.shutdown()


class _Killed(BaseException):
    """Unwinds what a killed process would have left on its stack."""


def _vanish(stack: ExitStack) -> None:
    # First the sockets, so that nothing of what Django does afterwards reaches the server.
    for opened in connections.all(initialized_only=True):
        if opened.connection is not None:
            opened.connection.close()
    with suppress(_Killed), stack:
        raise _Killed
    connections.close_all()


def passing(minutes: int) -> None:
    """Let time pass for every lease and every waiting job."""
    at_superuser(
        "UPDATE jobs_job SET lease_until = lease_until - %s * interval '1 minute', "
        "not_before = not_before - %s * interval '1 minute'",
        minutes,
        minutes,
    )


def effects() -> dict[UUID, list[int]]:
    """Return the tokens under which each job committed, in the order of the commits' work."""
    found: dict[UUID, list[int]] = {}
    for job_id, token in at_superuser(f"SELECT job_id, token FROM {EFFECTS} ORDER BY n"):
        assert isinstance(job_id, UUID)
        assert isinstance(token, int)
        found.setdefault(job_id, []).append(token)
    return found


PASSING_FAULT = JobFailed("passing", "a fault that a retry may mend", retryable=True)
FINAL_FAULT = JobFailed("final", "a fault of the work itself", retryable=False)
OUTAGE = Unavailable("describer", "model_unavailable", "the model server is away")
LEASE_MINUTES = settings.LEASE_SECONDS // 60 + 1
