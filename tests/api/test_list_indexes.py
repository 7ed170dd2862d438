"""Each filter of a list finds its rows by an index that begins with the tenant, under row-level security."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import yaml
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.api.public_ids import encode
from tests.api.test_service import OPENAPI
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser

LABELS = "the operator of labels is not leakproof, so no index serves it under a policy: rows of the tenant are read"
ONE_A_MONTH = "one row a month"
WITHOUT = {
    ("comparisons", "metadata"): LABELS,
    ("question-batches", "metadata"): LABELS,
    ("questions", "metadata"): LABELS,
    ("sessions", "metadata"): LABELS,
    ("uploads", "metadata"): LABELS,
    ("videos", "metadata"): LABELS,
    ("invoices", "kind"): ONE_A_MONTH,
    ("invoices", "state"): ONE_A_MONTH,
}
"""Filters without an index of their own, with the reason. They read the rows of the tenant in the order of the list."""
COMMON = {"cursor", "limit", "sort", "created_since", "created_until"}
WITH_SPANS = ("/v1/usage", "/v1/usage/events")
"""Lists whose rows the span finds, which is at most some months."""
VALUES: dict[str, Any] = {
    "external_id": "case-7",
    "metadata": json.dumps({"case": "7"}),
    "action": "api_key.created",
    "actor_type": "person",
    "resource_id": "key_1",
    "since": "2026-01-01T00:00:00Z",
    "until": "2026-01-02T00:00:00Z",
    "event_type": "video.ready",
    "type": "video.ready",
    "feedback": "right",
    "kind": "invoice",
}
IDS = {"video_id": "vid", "question_id": "qst", "batch_id": "bat", "comparison_id": "cmp", "session_id": "ses",
       "collection_id": "col", "endpoint_id": "whe", "clip_id": "clp"}  # fmt: skip
COLUMNS = {
    ("index-jobs", "video_id"): "id", ("questions", "feedback"): "verdict",
    ("webhook-deliveries", "event_type"): "type",
    ("audit-events", "actor_type"): "actor_kind", ("audit-events", "resource_id"): "object_id",
    ("audit-events", "since"): "occurred_at", ("audit-events", "until"): "occurred_at",
}  # fmt: skip
"""Columns that are not named like their filter."""


def filters() -> Iterator[tuple[str, str, Any]]:
    """Yield list, filter and a value, from the OpenAPI document."""
    for path, operations in yaml.safe_load(OPENAPI.read_text())["paths"].items():
        parameters = {
            one["name"]: one for one in operations.get("get", {}).get("parameters", ()) if one["in"] != "header"
        }
        if "cursor" not in parameters or "{" in path or path in WITH_SPANS:
            continue
        for name in sorted(parameters.keys() - COMMON):
            schema = parameters[name]["schema"]
            options = schema.get("enum") or [None]
            value = encode(IDS[name], UUID(int=7)) if name in IDS else VALUES.get(name, options[0])
            yield path.removeprefix("/v1/"), name, value


_HIDE = """
UPDATE pg_index SET indisvalid = false FROM pg_attribute a
WHERE indrelid = %s::regclass AND a.attrelid = indrelid AND a.attname = %s AND indkey[1] IS DISTINCT FROM a.attnum
"""
"""Leaves the planner the indexes whose second column is the filter's: on a table without rows all cost the same."""


def plan_of(cast: Cast, path: str, name: str, value: Any) -> tuple[str, list[dict[str, Any]]]:
    """Return the column of a filter, and the nodes of the plan of the filtered list, under the role of requests."""
    with CaptureQueriesContext(connection) as captured:
        reply = cast.client.get(f"/v1/{path}", {name: value})
    assert reply.status_code == 200, reply.content
    column = COLUMNS.get((path, name), name)
    named = re.compile(f'"?(\\w+)"?\\."{column}" (?:=|>|<|@)')
    statement, found = next((one["sql"], match) for one in captured if (match := named.search(one["sql"])))
    # Django calls the table of a subquery U0.
    table = re.search(rf'"(\w+)" {found[1]}\b', statement)
    with superuser() as planner, planner.transaction(force_rollback=True):
        planner.execute(_HIDE, [found[1] if table is None else table[1], column])
        planner.execute("SET LOCAL ROLE app_rw")
        planner.execute("SET LOCAL enable_seqscan = off")
        planner.execute("SELECT tenancy_enter(%s)", [cast.tenant_id])
        ((plan,),) = planner.execute(f"EXPLAIN (FORMAT JSON) {statement}").fetchall()
    return column, list(_nodes(plan[0]["Plan"]))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def test_each_filter_of_a_list_is_served_by_an_index_of_the_tenant(acme: Cast) -> None:
    tried, wrong = 0, {}
    for path, name, value in filters():
        tried += 1
        column, nodes = plan_of(acme, path, name, value)
        conditions = [node["Index Cond"] for node in nodes if "Index Cond" in node]
        served = any("tenant_id" in one and re.search(rf"\b{column}\b", one) for one in conditions)
        if served is ((path, name) in WITHOUT):
            wrong[path, name] = conditions
    assert wrong == {}
    assert tried > 30
