"""A refusal is doubted where a sample wrote an answer that the events support; it stands everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, Budget, QuestionInput
from gpu_workers.engine.answering.parsing import parse_answer
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from tests.engine.answering.world import QUERIES, Request, ScriptedReasoner, make_video, models, says, verdicts

STORY = ("three bottles stand on the table", "a man opens the gate")
ASKED = "What objects are placed on the table?"
BOTTLES = says("Three bottles stand on the table.", "E1 shows them") | {"sufficient": True}
REFUSES = says("", "nothing") | {"sufficient": False}


def ask(samples: Sequence[Any], *, effort: Any = "medium", verdict: str = "supported", **more: Any) -> Answer:
    def script(request: Request) -> Any:
        if request.stage == "rewrite":
            return QUERIES
        if request.stage == "verify":
            return verdicts(request, lambda text: verdict)
        return list(samples[: request.n])

    settings = changed(
        settings_for(effort, UNMEASURED), sa_ratio=1.0, n=len(samples), max_depth=1, check="off", early_majority=False
    )
    question = QuestionInput(ASKED, choices=more.get("choices", ()))
    graph, roles = InMemoryGraph([make_video(STORY)]), models(ScriptedReasoner(script))
    return answer_question(question, graph, roles, settings=settings, budget=more.get("budget"))


@pytest.mark.parametrize("effort", ["low", "medium"])
def test_one_sample_with_support_outweighs_two_that_abstain(effort: Any) -> None:
    answer = ask([REFUSES, BOTTLES, REFUSES], effort=effort)

    assert (answer.finish_reason, answer.text) == ("answered", "Three bottles stand on the table.")
    assert {claim.status for claim in answer.claims} == {"supported"}
    assert answer.signals["margin"] == 0.0


@pytest.mark.parametrize("effort", ["low", "medium"])
def test_an_answer_that_is_written_beside_the_refusal_counts_if_the_events_support_it(effort: Any) -> None:
    answer = ask([BOTTLES | {"sufficient": False}], effort=effort)
    assert (answer.finish_reason, answer.text) == ("answered", "Three bottles stand on the table.")


@pytest.mark.parametrize("text", ["An elephant swims under water.", "insufficient", "Not enough evidence.", ""])
@pytest.mark.parametrize("effort", ["low", "medium"])
def test_a_refusal_stands_where_nothing_supports_what_is_written_beside_it(effort: Any, text: str) -> None:
    answer = ask([says(text, "nothing") | {"sufficient": False}], effort=effort, verdict="unclear")
    assert (answer.finish_reason, answer.detail, answer.text) == (
        "insufficient_evidence", "abstained", "",
    )  # fmt: skip


def test_every_statement_must_be_supported() -> None:
    half = says("Three bottles stand on the table. An elephant swims.", "E1") | {"sufficient": False}
    assert ask([half], effort="low").detail == "abstained"


def test_a_choice_and_a_spent_budget_are_not_doubted() -> None:
    chosen = ask([says("insufficient"), says("A"), says("insufficient")], choices=("three bottles", "a cup"))
    assert (chosen.choice, chosen.finish_reason) == (None, "insufficient_evidence")
    spent = ask([REFUSES, BOTTLES, REFUSES], budget=Budget(max_calls=0))
    assert (spent.text, spent.finish_reason) == ("", "budget")


def test_what_is_written_beside_a_refusal_is_kept_apart_from_the_answer() -> None:
    parsed = parse_answer('{"sufficient": false, "answer": "Two cups.", "evidence": [1]}', ())
    assert parsed is not None
    assert (parsed.text, parsed.sufficient, parsed.withheld) == ("insufficient", False, "Two cups.")
