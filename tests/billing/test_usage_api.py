"""GET /v1/usage and /v1/usage/events."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from uuid6 import uuid7

from backend.api import public_ids
from backend.billing.models import UsageEvent
from backend.billing.services.usage import ledger
from gpu_workers.engine.models import roles
from tests.billing.questions import record_question

CALL = roles.ModelCall("answer", "qwen", wall_ms=2_000, prompt_tokens=100, completion_tokens=10)


@pytest.fixture
def question(acme: Any, globex: Any) -> Any:
    """A charged and answered question of acme; globex has usage of its own."""
    ids = {cast: uuid7() for cast in ("acme", "globex")}
    for name, cast in (("acme", acme), ("globex", globex)):
        with cast.scope():
            record_question(question_id=ids[name], api_key_id=cast.key_id)
            ledger.record_model_calls(
                source_type="question", source_id=ids[name], calls=[CALL], question_id=ids[name], api_key_id=cast.key_id
            )
    return ids["acme"]


def test_it_sums_quantity_cost_and_price_per_meter(acme: Any, question: Any) -> None:
    reply = acme.client.get("/v1/usage")

    assert reply.status_code == 200
    lines = {line["meter"]: line for line in reply.json()["data"]}
    assert {meter: Decimal(line["quantity"]) for meter, line in lines.items()} == {
        "device_seconds": 2, "input_tokens": 100, "output_tokens": 10, "questions": 1,
    }  # fmt: skip
    assert lines["device_seconds"]["charge"] == {"amount": "0", "currency": "USD"}
    assert reply.json()["totals"] == {"charges": [{"amount": "0.02", "currency": "USD"}]}
    assert "cost" not in reply.content.decode(), "our cost next to the price would be our margin"


def test_it_groups_by_question_and_stage_with_public_ids(acme: Any, question: Any) -> None:
    lines = acme.client.get("/v1/usage?group_by=question,stage").json()["data"]

    assert {line["group"]["question"] for line in lines} == {public_ids.encode("qst", question)}
    assert {line["group"]["stage"] for line in lines} == {"", "answer"}


def test_every_group_can_be_asked_for_at_once(acme: Any, question: Any) -> None:
    reply = acme.client.get("/v1/usage?group_by=day,meter,video,question,api_key,model,stage")

    assert reply.status_code == 200
    assert {line["group"]["api_key"] for line in reply.json()["data"]} == {public_ids.encode("key", acme.key_id)}


def test_only_the_ledger_keeps_cached_tokens_apart(acme: Any) -> None:
    """1,000 tokens of which 600 cached, and a call whose prompt of 50 was cached whole."""
    question_id = uuid7()
    calls = [
        roles.ModelCall("answer", "qwen", wall_ms=1_000, prompt_tokens=1_000, cached_tokens=600, completion_tokens=9),
        roles.ModelCall("plan", "qwen", wall_ms=1_000, prompt_tokens=50, cached_tokens=50, completion_tokens=1),
    ]
    with acme.scope():
        ledger.record_model_calls(
            source_type="question", source_id=question_id, calls=calls, question_id=question_id, api_key_id=acme.key_id
        )
        exact = UsageEvent.objects.filter(meter="cached_tokens").values_list("stage", "quantity")
        assert dict(exact) == {"answer": Decimal(600), "plan": Decimal(50)}

    lines = {line["meter"]: line["quantity"] for line in acme.client.get("/v1/usage").json()["data"]}
    assert lines["input_tokens"] == "1050"
    assert "cached_tokens" not in lines
    rows = acme.client.get("/v1/usage/events?meter=input_tokens").json()["data"]
    assert sorted((row["meter"], row["stage"], row["quantity"]) for row in rows) == [
        ("input_tokens", "answer", "1000"), ("input_tokens", "plan", "50"),
    ]  # fmt: skip
    every = acme.client.get("/v1/usage/events").json()["data"]
    assert (
        sorted(row["meter"] for row in every) == ["device_seconds"] * 2 + ["input_tokens"] * 2 + ["output_tokens"] * 2
    )
    assert acme.client.get("/v1/usage/events?meter=cached_tokens").status_code == 400


def test_usage_outside_the_span_is_left_out(acme: Any, question: Any) -> None:
    reply = acme.client.get("/v1/usage?from=2020-01-01&to=2020-02-01")

    assert reply.json()["data"] == []
    assert reply.json()["totals"]["charges"] == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("group_by=shoe_size", "unknown_group"),
        ("from=yesterday", "invalid_time"),
        ("from=2026-02-30", "invalid_time"),
        ("from=2026-02-02&to=2026-02-01", "invalid_span"),
        ("from=2000-01-01&to=2026-02-01", "span_too_long"),
    ],
)
def test_it_says_what_is_wrong_with_a_query(acme: Any, query: str, code: str) -> None:
    reply = acme.client.get(f"/v1/usage?{query}")

    assert reply.status_code == 400
    assert [error["code"] for error in reply.json()["errors"]] == [code]


def test_events_are_pages_of_the_ledger_of_one_tenant(acme: Any, question: Any) -> None:
    first = acme.client.get("/v1/usage/events?limit=3").json()
    second = acme.client.get(f"/v1/usage/events?limit=3&cursor={first['next_cursor']}").json()

    rows = first["data"] + second["data"]
    assert sorted(row["meter"] for row in rows) == ["device_seconds", "input_tokens", "output_tokens", "questions"]
    assert second["next_cursor"] is None
    assert {row["question_id"] for row in rows} == {public_ids.encode("qst", question)}


def test_lines_come_in_pages_with_the_totals_of_all(acme: Any, question: Any) -> None:
    path = "/v1/usage?group_by=meter"
    whole = acme.client.get(path).json()
    first = acme.client.get(f"{path}&limit=3").json()
    second = acme.client.get(f"{path}&limit=3&cursor={first['next_cursor']}").json()

    assert (len(whole["data"]), whole["next_cursor"]) == (4, None)
    assert (len(first["data"]), len(second["data"]), second["next_cursor"]) == (3, 1, None)
    assert first["data"] + second["data"] == whole["data"]
    assert first["totals"] == second["totals"] == whole["totals"]
    events = acme.client.get("/v1/usage/events?limit=1").json()["next_cursor"]
    for cursor in (events, "x", "W10", "WyJzdW1zIiwtMV0", "WyJzdW1zIiwxZTldXQ"):
        refused = acme.client.get(f"{path}&cursor={cursor}")
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "invalid_cursor")
