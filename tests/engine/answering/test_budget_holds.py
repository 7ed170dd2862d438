"""Spending.holds says beforehand, and without a reservation, whether calls would be admitted."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_workers.engine.answering.budget import Allowance, Halt, Spending
from gpu_workers.engine.answering.contract import Budget, Price
from gpu_workers.engine.models.roles import Meter, ModelCall

MODEL = "model"
PRICES = {MODEL: Price(Decimal(1), Decimal(0), Decimal(4))}
few = st.one_of(st.none(), st.integers(0, 60))
money = st.one_of(st.none(), st.integers(0, 300).map(lambda n: Decimal(n) / 1_000_000))


def spending(
    budget: Budget, *, allowance: Allowance | None = None, stops: bool = False, elapsed: float = 0.0
) -> tuple[Spending, Meter]:
    meter = Meter()
    begun = iter([0.0])
    made = Spending(
        budget,
        meter,
        clock=lambda: next(begun, elapsed),
        should_stop=lambda: stops,
        allowance=lambda: allowance or Allowance(),
    )
    return made, meter


@given(
    max_calls=st.one_of(st.none(), st.integers(0, 3)),
    max_tokens=few,
    max_seconds=st.one_of(st.none(), st.integers(0, 3)),
    max_cost=money,
    tenant=st.tuples(few, st.one_of(st.none(), st.integers(0, 3)), money),
    used=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=3),
    asked=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    model=st.sampled_from([MODEL, "free"]),
    stops=st.booleans(),
)
def test_one_call_holds_exactly_if_it_would_be_admitted(
    max_calls: int | None,
    max_tokens: int | None,
    max_seconds: int | None,
    max_cost: Decimal | None,
    tenant: tuple[int | None, int | None, Decimal | None],
    used: list[tuple[int, int]],
    asked: tuple[int, int],
    model: str,
    stops: bool,
) -> None:
    budget = Budget(max_calls, max_tokens, max_seconds, max_cost, PRICES)
    made, meter = spending(budget, allowance=Allowance(*tenant), stops=stops, elapsed=1.0)
    for prompt, written in used:
        meter.record(ModelCall("answer", MODEL, 500, prompt_tokens=prompt, completion_tokens=written))

    holds = made.holds(1, *asked, model)
    again = made.holds(1, *asked, model)
    try:
        with made.admitted(model, prompt_tokens=asked[0], sample_tokens=asked[1]):
            admitted = True
    except Halt:
        admitted = False

    assert holds == again == admitted


@given(left=st.integers(0, 4), calls=st.integers(1, 4))
def test_several_calls_need_as_many_calls(left: int, calls: int) -> None:
    made, _ = spending(Budget(max_calls=left))

    assert made.holds(calls, 10, 10, MODEL) == (calls <= left)


@given(
    sizes=st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=4), most=st.integers(0, 90)
)
def test_calls_that_hold_together_are_admitted_one_after_another(sizes: list[tuple[int, int]], most: int) -> None:
    made, meter = spending(Budget(max_tokens=most))
    prompts, samples = sum(prompt for prompt, _ in sizes), sum(sample for _, sample in sizes)
    if not made.holds(len(sizes), prompts, samples, MODEL):
        assert prompts + samples > most
        return
    for prompt, sample in sizes:
        with made.admitted(MODEL, prompt_tokens=prompt, sample_tokens=sample):
            meter.record(ModelCall("answer", MODEL, 1, prompt_tokens=prompt, completion_tokens=sample))


def test_what_is_in_flight_is_taken() -> None:
    made, _ = spending(Budget(max_tokens=100))

    with made.admitted(MODEL, prompt_tokens=50, sample_tokens=10):
        assert made.holds(1, 30, 10, MODEL)
        assert not made.holds(1, 31, 10, MODEL)
    assert made.holds(1, 60, 40, MODEL)


def test_nothing_holds_for_a_question_that_is_canceled() -> None:
    made, _ = spending(Budget(), stops=True)

    assert not made.holds(1, 1, 1, MODEL)
    with pytest.raises(Halt):
        made.check()
