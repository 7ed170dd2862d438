"""Action CS: the events' support of each choice, and its weight next to the vote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.choices.support import CLOSEST, SAME, Support, choice_support
from gpu_workers.engine.answering.contract import Answer, Budget, QuestionInput
from gpu_workers.engine.answering.presets import SearchSettings, changed, settings_for
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import Meter, ModelError
from tests.engine.answering.world import (
    EMBEDDED,
    STREET,
    ScriptedChecker,
    ScriptedEmbedder,
    embed,
    event_id,
    make_video,
    models,
    says,
    scripted,
    street,
)

QUESTION = QuestionInput(
    "Who is there?",
    (
        "a dog runs across the street",
        "an orchestra tunes violins",
        "divers surface with masks",
    ),
)
CLOSE = replace(
    QUESTION, choices=("a person in black walks left", "a person in black walks right", "divers surface slowly")
)
"""A question whose first two choices are equally near, so that the votes decide."""
OURS = changed(settings_for("low", EMBEDDED), n=3, context_tokens=3_000)
W = 0.9
assert EMBEDDED.support is not None
WEIGHTS = EMBEDDED.support.weights.value


def supported(question: QuestionInput, graph: InMemoryGraph) -> Support | None:
    meter = Meter()
    spending = Spending(Budget(), meter, clock=lambda: 0.0, should_stop=lambda: False)
    asked = Asked(question, graph, models(scripted(says("A")), calibration=EMBEDDED), OURS, searched=question.question)
    return choice_support(asked, Calls(asked.models, spending=spending, meter=meter, in_flight=1))


def shares(question: QuestionInput, graph: InMemoryGraph) -> tuple[float, ...]:
    support = supported(question, graph)
    return support.shares if support else ()


def ask(
    answers: Any,
    question: QuestionInput = QUESTION,
    settings: SearchSettings = OURS,
    *,
    graph: InMemoryGraph | None = None,
    budget: Budget | None = None,
    embedder: ScriptedEmbedder | None = None,
) -> Answer:
    asked = models(scripted(answers), calibration=EMBEDDED)
    if embedder:
        asked = replace(asked, text_embedder=embedder)
    return answer_question(question, graph or street(), asked, settings=settings, budget=budget)


def weighed(answer: Answer) -> Any:
    (node,) = [node for node in answer.nodes if node.action == "CS"]
    return node


# --- support by the events -------------------------------------------------------------------------------------------


def test_the_shares_are_a_softmax_of_similarity_words_and_terms() -> None:
    events = ("a dog barks", "a dog sleeps", "a boat sails")
    choices = ("a dog walks home", "a boat walks home", "thunder rolls slowly")

    means = np.array([np.mean([float(embed(event) @ embed(choice)) for event in events]) for choice in choices])
    event_words = [embed(word) for word in ("dog", "barks", "sleeps", "boat", "sails")]
    choice_words = [[embed(word) for word in choice.split() if word != "a"] for choice in choices]
    words = np.array(
        [np.mean([max(float(word @ other) for other in event_words) for word in group]) for group in choice_words]
    )
    assert words[0] == words[1] > words[2]
    # Smoothed: a dog is in two of the three texts, a boat in one, and nobody says seen, walks or home.
    dog, boat, unsaid = (math.log(4 / (1 + n)) + 1 for n in (2, 1, 0))
    all_texts = [(1 + math.log(2)) * dog, boat, boat, boat, boat]
    terms = np.array(
        [
            dog * all_texts[0] / math.hypot(dog, unsaid, unsaid, unsaid),
            boat * boat / math.hypot(boat, unsaid, unsaid, unsaid),
            0.0,
        ]
    ) / math.hypot(*all_texts)
    scores = (words - words.mean()) / (words.std() + SAME)
    levels = WEIGHTS.similarity * means + WEIGHTS.words * scores + WEIGHTS.terms * terms
    powers = np.exp(levels)
    measured = shares(QuestionInput("What is seen?", choices), InMemoryGraph([make_video(events)]))

    assert measured == pytest.approx(tuple(powers / powers.sum()), rel=1e-5)
    assert sum(measured) == pytest.approx(1.0)
    assert measured[0] > measured[1] > measured[2] > 0.0


def test_the_question_adds_to_the_terms_of_a_choice() -> None:
    """Each choice shares one term with the events. The question's verb adds a second one for the dog."""
    graph = InMemoryGraph([make_video(("a red boat sails", "a red boat sails", "a dog barks"))])
    choices = ("boat somewhere nearby today", "dog somewhere nearby today")

    def terms(question: str) -> NDArray[np.float64]:
        support = supported(QuestionInput(question, choices), graph)
        assert support is not None
        return support.parts.terms

    plain, with_verb = terms("What?"), terms("What barks?")
    assert plain[0] > plain[1] > 0
    assert with_verb[1] > plain[1]


def test_events_that_say_nothing_but_stop_words_share_no_terms() -> None:
    support = supported(QUESTION, InMemoryGraph([make_video(("it is", "they are"))]))

    assert support is not None
    assert support.parts.terms.tolist() == [0.0, 0.0, 0.0]
    assert sum(support.shares) == pytest.approx(1.0)


def test_only_the_closest_events_speak_for_a_choice() -> None:
    """Twenty more events of boats add nothing to as many events of boats as of dogs."""
    graph = InMemoryGraph([make_video(["dog"] * CLOSEST + ["boat"] * (CLOSEST + 20))])

    assert shares(QuestionInput("What is seen?", ("dog walks home", "boat walks home")), graph) == pytest.approx(
        (0.5, 0.5)
    )


def test_an_open_question_and_an_empty_scope_have_no_support() -> None:
    assert shares(QuestionInput("Who is there?"), street()) == ()
    assert shares(QUESTION, InMemoryGraph([])) == ()

    answer = ask(says("a dog"), QuestionInput("Who is there?"))
    assert (answer.text, answer.detail) == ("a dog", "unsupported")
    assert "CS" not in {node.action for node in answer.nodes}
    assert set(answer.signals) == {
        "score", "margin", "similarity", "supported", "contradicted", "head",
    }  # fmt: skip


# --- weight of the support -------------------------------------------------------------------------------------------


def test_vote_and_support_count_by_the_weight_and_the_trace_says_how() -> None:
    answer = ask(says("A", "same words"), CLOSE)

    node = weighed(answer)
    support = shares(CLOSE, street())
    assert (answer.choice, answer.finish_reason) == (0, "answered")
    assert (node.path, node.depth, node.answer) == ("CS", 1, CLOSE.choices[0])
    assert [(c.answer, c.choice) for c in node.candidates] == [(text, n) for n, text in enumerate(CLOSE.choices)]
    assert [c.agreement for c in node.candidates] == pytest.approx(support)
    totals = [(1 - W) * 1.0 + W * support[0], W * support[1], W * support[2]]
    assert [c.score for c in node.candidates] == pytest.approx(totals)
    assert node.score == pytest.approx(totals[0])
    assert answer.signals["score"] == pytest.approx(totals[0])
    assert answer.signals["margin"] == pytest.approx(totals[0] - max(totals[1:]))
    assert answer.signals["support"] == pytest.approx(support[0])
    assert answer.reasoning == "same words"


def test_without_weight_the_vote_is_left_alone() -> None:
    class Asked(ScriptedEmbedder):
        def __init__(self) -> None:
            self.texts: list[list[str]] = []

        def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
            self.texts.append(list(texts))
            return super().embed(texts, meter=meter)

    embedder = Asked()
    answer = ask(says("B", "same"), settings=changed(OURS, weight=0.0), embedder=embedder)

    assert (answer.choice, answer.signals["score"], answer.signals["margin"]) == (1, 1.0, 1.0)
    assert "support" not in answer.signals
    assert "CS" not in {node.action for node in answer.nodes}
    assert list(QUESTION.choices) not in embedder.texts
    ask(says("B", "same"), embedder=embedder)
    assert list(QUESTION.choices) in embedder.texts


def test_no_gpu_profile_weighs_support_and_the_paper_never_does() -> None:
    efforts = ("low", "medium", "high", "paper")

    assert [settings_for(effort, UNMEASURED).support.weight for effort in efforts] == [0.0] * 4
    embedded = [settings_for(effort, EMBEDDED).support.weight for effort in efforts]
    assert embedded == [W, W, W, 0.0]


@pytest.mark.parametrize("choices", [("3", "5", "7"), ("a dog runs across the street", "many cyclists", "the police")])
def test_where_a_choice_is_only_a_number_or_a_name_the_votes_decide_alone(choices: tuple[str, ...]) -> None:
    answer = ask([says("C", "seven"), says("C", "seven"), says("A", "three")], QuestionInput("Which?", choices))

    assert (answer.choice, answer.text, answer.reasoning) == (2, choices[2], "seven")
    assert "CS" not in {node.action for node in answer.nodes}
    assert "support" not in answer.signals


def test_many_choices_that_share_the_support_make_no_vote_too_weak_to_stand() -> None:
    """One sample has S 0.3. With an eighth of the support its total is 0.1 * 0.3 + 0.9 / 8 = 0.14, less than an answer
    needs. The vote alone is enough."""
    names = [f"rider{n}" for n in range(200)]
    untold = [name for name in names if not any(embed(name) @ embed(event) for event in STREET)]
    question = QuestionInput(
        "Who is the cyclist in green?", tuple(" ".join(untold[n : n + 3]) for n in range(0, 24, 3))
    )
    lone = changed(OURS, n=1)

    answer = ask(says("D"), question, lone)

    assert (answer.choice, answer.finish_reason) == (3, "answered")
    assert answer.signals["score"] == pytest.approx(0.3 * (1 - W) + W / 8)
    firm = ask(says("D"), question, changed(lone, lowest_answer=0.31))
    assert (firm.choice, firm.detail) == (None, "no_consensus")


def test_a_choice_that_nobody_voted_for_wins_by_overwhelming_support_and_cites_what_speaks_for_it() -> None:
    answer = ask(says("B", "an orchestra tunes", (2,)))

    assert (answer.choice, answer.text, answer.finish_reason) == (0, QUESTION.choices[0], "answered")
    assert answer.reasoning == ""
    support = shares(QUESTION, street())
    assert W * support[0] > (1 - W) + W * support[1]
    assert answer.citations[0].event_id == event_id(4)
    assert {citation.event_id for citation in answer.citations} <= {e.event_id for e in weighed(answer).events}
    assert [claim.text for claim in answer.claims] == [QUESTION.choices[0]]


def test_a_choice_that_was_outvoted_and_wins_by_support_keeps_its_words_and_citations() -> None:
    """The event that the sample named is cited, not the closest of all shown events."""
    question = replace(QUESTION, choices=("a dog runs home", "a cyclist rides home", "divers surface with masks"))

    def split(request: Any) -> Any:
        reply = says("A", "it barks", (1,)), says("B", "a song", (2,)), says("C", "masks", (2,))
        return list(reply)[: request.n] if request.n > 1 else reply[2]

    answer = ask(split, question, changed(OURS, weight=0.7, early_majority=False))

    # 0.7 times the lead is less than 0.3: the votes were needed.
    first, second, _ = shares(question, street())
    assert 0.7 * (first - second) < 0.3
    assert (answer.choice, answer.reasoning) == (0, "it barks")
    number = {event.number: event.event_id for node in answer.nodes for event in node.events if event.number}
    assert [citation.event_id for citation in answer.citations] == [number[1]]
    assert number[1] != event_id(4)


def test_where_no_vote_can_change_the_choice_one_sample_is_asked_for_its_words_alone() -> None:
    requests: list[Any] = []

    def script(request: Any) -> Any:
        requests.append(request)
        return says("A", "it barks", (1,))

    answer = ask(script, settings=changed(OURS, max_depth=3, n=8))

    assert [(request.stage, request.n) for request in requests] == [("answer", 1)]
    assert (answer.choice, answer.reasoning) == (0, "it barks")
    requests.clear()
    ask(script, CLOSE, changed(OURS, max_depth=1, n=8))
    assert sum(request.n for request in requests) > 1, "here a vote could"


def test_a_look_that_was_asked_for_by_name_is_taken_though_no_vote_can_change_the_choice() -> None:
    def looked(check: Any) -> list[str]:
        checker = ScriptedChecker(lambda request: says("A", "the frames show it"))
        seeing = models(scripted(says("B", "it runs")), checker=checker, calibration=EMBEDDED)
        question = replace(QUESTION, check=check)
        answer = answer_question(question, street(), seeing, settings=changed(OURS, check="on_doubt", gate=1.0))
        assert answer.choice == 0
        return [node.action for node in answer.nodes]

    assert "CA" in looked("frames")
    assert "CA" not in looked("auto")


def test_where_nothing_may_abstain_and_no_vote_can_change_the_choice_nobody_is_asked() -> None:
    reasoner = scripted(says("B"))

    answer = answer_question(
        QUESTION, street(), models(reasoner, calibration=EMBEDDED), settings=changed(OURS, abstain=False)
    )

    assert reasoner.requests == []
    assert (answer.choice, answer.text, answer.finish_reason) == (0, QUESTION.choices[0], "answered")
    assert answer.citations[0].event_id == event_id(4)
    assert answer.confidence > 0.5
    nothing = answer_question(
        QUESTION, InMemoryGraph([]), models(reasoner, calibration=EMBEDDED), settings=changed(OURS, abstain=False)
    )
    assert (nothing.choice, nothing.detail) == (None, "no_events")


# --- when there is no answer ---------------------------------------------------------------------------------------


def test_an_abstention_stands() -> None:
    answer = ask(says("insufficient"))

    assert (answer.choice, answer.text) == (None, "")
    assert (answer.finish_reason, answer.detail) == ("insufficient_evidence", "abstained")
    assert (answer.citations, answer.signals, answer.confidence) == ((), {}, None)
    assert weighed(answer).answer == QUESTION.choices[0]


def test_a_budget_that_ended_before_any_answer_leaves_the_best_supported_choice() -> None:
    reasoner = scripted(says("B"))
    spent = Budget(max_tokens=5)

    answer = answer_question(QUESTION, street(), models(reasoner, calibration=EMBEDDED), settings=OURS, budget=spent)

    assert reasoner.requests == []
    assert (answer.choice, answer.finish_reason, answer.detail) == (0, "budget", "max_tokens")
    assert answer.citations[0].event_id == event_id(4)
    assert {citation.event_id for citation in answer.citations} <= {e.event_id for e in weighed(answer).events}
    for other, settings in ((QUESTION, changed(OURS, weight=0.0)), (QuestionInput("Who is there?"), OURS)):
        none = ask(says("B"), other, settings, budget=spent)
        assert (none.choice, none.text, none.finish_reason) == (None, "", "budget")
        assert none.citations == ()


def test_an_abstention_stands_though_the_budget_ended_the_search_after_it() -> None:
    settings = changed(OURS, n=1, max_depth=2, requery=False)

    answer = ask(says("insufficient"), CLOSE, settings=settings, budget=Budget(max_calls=1))

    assert (answer.choice, answer.finish_reason, answer.detail) == (None, "budget", "max_calls")


def test_a_model_that_failed_is_an_error_whatever_the_events_say() -> None:
    answer = ask(ModelError("model_unavailable", "away", retryable=True))

    assert (answer.choice, answer.finish_reason, answer.detail) == (None, "error", "model_unavailable")


def test_an_embedder_that_fails_leaves_the_vote() -> None:
    class Failing(ScriptedEmbedder):
        def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
            if list(texts) == list(QUESTION.choices):
                raise ModelError("model_unavailable", "away", retryable=True)
            return super().embed(texts, meter=meter)

    answer = ask(says("B", "same"), embedder=Failing())

    assert (answer.choice, answer.finish_reason, answer.signals["score"]) == (1, "answered", 1.0)
    assert "CS" not in {node.action for node in answer.nodes}
