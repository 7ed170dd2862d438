"""Preset `paper` against the paper's own numbers: the 13 paths of its figure 5, the cap of section 5.2, eq. 4 to 6."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.answering.search.actions import State, step_backward, step_forward
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.retrieval.fusion import RankedEvent
from tests.engine.answering.world import Request, ScriptedChecker, event_id, long_street, models, says, scripted

QUESTION = QuestionInput("Which way does the person walk?", ("left", "right", "up"), effort="paper")
PAPER = settings_for("paper", UNMEASURED)


def test_the_preset_unrolls_to_1_4_and_13_answers_and_makes_no_other_call() -> None:
    reasoner = scripted(says("A"))
    answer = answer_question(QUESTION, long_street(), models(reasoner, checker=ScriptedChecker(lambda _: says("A"))))

    depths = Counter(node.path.count("/") + 1 for node in answer.nodes if node.action == "SA")
    assert depths == {1: 1, 2: 3, 3: 9}
    assert [sum(depths[d] for d in range(1, depth + 1)) for depth in (1, 2, 3)] == [1, 4, 13]
    # One rewrite; a re-query at the root and at each of its three children; every answer in one request of 8 samples.
    assert Counter(request.stage for request in reasoner.requests) == {"rewrite": 1, "requery": 4, "answer": 13}
    assert (PAPER.tree.event_cap, PAPER.tree.drop_worst) == (16, 0.2)
    assert (PAPER.samples.n, PAPER.samples.trade_off) == (8, 0.3)
    assert 0.5 <= PAPER.samples.temperature <= 0.7


def asked_of(events: int) -> Asked:
    return Asked(QUESTION, long_street(events), models(scripted(says("A"))), PAPER, searched=QUESTION.question)


@pytest.mark.parametrize(("action", "towards"), [("F", 1), ("B", -1)])
def test_a_full_list_is_cut_by_rank_as_by_hand(action: str, towards: int) -> None:
    """16 events with scores 1, 0.97 … 0.55. The worst 20 % go first: 3.2, so three, and 13 remain. Each brings its
    neighbour at 0.9 of its score: 0.9, 0.873 … 0.576. The best 16 of these 26 stay, down to 0.738; 0.73 is cut."""
    numbers = [10 * n + 10 for n in range(16)]
    state = State("", tuple(RankedEvent(event_id(number), 1.0 - 0.03 * n) for n, number in enumerate(numbers)))
    step = step_forward if action == "F" else step_backward

    child = step(asked_of(200), state)

    own, near = (lambda n: numbers[n]), (lambda n: numbers[n] + towards)
    expected = [
        (own(0), 1.0), (own(1), 0.97), (own(2), 0.94), (own(3), 0.91), (near(0), 0.9), (own(4), 0.88),
        (near(1), 0.873), (own(5), 0.85), (near(2), 0.846), (own(6), 0.82), (near(3), 0.819), (near(4), 0.792),
        (own(7), 0.79), (near(5), 0.765), (own(8), 0.76), (near(6), 0.738),
    ]  # fmt: skip
    assert [event.event_id for event in child.events] == [event_id(number) for number, _ in expected]
    assert [event.score for event in child.events] == pytest.approx([score for _, score in expected])


@pytest.mark.parametrize(("action", "towards"), [("F", 1), ("B", -1)])
@pytest.mark.parametrize(("events", "kept"), [(4, 4), (5, 4), (7, 6), (9, 8), (10, 8)])
def test_the_worst_fifth_by_rank_goes_before_a_step(action: str, towards: int, events: int, kept: int) -> None:
    """A fifth of 7 is 1.4: one event is dropped, the last of the ranking, and its neighbour is never added."""
    numbers = [10 * n + 10 for n in range(events)]
    state = State("", tuple(RankedEvent(event_id(number), 1.0 - 0.03 * n) for n, number in enumerate(numbers)))
    step = step_forward if action == "F" else step_backward

    listed = {event.event_id for event in step(asked_of(200), state).events}

    assert listed == {event_id(number + offset) for number in numbers[:kept] for offset in (0, towards)}


# Eight samples of each node: answers and reasoning traces, compared by the share of words they have in common.
VOTES: dict[str, list[tuple[str, str]]] = {
    # S_a 1, S_r 0: 0.3.
    "SA": [("A", f"root{n}") for n in range(8)],
    # B: S_a 4/8; of its 6 pairs 2 are equal and 4 share half: S_r 4/6; S 0.15 + 0.4667 = 0.6167.
    # C: S_a 4/8, S_r 1; S 0.15 + 0.7 = 0.85, the node's answer.
    "F/SA": [("B", "u v"), ("B", "u v"), ("B", "u w"), ("B", "u w"), *[("C", "x y")] * 4],
    # B: S_a 6/8; of 15 pairs 6 are equal and 9 share half: S_r 10.5/15; S 0.225 + 0.49 = 0.715. A: S_a 2/8, S_r 1; S
    # 0.075 + 0.7 = 0.775: two equal thoughts beat six different ones.
    "B/SA": [*[("B", "m n")] * 3, *[("B", "m o")] * 3, *[("A", "g h")] * 2],
    # B: S_a 7/8; every pair shares two words of three: S_r 2/3; S 0.2625 + 0.4667 = 0.7292.
    # A: S_a 1/8; one trace agrees with nothing: 0.0375.
    "RQ/SA": [*[("B", f"k l {n}") for n in range(7)], ("A", "z")],
}
ANSWERED = {"SA": ("left", 0.3), "F/SA": ("up", 0.85), "B/SA": ("left", 0.775), "RQ/SA": ("right", 0.2625 + 1.4 / 3)}
SHARES = {
    "F/SA": {"right": (0.5, 2 / 3, 0.15 + 1.4 / 3), "up": (0.5, 1.0, 0.85)},
    "B/SA": {"right": (0.75, 0.7, 0.715), "left": (0.25, 1.0, 0.775)},
    "RQ/SA": {"right": (0.875, 2 / 3, 0.2625 + 1.4 / 3), "left": (0.125, 0.0, 0.0375)},
}


def voting(request: Request) -> Any:
    path = next((path for path in VOTES if zlib.crc32(path.encode()) % 2**31 == request.seed), "")
    votes = VOTES.get(path) or [("A", f"{request.seed}-{n}") for n in range(8)]
    return [says(answer, trace) for answer, trace in votes[: request.n]]


def test_candidates_nodes_and_the_two_that_are_looked_at_are_those_of_eq_4_to_6() -> None:
    checker = ScriptedChecker(lambda _: says("B", "the frames show it"))
    answer = answer_question(QUESTION, long_street(), models(scripted(voting), checker=checker))

    nodes = {node.path: node for node in answer.nodes if node.action == "SA"}
    for path, (text, score) in ANSWERED.items():
        assert (nodes[path].answer, nodes[path].score) == (text, pytest.approx(score)), path
    for path, shares in SHARES.items():
        for candidate in nodes[path].candidates:
            found = (candidate.agreement, candidate.thought, candidate.score)
            assert found == pytest.approx(shares[str(candidate.answer)]), (path, candidate)
    deep = [node for path, node in nodes.items() if path.count("/") == 2]
    assert [node.score for node in deep] == pytest.approx([0.3] * 9)
    # Best is up (0.85); of the nodes that differ from it left (0.775) is the next, not right (0.729).
    assert {request.hypotheses for request in checker.requests} == {("up", "left")}
    assert sorted(node.path for node in answer.nodes if node.action == "CA") == ["B/CA", "F/CA"]
    assert answer.text == "right", "the frames decide"


def test_without_eyes_the_best_node_answers() -> None:
    answer = answer_question(QUESTION, long_street(), models(scripted(voting)))

    assert (answer.text, answer.finish_reason) == ("up", "answered")


@pytest.mark.parametrize(("trade_off", "text"), [(0.3, "up"), (1.0, "left"), (0.0, "up")])
def test_lambda_weighs_agreement_against_thought(trade_off: float, text: str) -> None:
    """At 1 only agreement counts: left, which all eight of the root say. At 0 only thought: up, then left, both 1."""
    settings = changed(PAPER, trade_off=trade_off)
    answer = answer_question(QUESTION, long_street(), models(scripted(voting)), settings=settings)

    assert answer.text == text
