"""Each limit at each value that matters: a full run has N calls, and the limit admits k of them, for k = 0..N.

Calls are made one at a time, so that a limit ends the run at one defined call; the last test makes them in parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest

from gpu_workers.engine.answering.budget import Admission, Spending
from gpu_workers.engine.answering.contract import INSUFFICIENT, Answer, Budget, Price, QuestionInput
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.answering.presets import SearchSettings, settings_for
from gpu_workers.engine.answering.reading.call import REPLY_TOKENS
from gpu_workers.engine.answering.reading.reading import LEAST_CALLS, READING_TOKENS
from gpu_workers.engine.models.calibration import UNMEASURED
from tests.engine.answering.recordings import graph_of, park
from tests.engine.answering.replies import by_schema
from tests.engine.answering.served import BABBLE, CHOICES, INSPECTING, MODEL, Served, chat_calls
from tests.scripted_openai import ScriptedRequest

PRICES = {MODEL: Price(Decimal(1_000), Decimal(100), Decimal(4_000))}
EFFORTS = {
    "paper": replace(settings_for("paper", UNMEASURED), in_flight=1),
    "high": replace(settings_for("high", UNMEASURED), in_flight=1),
    "inspecting": replace(INSPECTING, in_flight=1),
}
SECONDS_PER_CALL = 1_000.0


@dataclass(frozen=True, slots=True)
class Reserved:
    """Maximum consumption of one admitted call."""

    tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class FullRun:
    """The calls of a run without limits, in order, with their requests, replies and reservations."""

    served: Served
    settings: SearchSettings
    requests: tuple[ScriptedRequest, ...]
    spent: tuple[tuple[int, int], ...]
    reserved: tuple[Reserved, ...]
    answer: Answer

    @property
    def n(self) -> int:
        return len(self.requests)

    def tokens_after(self, calls: int) -> int:
        return sum(prompt + written for prompt, written in self.spent[:calls])

    def cost_after(self, calls: int) -> Decimal:
        return sum((cost_of(*pair) for pair in self.spent[:calls]), Decimal(0))

    def ask(self, budget: Budget, **more: Any) -> Answer:
        self.served.forget()
        return self.served.ask(settings=self.settings, budget=budget, **more)


def cost_of(prompt: int, written: int) -> Decimal:
    return Decimal(prompt) / 1_000 + Decimal(written) * 4 / 1_000


@contextmanager
def noting(reserved: list[Reserved]) -> Iterator[None]:
    """Return a Spending that notes the reservation of each open call."""
    admitted = Spending.admitted

    @contextmanager
    def noted(self: Spending, model: str, *, prompt_tokens: int, sample_tokens: int, n: int = 1) -> Iterator[Admission]:
        with admitted(self, model, prompt_tokens=prompt_tokens, sample_tokens=sample_tokens, n=n) as admission:
            cost = n * cost_of(prompt_tokens, sample_tokens)
            reserved.append(Reserved(n * (prompt_tokens + sample_tokens), cost))
            yield admission

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spending, "admitted", noted)
        yield


@pytest.fixture(scope="module", params=EFFORTS)
def full(request: pytest.FixtureRequest) -> Iterator[FullRun]:
    settings = EFFORTS[request.param]
    reserved: list[Reserved] = []
    with Served(wordy=True) as served:
        with noting(reserved):
            answer = served.ask(settings=settings, budget=Budget(prices=PRICES))
        requests = tuple(served.server.requests)
        assert (answer.finish_reason, len(reserved)) == ("answered", len(requests))
        yield FullRun(served, settings, requests, tuple(served.billed), tuple(reserved), answer)


def begins_alike(full: FullRun, calls: int) -> None:
    """Check that the calls made are the first calls of the full run, word for word; or that none of them reads the
    question, if the budget would leave no answer after that call."""
    made = full.served.server.requests
    if full.requests[0].schema_name == "read" and 0 < len(made) < LEAST_CALLS and made[0].schema_name != "read":
        assert len(made) == calls
        assert "read" not in full.served.stages
        return
    assert [(request.schema_name, request.text, request.n) for request in made] == [
        (request.schema_name, request.text, request.n) for request in full.requests[:calls]
    ]


def is_best_so_far(answer: Answer, served: Served) -> None:
    """Check that there is an answer if and only if a node had one, and that a node gave it."""
    given = {node.answer for node in answer.nodes if node.answer not in (None, INSUFFICIENT)}
    assert (answer.text != "") == bool(given)
    assert answer.text in {"", *given}
    readable = [request for request in served.server.requests if request.schema_name in ("answer", "repair")]
    readable = [request for request in readable if "Searches that found" not in request.text]
    assert (answer.text != "") == bool(readable), "the first answer that was read is not lost"
    assert answer.choice in ((None,) if not given else (1, 2))
    assert answer.text == ("" if answer.choice is None else CHOICES[answer.choice])
    calls = chat_calls(answer)
    assert len(calls) == len(served.server.requests)
    assert sum(call.prompt_tokens + call.completion_tokens for call in calls) == sum(map(sum, served.billed))


def ended(full: FullRun, answer: Answer, *, calls: int, limit: str) -> None:
    is_best_so_far(answer, full.served)
    if calls < full.n:
        reason = "canceled" if limit == "canceled" else "budget"
        assert (answer.finish_reason, answer.detail) == (reason, limit), calls
    else:
        assert (answer.finish_reason, answer.text) == ("answered", full.answer.text)


def test_the_full_runs_are_what_they_should_be(full: FullRun) -> None:
    stages = [request.schema_name for request in full.requests]
    unread = full.settings.effort == "paper"
    assert stages[:2] == ["condense", "answer"] if unread else stages[:2] == ["read", "answer"]
    assert {"requery", "repair", "observe"} <= set(stages)
    if full.settings.effort == "paper":
        assert (stages.count("answer"), stages.count("requery"), stages.count("verify")) == (13, 4, 0)
    assert full.n > 12
    assert full.tokens_after(full.n) == full.answer.usage.prompt_tokens + full.answer.usage.completion_tokens
    assert full.cost_after(full.n) == full.answer.usage.cost


def test_max_calls(full: FullRun) -> None:
    for calls in range(full.n + 1):
        answer = full.ask(Budget(max_calls=calls))

        begins_alike(full, calls)
        ended(full, answer, calls=calls, limit="max_calls")


def test_max_seconds(full: FullRun) -> None:
    """Every call takes the same time, so the limit after k of them admits k."""
    asked = full.served.server.requests
    for calls in range(full.n + 1):
        answer = full.ask(Budget(max_seconds=calls * SECONDS_PER_CALL), clock=lambda: len(asked) * SECONDS_PER_CALL)

        begins_alike(full, calls)
        ended(full, answer, calls=calls, limit="max_seconds")


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_what_is_consumed_never_passes_its_limit(full: FullRun, limit: str) -> None:
    """The smallest limit for the first k calls of the full run admits them, and is kept."""
    spent = full.tokens_after if limit == "max_tokens" else full.cost_after
    least: Any = 0
    for calls in range(full.n + 1):
        if calls:
            due = full.reserved[calls - 1]
            least = max(least, spent(calls - 1) + (due.tokens if limit == "max_tokens" else due.cost))
        below = full.settings.effort == "paper" and limit == "max_tokens"
        for bound in {least, max(0, least - 1)} if below else {least}:
            budget = Budget(**{limit: bound}, prices=PRICES)  # type: ignore[arg-type]
            answer = full.ask(budget)

            used = answer.usage.cost
            if limit == "max_tokens":
                used = Decimal(answer.usage.prompt_tokens + answer.usage.completion_tokens)
            assert used <= bound, (calls, bound)
            made = len(full.served.server.requests)
            is_best_so_far(answer, full.served)
            if full.requests[0].schema_name == "read" and not full.served.stages["read"]:
                reading = READING_TOKENS + REPLY_TOKENS
                most = reading if limit == "max_tokens" else cost_of(READING_TOKENS, REPLY_TOKENS)
                assert bound < most, "the question is read if the budget holds it"
            elif bound == least:
                assert made >= calls
                same = [request.text for request in full.served.server.requests[:calls]]
                assert same == [request.text for request in full.requests[:calls]]
            assert answer.finish_reason in ("budget", "answered")
            if answer.finish_reason == "budget":
                assert answer.detail == limit
            else:
                assert answer.text != ""


def test_a_question_is_canceled_after_every_call(full: FullRun) -> None:
    asked = full.served.server.requests
    for calls in range(full.n + 1):
        answer = full.ask(Budget(), should_stop=lambda calls=calls: len(asked) >= calls)  # type: ignore[misc]

        begins_alike(full, calls)
        ended(full, answer, calls=calls, limit="canceled")


@pytest.mark.parametrize("effort", ["paper", "high"])
def test_calls_made_side_by_side_keep_every_limit_too(effort: str) -> None:
    settings = replace(EFFORTS[effort], in_flight=16)
    with Served(wordy=True) as served:
        free = served.ask(settings=settings, budget=Budget(prices=PRICES))
        tokens = free.usage.prompt_tokens + free.usage.completion_tokens
        calls = len(served.server.requests)
        for eighths in range(1, 16, 2):
            for budget in (
                Budget(max_calls=calls * eighths // 16),
                Budget(max_tokens=tokens * eighths // 8),
                Budget(max_cost=free.usage.cost * eighths / 8, prices=PRICES),
            ):
                served.forget()
                answer = served.ask(settings=settings, budget=budget)

                assert len(served.server.requests) <= (budget.max_calls or calls)
                used = answer.usage.prompt_tokens + answer.usage.completion_tokens
                assert used <= (budget.max_tokens or 10 * tokens)
                assert answer.usage.cost <= (budget.max_cost or 0)
                is_best_so_far(answer, served)


def test_a_run_that_babbles_is_the_one_with_a_repair(full: FullRun) -> None:
    repairs = [request for request in full.requests if request.schema_name == "repair"]
    assert repairs
    assert all(BABBLE in request.text for request in repairs)


# --- every method ----------------------------------------------------------------------------------------------------

MEDIUM = replace(settings_for("medium", UNMEASURED), in_flight=1)
OTHERS = [name for name in METHODS if name != "ava"]
"""Methods whose number of calls depends on what is left, so that their last calls may be others than in a full run."""


KEPT = {"videoagent_mem": 2}
"""Number of the last calls that a budget changes: those that are kept to finish, one for each loop inside another."""


class OtherRun:
    """A method over the park without limits, and with limits after that."""

    requests: tuple[ScriptedRequest, ...] = ()
    spent: tuple[tuple[int, int], ...] = ()
    answer: Answer

    def __init__(self, served: Served, method: str) -> None:
        self.served, self.method = served, method

    def ask(self, budget: Budget, **more: Any) -> Answer:
        self.served.forget()
        question = QuestionInput("What does the boy do after drinking?", CHOICES, method=self.method)
        return self.served.ask(question, graph=graph_of(park()), settings=MEDIUM, budget=budget, **more)

    def begun_alike(self, calls: int) -> None:
        """Check that the first calls are those of the full run, word for word."""
        made = [(request.schema_name, request.text) for request in self.served.server.requests[:calls]]
        assert made == [(request.schema_name, request.text) for request in self.requests[: len(made)]]

    def is_best_so_far(self, answer: Answer, limit: str) -> None:
        """Check that an answer that some node gave is not lost, and that what was consumed is what was billed."""
        given = {node.answer for node in answer.nodes} - {None, INSUFFICIENT}
        assert answer.text in {"", *given}
        if answer.finish_reason in ("budget", "canceled"):
            assert answer.detail == limit
            assert bool(answer.text) == bool(given)
        else:
            assert answer.finish_reason in ("answered", "insufficient_evidence")
        calls = chat_calls(answer)
        assert len(calls) == len(self.served.server.requests)
        assert sum(call.prompt_tokens + call.completion_tokens for call in calls) == sum(map(sum, self.served.billed))


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest) -> Iterator[OtherRun]:
    with Served(by_schema(decided=True), wordy=True) as served:
        run = OtherRun(served, request.param)
        run.answer = run.ask(Budget(prices=PRICES))
        run.requests = tuple(served.server.requests)
        run.spent = tuple(served.billed)
        assert run.answer.finish_reason == "answered", run.answer.detail
        yield run


def test_max_calls_of_every_method(other: OtherRun) -> None:
    for calls in range(len(other.requests) + 1):
        answer = other.ask(Budget(max_calls=calls))

        assert len(other.served.server.requests) <= calls
        other.begun_alike(calls - KEPT.get(other.method, 1))
        other.is_best_so_far(answer, "max_calls")
    assert answer.text == other.answer.text


def test_max_seconds_of_every_method(other: OtherRun) -> None:
    asked = other.served.server.requests
    for calls in range(len(other.requests) + 1):
        answer = other.ask(Budget(max_seconds=calls * SECONDS_PER_CALL), clock=lambda: len(asked) * SECONDS_PER_CALL)

        assert len(asked) <= calls
        other.begun_alike(calls)
        other.is_best_so_far(answer, "max_seconds")


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_no_method_consumes_more_than_its_limit(other: OtherRun, limit: str) -> None:
    tokens = sum(map(sum, other.spent))
    cost = sum((cost_of(*pair) for pair in other.spent), Decimal(0))
    for tenths in range(0, 21, 2):
        bound: Any = tokens * tenths // 10 if limit == "max_tokens" else cost * tenths / 10
        answer = other.ask(Budget(**{limit: bound}, prices=PRICES))  # type: ignore[arg-type]

        used: Any = answer.usage.cost
        if limit == "max_tokens":
            used = answer.usage.prompt_tokens + answer.usage.completion_tokens
        assert used <= bound, tenths
        other.is_best_so_far(answer, limit)


def test_every_method_is_canceled_after_every_call(other: OtherRun) -> None:
    asked = other.served.server.requests
    for calls in range(len(other.requests) + 1):
        answer = other.ask(Budget(), should_stop=lambda calls=calls: len(asked) >= calls)  # type: ignore[misc]

        assert len(asked) == min(calls, len(other.requests))
        other.begun_alike(calls)
        other.is_best_so_far(answer, "canceled")
