"""Pages stay fast however much there is: a bounded number of statements, none of which reads a big table whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backend.console.site import site
from bench.seed_load import seed

BIG = ("billing_usageevent", "billing_usagehour", "billing_modelcall", "questions_question", "jobs_job",
       "library_video", "audit_auditevent", "webhooks_delivery", "webhooks_attempt")  # fmt: skip
MOST_STATEMENTS = {"": 16, "?days=90": 16, "tenancy/tenant/{tenant}/change/": 26}
LISTS = sorted(f"{model._meta.app_label}/{model._meta.model_name}/" for model in site._registry)


@pytest.fixture
def load(database: None) -> str:
    """Write a thousandth of the load; return the tenant with most of it."""
    path = urlsplit(os.environ["DATABASE_URL"]).path
    seed(urlunsplit(urlsplit(os.environ["DATABASE_SUPERUSER_URL"])._replace(path=path)), 0.001)
    cache.clear()
    with connections["console"].cursor() as cursor:
        cursor.execute("SELECT tenant_id FROM billing_usageevent GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
        return str(cursor.fetchone()[0])


def scans(node: dict[str, Any]) -> Iterator[str]:
    """Yield the big tables that a plan reads from begin to end."""
    name = node.get("Relation Name", "")
    if node["Node Type"] in ("Seq Scan", "Parallel Seq Scan") and any(name.startswith(big) for big in BIG):
        yield name
    for child in node.get("Plans", ()):
        yield from scans(child)


def scanned(statements: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return the big tables that statements read whole although an index may be used, with the statement."""
    found = set()
    with connections["console"].cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        try:
            for statement in statements:
                if statement["sql"].lstrip().upper().startswith(("SELECT", "WITH")):
                    cursor.execute(f"EXPLAIN (FORMAT JSON) {statement['sql']}")
                    plan = cursor.fetchone()[0]
                    plan = json.loads(plan) if isinstance(plan, str) else plan
                    found |= {(table, statement["sql"][:300]) for table in scans(plan[0]["Plan"])}
        finally:
            cursor.execute("RESET enable_seqscan")
    return found


@pytest.mark.long
def test_no_page_reads_a_big_table_whole_or_asks_too_often(staff: Client, load: str) -> None:
    pages = {name.format(tenant=load): most for name, most in MOST_STATEMENTS.items()} | dict.fromkeys(LISTS, 8)
    pages[f"billing/usageevent/?tenant={load}&meter=questions"] = 8
    pages["jobs/job/?error_code=worker_lost"] = 8
    faults: list[Any] = []
    for page, most in pages.items():
        with CaptureQueriesContext(connections["console"]) as captured:
            reply = staff.get(f"/console/{page}")
        assert reply.status_code == 200, page
        assert len(captured) > 0, page
        if len(captured) > most:
            faults.append((page, len(captured), [query["sql"][:120] for query in captured]))
        if "error_code" not in page:
            faults += [(page, *fault) for fault in scanned(captured.captured_queries)]

    assert scanned([{"sql": "SELECT count(*) FROM questions_question WHERE answer = 'x'"}]), "a scan is noticed"
    assert faults == []


def test_the_load_has_sums_that_equal_its_ledger(load: str) -> None:
    with connections["console"].cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT (count(*), sum(cost_amount), sum(price_amount))::text FROM billing_usageevent), "
            "(SELECT (sum(events), sum(cost), sum(price))::text FROM billing_usageday), "
            "(SELECT count(*) FROM questions_question), (SELECT count(DISTINCT tenant_id) FROM billing_usageday) > 0"
        )
        ledger, days, questions, spread = cursor.fetchone()
    assert ledger == days
    assert (questions, spread) == (100, True)


def test_the_load_fills_every_list(staff: Client, load: str) -> None:
    """Outages alone have no rows: nothing is away."""
    empty = []
    for page in LISTS:
        reply = staff.get(f"/console/{page}")
        assert reply.status_code == 200, page
        if not reply.context["cl"].result_list:
            empty.append(page)
    assert empty == ["jobs/breaker/"]
