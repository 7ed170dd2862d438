"""Fills a database with the load of a large installation: python -m bench.seed_load [--scale 1.0].

1,000 tenants, 20,000 videos, 100,000 questions, 100,000 jobs and 10 million rows of the ledger over 90 days, with
their roll-ups, times the scale. The server makes the rows itself. The URL of a superuser is in DATABASE_SUPERUSER_URL,
because row-level security lets nobody else write rows of several tenants.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psycopg

from bench.figures import show_progress

DAYS = 90
TENANTS, VIDEOS, QUESTIONS, JOBS, LEDGER = 1_000, 20_000, 100_000, 100_000, 10_000_000
"""Rows at scale 1."""
_DEFAULTS = {
    "varchar": "''", "text": "''", "bool": "false", "int2": "0", "int4": "0", "int8": "0", "float8": "0",
    "numeric": "0", "jsonb": "'{}'", "timestamptz": "now()", "uuid": "gen_random_uuid()", "date": "current_date",
    "bytea": "''",
}  # fmt: skip
# The newest row comes last, so that ids rise with time as they do in production.
_ID = "(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5({salt} || n), 1, 19))::uuid"
_AT = f"now() - interval '{DAYS} days' * (1 - n::float / {{count}})"
_TENANT = "(SELECT ids[1 + floor(power((hashint8(n) & 1048575) / 1048576.0, 3) * cardinality(ids))::int] FROM tenants)"
"""The tenant of a row: a third of the rows belongs to the largest 4 % of the tenants."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of rows that were made."""

    tenants: int
    videos: int
    questions: int
    jobs: int
    ledger: int


def seed(url: str, scale: float = 1.0) -> Counts:
    """Write the load, times the scale, into a migrated database. url: of a superuser. Returns what was written."""
    counts = Counts(*(max(2, round(number * scale)) for number in (TENANTS, VIDEOS, QUESTIONS, JOBS, LEDGER)))
    with psycopg.connect(url, autocommit=True) as server:
        # The triggers of the ledger work row by row; its sums are made in one statement below.
        server.execute("SET session_replication_role = replica")
        _insert(
            server, "tenancy_tenant", counts.tenants,
            {"name": "'Tenant ' || n", "slug": "'tenant-' || n", "plan": "'standard'", "placement": "'shared'",
             "allowed_origins": "'[]'", "created_at": "at"}, tenant=False,
        )  # fmt: skip
        server.execute("CREATE TEMP TABLE tenants AS SELECT array_agg(id ORDER BY slug) AS ids FROM tenancy_tenant")
        _insert(
            server, "library_video", counts.videos,
            {"status": "CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'ready' END", "title": "'Video ' || n",
             "profile": "'general'", "source_type": "'upload'", "duration_ms": "1800000", "indexed_until_ms": "1800000",
             "error_code": "CASE WHEN n % 50 = 0 THEN 'worker_lost' ELSE '' END", "created_at": "at",
             "index_started_at": "at", "ready_at": "CASE WHEN n % 50 > 0 THEN at + interval '9 minutes' END",
             "failed_at": "CASE WHEN n % 50 = 0 THEN at + interval '5 minutes' END", "size_bytes": "400000000",
             "object_key": "'seed/' || n",
             "stage_ms": "jsonb_build_object('describe_ms', 300000 + n % 90000, 'embed_ms', 40000 + n % 9000)",
             "active_index_version": "1", "building_index_version": "1", "version": "1"},
        )  # fmt: skip
        _insert(
            server, "questions_question", counts.questions,
            {"status": "CASE WHEN n % 40 = 0 THEN 'failed' ELSE 'succeeded' END", "text": "'What happens in ' || n",
             "method": "(ARRAY['ava', 'ava', 'caption_rag'])[1 + n % 3]", "effort": "'medium'",
             "check_mode": "'auto'", "route": "'auto'", "choices": "'[]'", "created_at": "at", "started_at": "at",
             "error_code": "CASE WHEN n % 40 = 0 THEN 'model_unavailable' ELSE '' END",
             "completed_at": "at + interval '9 seconds'", "answer": "'Something'", "cost_currency": "'USD'",
             "timings": "jsonb_build_object('total_ms', 4000 + hashint8(n) & 8191, 'queue_ms', 90 + n % 300, "
                        "'search_ms', 3000 + n % 3000, 'llm_ms', 9000 + n % 9000, 'rank_ms', 800 + n % 500)",
             "cost_amount": "0.005"},
        )  # fmt: skip
        _insert(
            server, "jobs_job", counts.jobs,
            {"kind": "'answer_question'", "queue": "'gpu.query'", "subject_id": "gen_random_uuid()",
             "dedupe_key": "'seed:' || n", "state": "CASE WHEN n % 500 = 0 THEN 'dead' WHEN n > 0.995 * {count} "
             "THEN 'queued' ELSE 'succeeded' END", "not_before": "at", "due": "true", "max_attempts": "5",
             "created_at": "at", "completed_at": "CASE WHEN n <= 0.995 * {count} THEN at END",
             "error_code": "CASE WHEN n % 500 = 0 THEN 'worker_lost' ELSE '' END"},
        )  # fmt: skip
        _ledger(server, counts.ledger)
        _sum_up(server)
        server.execute("ANALYZE")
    return counts


def _ledger(server: psycopg.Connection, count: int) -> None:
    meters = "(ARRAY['output_tokens', 'input_tokens', 'device_seconds', 'questions', 'media_seconds'])[1 + n % 5]"
    _insert(
        server, "billing_usageevent", count,
        {"meter": meters, "quantity": "1 + n % 700", "occurred_at": "at", "recorded_at": "at",
         "source_type": "'question'", "source_id": "n::text", "stage": "(ARRAY['rank', 'verify', 'plan'])[1 + n % 3]",
         "model": "(ARRAY['reasoner', 'describer'])[1 + n % 2]", "cost_amount": "0.0001 * (n % 90)",
         "price_amount": "CASE WHEN n % 5 = 3 THEN 0.02 ELSE 0 END", "currency": "'USD'", "price_currency": "'USD'",
         "billable": "n % 20 > 0", "method": "'ava'", "effort": "'medium'"},
    )  # fmt: skip


_DIMENSIONS = (
    "meter, variant, model, stage, method, effort, profile, api_key_id, person_id, collection_id, video_id, "
    "price_currency, billable"
)


def _sum_up(server: psycopg.Connection) -> None:
    """Make the hourly roll-ups out of the ledger; their own trigger makes the sums of the days."""
    show_progress("billing_usagehour …")
    server.execute("SET session_replication_role = origin")
    server.execute(
        f"INSERT INTO billing_usagehour (id, tenant_id, hour, {_DIMENSIONS}, quantity, events, cost, price) "  # noqa: S608
        f"SELECT gen_random_uuid(), tenant_id, date_trunc('hour', occurred_at, 'UTC'), {_DIMENSIONS}, sum(quantity), "
        f"count(*), sum(cost_amount), sum(price_amount) FROM billing_usageevent GROUP BY 2, 3, {_DIMENSIONS}"
    )


def _insert(
    server: psycopg.Connection, table: str, count: int, values: Mapping[str, str], *, tenant: bool = True
) -> None:
    """Insert count rows. values: SQL over n (1 to count) and `at`, the time of the row; other columns get defaults."""
    show_progress(f"{table}: {count} rows …")
    columns = server.execute(
        "SELECT column_name, udt_name FROM information_schema.columns WHERE table_schema = 'public' "
        "AND table_name = %s AND is_nullable = 'NO' AND column_default IS NULL",
        [table],
    ).fetchall()
    made = {name: _DEFAULTS[kind] for name, kind in columns} | {
        name: value.replace("{count}", str(count)) for name, value in values.items()
    }
    made["id"] = _ID.format(salt=f"'{table}'")
    if tenant:
        made["tenant_id"] = _TENANT
    server.execute(
        f"INSERT INTO {table} ({', '.join(made)}) SELECT {', '.join(made.values())} FROM ("  # noqa: S608
        f"SELECT n, {_AT.format(count=count)} AS at FROM generate_series(1, {count}) n) s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    counts = seed(os.environ["DATABASE_SUPERUSER_URL"], parser.parse_args(arguments).scale)
    show_progress(str(counts))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
