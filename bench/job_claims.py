"""Claims of jobs by the code of the workers, on PostgreSQL: over a short and over a very long queue."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from uuid import UUID, uuid4

from bench.figures import Figure, Figures, at_least, at_most, show_progress
from bench.stack import database

TENANTS, JOBS = 1_000, 1_000_000
PROCESSES, SECONDS = 8, 15.0
CLAIMS = 500

_WORKER = """
import sys, time, django
django.setup()
from backend.jobs import services
from backend.jobs.dispatching import claim_next
ended, until, spent = 0, 0.0, 0.0
while not until or time.monotonic() < until:
    lease = claim_next("gpu.query", worker=sys.argv[1])
    if lease is None:
        sys.exit("the queue is empty")
    with services.checkpoint(lease):
        services.complete(lease)
    if not until:
        # The first claim opened the connections.
        print("ready", flush=True)
        sys.stdin.readline()
        until, spent = time.monotonic() + float(sys.argv[2]), time.process_time()
    else:
        ended += 1
print(ended, time.process_time() - spent)
"""


def claims() -> Figures:
    with database() as first:
        from django.db import connections

        try:
            yield from _figures(first.tenant_id)
        finally:
            connections.close_all()


def _figures(tenant_id: UUID) -> Figures:
    from django.db import connections

    from backend.tenancy.creation import create_tenant

    tenants = [tenant_id]
    tenants += [create_tenant(name=f"T{n}", slug=f"t{n}").id for n in range(1, TENANTS)]
    _fill(tenants[:10], 40_000)
    show_progress("short queue")
    rate, processor_ms = _rate()
    short = _claim_seconds()
    _fill(tenants, JOBS)
    show_progress(f"{JOBS} jobs of {TENANTS} tenants are queued")
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE jobs_job")
    long = _claim_seconds()
    yield at_least(
        "claim_and_commit_per_s", rate, 200, f"empty jobs, {PROCESSES} processes for {SECONDS:.0f} s on this machine"
    )
    yield at_most(
        "claim_and_commit_processor_ms", processor_ms, 10, "of the same jobs, workers and PostgreSQL together: 2 cores"
    )
    where = f"{JOBS} queued jobs of {TENANTS} tenants, {CLAIMS} claims one after another"
    yield at_most("fair_claim_p95_ms", 1_000 * statistics.quantiles(long, n=20)[-1], 5, where)
    yield at_most(
        "fair_claim_over_short_queue",
        statistics.median(long) / statistics.median(short),
        1.5,
        f"median of a claim against a queue of some 40,000 jobs; {where}",
    )
    yield _newcomer()


def _fill(tenants: list[UUID], jobs: int) -> None:
    """Queue jobs of these tenants in equal numbers, with the tags that enqueue_many() gives: none before the clock."""
    from django.db import connections, transaction

    each = jobs // len(tenants)
    for tenant_id in tenants:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute("SELECT set_config('app.tenant_id', %s, true)", [str(tenant_id)])
            cursor.execute(
                "INSERT INTO jobs_job (id, tenant_id, kind, queue, subject_id, dedupe_key, state, priority, "
                "not_before, due, fair_tag, rank, outages, dependency, traceparent, attempt, max_attempts, "
                "lease_owner, lease_token, progress_done, "
                "progress_total, progress_stage, rerun_requested, error_code, error_message, created_at) "
                "SELECT gen_random_uuid(), %(tenant)s, 'answer_question', 'gpu.query', gen_random_uuid(), "
                "gen_random_uuid()::text, 'queued', 0, now(), true, 10 * n + coalesce((SELECT served_tag FROM "
                "jobs_classclock WHERE queue = 'gpu.query'), 0), 0, 0, '', '', 0, 5, '', 0, 0, 0, '', "
                "false, '', '', "
                "now() FROM generate_series(1, %(each)s) n",
                {"tenant": tenant_id, "each": each},
            )


def _rate() -> tuple[float, float]:
    """Return claims with commit per second over all processes, and the processor time of each in milliseconds.

    The processor time does not depend on what else the machine does: 200 a second on 2 cores are 10 ms each.
    """
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(n), str(SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(PROCESSES)
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None
            if worker.stdout.readline() != "ready\n":
                raise RuntimeError("a worker could not claim")
        servers = _server_seconds()
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("\n")
            worker.stdin.flush()
        outcomes = [worker.communicate()[0].split() for worker in workers]
        ended = sum(int(jobs) for jobs, _ in outcomes)
        spent = sum(float(seconds) for _, seconds in outcomes) + _server_seconds() - servers
        return ended / SECONDS, 1_000 * spent / ended
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def _server_seconds() -> float:
    """Return the processor seconds of PostgreSQL so far, of processes that have ended too."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    first = _stat(Path(f"/proc/{backend}/stat"))[1]
    ticks = sum(_stat(Path(f"/proc/{first}/stat"))[11:15])
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            numbers = _stat(process)
        except OSError:
            continue
        if numbers[1] == first:
            ticks += sum(numbers[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(path: Path) -> list[int]:
    """Return the fields of a process after its name; the first one, a letter, as 0."""
    _, *fields = path.read_text().rpartition(")")[2].split()
    return [0, *map(int, fields)]


def _claim_seconds() -> list[float]:
    from backend.jobs.dispatching import claim_next

    taken = []
    for _ in range(CLAIMS):
        began = time.perf_counter()
        if claim_next("gpu.query", worker="bench") is None:
            raise RuntimeError("the queue is empty")
        taken.append(time.perf_counter() - began)
    return taken


def _newcomer() -> Figure:
    """Return how many jobs run before the one job of a tenant that comes last."""
    from backend.jobs import services
    from backend.jobs.dispatching import claim_next
    from backend.jobs.models import JobKind
    from backend.tenancy.context import tenant_scope
    from backend.tenancy.creation import create_tenant

    tenant_id = create_tenant(name="Late", slug="late").id
    with tenant_scope(tenant_id):
        services.enqueue(kind=JobKind.ANSWER_QUESTION, subject_id=uuid4(), dedupe_key="late")
    before = 0
    while (lease := claim_next("gpu.query", worker="bench")) is not None and lease.tenant_id != tenant_id:
        before += 1
    return at_most(
        "newcomer_jobs_before",
        before,
        2 * TENANTS,
        f"a tenant with one job after {TENANTS} tenants with {JOBS // TENANTS} each: at most two of each",
    )
