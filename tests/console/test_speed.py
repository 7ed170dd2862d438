"""Pages stay fast however much there is: a bounded number of statements, none of which reads a big table whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from copy import copy
from itertools import product
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connections
from django.db.models import Model
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.billing.models import (
    CostDay,
    Coupon,
    InvariantResult,
    LegalEntity,
    MachineDay,
    ModelRate,
    Plan,
    Price,
    PriceBook,
)
from backend.billing.services.usage.day_totals import rebuild_stale_days
from backend.console.admin import site
from backend.jobs.models import Breaker
from backend.library.models import Video
from backend.questions.models import Comparison, Question, Search
from backend.questions.services.stage_times import build_days
from backend.tenancy.models import Tenant, TenantRow
from bench.seed_load import seed
from tests.conftest import Cast
from tests.console.signing_in import open_content

BIG = ("billing_usageevent", "billing_usagehour", "billing_usageday", "billing_modelcall", "questions_question",
       "jobs_job", "library_video", "audit_auditevent", "webhooks_delivery", "webhooks_webhookevent",
       "webhooks_attempt")  # fmt: skip
OF_TENANTS = {model._meta.db_table for model in apps.get_models() if issubclass(model, TenantRow)}
MOST_STATEMENTS = {"": 18, "?days=90": 20, "tenancy/tenant/{tenant}/change/": 26}
MOST_OF_A_ROW = {Video: 34, Question: 22, Comparison: 14, Search: 12}
"""Statements of the page of a row; every other row has ROW_STATEMENTS at the most."""
ROW_STATEMENTS = 10
SHORT = {
    Breaker, CostDay, Coupon, InvariantResult, LegalEntity, MachineDay, ModelRate, Plan, Price, PriceBook,
}  # fmt: skip
"""Models whose lists stay short however many tenants there are."""
LISTS = sorted(f"{model._meta.app_label}/{model._meta.model_name}/" for model in site._registry)


@pytest.fixture
def load(database: None) -> str:
    """Write a thousandth of the load; return the tenant with most of it."""
    path = urlsplit(os.environ["DATABASE_URL"]).path
    seed(urlunsplit(urlsplit(os.environ["DATABASE_SUPERUSER_URL"])._replace(path=path)), 0.001)
    assert rebuild_stale_days() > 80
    build_days(timezone.now())
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


def half_keyed(node: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of tables of tenants that a plan looks a row up by without the tenant, with which they begin."""
    key, found_by = str(node.get("Index Name", "")), str(node.get("Index Cond", ""))
    if key.removesuffix("_pkey") in OF_TENANTS and "tenant_id" not in found_by:
        yield key
    for child in node.get("Plans", ()):
        yield from half_keyed(child)


def plan_of(statement: str) -> dict[str, Any]:
    with connections["console"].cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}")
        plan = cursor.fetchone()[0]
    found: dict[str, Any] = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
    return found


def scanned(statements: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return the big tables that statements read whole although an index may be used, and the keys of tables that they
    look rows up by without the tenant, with the statement."""
    found = set()
    with connections["console"].cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        try:
            for statement in statements:
                if statement["sql"].lstrip().upper().startswith(("SELECT", "WITH")):
                    plan = plan_of(statement["sql"])
                    found |= {(name, statement["sql"][:300]) for name in (*scans(plan), *half_keyed(plan))}
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
    by_id = "SELECT * FROM webhooks_delivery d JOIN webhooks_webhookevent e ON e.id = d.event_id ORDER BY d.id LIMIT 9"
    assert scanned([{"sql": by_id}]), "a join by half of a key is noticed"
    assert faults == []


@pytest.mark.long
def test_no_page_of_a_row_reads_a_big_table_whole_or_asks_too_often(staff: Client, load: str) -> None:
    """Each opens the newest row, which is the largest."""
    faults: list[Any] = []
    for model in site._registry:
        rows: Any = getattr(model, "unscoped", model._default_manager)
        row = rows.using("console").order_by("-pk").first()
        if row is None or model is Tenant:
            continue
        if issubclass(model, TenantRow):
            open_content(staff, row)
        address = f"/console/{model._meta.app_label}/{model._meta.model_name}/{row.pk}/change/"
        with CaptureQueriesContext(connections["console"]) as captured:
            reply = staff.get(address)
        assert reply.status_code == 200, address
        if len(captured) > MOST_OF_A_ROW.get(model, ROW_STATEMENTS):
            faults.append((address, len(captured), [query["sql"][:120] for query in captured]))
        faults += [(address, *fault) for fault in scanned(captured.captured_queries)]
    assert faults == []


def sorts(node: dict[str, Any]) -> bool:
    """Whether a plan sorts rows, other than those that an index has nearly sorted."""
    return node["Node Type"] == "Sort" or any(map(sorts, node.get("Plans", ())))


def columns(staff: Client, model: type[Model]) -> list[str]:
    """Return the columns of a list as the viewer sees them, by the numbers that an address sorts by."""
    reply: Any = staff.get(f"/console/{model._meta.app_label}/{model._meta.model_name}/")
    return list(reply.context_data["cl"].list_display)


def listing(staff: Client, model: type[Model], query: str = "") -> str:
    """Return the statement that reads the rows of a list."""
    with CaptureQueriesContext(connections["console"]) as captured:
        reply = staff.get(f"/console/{model._meta.app_label}/{model._meta.model_name}/{query}")
    assert reply.status_code == 200, (model, query)
    read = [statement["sql"] for statement in captured.captured_queries]
    (listed,) = [sql for sql in read if f'FROM "{model._meta.db_table}"' in sql and "ORDER BY" in sql]
    return str(listed)


def order_of(statement: str) -> str:
    return statement[statement.rindex("ORDER BY") :].partition(" LIMIT ")[0]


def test_every_list_sorts_by_the_columns_that_it_offers_and_ignores_all_others(staff: Client, acme: Cast) -> None:
    """The page of each list is opened once; the other addresses ask what the page asks, without the drawing of it."""
    wrong = []
    for model, page in site._registry.items():
        if page.sorts is None:
            assert model in SHORT, f"{model} has a row for each tenant, or more: name columns with an index"
            continue
        default = order_of(listing(staff, model))
        opened: Any = staff.get(f"/console/{model._meta.app_label}/{model._meta.model_name}/")

        def order(query: str, page: Any = page, opened: Any = opened) -> str:
            request = copy(opened.wsgi_request)
            request.GET = QueryDict(query)
            return order_of(str(page.get_changelist_instance(request).queryset.query))

        assert order("") == default
        for n, name in enumerate(opened.context_data["cl"].list_display):
            for way in ("", "-"):
                ordered = order(f"o={way}{n}")
                named = ordered.split(".")[1].split('"')[1]
                if name in page.sorts:
                    column = page.model._meta.get_field(getattr(getattr(page, name, None), "admin_order_field", name))
                    if (named, ordered.split()[3].startswith("DESC")) != (column.column, way == "-"):
                        wrong.append((model, name, way, ordered))
                elif ordered != default:
                    wrong.append((model, name, way, ordered))
        assert order(f"o={'.'.join(map(str, range(40)))}.x.-") != ""
    assert wrong == []


@pytest.mark.long
def test_a_list_that_grows_with_tenants_is_sorted_by_an_index_alone(staff: Client, load: str) -> None:
    faults = []
    for model, page in site._registry.items():
        if page.sorts is None:
            continue
        shown = columns(staff, model)
        offered = [shown.index(name) for name in page.sorts if name in shown]
        orders = ["", *(f"?o={way}{n}" for n, way in product(offered, ("", "-")))]
        for order in orders:
            listed = listing(staff, model, order)
            with connections["console"].cursor() as cursor:
                cursor.execute("SET enable_seqscan = off; SET enable_sort = off")
                if sorts(plan_of(listed)):
                    faults.append((model, order, listed))
                cursor.execute("RESET enable_seqscan; RESET enable_sort")
    assert faults == []


def test_the_load_has_sums_that_equal_its_ledger(load: str) -> None:
    with connections["console"].cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT (count(*), sum(cost_amount), sum(price_amount))::text FROM billing_usageevent), "
            "(SELECT (sum(events), sum(cost), sum(price))::text FROM billing_usageday), "
            "(SELECT (sum(events), sum(cost), sum(price))::text FROM billing_tenantday), "
            "(SELECT (sum(events), sum(cost), sum(price))::text FROM billing_daytotal), "
            "(SELECT count(*) FROM questions_question WHERE comparison_id IS NULL), "
            "(SELECT count(DISTINCT tenant_id) FROM billing_usageday) > 0"
        )
        ledger, *sums, questions, spread = cursor.fetchone()
    assert sums == [ledger] * 3
    assert (questions, spread) == (100, True)


def test_the_load_fills_every_list(staff: Client, load: str) -> None:
    """Nothing is away, nothing is exported, and no night has passed."""
    empty = []
    for page in LISTS:
        reply = staff.get(f"/console/{page}")
        assert reply.status_code == 200, page
        if "/change/" not in reply.content.decode():
            empty.append(page)
    assert empty == ["billing/exportstate/", "billing/invariantresult/", "jobs/breaker/"]
