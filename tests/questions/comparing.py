"""Comparisons made through the API, and the ends of their questions."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from backend.api import public_ids
from backend.questions.models import Question
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast

ARMS = [{"method": "ava"}, {"method": "caption_rag", "effort": "low"}, {"method": "uniform"}]
TRUTH = "a quite improbable marmot"
"""Right answer that occurs nowhere else."""


def vid(value: UUID) -> str:
    return public_ids.encode("vid", value)


def cmp(value: UUID) -> str:
    return public_ids.encode("cmp", value)


def item(n: int = 0, **fields: Any) -> dict[str, Any]:
    """A labelled open question."""
    return {"question": f"Which car {n}?", "correct_answer": TRUTH, "external_id": f"item-{n}", **fields}


def post(cast: Cast, questions: Any, *, arms: Any = ARMS, key: str | None = None, **values: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"questions": questions, "arms": arms, **values}
    return cast.client.post("/v1/comparisons", body, format="json", headers=headers)


def compared(cast: Cast, video_id: UUID, n: int = 2, **values: Any) -> UUID:
    """A comparison of n items about one video; its id."""
    reply = post(cast, [item(k) for k in range(n)], video_ids=[vid(video_id)], **values)
    assert reply.status_code == 202, reply.content
    return public_ids.decode("cmp", reply.json()["id"])


def questions_of(cast: Cast, comparison_id: UUID) -> list[UUID]:
    """The questions of a comparison in the order in which they were queued."""
    with cast.scope():
        return list(Question.objects.filter(comparison_id=comparison_id).order_by("id").values_list("id", flat=True))


def shown(cast: Cast, comparison_id: UUID) -> dict[str, Any]:
    body: dict[str, Any] = cast.client.get(f"/v1/comparisons/{cmp(comparison_id)}").json()
    return body


def results(cast: Cast, comparison_id: UUID) -> list[dict[str, Any]]:
    reply = cast.client.get(f"/v1/comparisons/{cmp(comparison_id)}/results")
    assert reply.status_code == 200, reply.content
    return [json.loads(line) for line in b"".join(reply.streaming_content).splitlines()]


def events(cast: Cast, type: str = "comparison.completed") -> list[dict[str, Any]]:
    with cast.scope():
        return [json.loads(event.body)["data"] for event in WebhookEvent.objects.filter(type=type).order_by("id")]
