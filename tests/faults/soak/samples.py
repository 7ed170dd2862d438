"""What a soak looks at: memory of each process, rows of each table, sessions of PostgreSQL, memory of the broker."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import redis
from psycopg import sql

from bench.figures import Figure, at_least, at_most
from infra.local.child_process import Identity
from infra.local.pgbouncer import POOL_SIZE
from tests.faults.chaos.leftovers import Database
from tests.faults.chaos.service import Service
from tests.faults.soak.load import READS_PER_S

MOST_GROWTH = 1.1
"""Largest ratio of the last quarter of a run over its second one, which no longer warms up."""
READS_P95_MS, BROKER_MIB = 50.0, 10.0
LEAST_ROWS = 1_000
"""Tables with fewer rows are not judged: one video more is a tenth of them."""
LIVING = ("ekg", "library_", "jobs_job")
"""Beginnings of the tables that hold what lives now. Others keep a record of each piece of work: ledger, history."""
_TABLES = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname IN ('public', 'ekg')
    AND c.relname NOT LIKE '%%_ag_label_%%' AND c.relname <> 'jobs_jobhistory' ORDER BY 1, 2
"""
_SESSIONS = "SELECT usename, count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' GROUP BY usename"


@dataclass(frozen=True, slots=True)
class Sample:
    """minutes: since the start. memory_mib: proportional share (PSS) by process. rows: by table. sessions: by role.
    reads_ms: p95 since the last sample."""

    minutes: float
    memory_mib: Mapping[str, float]
    rows: Mapping[str, int]
    sessions: Mapping[str, int]
    broker_mib: float
    reads_ms: float
    reads_per_s: float
    videos: int


def memory_of(service: Service) -> dict[str, float]:
    """Return the memory of each process and server with all processes below it, in MiB."""
    families = {name: service.family(name) for name in service.names()} | service.servers()
    return {name: round(sum(map(_pss_mib, family)), 1) for name, family in families.items()}


def _pss_mib(process: Identity) -> float:
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        # It has ended.
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def rows_of(database: Database) -> dict[str, int]:
    """Return the number of rows of each table that has some."""
    found = {}
    for schema, table in database.rows(_TABLES):
        statement = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table)).as_string(None)
        ((count,),) = database.rows(statement)
        if count:
            found[table if schema == "public" else f"{schema}.{table}"] = int(count)
    return found


def sessions_of(database: Database) -> dict[str, int]:
    """Return the number of sessions of each role that serves the application."""
    return {str(role): int(count) for role, count in database.rows(_SESSIONS) if str(role).startswith("app_")}


def broker_mib(url: str) -> float:
    with redis.Redis.from_url(url) as broker:
        return round(float(broker.info("memory")["used_memory"]) / 1024**2, 2)


def judged(samples: Sequence[Sample], seconds: Sequence[float], failed: int) -> Iterator[Figure]:
    """Return the figures of a run. seconds: of all reads. failed: number of reads that were not answered 200."""
    minutes = samples[-1].minutes
    memory = _growth([one.memory_mib for one in samples], least=0)
    yield _grown("soak_memory_growth", memory, f"the most of all processes, in {minutes:.0f} minutes")
    living = [{name: rows for name, rows in one.rows.items() if name.startswith(LIVING)} for one in samples]
    yield _grown("soak_rows_growth", _growth(living, least=LEAST_ROWS), "the most of all tables of what lives")
    role, count = max(((role, n) for one in samples for role, n in one.sessions.items()), key=lambda pair: pair[1])
    yield at_most("soak_sessions_of_a_role", float(count), float(POOL_SIZE), f"{role}; the pooler's own limit")
    yield at_most("soak_broker_mib", max(one.broker_mib for one in samples), BROKER_MIB, "at any sample")
    p95 = statistics.quantiles(seconds, n=20)[-1] * 1000
    yield at_most("soak_reads_p95_ms", p95, READS_P95_MS, f"{len(seconds)} reads, {failed} of them not answered 200")
    yield at_least("soak_reads_per_s", len(seconds) / (60 * minutes), 0.98 * READS_PER_S, "as many as were wanted")


def _grown(name: str, growth: Mapping[str, float], reference: str) -> Figure:
    most = max(growth, key=lambda one: growth[one], default="")
    return at_most(name, growth.get(most, 1.0), MOST_GROWTH, f"{most}; {reference}" if most else "none is large enough")


def _growth(samples: Sequence[Mapping[str, float]], *, least: float) -> dict[str, float]:
    """Return, by name, the median of the last quarter over that of the second one. Names below least are left out."""
    quarter = max(1, len(samples) // 4)
    second, last = samples[quarter : 2 * quarter] or samples, samples[-quarter:]
    found = {}
    for name, value in last[-1].items():
        before = statistics.median(one.get(name, 0.0) for one in second)
        if before and value >= least:
            found[name] = statistics.median(one.get(name, 0.0) for one in last) / before
    return found
