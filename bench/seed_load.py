"""Fills a database with the load of a large installation: python -m bench.seed_load [--scale 1.0].

1,000 tenants, 20,000 videos with their indexes, 100,000 questions with their searches, 10 million rows of the ledger
over 90 days with their roll-ups, and what belongs to them: jobs, model calls, deliveries, invoices; times the scale.
The newest video, question and comparison are as large as such a row gets. The server makes the rows itself. The URL of
a superuser is in DATABASE_SUPERUSER_URL, because row-level security lets nobody else write rows of several tenants.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from bench.figures import show_progress
from bench.seed_money import accounts, documents, ledger, sum_up
from bench.seed_rows import DAYS, insert, spread
from bench.seed_work import answers, comparisons, deliveries, index, jobs, questions, searches, videos

TENANTS, VIDEOS, QUESTIONS, LEDGER = 1_000, 20_000, 100_000, 10_000_000
"""Rows at scale 1."""


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
    tenants, recorded, asked, booked = (
        max(2, round(number * scale)) for number in (TENANTS, VIDEOS, QUESTIONS, LEDGER)
    )
    with psycopg.connect(url, autocommit=True) as server:
        # The triggers of the ledger work row by row; its sums are made in one statement at the end.
        server.execute("SET session_replication_role = replica")
        _tenants(server, tenants)
        videos(server, recorded)
        index(server)
        questions(server, asked)
        answers(server)
        searches(server, recorded)
        comparisons(server, max(2, asked // 500))
        deliveries(server)
        made = jobs(server)
        accounts(server)
        documents(server)
        ledger(server, booked)
        insert(
            server, "audit_auditevent", spread(asked),
            {"occurred_at": "at", "actor_kind": "'person'", "actor_name": "'ada@example.org'",
             "action": "(ARRAY['video.deleted', 'key.created', 'member.invited'])[1 + n % 3]"},
        )  # fmt: skip
        insert(
            server, "staff_staffevent", spread(max(2, asked // 50)),
            {"occurred_at": "at", "action": "'sign_in.succeeded'", "email": "'ops@example.org'"},
        )  # fmt: skip
        sum_up(server)
        # Autovacuum does the same in production: then indexes alone answer what they hold.
        server.execute("VACUUM (ANALYZE)")
    return Counts(tenants, recorded, asked, made, booked)


def _tenants(server: psycopg.Connection, count: int) -> None:
    insert(
        server, "tenancy_tenant",
        f"SELECT n, now() - interval '{DAYS} days' AS at FROM generate_series(1, {count}) n",
        {"name": "'Tenant ' || n", "slug": "'tenant-' || n", "plan": "'standard'",
         "allowed_origins": "'[]'", "created_at": "at"},
    )  # fmt: skip
    server.execute(
        "CREATE TEMP TABLE tenants AS SELECT array_agg(id ORDER BY substr(slug, 8)::int) AS ids FROM tenancy_tenant "
        "WHERE slug ~ '^tenant-[0-9]+$'"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    counts = seed(os.environ["DATABASE_SUPERUSER_URL"], parser.parse_args(arguments).scale)
    show_progress(str(counts))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
