"""The evidence of an answer: context, citations, progress, the other methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.context import event_context
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.ports import EntityFact
from gpu_workers.engine.retrieval.facts import Participation, StatedRelation, best_facts, facts_of
from tests.engine.answering.world import (
    EMBEDDED,
    STREET,
    VIDEO,
    ScriptedChecker,
    event_id,
    long_street,
    make_video,
    models,
    says,
    scripted,
    street,
    verdicts,
)

QUESTION = QuestionInput("What does the dog do?", effort="low")
OTHER = stable_id("video", "other")


def words(text: str) -> int:
    return len(text.split())


def ask(reply: Any, question: QuestionInput = QUESTION, **more: Any) -> Answer:
    calibration = more.pop("calibration", UNMEASURED)
    bound = models(scripted(reply), calibration=calibration)
    return answer_question(question, more.pop("graph", None) or street(), bound, **more)


def test_events_are_numbered_in_order_of_time_with_their_words() -> None:
    graph = street(speech={4: "come back"}, entities={"the owner": [4]})
    ids = [event_id(4), event_id(0)]

    context = event_context(ids, graph.load_events(ids), graph.facts(ids), count_tokens=words, max_tokens=500)

    assert context.text.splitlines() == [
        "E1 00:00-00:03: a person in black walks left",
        'E2 00:12-00:15: a dog runs across the street Speech: "come back" Facts: the owner (person), participant',
    ]
    assert context.numbers == {event_id(0): 1, event_id(4): 2}


def test_several_videos_are_distinguished() -> None:
    graph = InMemoryGraph([make_video(STREET[:1]), make_video(STREET[1:2], video_id=OTHER)])
    ids = [event_id(0), event_id(0, OTHER)]

    text = event_context(ids, graph.load_events(ids), (), count_tokens=words, max_tokens=500).text

    assert {line.split(":")[0][:10] for line in text.splitlines()} == {"E1 video 1", "E2 video 2"}


def test_the_lowest_ranked_events_go_first_and_the_best_is_only_cut() -> None:
    graph = street()
    ids = [event_id(n) for n in (5, 1, 3)]
    load = graph.load_events(ids)

    assert set(event_context(ids, load, (), count_tokens=words, max_tokens=24).numbers) == {event_id(5), event_id(1)}
    alone = event_context(ids, load, (), count_tokens=words, max_tokens=3)
    assert alone.text == "E1 00:15-00:18: two people in"


def test_in_brief_all_events_are_shown_and_the_long_ones_are_cut() -> None:
    graph = InMemoryGraph([make_video(["a dog " + "runs " * 200, "a car", "a man " + "walks " * 200])])
    ids = [event_id(n) for n in (2, 0, 1)]
    load = graph.load_events(ids)

    lines = event_context(ids, load, (), count_tokens=words, max_tokens=120, all_in_brief=True).text.splitlines()

    assert [line.split(": ")[1].split()[:2] for line in lines] == [["a", "dog"], ["a", "car"], ["a", "man"]]
    assert [words(line) for line in lines] == [18, 4, 18], "a third of 120, less the line's own words"
    at_once = event_context(ids, load, (), count_tokens=words, max_tokens=120)
    assert set(at_once.numbers) == {event_id(2)}


def test_times_over_an_hour_have_hours() -> None:
    assert (clock(65_000), clock(3_725_000)) == ("01:05", "1:02:05")


def test_cited_events_become_evidence_with_frame_and_words() -> None:
    reply = {"reasoning": "r", "sufficient": True, "answer": "It runs across the street.", "evidence": [1, 99]}

    answer = ask(reply, graph=InMemoryGraph([make_video(["a dog runs across the street; a car waits"])]))

    [citation] = answer.citations
    assert (citation.video_id, citation.event_id) == (VIDEO, event_id(0))
    assert (citation.start_ms, citation.end_ms, citation.frame_ms) == (0, 3000, 1500)
    assert citation.frame_id == stable_id("frame", VIDEO, 1, 1500)
    assert citation.quote == "a dog runs across the street"
    assert citation.status == "supported"


@pytest.mark.parametrize("evidence", [[], [0, 99, -4], ["E77"]])
def test_without_a_valid_number_the_most_similar_events_are_cited(evidence: list[Any]) -> None:
    answer = ask(
        {"reasoning": "r", "sufficient": True, "answer": "The dog runs across the street.", "evidence": evidence}
    )

    assert answer.citations[0].event_id == event_id(4)
    assert len(answer.citations) == 2


@pytest.mark.parametrize(
    ("answer", "event", "status"),
    [
        ("There is a stove.", "one person in view. A person stands. The picture resembles a stove.", "unverified"),
        (
            "There is a stove.",
            "one stove in view. A stove is standing still. The picture resembles a stove.",
            "supported",
        ),
        ("The picture resembles a stove.", "one person in view. The picture resembles a stove.", "supported"),
        ("There is a stove.", "The picture resembles a stove.", "unverified"),
    ],
)
def test_what_a_picture_resembles_is_no_evidence_that_it_is_there(answer: str, event: str, status: str) -> None:
    """The classifier of scenes names something for any picture."""
    reply = {"reasoning": "r", "sufficient": True, "answer": answer, "evidence": [1]}
    [citation] = ask(
        reply,
        QuestionInput("Which stove does the picture show?", effort="low"),
        graph=InMemoryGraph([make_video([event])]),
    ).citations
    assert citation.status == status


def test_a_verifier_has_the_last_word_where_effort_asks_for_it() -> None:
    reasoner = scripted(says("A", "same"))
    reasoner.script = lambda request: (
        verdicts(request, lambda statement: "contradicted")
        if request.stage == "verify"
        else says("A", "same") | {"sufficient": True}
    )
    settings = changed(settings_for("low", UNMEASURED), verify_citations=True, revise=False)

    answer = answer_question(QUESTION, street(), models(reasoner), settings=settings)

    assert {citation.status for citation in answer.citations} == {"contradicted"}


def test_progress_is_reported_stage_by_stage() -> None:
    reports: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int, total: int, detail: str) -> None:
        reports.append((stage, done, total))

    ask(says("A", "same"), QuestionInput("Which?  person", ("left", "right")), on_progress=progress)

    assert [stage for stage, _, _ in reports] == ["retrieval", "search", "citations"]
    assert all(done <= total for _, done, total in reports)


def test_support_of_choices_is_a_stage_of_its_own() -> None:
    stages: list[tuple[str, str]] = []

    answer = ask(
        says("A", "same"),
        QuestionInput("Who is there?", ("a dog runs across the street", "an orchestra tunes violins")),
        settings=settings_for("low", EMBEDDED),
        calibration=EMBEDDED,
        on_progress=lambda stage, done, total, detail: stages.append((stage, detail)),
    )

    assert stages[0] == ("support", "2 choices")
    assert [stage for stage, _ in stages].count("support") == 1
    assert "support" in answer.timings


@pytest.mark.parametrize(("method", "frames"), [("uniform", 8), ("vector", 8)])
def test_frame_methods_answer_from_frames_alone(method: str, frames: int) -> None:
    reasoner, checker = scripted(says("A")), ScriptedChecker(lambda request: says("B", "seen"))
    question = QuestionInput("Which way does the person walk?", ("left", "right"), method=method)

    answer = answer_question(question, long_street(), models(reasoner, checker=checker))

    assert (answer.text, answer.finish_reason) == ("right", "answered")
    assert reasoner.requests == []
    [request] = checker.requests
    assert (len(request.frames), request.hypotheses) == (frames, ())
    assert [frame.ms for frame in request.frames] == sorted(frame.ms for frame in request.frames)


def test_uniform_frames_are_evenly_spaced() -> None:
    checker = ScriptedChecker(lambda request: says("B", "seen"), max_frames=4)
    question = QuestionInput("Which way?", ("left", "right"), method="uniform")

    answer_question(question, long_street(40), models(scripted(says("A")), checker=checker))

    assert [frame.ms for frame in checker.requests[0].frames] == [16_500, 46_500, 76_500, 106_500]


@pytest.mark.parametrize("method", ["uniform", "vector"])
def test_frame_methods_say_when_a_profile_has_no_eyes(method: str) -> None:
    answer = ask(says("A"), replace(QUESTION, method=method))

    assert (answer.finish_reason, answer.detail) == ("error", "no_checker")


def test_caption_rag_asks_once_over_the_nearest_events() -> None:
    reasoner = scripted(says("A", "seen"))
    question = QuestionInput("Which way does the person walk?", ("left", "right"), method="caption_rag")

    answer = answer_question(question, long_street(), models(reasoner))

    assert [(request.stage, request.n) for request in reasoner.requests] == [("answer", 1)]
    assert (answer.text, len(answer.nodes[0].events)) == ("left", 16)


def test_no_answer_is_reused_across_questions() -> None:
    """The same question about another video is answered from that video."""
    question = QuestionInput("Which way does the person walk?", ("left", "right"))
    left, right = scripted(says("A", "same")), scripted(says("B", "same"))

    first = answer_question(question, InMemoryGraph([make_video(["a person walks left"])]), models(left))
    second = answer_question(question, InMemoryGraph([make_video(["a person walks right"])]), models(right))

    assert (first.text, second.text) == ("left", "right")
    assert [request.stage for request in left.requests] == [request.stage for request in right.requests]
    assert all("walks right" in request.text for request in right.asked("answer"))
    assert not any("walks left" in request.text for request in right.requests)


@pytest.mark.parametrize("choices", [("only one",), tuple(str(n) for n in range(27))])
def test_choices_are_2_to_26(choices: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="2 to 26"):
        QuestionInput("q", choices)


def test_relations_have_a_place_among_the_facts_of_a_crowded_event() -> None:
    parts = [EntityFact(VIDEO, VIDEO, f"person {n}") for n in range(9)]
    relations = [EntityFact(VIDEO, VIDEO, f"relation {n}", relation=True) for n in range(4)]

    def told(*facts: EntityFact) -> list[str]:
        return [fact.text for fact in best_facts(facts, limit=6, relations=2)]

    assert told(*parts, *relations) == ["person 0", "person 1", "person 2", "person 3", "relation 0", "relation 1"]
    assert told(*parts, relations[0]) == [*(f"person {n}" for n in range(5)), "relation 0"]
    assert told(*parts[:1], *relations) == ["person 0", "relation 0", "relation 1", "relation 2", "relation 3"]
    assert told(*parts[:3], *relations) == [*(f"person {n}" for n in range(3)), *(f"relation {n}" for n in range(3))]
    assert told(*parts) == [f"person {n}" for n in range(6)]


def test_an_event_states_facts_in_its_own_words() -> None:
    """The first event that saw the entity named it a man. A later event saw a woman, and its prompt must say so."""
    event, man, bag = (stable_id("fact", name) for name in ("event", "man", "bag"))
    parts = [
        Participation(bag, event, "bag", "thing", "", "red", 9),
        Participation(man, event, "woman", "person", "driver", "", 2),
    ]
    relations = [StatedRelation(event, event, man, "man", "carries", bag, "bag", "by hand")]

    facts = facts_of([event, event], parts, relations)

    assert [fact.text for fact in facts] == ["woman (person), driver", "bag (thing): red", "woman carries bag: by hand"]
    assert [fact.relation for fact in facts] == [False, False, True]
