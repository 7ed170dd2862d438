"""Customers see charges and never a cost of ours: in no schema of the API or of a webhook, and in no body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.questions.models import Question
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast
from tests.questions.graded import CHOICES, answer, make, settle

SCHEMAS = Path(__file__).parents[2] / "frontend_api_schema"


def names_of(node: Any) -> Iterator[str]:
    """Yield every key of a body, at any depth."""
    if isinstance(node, dict):
        yield from node
        for value in node.values():
            yield from names_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from names_of(value)


def properties_of(node: Any) -> Iterator[str]:
    """Yield the name of every property and parameter of a schema, at any depth."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield from node["properties"]
        if isinstance(node.get("in"), str) and isinstance(node.get("name"), str):
            yield node["name"]
        for value in node.values():
            yield from properties_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from properties_of(value)


def test_no_schema_of_a_request_or_reply_names_a_cost() -> None:
    document = yaml.load((SCHEMAS / "openapi.yaml").read_text(), yaml.CSafeLoader)
    names = set(properties_of(document))

    assert {"charge", "charge_ratio", "grading_charge", "max_total_charge"} <= names
    assert [name for name in names if "cost" in name or "margin" in name] == []


@pytest.mark.parametrize("path", sorted((SCHEMAS / "webhooks").glob("*.json")), ids=lambda path: path.stem)
def test_no_schema_of_a_webhook_names_a_cost(path: Path) -> None:
    names = set(properties_of(json.loads(path.read_text())))

    assert "type" in names
    assert [name for name in names if "cost" in name] == []


def test_no_body_of_work_that_cost_us_something_shows_the_cost(acme: Cast) -> None:
    item = {"choices": CHOICES, "correct_choice": 1}
    comparison, video_id = make(acme, [item], grading="choice")
    for arm in (0, 1):
        settle(acme, comparison, 0, arm, answer(1))
    with acme.scope():
        question = Question.objects.order_by("id").first()
        assert question is not None
        assert question.cost_amount > 0
        assert UsageEvent.objects.filter(cost_amount__gt=0).exists()
        events = [json.loads(event.body) for event in WebhookEvent.objects.all()]
    asked = f"/v1/questions/{encode('qst', question.id)}"
    compared = f"/v1/comparisons/{encode('cmp', comparison.id)}"
    paths = [
        asked, f"{asked}?include=trace", "/v1/questions", compared, "/v1/comparisons",
        f"/v1/videos/{encode('vid', video_id)}",
        "/v1/usage", "/v1/usage?group_by=model", "/v1/usage/events", "/v1/limits", "/v1/prices", "/v1/budget",
        "/v1/budgets", "/v1/invoices", "/v1/credits",
    ]  # fmt: skip
    bodies = {path: acme.client.get(path) for path in paths}
    lines = acme.client.get(f"{compared}/results")
    results = [json.loads(line) for line in b"".join(lines.streaming_content).splitlines()]

    assert {path: reply.status_code for path, reply in bodies.items() if reply.status_code != 200} == {}
    assert len(results) == 1
    assert results[0]["answers"][0]["charge"] == "0.02"
    assert len(events) > 0
    for where, body in [
        *((path, reply.json()) for path, reply in bodies.items()),
        ("results", results),
        ("events", events),
    ]:
        assert [name for name in names_of(body) if "cost" in name] == [], where
