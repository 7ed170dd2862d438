"""A tenant's monthly budget: what counts, what is left, who may change it, and what it refuses."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from uuid6 import uuid7

from backend.api import public_ids
from backend.billing.models import OpenSpending, TenantBudget, UsageEvent
from backend.billing.rates import rates_at
from backend.billing.services.limits import budgets
from backend.billing.services.limits.budgets import Consumed, Limits
from backend.billing.services.usage import ledger
from backend.jobs.models import Job
from backend.questions.models import Question, Search
from backend.questions.services import questions
from backend.tenancy.months import month_of
from backend.tenancy.services import issue_api_key
from gpu_workers.engine.models.roles import ModelCall
from tests.factories import make_video, set_limits
from tests.questions.world import CALLS, answer, ask, finish

# 100 + 10 tokens, 2 s: 2 * 0.000222222222 USD.
CALL = ModelCall("answer", "qwen", wall_ms=2_000, prompt_tokens=100, cached_tokens=40, completion_tokens=10)
COST = Decimal("0.0004444444")
MARCH = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)


def consume(*, at: datetime | None = None, **values: Any) -> None:
    ledger.record_model_calls(
        **{"source_type": "question", "source_id": uuid7(), "calls": [CALL], "question_id": uuid7(), **values},
        occurred_at=at,
    )


def client_with(cast: Any, *scopes: str) -> Any:
    with cast.scope():
        _, key = issue_api_key(name="narrow", scopes=list(scopes))
    client = cast.client
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


def test_what_a_month_has_used_is_read_without_the_ledger(acme: Any) -> None:
    with acme.scope():
        set_limits(Limits(max_tokens=1_000))
        consume()
        with CaptureQueriesContext(connection) as asked:
            budget = budgets.monthly_budget()
    assert budget.used.tokens == 110
    assert any("billing_usagemonth" in query["sql"] for query in asked.captured_queries)
    assert not any("billing_usageevent" in query["sql"] for query in asked.captured_queries)


@pytest.mark.parametrize(
    ("at", "start", "end"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), (2026, 1), (2026, 2)),
        (MARCH, (2026, 3), (2026, 4)),
        (datetime(2026, 12, 31, 12, tzinfo=UTC), (2026, 12), (2027, 1)),
    ],
)
def test_a_month_is_the_calendars(at: datetime, start: tuple[int, int], end: tuple[int, int]) -> None:
    assert month_of(at) == (datetime(*start, 1, tzinfo=UTC), datetime(*end, 1, tzinfo=UTC))


def test_used_is_the_months_ledger_of_questions_and_searches_and_what_is_open(acme: Any, globex: Any) -> None:
    with globex.scope():
        consume(at=MARCH)
        budgets.note_spending(question_id=uuid7(), consumed=Consumed(7, Decimal(7), Decimal(7)))
    mine = uuid7()
    with acme.scope():
        consume(at=MARCH)
        consume(at=MARCH, source_type="search", question_id=None)
        consume(at=MARCH, source_type="wasted_attempt", billable=False, reason="stopped")
        consume(at=MARCH, source_type="failed_calls", billable=False, reason="failed_call")
        consume(at=MARCH, source_type="wasted_attempt", billable=False, reason="asked_by_operator")
        consume(at=MARCH, source_type="wasted_attempt", billable=False, reason="outage:model_timeout")
        consume(at=MARCH, source_type="segment", question_id=None, video_id=uuid7())
        consume(at=datetime(2026, 4, 1, tzinfo=UTC))
        budgets.note_spending(question_id=mine, consumed=Consumed(1_000, Decimal("1.5"), Decimal("0.25")))
        budgets.note_spending(question_id=uuid7(), consumed=Consumed(5, Decimal("0.5"), Decimal("0.125")))
        set_limits(Limits(max_tokens=2_000, max_seconds=Decimal(8)))

        everything = budgets.monthly_budget(at=MARCH)
        assert everything.used == Consumed(330 + 1_005, Decimal(6 + 2), 3 * COST + Decimal("0.375"))
        assert everything.left == Limits(2_000 - 1_335, Decimal(0), None)
        assert everything.exhausted == "max_seconds"
        others = budgets.monthly_budget(without=mine, at=MARCH)
        assert others.used == Consumed(335, Decimal("6.5"), 3 * COST + Decimal("0.125"))
        assert (others.left.max_seconds, others.exhausted) == (Decimal("1.5"), "")


def test_open_calls_are_valued_as_the_ledger_will(acme: Any) -> None:
    with acme.scope():
        question_id, rates = uuid7(), rates_at(datetime.now(UTC))
        open_ = budgets.consumed_by(CALLS, rates)
        cost = ledger.record_model_calls(
            source_type="question", source_id=question_id, calls=CALLS, question_id=question_id
        )

        assert open_ == budgets.monthly_budget().used
        assert open_ == Consumed(980, Decimal("1.22"), cost.amount)


def test_a_later_note_takes_the_place_of_the_earlier(acme: Any) -> None:
    question_id = uuid7()
    with acme.scope():
        for tokens in (10, 25):
            budgets.note_spending(question_id=question_id, consumed=Consumed(tokens, Decimal(1), Decimal(1)))
        assert OpenSpending.objects.get().tokens == 25
        budgets.forget_spending([question_id])
        assert not OpenSpending.objects.exists()


def test_the_budget_over_http(acme: Any, globex: Any) -> None:
    none = acme.client.get("/v1/budget").json()
    assert (none["max_tokens"], none["max_seconds"]) == (None, None)
    assert none["left"] == {"tokens": None, "seconds": None}
    assert none["used"] == {"tokens": 0, "seconds": 0.0}
    with acme.scope():
        consume()
        set_limits(Limits(max_cost=Decimal("1.5")))

    put = acme.client.put("/v1/budget", {"max_tokens": 1_000, "max_seconds": 10.5}, format="json")

    assert put.status_code == 200
    body = acme.client.get("/v1/budget").json()
    assert body == put.json()
    assert (body["max_tokens"], body["max_seconds"]) == (1_000, 10.5)
    assert body["used"] == {"tokens": 110, "seconds": 2.0}
    assert body["left"] == {"tokens": 890, "seconds": 8.5}
    start, end = month_of(datetime.now(UTC))
    assert (datetime.fromisoformat(body["start_at"]), datetime.fromisoformat(body["end_at"])) == (start, end)
    assert globex.client.get("/v1/budget").json()["max_tokens"] is None
    # What is left out has no limit any more.
    assert acme.client.put("/v1/budget", {"max_tokens": 5}, format="json").json()["max_seconds"] is None
    with acme.scope():
        # The limit of our cost is the operator's: a customer neither sees nor lifts it.
        assert TenantBudget.objects.get().max_cost == Decimal("1.5")


def test_a_customer_and_an_operator_who_set_limits_at_once_both_count(acme: Any) -> None:
    with acme.scope():
        with CaptureQueriesContext(connection) as queries:
            budgets.set_own_limits(max_tokens=5, max_seconds=None)
        assert not any(query["sql"].startswith("SELECT") and "tenantbudget" in query["sql"] for query in queries), (
            "what was read may be written back over another's change"
        )
        budgets.set_cost_ceiling(Decimal(2))
        budgets.set_own_limits(max_tokens=None, max_seconds=Decimal(7))
        row = TenantBudget.objects.get()
    assert (row.max_tokens, row.max_seconds, row.max_cost) == (None, 7, 2)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"max_tokens": -1}, "/max_tokens"),
        ({"max_seconds": -0.5}, "/max_seconds"),
        ({"max_cost": "5"}, "/max_cost"),
        ({"max_calls": 5}, "/max_calls"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(acme: Any, body: Any, pointer: str) -> None:
    reply = acme.client.put("/v1/budget", body, format="json")

    assert (reply.status_code, [error["pointer"] for error in reply.json()["errors"]]) == (400, [pointer])
    with acme.scope():
        assert not TenantBudget.objects.exists()


def test_a_key_that_asks_questions_cannot_lift_what_bounds_them(acme: Any) -> None:
    asking = client_with(acme, "questions:write", "usage:read")
    keeping = client_with(acme, "budgets:write")

    assert asking.get("/v1/budget").status_code == 200
    refused = asking.put("/v1/budget", {"max_tokens": 5}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert keeping.get("/v1/budget").status_code == 403
    assert acme.client.get("/v1/budget").json()["max_tokens"] is None
    assert keeping.put("/v1/budget", {"max_tokens": 5}, format="json").status_code == 200


@pytest.mark.parametrize(
    ("limits", "name", "amount"),
    [
        (Limits(max_tokens=110), "max_tokens", "110 tokens"),
        (Limits(max_seconds=Decimal(2)), "max_seconds", "2 s"),
        (Limits(max_tokens=0), "max_tokens", "0 tokens"),
    ],
)
def test_nothing_can_be_asked_when_nothing_is_left(acme: Any, limits: Limits, name: str, amount: str) -> None:
    with acme.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
        consume()
        set_limits(limits)
        before = UsageEvent.objects.count()
    bodies = {
        "/v1/questions": {"question": "Which car?", "video_ids": [video]},
        "/v1/search": {"query": "car", "video_ids": [video]},
        "/v1/question-batches": {"questions": [{"question": "Which car?"}], "video_ids": [video]},
    }

    for path, body in bodies.items():
        reply = acme.client.post(path, body, format="json", headers={"Idempotency-Key": path})
        assert (reply.status_code, reply.json()["code"]) == (402, "budget_exhausted"), path
        assert name in reply.json()["detail"]
        assert amount in reply.json()["detail"]
    with acme.scope():
        assert not Question.objects.exists()
        assert not Search.objects.exists()
        assert not Job.objects.exists()
        assert UsageEvent.objects.count() == before
        set_limits(Limits())
    # The refusal is not kept under its key.
    again = acme.client.post(
        "/v1/questions", bodies["/v1/questions"], format="json", headers={"Idempotency-Key": "/v1/questions"}
    )
    assert again.status_code == 202


def test_a_customer_is_not_told_the_operators_limit_of_cost(acme: Any) -> None:
    with acme.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
        consume()
        set_limits(Limits(max_tokens=1_000, max_cost=Decimal("0.0004")))

    refused = acme.client.post("/v1/questions", {"question": "Which car?", "video_ids": [video]}, format="json")

    assert (refused.status_code, refused.json()["code"]) == (402, "plan_exhausted")
    assert "used up" in refused.json()["detail"]
    # The page of the code has the address of this server.
    assert not re.search(r"cost|USD|0\.\d", str({**refused.json(), "type": ""}))


def test_a_little_left_is_enough_to_ask(acme: Any) -> None:
    with acme.scope():
        consume()
        set_limits(Limits(max_tokens=111, max_seconds=Decimal("2.001"), max_cost=Decimal("0.000445")))
    ask(acme)


@pytest.mark.parametrize("end", ["answered", "failed", "wasted", "begun anew"])
def test_what_was_open_is_forgotten_with_the_attempt(acme: Any, end: str) -> None:
    question_id, video_id = ask(acme)
    other = uuid7()
    with acme.scope():
        begun = questions.begin(question_id=question_id)
        assert begun is not None
        for id in (question_id, other):
            budgets.note_spending(question_id=id, consumed=Consumed(10, Decimal(1), Decimal(1)))
    with acme.scope():
        if end == "answered":
            questions.store_answer(question=begun, answer=answer(video_id))
        elif end == "failed":
            questions.fail_question(question_id=question_id, code="x", message="x", calls=CALLS)
        elif end == "wasted":
            questions.record_wasted(question_id=question_id, calls=CALLS, reason="stopped")
        else:
            questions.begin(question_id=question_id)
    with acme.scope():
        assert [row.question_id for row in OpenSpending.objects.all()] == [other]


def test_a_canceled_batch_keeps_what_its_attempts_consumed_until_it_is_recorded(acme: Any) -> None:
    with acme.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
    body = {"questions": [{"question": "Which car?"}], "video_ids": [video]}
    batch = acme.client.post("/v1/question-batches", body, format="json").json()["id"]
    with acme.scope():
        question_id = Question.objects.get().id
        questions.begin(question_id=question_id)
        budgets.note_spending(question_id=question_id, consumed=Consumed(10, Decimal(1), Decimal(1)))
    assert acme.client.post(f"/v1/question-batches/{batch}/cancel").status_code == 200
    with acme.scope():
        assert budgets.monthly_budget().used.tokens == 10
        questions.record_wasted(question_id=question_id, calls=CALLS, reason="stopped")
        assert not OpenSpending.objects.exists()
        assert budgets.monthly_budget().used.tokens == 980


def test_an_answer_moves_from_open_to_used_without_a_gap(acme: Any) -> None:
    question_id, video_id = ask(acme)
    with acme.scope():
        budgets.note_spending(question_id=question_id, consumed=budgets.consumed_by(CALLS, rates_at(datetime.now(UTC))))
        before = budgets.monthly_budget().used
    finish(acme, question_id, video_id)
    with acme.scope():
        assert budgets.monthly_budget().used == before
