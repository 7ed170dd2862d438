"""What a question will take, before it is asked: the calls and tokens of its scan. No model is asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import TYPICAL
from gpu_workers.engine.answering.routes import foresight
from gpu_workers.engine.answering.routes.foresight import Foresight, foresee
from gpu_workers.engine.answering.verdict_store import VerdictsInMemory
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import EMBEDDED_REASONER, UNMEASURED, Calibration
from gpu_workers.engine.models.token_counts import likely_tokens, tokens_of
from tests.engine.answering.routes.test_scan import HOW_OFTEN, honest, odds
from tests.engine.answering.world import EMBEDDED, Request, ScriptedReasoner, make_video, models

LONG = [f"a person stands at the counter of a small shop and reads a paper, take {n}" for n in range(300)]


class ByteReasoner(ScriptedReasoner):
    """Cuts prompts by bytes, as served models do."""

    def count_tokens(self, text: str) -> int:
        return tokens_of(text)


def foreseen(
    question: str, graph: InMemoryGraph, *, store: VerdictsInMemory | None = None, small: bool = False, **wishes: Any
) -> Foresight:
    return foresee(
        QuestionInput(question, **wishes),
        graph,
        reasoner=EMBEDDED_REASONER if small else ScriptedReasoner.name,
        capabilities=TYPICAL,
        verdicts=store or VerdictsInMemory(),
    )


def scanned(
    question: str,
    graph: InMemoryGraph,
    script: Callable[[Request], Any],
    *,
    store: VerdictsInMemory | None = None,
    calibration: Calibration = UNMEASURED,
    **wishes: Any,
) -> list[Request]:
    reasoner = ByteReasoner(script)
    if calibration is EMBEDDED:
        reasoner.name = EMBEDDED_REASONER
    answer_question(QuestionInput(question, **wishes), graph, models(reasoner, calibration=calibration), verdicts=store)
    return reasoner.asked("scan")


@pytest.mark.parametrize("effort", ["low", "medium"])
def test_a_scan_makes_the_calls_that_were_foreseen(effort: Any) -> None:
    graph = InMemoryGraph([make_video(LONG)])
    expected = foreseen("How often does somebody eat?", graph, effort=effort)
    requests = scanned("How often does somebody eat?", graph, honest, effort=effort)
    assert (expected.understood.route, expected.certain) == ("scan", True)
    assert expected.calls == len(requests) == 19
    assert expected.prompt_tokens == pytest.approx(sum(likely_tokens(one.text) for one in requests), rel=0.1)
    assert expected.seconds > 0


def test_what_is_asked_for_as_always_true_is_judged_twice() -> None:
    graph, question = InMemoryGraph([make_video(LONG)]), "Does the man always eat?"
    expected, requests = foreseen(question, graph), scanned(question, graph, honest)
    assert expected.calls == len(requests) == 38
    assert expected.prompt_tokens == pytest.approx(sum(likely_tokens(one.text) for one in requests), rel=0.1)


def test_of_a_wide_scope_some_events_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, question = InMemoryGraph([make_video(LONG)]), "How often does somebody eat?"
    whole = foreseen(question, graph)
    monkeypatch.setattr(foresight, "MOST_READ", 64)
    part = foreseen(question, graph)
    assert part.calls == pytest.approx(whole.calls, abs=1)
    assert part.prompt_tokens == pytest.approx(whole.prompt_tokens, rel=0.1)
    assert foreseen(question, InMemoryGraph([make_video(LONG * 4)]), effort="low").calls == 40


def test_a_small_reasoner_judges_one_event_at_a_time() -> None:
    graph, question = InMemoryGraph([make_video(LONG[:20])]), "How often does somebody read what is in their hand?"
    expected = foreseen(question, graph, small=True)
    requests = scanned(question, graph, lambda _: odds(-3.0), calibration=EMBEDDED)
    assert expected.calls == len(requests) == 20
    assert expected.completion_tokens == len(requests)


def test_verdicts_that_are_known_are_not_foreseen_again() -> None:
    graph, store = InMemoryGraph([make_video(LONG[:40])]), VerdictsInMemory()
    first = foreseen(HOW_OFTEN, graph, store=store)
    assert (first.calls, store.batches) == (3, 0)
    assert len(scanned(HOW_OFTEN, graph, honest, store=store)) == 3
    again = foreseen(HOW_OFTEN, graph, store=store)
    assert (again.calls, again.prompt_tokens) == (0, 0)


def test_words_alone_cost_nothing() -> None:
    graph = InMemoryGraph([make_video(LONG[:40])])
    found = foreseen('How many times is "paper" mentioned?', graph)
    assert (found.understood.route, found.calls, found.prompt_tokens) == ("scan", 0, 0)


@pytest.mark.parametrize(
    ("question", "wishes", "route", "certain"),
    [
        ("What does the man wear?", {}, "search", True),
        ("Is the man always at the counter?", {}, "scan", True),
        ("What is usually at the counter?", {}, "search", False),
        ("What is usually at the counter?", {"effort": "low"}, "search", True),
        ("What is this video about?", {}, "whole", True),
        ("What does the man wear?", {"route": "scan"}, "scan", True),
    ],
)
def test_the_route_is_the_one_that_the_rules_choose(question: str, wishes: Any, route: str, certain: bool) -> None:
    found = foreseen(question, InMemoryGraph([make_video(LONG[:40])]), **wishes)
    assert (found.understood.route, found.certain) == (route, certain)
    assert (found.calls > 0) == (route == "scan")


def test_a_time_that_no_video_has_costs_nothing() -> None:
    graph = InMemoryGraph([make_video(LONG[:40])])
    assert foreseen("How many times does a person wave after 5:00:00?", graph).calls == 0
    assert foreseen("How many times does a person wave after 0:01:00?", graph).calls < foreseen(HOW_OFTEN, graph).calls
