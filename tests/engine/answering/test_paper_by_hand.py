"""Preset `paper` against the paper's own numbers: the 13 paths of its figure 5, the cap of section 5.2, eq. 4 to 6.

The preset of the authors' code is next to it where the two differ (docs/methods.md).
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import SearchSettings, changed, settings_for, settings_of_authors
from gpu_workers.engine.answering.search.actions import State, step_backward, step_forward
from gpu_workers.engine.answering.search.consistency import Scoring, score_votes
from gpu_workers.engine.models.calibration import UNMEASURED, Fit
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.ports import Hit
from gpu_workers.engine.retrieval.fusion import RankedEvent, fuse, of_best_events
from tests.engine.answering.world import (
    Request,
    ScriptedChecker,
    ScriptedSimilarity,
    event_id,
    long_street,
    models,
    says,
    scripted,
)

QUESTION = QuestionInput("Which way does the person walk?", ("left", "right", "up"), effort="paper")
PAPER = settings_for("paper", UNMEASURED)
AUTHORS = settings_of_authors(models(scripted(says("A"))))


def test_the_preset_unrolls_to_1_4_and_13_answers_and_makes_no_other_call() -> None:
    reasoner = scripted(says("A"))
    answer = answer_question(QUESTION, long_street(), models(reasoner, checker=ScriptedChecker(lambda _: says("A"))))

    depths = Counter(node.path.count("/") + 1 for node in answer.nodes if node.action == "SA")
    assert depths == {1: 1, 2: 3, 3: 9}
    assert [sum(depths[d] for d in range(1, depth + 1)) for depth in (1, 2, 3)] == [1, 4, 13]
    # A re-query at the root and at each of its three children; every answer in one request of 8 samples.
    assert Counter(request.stage for request in reasoner.requests) == {"requery": 4, "answer": 13}
    assert (PAPER.tree.event_cap, PAPER.tree.drop_worst) == (16, 0.0)
    assert (PAPER.samples.n, PAPER.samples.trade_off) == (8, 0.3)
    assert 0.5 <= PAPER.samples.temperature <= 0.7


def test_the_authors_code_rewrites_the_first_query_and_writes_a_query_for_each_view() -> None:
    models_of_authors = models(reasoner := scripted(says("A")))
    answer_question(QUESTION, long_street(), models_of_authors, settings=AUTHORS)

    assert Counter(request.stage for request in reasoner.requests) == {"rewrite": 1, "requery": 4, "answer": 13}
    assert all("scene" in request.schema["properties"] for request in reasoner.asked("requery"))
    assert settings_of_authors(models_of_authors) == AUTHORS, "a strong reasoner changes none of it"


def test_the_paper_searches_by_the_question_alone_and_in_all_of_the_video() -> None:
    """The first retrieval is "based on the original query" (section 5.2), whatever time the question names."""
    question = QuestionInput("Which way does the person walk in the first ten seconds?", effort="paper")
    street = long_street()
    reasoner = scripted(says("A"))

    answer = answer_question(question, street, models(reasoner))

    assert "rewrite" not in {request.stage for request in reasoner.requests}
    assert answer.understood["time"] is None
    shown = {event.event_id for node in answer.nodes for event in node.events}
    assert max(event.span.start_ms for event in street.load_events(list(shown)).values()) > 10_000
    medium = answer_question(replace(question, effort="medium"), street, models(scripted(says("A"))))
    assert medium.understood["time"] is not None


def test_each_view_gives_its_best_four_events() -> None:
    """Figure 4 shows K = 4. The events have the similarities 0.9, 0.8 … 0.5 in the event view; 0.5 is left out, and the
    Borda scores are shares of 0.9 + 0.8 + 0.7 + 0.6 = 3."""
    hits = [Hit(event_id(n), 0.9 - 0.1 * n, "event") for n in range(5)]

    ranking = fuse({"event": of_best_events(hits, PAPER.retrieval.per_view)})

    assert [event.event_id for event in ranking] == [event_id(n) for n in range(4)]
    assert [event.score for event in ranking] == pytest.approx([0.3, 0.8 / 3, 0.7 / 3, 0.2])


def test_a_view_counts_events_and_adds_up_what_it_found_of_each() -> None:
    """Two frames of 0.3 are an event of 0.6, which comes before one frame of 0.5."""
    hits = [Hit(event_id(1), 0.5, "frame", uuid4()), *(Hit(event_id(2), 0.3, "frame", uuid4()) for _ in range(2))]

    assert {hit.event_id for hit in of_best_events(hits, 1)} == {event_id(2)}


def asked_of(events: int, settings: SearchSettings = PAPER) -> Asked:
    return Asked(QUESTION, long_street(events), models(scripted(says("A"))), settings, searched=QUESTION.question)


@pytest.mark.parametrize(("action", "towards"), [("F", 1), ("B", -1)])
def test_a_full_list_is_cut_by_rank_as_by_hand(action: str, towards: int) -> None:
    """16 events with scores 1, 0.97 … 0.55. Each brings its neighbour at 0.9 of its score: 0.9, 0.873 … 0.495. The best
    16 of these 32 stay, down to 0.738; 0.73 is cut."""
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
@pytest.mark.parametrize(("events", "kept"), [(4, 4), (5, 4), (7, 6), (8, 7)])
def test_the_authors_drop_the_worst_fifth_before_a_step_and_the_paper_drops_nothing(
    action: str, towards: int, events: int, kept: int
) -> None:
    """A fifth of 7 is 1.4: the authors drop one event, the last of the ranking, and its neighbour is never added."""
    numbers = [10 * n + 10 for n in range(events)]
    state = State("", tuple(RankedEvent(event_id(number), 1.0 - 0.03 * n) for n, number in enumerate(numbers)))
    step = step_forward if action == "F" else step_backward

    for settings, sources in ((AUTHORS, kept), (PAPER, events)):
        listed = {event.event_id for event in step(asked_of(200, settings), state).events}

        assert listed == {event_id(number + offset) for number in numbers[:sources] for offset in (0, towards)}


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
    looks = [node for node in answer.nodes if node.action == "CA"]
    assert [len(node.candidates) for node in looks] == [8, 8], "CA draws as many samples as SA"


def test_without_eyes_the_best_node_answers() -> None:
    answer = answer_question(QUESTION, long_street(), models(scripted(voting)))

    assert (answer.text, answer.finish_reason) == ("up", "answered")


@pytest.mark.parametrize(("trade_off", "text"), [(0.3, "up"), (1.0, "left"), (0.0, "up")])
def test_lambda_weighs_agreement_against_thought(trade_off: float, text: str) -> None:
    """At 1 only agreement counts: left, which all eight of the root say. At 0 only thought: up, then left, both 1."""
    settings = changed(PAPER, trade_off=trade_off)
    answer = answer_question(QUESTION, long_street(), models(scripted(voting)), settings=settings)

    assert answer.text == text


# Open answers that contradict each other in nothing and repeat each other in nothing, each with the same thoughts.
PARTS = [
    "people walk along the wide street past shops with red signs",
    "cars and buses wait at the crossing while lights change to green",
]


def say(text: str, reasoning: str) -> ParsedAnswer:
    return ParsedAnswer(text, None, True, reasoning)


def scoring_of(settings: SearchSettings) -> Scoring:
    samples = settings.samples
    return Scoring(samples.trade_off, samples.rescale, samples.compatible, samples.traces)


def test_the_paper_counts_equal_answers_alone() -> None:
    """Eq. 4: each of two answers has one of two samples, 0.5; one trace has no pair (eq. 5); S = 0.3 * 0.5 (eq. 6).
    Ours may count them as one answer, worth 0.6."""
    samples = [say(text, "u v") for text in PARTS]
    near = replace(UNMEASURED.thresholds, compatible_meaning=Fit(0.0))

    def scored(scoring: Scoring) -> list[tuple[int, float, float, float]]:
        votes = score_votes(samples, ScriptedSimilarity(), thresholds=near, meter=Meter(), scoring=scoring)
        return [(len(vote.members), vote.agreement, vote.thought, pytest.approx(vote.score)) for vote in votes]

    assert scored(scoring_of(PAPER)) == [(1, 0.5, 0.0, 0.15)] * 2
    assert scored(Scoring()) == [(2, 1.0, 1.0, 0.6)]


def test_the_authors_compare_traces_by_precision_in_both_orders() -> None:
    """Two of four words and two of two: precision 0.5 and recall 1. F1 is 2/3 (eq. 5); the mean of both orders is 0.75.
    S = 0.3 + 0.7 of it."""
    samples = [say("left", "a b c d"), say("left", "a b")]

    for settings, thought in ((PAPER, 2 / 3), (AUTHORS, 0.75)):
        [vote] = score_votes(
            samples, ScriptedSimilarity(0.4), thresholds=UNMEASURED.thresholds, meter=Meter(),
            scoring=scoring_of(settings),
        )  # fmt: skip
        assert (vote.thought, vote.score) == pytest.approx((thought, 0.3 + 0.7 * thought))
