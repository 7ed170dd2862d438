"""Budgets of questions and of their tenant, reached while a question runs: the best answer so far, shared spending."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.billing import queries as ledger
from backend.billing.models import ModelCall, OpenSpending, UsageEvent, UsageMeter
from backend.billing.rates import Rates, plain
from backend.billing.services.limits import budgets
from backend.billing.services.limits.budgets import Consumed, Limits
from backend.billing.services.usage import ledger as services
from backend.questions.models import Question
from gpu_workers.engine.models import roles
from gpu_workers.tasks import answer_question as task
from gpu_workers.tasks import shared_budget
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.factories import set_limits
from tests.scripted_openai import Reply, ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import GREEN, STORIES
from tests.tasks.kept_index import KeptIndex
from tests.tasks.test_answer_jobs import ask, saying
from tests.tasks.world import run_due

pytestmark = pytest.mark.slow

NUMBERS = ["3", "5", "7"]
"""Choices that are not judged one by one, so votes decide."""


@pytest.fixture
def video_id(kept_index: KeptIndex, vlm: ScriptedOpenAIServer) -> UUID:
    vlm.requests.clear()
    return kept_index.video_id


@pytest.fixture
def looking_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look up the tenant's budget before every call instead of once a second."""
    monkeypatch.setattr(shared_budget, "LOOK_EVERY_SECONDS", 0.0)


def torn(
    *, meanwhile: Callable[[], object] = lambda: None, prompt_tokens: int = 100
) -> Callable[[ScriptedRequest], Reply]:
    """Return a reasoner whose first two samples differ, so that a third is requested.

    meanwhile: called before the first reply.
    """
    answering = saying(lambda request: ["B", "C"] if request.n == 2 else ["C"])

    def script(request: ScriptedRequest) -> Reply:
        if request.index == 0:
            try:
                meanwhile()
            finally:
                connections.close_all()
        reply = answering(request)
        return Reply(reply.texts, prompt_tokens=prompt_tokens, completion_tokens=200)

    return script


def ended(cast: Cast, question_id: UUID) -> dict[str, Any]:
    body: dict[str, Any] = cast.client.get(f"/v1/questions/{encode('qst', question_id)}").json()
    return body


def tokens(calls: Iterable[ModelCall]) -> int:
    return sum(call.prompt_tokens + call.completion_tokens for call in calls)


def test_without_a_limit_the_third_sample_is_drawn(acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer) -> None:
    llm.script = torn(prompt_tokens=50_000)
    body = ended(acme, _run(acme, video_id))

    assert (body["finish_reason"], body["finish_detail"], body["choice"]) == ("answered", None, 2)
    assert [request.n for request in llm.requests[:2]] == [2, 1]


def _run(cast: Cast, video_id: UUID, **fields: Any) -> UUID:
    budget = fields.pop("budget", {})
    question_id = ask(cast, video_id, **{"choices": NUMBERS, **fields})
    with cast.scope():
        # No customer sets a limit of our cost.
        Question.objects.filter(id=question_id).update(budget=budget)
    run_due()
    return question_id


@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_seconds", "max_cost"])
def test_each_limit_of_a_question_ends_with_the_best_answer_so_far(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    now = [0.0]

    def later() -> None:
        now[0] += 100.0

    # One call takes 100 s and has more tokens than could be foreseen, each of which costs a thousandth.
    prices = {("cost", meter.value, ""): Decimal(0) for meter in UsageMeter} | {
        ("cost", UsageMeter.INPUT_TOKENS.value, llm.model): Decimal("0.001")
    }
    monkeypatch.setattr(task, "rates_at", lambda at: Rates.of(prices))
    monkeypatch.setattr(task, "answer_question", partial(task.answer_question, clock=lambda: now[0]))
    llm.script = torn(meanwhile=later, prompt_tokens=50_000)
    limit = {"max_calls": 1, "max_tokens": 20_000, "max_seconds": 60, "max_cost": "20"}[name]
    body = ended(acme, _run(acme, video_id, budget={name: limit}))

    assert len(llm.requests) == 1
    assert (body["status"], body["finish_reason"], body["finish_detail"]) == ("succeeded", "budget", name)
    assert body["answer"] in ("5", "7")
    assert body["evidence"]
    with acme.scope():
        question = Question.objects.get()
        assert ModelCall.objects.filter(source_id=question.id, model=llm.model).count() == 1
        assert ledger.question_mismatches(question.id) == []


def test_device_time_counts_towards_the_cost_of_a_question(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A second of any model costs a fortune, and embedding the question has taken part of a second.
    prices = {("cost", meter.value, ""): Decimal(0) for meter in UsageMeter} | {
        ("cost", UsageMeter.DEVICE_SECONDS.value, ""): Decimal(1_000_000)
    }
    monkeypatch.setattr(task, "rates_at", lambda at: Rates.of(prices))
    llm.script = torn()
    open_one = ended(acme, _run(acme, video_id, budget={"max_cost": "0.01"}, choices=[]))
    told = ["a carpenter builds wooden boats", STORIES[GREEN], "divers explore coral reefs"]
    body = ended(acme, _run(acme, video_id, budget={"max_cost": "0.01"}, choices=told))

    assert llm.requests == []
    assert (open_one["finish_reason"], open_one["finish_detail"], open_one["answer"]) == ("budget", "max_cost", "")
    assert open_one["evidence"] == []
    # No model was asked; the events still support one choice most.
    assert (body["finish_reason"], body["finish_detail"], body["answer"]) == ("budget", "max_cost", told[1])
    assert body["evidence"][0]["start_ms"] == 6_000


def test_what_a_running_question_has_consumed_is_seen_by_others_and_forgotten_with_its_answer(
    acme: Cast, globex: Cast, video_id: UUID, llm: ScriptedOpenAIServer, looking_always: None
) -> None:
    seen: dict[str, Consumed] = {}
    answering = torn()

    def look(cast: Cast) -> Consumed:
        with cast.scope():
            return budgets.monthly_budget().used

    def script(request: ScriptedRequest) -> Reply:
        if request.index == 1:
            seen.update(acme=look(acme), globex=look(globex))
            connections.close_all()
        return answering(request)

    llm.script = script
    _run(acme, video_id)

    with acme.scope():
        calls = list(ModelCall.objects.filter(source_type="question").order_by("ordinal"))
        first = next(n for n, call in enumerate(calls) if call.model == llm.model)
        assert seen["acme"].tokens == tokens(calls[: first + 1]) >= 300
        device_ms = Decimal(sum(call.device_ms for call in calls[: first + 1]))
        assert seen["acme"].seconds == (device_ms / 1000).quantize(Decimal("0.001")) > 0
        assert seen["acme"].cost > 0
        assert seen["globex"] == Consumed()
        assert not OpenSpending.objects.exists()
        assert budgets.monthly_budget().used.tokens == tokens(calls)


@pytest.mark.parametrize(
    ("limit", "detail"),
    [({"max_tokens": 20_000}, "tenant_max_tokens"), ({"max_seconds": 50}, "tenant_max_seconds"),
     ({"max_cost": Decimal("0.01")}, "tenant_max_cost")],
)  # fmt: skip
def test_a_tenants_budget_that_others_use_up_meanwhile_ends_the_question_with_the_best_so_far(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, looking_always: None, limit: Any, detail: str
) -> None:
    with acme.scope():
        set_limits(Limits(**limit))
    other = uuid7()

    def spend() -> None:
        with acme.scope():
            services.record_model_calls(
                source_type="question",
                source_id=other,
                calls=[roles.ModelCall("answer", "qwen", wall_ms=60_000, prompt_tokens=20_000)],
                question_id=other,
            )

    llm.script = torn(meanwhile=spend)
    question_id = _run(acme, video_id)
    body = ended(acme, question_id)

    assert len(llm.requests) == 1
    assert (body["status"], body["finish_reason"], body["finish_detail"]) == ("succeeded", "budget", detail)
    assert body["answer"] in ("5", "7")
    with acme.scope():
        assert not OpenSpending.objects.exists()
    refused = acme.client.post("/v1/questions", {"question": "And?", "video_ids": [encode("vid", video_id)]})
    # The limit of cost is the operator's.
    code = "plan_exhausted" if "max_cost" in limit else "budget_exhausted"
    assert (refused.status_code, refused.json()["code"]) == (402, code)


def test_what_other_open_questions_have_consumed_counts_too(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, looking_always: None
) -> None:
    acme.client.put("/v1/budget", {"max_tokens": 20_000}, format="json")

    def spend() -> None:
        with acme.scope():
            budgets.note_spending(question_id=uuid7(), consumed=Consumed(tokens=20_000))

    llm.script = torn(meanwhile=spend)
    body = ended(acme, _run(acme, video_id))

    assert (body["finish_reason"], body["finish_detail"]) == ("budget", "tenant_max_tokens")
    with acme.scope():
        assert OpenSpending.objects.count() == 1, "the other one's stays"


def test_a_budget_set_while_a_question_runs_holds_for_it(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, looking_always: None
) -> None:
    llm.script = torn(meanwhile=lambda: acme.client.put("/v1/budget", {"max_tokens": 250}, format="json"))
    body = ended(acme, _run(acme, video_id))

    assert len(llm.requests) == 1
    assert (body["finish_reason"], body["finish_detail"]) == ("budget", "tenant_max_tokens")


def test_between_two_looks_the_last_allowance_holds(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_budget, "LOOK_EVERY_SECONDS", 1e9)
    llm.script = torn(meanwhile=lambda: acme.client.put("/v1/budget", {"max_tokens": 250}, format="json"))
    body = ended(acme, _run(acme, video_id))

    assert (body["finish_reason"], body["choice"]) == ("answered", 2)
    with acme.scope():
        assert not OpenSpending.objects.exists()


def test_a_question_that_finds_nothing_left_reaches_no_model(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    question_id = ask(acme, video_id)
    with acme.scope():
        set_limits(Limits(max_cost=Decimal(0)))
    run_due()

    body = ended(acme, question_id)
    assert (body["finish_reason"], body["finish_detail"], body["answer"]) == ("budget", "tenant_max_cost", "")
    assert llm.requests == []
    with acme.scope():
        assert not ModelCall.objects.filter(source_id=question_id).exists()


def test_a_cancellation_is_noticed_before_the_next_call_and_leaves_nothing_open(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, looking_always: None
) -> None:
    question_id = ask(acme, video_id)
    llm.script = torn(meanwhile=lambda: acme.client.post(f"/v1/questions/{encode('qst', question_id)}/cancel"))
    run_due()

    assert len(llm.requests) == 1
    with acme.scope():
        assert Question.objects.get().status == "canceled"
        assert not OpenSpending.objects.exists()
        wasted = UsageEvent.objects.get(question_id=question_id, meter="output_tokens")
        assert (wasted.quantity, wasted.billable) == (200, False)
        # Nobody is billed for what was thrown away, and it counts in the budget.
        thrown = ModelCall.objects.filter(source_type=services.WASTED, ok=True)
        assert budgets.monthly_budget().used.tokens == tokens(list(thrown)) >= 300


@pytest.mark.long
def test_a_batch_of_a_hundred_that_its_budget_ends_after_ten_is_charged_ten(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    """A tenth of the largest batch, because the hundred answers of a thousand questions take half a minute."""
    total, paid, month, each = 100, 10, 10_000_000, Decimal("0.01")
    answering = saying(lambda request: "C")
    count = itertools.count(1)

    def script(request: ScriptedRequest) -> Reply:
        # The last answer that the budget pays for takes all that is left.
        reply = answering(request)
        return replace(reply, prompt_tokens=month if next(count) == paid else 100)

    llm.script = script
    with acme.scope():
        set_limits(Limits(max_tokens=month))
    body = {
        "questions": [{"question": f"What do the dogs chase in scene {n}?", "choices": NUMBERS} for n in range(total)],
        "video_ids": [encode("vid", video_id)],
        "effort": "low",
    }
    created = acme.client.post("/v1/question-batches", body, format="json")
    assert (created.status_code, created.json()["charge"]["amount"]) == (202, plain(total * each))

    run_due()

    assert len(llm.requests) == paid, "a question that is not begun reaches no model"
    batch = acme.client.get(f"/v1/question-batches/{created.json()['id']}").json()
    assert (batch["status"], batch["charge"]["amount"]) == ("completed", plain(paid * each))
    assert (batch["counts"]["succeeded"], batch["counts"]["canceled"]) == (paid, total - paid)
    with acme.scope():
        outcomes = Question.objects.values_list("status", "finish_reason", "charge_amount").distinct()
        assert set(outcomes) == {
            ("succeeded", "answered", each), ("canceled", "budget", Decimal(0)),
        }  # fmt: skip
        rows = UsageEvent.objects.filter(meter="questions")
        assert sum(row.price_amount for row in rows) == paid * each
        assert rows.exclude(reverses_id=None).count() == total - paid
    usage = acme.client.get("/v1/usage?meter=questions").json()["data"]
    assert sum(Decimal(line["quantity"]) for line in usage) == paid
    assert settled_violations(acme) == {}
