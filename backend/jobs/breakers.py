"""Breakers: an outage of a dependency holds the jobs that need it, instead of failing them one after another.

A breaker opens when a job finds its dependency away. While it is open no job that needs the dependency is claimed. When
its probe is due, one job is claimed and tries (half-open). If the dependency answers, the breaker closes and all jobs
go on; else it stays open for longer. Where no job is left to try, a worker does (take_idle). All processes share the
rows, and all times are those of PostgreSQL's clock.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connections, transaction

from backend.jobs import commits
from backend.jobs.models import Breaker, BreakerState, JobKind

logger = logging.getLogger("ava.jobs")

DESCRIBER, CHECKER, REASONER = "describer", "checker", "reasoner"
TEXT_EMBEDDER, FRAME_EMBEDDER = "embedder:text", "embedder:frame"
STORAGE = "storage"

_INDEXING = (DESCRIBER, TEXT_EMBEDDER, FRAME_EMBEDDER, STORAGE)
NEEDS: dict[JobKind, tuple[str, ...]] = {
    JobKind.PROBE_VIDEO: (STORAGE,),
    JobKind.FETCH_SEGMENT: (STORAGE,),
    JobKind.INGEST_SEGMENT: (STORAGE,),
    JobKind.OBSERVE_SEGMENT: _INDEXING,
    JobKind.ASSEMBLE_VIDEO: _INDEXING,
    JobKind.SUMMARISE_VIDEO: (DESCRIBER, TEXT_EMBEDDER),
    JobKind.ANSWER_QUESTION: (REASONER, TEXT_EMBEDDER, FRAME_EMBEDDER, STORAGE),
    JobKind.SEARCH_EVENTS: (TEXT_EMBEDDER, FRAME_EMBEDDER),
    JobKind.GRADE_COMPARISON: (REASONER,),
    JobKind.PURGE_VIDEO: (STORAGE,),
    JobKind.ERASE_PICTURES: (STORAGE,),
    JobKind.SWEEP_DELETED: (STORAGE,),
    JobKind.ERASE_TENANT: (STORAGE,),
    JobKind.RETIRE_VERSION: (STORAGE,),
}
"""Dependencies that every job of a kind may use. A job waits for these, and for the one that it found away itself."""

PROBE_BASE_SECONDS = 2.0
PROBE_CAP_SECONDS = 60.0
"""Wait before the first probe and longest wait before a later one, which doubles with each failed probe."""
RETRY_AFTER_CAP = timedelta(minutes=10)
"""Longest wait that a dependency may ask for."""
IDLE_AFTER = timedelta(minutes=1)
"""Time after a probe was due at which a worker tries the dependency itself, because no job has."""

# A probe that lost its worker, or ended without an answer, leaves the next one to another job.
READY = (
    "(b.state = 'open' AND b.probe_at <= now() OR b.state = 'half_open' AND NOT EXISTS (SELECT FROM jobs_job p "
    "WHERE p.id = b.probing_job AND p.state = 'running' AND p.lease_until >= now()))"
)
_NOT_CLOSED = f"SELECT b.dependency, {READY} FROM jobs_breaker b WHERE b.state <> 'closed'"
_OPEN = (
    "INSERT INTO jobs_breaker AS b (dependency, state, opened_at, probe_at, failures, error_code, error_message) "
    "VALUES (%(dependency)s, 'open', now(), now() + %(first)s, 1, %(code)s, %(message)s) "
    "ON CONFLICT (dependency) DO UPDATE SET state = 'open', probing_job = NULL, "
    "opened_at = CASE WHEN b.state = 'closed' THEN now() ELSE b.opened_at END, "
    "failures = CASE WHEN b.state = 'closed' THEN 1 ELSE b.failures + 1 END, "
    "probe_at = now() + CASE WHEN b.state = 'closed' THEN %(first)s ELSE "
    "greatest(%(asked)s, %(base)s * least(%(most)s, power(2, least(b.failures, 20)))) END, "
    "error_code = excluded.error_code, error_message = excluded.error_message "
    "WHERE b.state = 'closed' OR b.probing_job = %(job)s OR b.state = 'open' AND b.probe_at <= now() "
    "RETURNING failures"
)
# Whoever takes it has a minute in which nobody else does. Jobs may still try it meanwhile.
_TAKE_IDLE = (
    "UPDATE jobs_breaker AS b SET state = 'open', probing_job = NULL, probe_at = now() "
    f"WHERE b.probe_at < now() - %s AND {READY} RETURNING b.dependency"
)
_CLOSE = (
    "UPDATE jobs_breaker SET state = 'closed', probing_job = NULL, failures = 0 "
    # A hold of an operator (backend.jobs.holds) does not end because a job that ran already was answered.
    "WHERE dependency = ANY(%s) AND state <> 'closed' "
    "AND NOT (state = 'open' AND error_code = 'held_by_operator' AND probe_at > now()) RETURNING dependency"
)


@dataclass(frozen=True, slots=True)
class Outage:
    """A breaker that is not closed. ready: whether one job may try the dependency now."""

    dependency: str
    ready: bool


def needs(kind: JobKind, dependency: str = "") -> frozenset[str]:
    """Return what a job waits for. dependency: the one that the job found away itself, "" if none was."""
    return frozenset(NEEDS.get(kind, ())) | ({dependency} if dependency else frozenset())


def outages(using: str = "dispatch") -> list[Outage]:
    """Return the breakers that are not closed."""
    with connections[using].cursor() as cursor:
        cursor.execute(_NOT_CLOSED)
        return [Outage(*row) for row in cursor.fetchall()]


def opened(
    dependency: str, *, code: str, message: str, retry_after: timedelta | None = None, job_id: UUID | None = None
) -> None:
    """Open the breaker, or keep it open for longer if this job probed the dependency in vain.

    A failure of a job that does not probe changes nothing while the breaker is open.
    """
    jitter = random.uniform(0.5, 1.0)
    base = timedelta(seconds=PROBE_BASE_SECONDS * jitter)
    asked = min(retry_after or timedelta(0), RETRY_AFTER_CAP)
    parameters: dict[str, Any] = {
        "dependency": dependency, "code": code, "message": message[:1000], "job": job_id, "asked": asked, "base": base,
        "first": max(base, asked), "most": PROBE_CAP_SECONDS / max(PROBE_BASE_SECONDS, 0.001),
    }  # fmt: skip
    rows = _written(_OPEN, parameters)
    if rows:
        level = logging.ERROR if rows[0][0] == 1 else logging.WARNING
        logger.log(level, "%s is away (%s: %s): jobs that need it wait", dependency, code, message)


def closed(dependencies: Collection[str]) -> None:
    """Close the breakers of dependencies that have answered a job."""
    if not dependencies:
        return
    for (dependency,) in _written(_CLOSE, [list(dependencies)]):
        logger.warning("%s answers again: jobs that need it go on", dependency)


def take_idle() -> frozenset[str]:
    """Return the dependencies whose probe has been due for IDLE_AFTER and that no job tries, for the caller to try.

    Without this a breaker stays open after an outage if nothing that needs the dependency is left in the queue.
    """
    return frozenset(dependency for (dependency,) in _written(_TAKE_IDLE, [IDLE_AFTER]))


def _written(statement: str, parameters: Any) -> list[Any]:
    """Run a statement that may run twice, in a transaction of its own, and return its rows."""

    def write() -> list[Any]:
        with connections["dispatch"].cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    return commits.read(lambda: transaction.atomic(using="dispatch"), write, using="dispatch")


def lock_ready() -> frozenset[str]:
    """Lock and return the dependencies that a job may probe now, inside the transaction of a claim as app_dispatch.

    Those that another claim has locked are left out, so that only one job probes.
    """
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(f"SELECT b.dependency FROM jobs_breaker b WHERE {READY} FOR UPDATE OF b SKIP LOCKED")
        return frozenset(row[0] for row in cursor.fetchall())


def probe(job_id: UUID, dependencies: Iterable[str]) -> None:
    """Note that this job tries the dependencies, whose rows the transaction has locked by lock_ready()."""
    Breaker.objects.using("dispatch").filter(dependency__in=list(dependencies)).update(
        state=BreakerState.HALF_OPEN, probing_job=job_id
    )


@dataclass(frozen=True, slots=True)
class BreakerRow:
    """A breaker that has been open at least once, for operators."""

    dependency: str
    state: str
    opened_at: datetime | None
    probe_at: datetime | None
    failures: int
    error_code: str
    error_message: str


def breakers() -> list[BreakerRow]:
    """Return every breaker that has been open, by name."""
    rows = Breaker.objects.using("dispatch").order_by("dependency")
    return [
        BreakerRow(row.dependency, row.state, row.opened_at, row.probe_at, row.failures, row.error_code,
                   row.error_message)
        for row in rows
    ]  # fmt: skip
