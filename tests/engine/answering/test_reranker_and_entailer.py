"""What a served reranker and a served entailer decide, and that an answer does without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.answering.answer import WITHOUT_EYES, answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.ending.verify import SURE, entailed_verdict
from gpu_workers.engine.answering.presets import RERANKED, changed, settings_with
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import AnswerModels, Entailment, Meter, ModelCall, ModelError
from gpu_workers.engine.ports import Hit
from gpu_workers.engine.retrieval.fusion import RankedEvent, reranked
from tests.engine.answering.world import (
    ScriptedChecker,
    event_id,
    long_street,
    make_video,
    models,
    says,
    scripted,
    street,
)

AWAY = ModelError("model_unavailable", "away", retryable=True)


class ScriptedReranker:
    """Finds passages relevant that hold a word."""

    name = "scripted reranker"

    def __init__(self, word: str, error: ModelError | None = None) -> None:
        self.word, self.error = word, error
        self.read: list[tuple[str, Sequence[str]]] = []

    def rerank(self, query: str, passages: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        self.read.append((query, passages))
        if self.error:
            raise self.error
        meter.record(ModelCall("rerank", self.name, 1, prompt_tokens=1, items=len(passages)))
        return np.asarray([0.9 if self.word in passage else 0.1 for passage in passages], dtype=np.float32)


class ScriptedEntailer:
    """Judges pairs by a function of premise and hypothesis that returns "entails", "contradicts" or "neutral"."""

    name = "scripted entailer"

    def __init__(self, script: Any) -> None:
        self.script = script
        self.read: list[tuple[str, str]] = []

    def entail(self, pairs: Sequence[tuple[str, str]], *, meter: Meter) -> list[Entailment]:
        self.read += pairs
        replies = [self.script(*pair) for pair in pairs]
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        meter.record(ModelCall("entailment", self.name, 1, prompt_tokens=1, items=len(pairs)))
        return [
            Entailment(*(0.9 if reply == kind else 0.05 for kind in ("entails", "neutral", "contradicts")))
            for reply in replies
        ]


# --- the reranker ---------------------------------------------------------------------------------------------------

QUESTION = QuestionInput("Which way does the person walk?", ("left", "right"))


def searched(reranker: Any, *, effort: Any = "medium", graph: InMemoryGraph | None = None) -> Answer:
    with_reranker = replace(models(scripted(says("A", "it is so"))), reranker=reranker)
    return answer_question(replace(QUESTION, effort=effort), graph or long_street(), with_reranker)


def test_a_reranker_orders_the_best_fifty_before_the_tree_begins() -> None:
    reranker = ScriptedReranker("street 6")

    answer = searched(reranker)

    ((query, passages),) = reranker.read
    assert query == "Which way does the person walk? left right"
    assert len(passages) == RERANKED
    relevant = sum("street 6" in passage for passage in passages)
    root = next(node for node in answer.nodes if node.path == "")
    summaries = {event_id(n): f"street {n % 7}" for n in range(120)}
    found = [summaries[event.event_id] == "street 6" for event in root.events]
    assert 0 < relevant < 16
    assert found == [True] * relevant + [False] * (len(found) - relevant)
    assert all("rerank" in event.found_by for event in root.events), "the trace shows it"
    assert [event.score for event in root.events] == sorted((event.score for event in root.events), reverse=True)
    assert [call.stage for call in answer.usage.calls if call.model == reranker.name] == ["rerank"]


def test_events_behind_the_head_keep_their_order_and_scores_their_places() -> None:
    ranking = [RankedEvent(event_id(n), 1.0 / (n + 1), (Hit(event_id(n), 0.5, "event"),)) for n in range(4)]

    order = reranked(ranking, "?", ["dull", "dull", "bright"], ScriptedReranker("bright"), meter=Meter())

    assert [event.event_id for event in order] == [event_id(n) for n in (2, 0, 1, 3)]
    assert [event.score for event in order] == [event.score for event in ranking]
    assert [[hit.view for hit in event.reasons] for event in order] == [["event", "rerank"]] * 3 + [["event"]]
    assert reranked([], "?", [], ScriptedReranker("bright"), meter=Meter()) == []


def test_effort_paper_never_asks_a_reranker() -> None:
    reranker = ScriptedReranker("street 6")

    searched(reranker, effort="paper")

    assert reranker.read == []
    served = replace(models(scripted(says("A"))), reranker=reranker)
    assert settings_with("paper", served) == settings_with("paper", models(scripted(says("A"))))


def test_without_its_reranker_a_question_is_answered_in_the_order_of_the_views() -> None:
    answer = searched(ScriptedReranker("street 6", AWAY))

    assert answer.finish_reason == "answered"
    root = next(node for node in answer.nodes if node.path == "")
    assert root.error == "model_unavailable"
    assert not any("rerank" in event.found_by for event in root.events)
    assert searched(ScriptedReranker("x"), graph=InMemoryGraph([])).detail == "no_events"


# --- the entailer ---------------------------------------------------------------------------------------------------

OPEN = QuestionInput("What does the dog do?")


def with_entailer(answers: Any, entailer: ScriptedEntailer) -> AnswerModels:
    return replace(models(scripted(answers)), entailer=entailer)


def test_answers_that_entail_each_other_are_one_and_those_that_do_not_are_two() -> None:
    """No word of these answers shows whether they are one: their stems differ, and so do their meanings or not."""

    def split(request: Any) -> Any:
        return [says(text, f"reason {n}") for n, text in enumerate(["it sprints", "it dashes", "it naps"][: request.n])]

    def one(premise: str, hypothesis: str) -> str:
        return "contradicts" if "naps" in premise or "naps" in hypothesis else "entails"

    settings = changed(settings_with("low", models(scripted("x"))), n=3, early_majority=False, lowest_answer=0.0)
    entailer = ScriptedEntailer(one)

    answer = answer_question(OPEN, street(), with_entailer(split, entailer), settings=settings)

    node = next(node for node in answer.nodes if node.action == "SA")
    assert [round(candidate.agreement, 2) for candidate in node.candidates] == [0.67, 0.67, 0.33]
    assert ("What does the dog do? it sprints", "What does the dog do? it dashes") in entailer.read

    apart = answer_question(
        OPEN, street(), with_entailer(split, ScriptedEntailer(lambda *_: "neutral")), settings=settings
    )
    node = next(node for node in apart.nodes if node.action == "SA")
    assert {round(candidate.agreement, 2) for candidate in node.candidates} == {0.33}


@pytest.mark.parametrize(
    ("verdict", "status"), [("entails", "supported"), ("contradicts", "contradicted"), ("neutral", "unverified")]
)
def test_an_entailer_decides_whether_a_passage_supports_a_claim(verdict: str, status: str) -> None:
    entailer = ScriptedEntailer(lambda premise, hypothesis: verdict)

    answering = with_entailer(says("a dog runs across the street", "", [5]), entailer)
    # A contradicted answer would be revised, and its evidence with it.
    settings = changed(settings_with("low", answering), revise=False)
    answer = answer_question(replace(OPEN, effort="low"), street(), answering, settings=settings)

    assert [citation.status for citation in answer.citations] == [status]
    assert [claim.status for claim in answer.claims] == [status]
    assert ("a dog runs across the street", "a dog runs across the street") in entailer.read


def test_a_bare_no_is_supported_by_a_passage_that_contradicts_the_question() -> None:
    entailer = ScriptedEntailer(lambda premise, hypothesis: "contradicts" if "dog" in premise else "neutral")
    question = QuestionInput("Does the dog sleep?", effort="low")

    answer = answer_question(
        question, InMemoryGraph([make_video(["a dog runs across the street"])]), with_entailer(says("No."), entailer)
    )

    assert [claim.status for claim in answer.claims] == ["supported"]


def test_an_entailer_that_fails_or_is_unsure_leaves_what_words_say() -> None:
    answer = answer_question(
        replace(OPEN, effort="low"),
        street(),
        with_entailer(says("a dog runs across the street", "", []), ScriptedEntailer(lambda *_: AWAY)),
    )

    assert answer.finish_reason == "answered"
    assert [claim.status for claim in answer.claims] == ["supported"], "the words are the same"
    unsure = Entailment(SURE - 0.01, 0.0, 0.31)
    assert entailed_verdict(unsure, denied=False) == "unverified"
    assert entailed_verdict(replace(unsure, entails=SURE), denied=True) == "contradicted"


def test_effort_paper_never_asks_an_entailer() -> None:
    entailer = ScriptedEntailer(lambda *_: "entails")

    answer_question(replace(OPEN, effort="paper"), street(), with_entailer(says("it runs"), entailer))

    assert entailer.read == []


# --- what an answer had to do without --------------------------------------------------------------------------------


def test_an_answer_without_eyes_says_so() -> None:
    blind = ScriptedChecker(lambda request: says("A"))
    blind.sees = False
    for checker, notes in (
        (None, (WITHOUT_EYES,)),
        (blind, (WITHOUT_EYES,)),
        (ScriptedChecker(lambda request: says("A")), ()),
    ):
        answer = answer_question(OPEN, street(), models(scripted(says("it runs")), checker=checker))
        assert [note for note in answer.notes if note == WITHOUT_EYES] == list(notes)
