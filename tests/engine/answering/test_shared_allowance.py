"""A limit that a question shares with others is read before every call. It ends with the best answer so far."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.budget import Allowance, BudgetSpent, Spending
from gpu_workers.engine.answering.contract import Answer, Budget, Price, QuestionInput
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import Meter, ModelCall
from tests.engine.answering.world import Request, long_street, models, says, scripted

QUESTION = QuestionInput("Which way does the person walk?", ("left", "right", "up"))
HIGH = settings_for("high", UNMEASURED)
PRICES = {"scripted": Price(Decimal(1_000), Decimal(100), Decimal(4_000))}
NOTHING = [
    (Allowance(max_tokens=0), "tenant_max_tokens"),
    (Allowance(max_seconds=0.0), "tenant_max_seconds"),
    (Allowance(max_cost=Decimal(0)), "tenant_max_cost"),
]


def split(request: Request) -> Any:
    return [says("ABC"[n % 3], f"t{n}of{request.seed}") for n in range(request.n)]


def ask(reasoner: Any, allowance: Callable[[], Allowance], **more: Any) -> Answer:
    return answer_question(QUESTION, long_street(), models(reasoner), settings=HIGH, allowance=allowance, **more)


@pytest.mark.parametrize(("allowance", "code"), NOTHING)
def test_nothing_left_at_the_start_reaches_no_model(allowance: Allowance, code: str) -> None:
    reasoner = scripted(split)
    answer = ask(reasoner, lambda: allowance)

    assert reasoner.requests == []
    assert answer.usage.calls == ()
    assert (answer.finish_reason, answer.detail, answer.text) == ("budget", code, "")


@pytest.mark.parametrize(("allowance", "code"), NOTHING)
def test_what_ends_meanwhile_stops_the_search_with_the_best_so_far(allowance: Allowance, code: str) -> None:
    reasoner = scripted(split)
    # The rewrite and the root's samples are two requests.
    answer = ask(reasoner, lambda: allowance if len(reasoner.requests) >= 2 else Allowance())

    assert len(reasoner.requests) == 2
    assert (answer.finish_reason, answer.detail) == ("budget", code)
    assert answer.text != ""


@pytest.mark.parametrize("tokens", [50, 400, 2_000])
def test_shared_tokens_are_never_passed(tokens: int) -> None:
    answer = ask(scripted(split), lambda: Allowance(max_tokens=tokens))

    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= tokens
    assert answer.detail == "tenant_max_tokens"


def test_shared_cost_is_never_passed() -> None:
    free = ask(scripted(split), Allowance, budget=Budget(prices=PRICES))
    bound = ask(scripted(split), lambda: Allowance(max_cost=free.usage.cost / 2), budget=Budget(prices=PRICES))

    assert free.finish_reason != "budget"
    assert 0 < bound.usage.cost <= free.usage.cost / 2
    assert bound.detail == "tenant_max_cost"


def test_the_smaller_of_both_limits_decides() -> None:
    wide, narrow = 10**6, 1_000
    own = ask(scripted(split), lambda: Allowance(max_tokens=wide), budget=Budget(max_tokens=narrow))
    shared = ask(scripted(split), lambda: Allowance(max_tokens=narrow), budget=Budget(max_tokens=wide))

    assert (own.detail, shared.detail) == ("max_tokens", "tenant_max_tokens")
    assert own.usage == shared.usage


def spending(budget: Budget, *calls: ModelCall, allowance: Allowance | None = None) -> Spending:
    meter = Meter()
    for call in calls:
        meter.record(call)
    return Spending(
        budget, meter, clock=lambda: 0.0, should_stop=lambda: False, allowance=lambda: allowance or Allowance()
    )


def test_shared_seconds_are_those_of_the_models_side_by_side() -> None:
    calls = [ModelCall("answer", "scripted", wall_ms=600)] * 2

    spending(Budget(), *calls, allowance=Allowance(max_seconds=1.201)).check()
    with pytest.raises(BudgetSpent) as ended:
        spending(Budget(), *calls, allowance=Allowance(max_seconds=1.2)).check()
    assert ended.value.code == "tenant_max_seconds"


def test_time_on_a_device_costs_and_ends_the_budget() -> None:
    prices = {"scripted": Price(per_second=Decimal("0.5"))}
    calls = [ModelCall("answer", "scripted", wall_ms=1_500), ModelCall("embedding", "free", wall_ms=9_000)]
    left, spent = (spending(Budget(max_cost=Decimal(limit), prices=prices), *calls) for limit in ("0.76", "0.75"))

    assert spent.usage().cost == Decimal("0.75")
    with left.admitted("scripted", prompt_tokens=1, sample_tokens=1):
        pass
    with pytest.raises(BudgetSpent) as ended, spent.admitted("scripted", prompt_tokens=1, sample_tokens=1):
        pass
    assert ended.value.code == "max_cost"
    # A model that costs nothing may still be asked.
    with spent.admitted("free", prompt_tokens=1, sample_tokens=1):
        pass
