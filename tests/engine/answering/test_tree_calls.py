"""When the calls of a tree begin: level by level, and all calls of a level together."""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.budget import Allowance
from gpu_workers.engine.answering.contract import Answer, Budget, PartialAnswer, Price, QuestionInput
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import ModelError
from tests.engine.answering.world import REQUERY, Request, ScriptedReasoner, long_street, models, says, scripted

QUESTION = QuestionInput("Which way does the person walk?", ("left", "right", "up"), effort="paper")
PAPER = settings_for("paper", UNMEASURED)
STEPS = ("F", "B", "RQ")
STATES = ["", *STEPS, *(f"{a}/{b}" for a in STEPS for b in STEPS)]
ANSWERS = [f"{state}/SA".lstrip("/") for state in STATES]
REQUERIES = ["RQ", "F/RQ", "B/RQ", "RQ/RQ"]
PATHS = {zlib.crc32(path.encode()) % 2**31: path for path in (*REQUERIES, *ANSWERS)}
PATIENCE_S = 30


def path_of(request: Request) -> str:
    assert request.seed is not None
    return PATHS[request.seed]


def opinions(request: Request) -> Any:
    """Answer differently at every node, with different agreement."""
    place = ANSWERS.index(path_of(request))
    agreeing = 1 + place % 8
    return [says("ABC"[place % 3] if n < agreeing else "ABC"[n % 3], f"t{place % 5} {n % 3}") for n in range(request.n)]


@pytest.mark.parametrize("in_flight", [1, 3, 16])
def test_levels_are_kept_in_order_whatever_comes_in_first(in_flight: int) -> None:
    partials: list[PartialAnswer] = []

    answer = answer_question(
        QUESTION,
        long_street(),
        models(scripted(opinions)),
        settings=replace(PAPER, in_flight=in_flight),
        on_partial=partials.append,
    )

    assert [node.path for node in answer.nodes] == [
        "", "SA", *STATES[1:4], *ANSWERS[1:4], *STATES[4:], *ANSWERS[4:],
    ]  # fmt: skip
    assert [partial.level for partial in partials] == [1, 2, 3]


def test_one_call_at_a_time_is_made_level_by_level() -> None:
    reasoner = scripted(opinions)

    answer_question(QUESTION, long_street(), models(reasoner), settings=replace(PAPER, in_flight=1))

    made = [path_of(request) for request in reasoner.requests]
    assert made == ["SA", "RQ", *ANSWERS[1:4], *REQUERIES[1:], *ANSWERS[4:]]


LIMITS: dict[str, Mapping[str, Any]] = {
    "calls": {"budget": Budget(max_calls=1_000)},
    "tokens": {"budget": Budget(max_tokens=10**9)},
    "cost": {"budget": Budget(max_cost=Decimal(100), prices={"scripted": Price(Decimal(1))})},
    "a tenant's tokens": {"allowance": lambda: Allowance(max_tokens=10**9)},
}


class Watched(InMemoryGraph):
    """A long street that notes how many calls of the search had landed at each step forward."""

    def __init__(self) -> None:
        super().__init__([])
        vars(self).update(vars(long_street()))
        self.landed = 0
        self.steps: list[int] = []

    def next_events(self, event_ids: Any) -> Mapping[UUID, UUID]:
        self.steps.append(self.landed)
        return super().next_events(event_ids)

    def heard(self, stage: str, done: int, total: int, detail: str) -> None:
        if stage == "search":
            self.landed = done


def test_a_level_begins_when_the_one_above_is_complete() -> None:
    """Deep calls in flight would reserve the budget that the calls above them need."""
    graph = Watched()

    answer_question(QUESTION, graph, models(scripted(says("A"))), on_progress=graph.heard)

    # After the root's answer; then after one re-query and three answers more.
    assert graph.steps == [1, 5, 5, 5]


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_that_suffices_changes_no_call_and_no_node(limit: str) -> None:
    free, limited = scripted(opinions), scripted(opinions)

    without = answer_question(QUESTION, long_street(), models(free))
    within = answer_question(QUESTION, long_street(), models(limited), **LIMITS[limit])

    assert len(free.requests) == 17
    assert made(limited) == made(free)
    assert of_no_time(within) == of_no_time(without)


def made(reasoner: ScriptedReasoner) -> list[tuple[Any, ...]]:
    """Return everything that was asked, in no order."""
    return sorted(
        (request.stage, request.seed, request.n, request.max_tokens, request.text, repr(request.schema))
        for request in reasoner.requests
    )


def of_no_time(answer: Answer) -> list[Any]:
    return [replace(node, started_ms=0, wall_ms=0) for node in answer.nodes]


@pytest.mark.parametrize(
    ("calls", "paths", "errors"),
    [
        (1, ["", "SA"], set()),
        (2, ["", "SA"], set()),
        (3, ["", "SA", "F", "B", "F/SA", "B/SA"], {"B/SA"}),
        (5, ["", "SA", "F", "B", "RQ", "F/SA", "B/SA", "RQ/SA"], set()),
        (6, ["", "SA", "F", "B", "RQ", "F/SA", "B/SA", "RQ/SA", "B/RQ"], {"B/RQ"}),
    ],
)
def test_a_canceled_search_records_what_it_began_and_where_it_ended(
    calls: int, paths: list[str], errors: set[str]
) -> None:
    reasoner = scripted(says("A", "same"))

    answer = answer_question(
        QUESTION,
        long_street(),
        models(reasoner),
        settings=replace(PAPER, in_flight=1),
        should_stop=lambda: len(reasoner.requests) >= calls,
    )

    assert (answer.finish_reason, answer.detail) == ("canceled", "canceled")
    assert answer.text == "left"
    assert [node.path for node in answer.nodes] == paths
    assert {node.path: node.error for node in answer.nodes if node.error} == dict.fromkeys(errors, "canceled")
    assert len(reasoner.requests) == calls


def test_answers_in_flight_when_it_ends_are_kept() -> None:
    """The caller stops while level 2 is being answered: none of its answers is lost, and nothing new begins."""
    level = threading.Barrier(3)
    stopped = threading.Event()

    def script(request: Request) -> Any:
        path = path_of(request)
        if path in ("F/SA", "B/SA", "RQ/SA"):
            level.wait(PATIENCE_S)
            stopped.set()
            if path == "RQ/SA":
                raise ModelError("model_unavailable", "gone", retryable=False)
        return says("B", "same") if request.stage == "answer" else REQUERY

    answer = answer_question(QUESTION, long_street(), models(ScriptedReasoner(script)), should_stop=stopped.is_set)

    assert (answer.finish_reason, answer.choice) == ("canceled", 1)
    given = {node.path for node in answer.nodes if node.answer == "right"}
    assert given == {"SA", "F/SA", "B/SA"}
    assert not any(node.depth > 2 for node in answer.nodes)


def test_progress_counts_answers_and_re_queries() -> None:
    reports: list[tuple[int, int, str]] = []

    answer_question(
        QUESTION,
        long_street(),
        models(scripted(says("A"))),
        on_progress=lambda stage, done, total, detail: (
            reports.append((done, total, detail)) if stage == "search" else None
        ),
    )

    totals = [1, 2, *[5] * 3, *[8] * 3, *[17] * 9]
    assert [(done, total) for done, total, _ in reports] == list(enumerate(totals, start=1))
    details = [detail for _, _, detail in reports]
    assert details.count("other words") == 4
    assert all(re.fullmatch(r"[1-9]\d* events between \d\d:\d\d and \d\d:\d\d|other words", each) for each in details)


def test_a_graph_that_fails_fails_the_question_after_the_calls_in_flight() -> None:
    begun, ended = threading.Event(), threading.Event()

    class Broken(InMemoryGraph):
        def previous_events(self, event_ids: Any) -> Mapping[UUID, UUID]:
            assert begun.wait(PATIENCE_S)
            raise ConnectionError("the database is gone")

    def script(request: Request) -> Any:
        if path_of(request) == "SA":
            begun.set()
            ended.set()
        return says("A") if request.stage == "answer" else REQUERY

    graph = Broken([])
    vars(graph).update(vars(long_street()))
    with pytest.raises(ConnectionError):
        answer_question(QUESTION, graph, models(ScriptedReasoner(script)))

    assert ended.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]
