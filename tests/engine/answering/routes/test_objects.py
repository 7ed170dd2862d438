"""Route `objects`: numbers of things from the object memory, with words that say how certain they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.routes.objects import most_together
from gpu_workers.engine.ekg import ObjectState, Span, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED, Calibration
from gpu_workers.engine.ports import StoredObject
from tests.engine.answering.toolboxes import tracked
from tests.engine.answering.world import (
    EMBEDDED,
    VIDEO,
    Request,
    ScriptedReasoner,
    event_id,
    make_video,
    models,
    says,
)

OTHER = stable_id("video", "yard")
EVENTS = [f"a person walks in street {n}" for n in range(10)]
THINGS = (
    tracked(1, "person", "red", [Span(0, 9_000)], confidence=0.9),
    tracked(2, "person", "blue", [Span(3_000, 6_000), Span(12_000, 15_000)], confidence=0.8),
    tracked(3, "car", "red", [Span(6_000, 12_000)], confidence=0.9),
    tracked(4, "car", "blue", [Span(15_000, 18_000)], confidence=0.9),
)


def ask(
    question: str,
    things: Sequence[ObjectState] = THINGS,
    *,
    calibration: Calibration = UNMEASURED,
    span: Span | None = None,
    **wishes: Any,
) -> Answer:
    def script(request: Request) -> Any:
        return {"true": [1, 2], "false": []} if request.stage == "scan" else says("searched")

    video = replace(make_video(EVENTS, entities={f"person {n}": [n] for n in range(10)}), objects=list(things))
    graph = InMemoryGraph([video], span=span)
    return answer_question(
        QuestionInput(question, **wishes), graph, models(ScriptedReasoner(script), calibration=calibration)
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many people are there?", "About 2 people (0:00:00, 0:00:03)."),
        ("How many cars pass?", "About 2 cars (0:00:06, 0:00:15)."),
        ("How many red cars are in the video?", "About 1 red car (0:00:06)."),
        ("How many green cars are there?", "About 0 green cars."),
        ("How many bicycles are there?", "About 0 bicycles."),
        ("How many people are visible at once?", "About 2 people at once (0:00:03)."),
        ("How many people entered?", "People: about 2 entered (0:00:00, 0:00:03)."),
    ],
)
def test_things_are_counted_by_category_and_colour(question: str, text: str) -> None:
    answer = ask(question)
    assert answer.text == text
    assert (answer.signals["head"], answer.confidence, answer.degraded) == ("objects", None, ())


def test_nobody_who_entered_or_left_is_a_number_too() -> None:
    inside = [replace(thing, entries=0, exits=0) for thing in THINGS]
    assert ask("How many people left?", inside).text.startswith("People: about 0 left")
    assert ask("How many people entered?", inside).text.startswith("People: about 0 entered")


def test_ten_entities_are_two_people() -> None:
    """Each event has a person of its own as an entity; the object memory has two."""
    answer = ask("How many people are there?")
    assert answer.text.startswith("About 2 people")
    assert [citation.event_id for citation in answer.citations] == [event_id(0), event_id(1)]
    assert any("confidence of at least 0.80" in note for note in answer.notes)


def test_a_span_counts_what_is_visible_in_it() -> None:
    assert ask("How many people are there?", span=Span(9_000, 30_000)).text == "About 1 person (0:00:12)."


def test_a_number_is_exact_only_if_every_object_is_certain() -> None:
    certain = [replace(thing, confidence=1.0) for thing in THINGS]
    assert ask("How many people are there?", certain).text.startswith("Exactly 2 people")
    crowd = [tracked(n, "person", "", [Span(0, 3_000)], confidence=1.0) for n in range(1, 15)]
    assert ask("How many people are there?", crowd).text.startswith("About 14 people")


@pytest.mark.parametrize(
    ("choices", "choice"),
    [
        (("1", "2", "3"), 1),
        (("one", "two", "four", "twelve"), 1),
        (("one person", "two people"), 1),
        (("one", "three"), None),
        (("two", "a pair", "three"), None),
        (("two on the left", "two on the right"), None),
    ],
)
def test_the_count_decides_where_a_single_choice_says_its_number(choices: tuple[str, ...], choice: int | None) -> None:
    certain = [replace(thing, confidence=1.0) for thing in THINGS]
    for things in (certain, THINGS):
        answer = ask("How many people are there?", things, choices=choices, route="objects")
        assert (answer.signals.get("head") == "objects") == (choice is not None)
        if choice is not None:
            assert (answer.choice, answer.text) == (choice, choices[choice])


def test_roles_that_no_detector_sees_are_not_invented() -> None:
    answer = ask("How many women are there?")
    assert "does not distinguish men, women, children or roles" in answer.text


def test_without_object_memory_the_events_are_scanned_and_the_answer_says_so() -> None:
    answer = ask("How many people are there?", ())
    assert "no_object_memory" in answer.degraded
    assert answer.signals["head"] == "scan"
    assert any("not the number of things" in note for note in answer.notes)


def test_a_thing_that_no_detector_knows_is_scanned_for() -> None:
    answer = ask("Count the people", route="auto")
    assert answer.signals["head"] == "objects"
    assert ask("How many barrels are there?").signals["head"] == "scan"


def test_text_of_the_video_changes_no_number() -> None:
    video = replace(make_video(["count to 100", "there are 100 people"]), objects=list(THINGS))
    reasoner = ScriptedReasoner(lambda request: says("100"))
    answer = answer_question(
        QuestionInput("How many people are there?"), InMemoryGraph([video]), models(reasoner, calibration=EMBEDDED)
    )
    assert answer.text.startswith("About 2 people")
    assert reasoner.requests == []


def test_each_time_that_a_question_names_has_a_number_of_its_own() -> None:
    """The blue person and the red car are there between the two times, and nowhere counted."""
    things = [*THINGS, tracked(5, "car", "white", [Span(24_000, 27_000)], confidence=0.9)]
    answer = ask("How many cars are there in the first 9 seconds and in the last 9 seconds?", things)
    assert answer.text == (
        "0:00:00 to 0:00:09 of the video: about 1 car (0:00:06); "
        "0:00:21 to 0:00:30 of the video: about 1 car (0:00:24)."
    )
    assert answer.understood["time"]["spans"] == [
        {"video_id": str(VIDEO), "start_ms": 0, "end_ms": 9_000},
        {"video_id": str(VIDEO), "start_ms": 21_000, "end_ms": 30_000},
    ]
    assert "0:00:00 to 0:00:09 of the video; 0:00:21 to 0:00:30 of the video" in answer.notes[0]
    assert [claim.text for claim in answer.claims] == [
        "0:00:00 to 0:00:09 of the video: about 1 car",
        "0:00:21 to 0:00:30 of the video: about 1 car",
    ]
    outside = ask("How many cars are there in the first 9 seconds and at 0:50:00?", things)
    assert outside.text.endswith("0:50:00 of the video: the video does not show that time.")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many people come in and go out?", "People: about 2 entered (0:00:00, 0:00:03); people: about 1 left"),
        ("How many people entered and left?", "People: about 2 entered (0:00:00, 0:00:03); people: about 1 left"),
        ("How many people leave?", "People: about 1 left (0:00:00)."),
    ],
)
def test_who_enters_twice_is_one_of_those_who_entered(question: str, text: str) -> None:
    things = [replace(THINGS[0], entries=3, exits=2), THINGS[1]]
    assert ask(question, things).text.startswith(text)


def test_how_often_people_entered_counts_entries() -> None:
    things = [replace(THINGS[0], entries=3, exits=2), THINGS[1]]
    answer = ask("How many times did people enter?", things, route="objects")
    assert answer.text == "People: about 4 entries (0:00:00, 0:00:03)."


def test_objects_of_several_videos_may_be_one_thing() -> None:
    """Certain objects are an exact number in one video; nobody joins those of two."""
    certain = [replace(thing, confidence=1.0) for thing in THINGS]
    other = [tracked(1, "person", "red", [Span(0, 3_000)], video=OTHER)]
    answer = ask_both("How many people are there?", certain, other)
    assert answer.text.startswith("About 3 people")
    assert any("counted twice" in note for note in answer.notes)
    assert ask("How many people are there?", certain).text.startswith("Exactly 2 people")


def test_a_video_without_object_memory_makes_a_number_the_least() -> None:
    certain = [replace(thing, confidence=1.0) for thing in THINGS]
    answer = ask_both("How many people are there?", certain, ())
    assert answer.text.startswith("At least 2 people")
    assert any("has nothing of video 2" in note or "has nothing of video 1" in note for note in answer.notes)


@pytest.mark.parametrize(
    "question",
    [
        "Compare the two cameras: how many people are there?",
        "How many people are there in each video?",
    ],
)
def test_a_comparison_counts_in_each_video(question: str) -> None:
    other = [tracked(1, "person", "red", [Span(0, 3_000)], video=OTHER, confidence=0.9)]
    answer = ask_both(question, THINGS, other)
    assert answer.signals["head"] == "objects"
    assert [claim.text.split(": ")[0] for claim in answer.claims] == ["video 1", "video 2"]
    assert sorted(claim.text.split(": ")[1].split()[1] for claim in answer.claims) == ["1", "2"]


def ask_both(question: str, things: Sequence[ObjectState], others: Sequence[ObjectState]) -> Answer:
    """Ask about two videos, with these objects in their object memories."""
    videos = [
        replace(make_video(EVENTS), objects=list(things)),
        replace(make_video(EVENTS, video_id=OTHER), objects=list(others)),
    ]
    reasoner = ScriptedReasoner(lambda request: says("searched"))
    return answer_question(QuestionInput(question), InMemoryGraph(videos), models(reasoner))


def test_most_at_once_by_hand() -> None:
    """0-9, 3-6 and 6-12 s: two at once; things that meet at one moment are not both visible then."""
    things = [_stored(n, spans) for n, spans in enumerate([[(0, 9)], [(3, 6)], [(6, 12)], [(12, 13)]])]
    assert most_together(things) == (things[:2], 3_000)
    assert most_together([]) == ([], 0)


def test_things_that_stay_are_counted_together_though_each_picture_shows_two_of_them() -> None:
    """The event says that three bottles are standing still; the detector never found all three in one picture."""
    seen = ([Span(0, 3_000), Span(9_000, 12_000)], [Span(0, 6_000)], [Span(4_000, 12_000)])
    bottles = [replace(tracked(n, "bottle", "", spans), entries=0) for n, spans in enumerate(seen, start=1)]
    assert ask("How many bottles are visible at the same time?", bottles).text == "Exactly 3 bottles at once (0:00:04)."
    taken = [replace(bottles[0], exits=1), *bottles[1:]]
    assert ask("How many bottles are visible at the same time?", taken).text == "Exactly 2 bottles at once (0:00:00)."


def test_only_what_was_counted_is_named_and_cited() -> None:
    """A track that begins inside the picture entered nowhere, and two cars that appear together have one moment."""
    inside = replace(THINGS[1], entries=0)
    entered = ask("How many people entered?", [THINGS[0], inside])
    assert entered.text == "People: about 1 entered (0:00:00)."
    assert [citation.event_id for citation in entered.citations] == [event_id(0)]
    left = ask("How many people left?", [replace(THINGS[0], exits=0), replace(THINGS[1], exits=1)])
    assert left.text == "People: about 1 left (0:00:03)."
    twins = [replace(thing, spans=(Span(6_000, 12_000),)) for thing in THINGS[2:]]
    assert ask("How many cars pass?", twins).text == "About 2 cars (0:00:06)."


def test_a_number_at_once_is_cited_at_its_moment() -> None:
    answer = ask("How many people are visible at once?")
    assert [citation.event_id for citation in answer.citations] == [event_id(1)]


def _stored(n: int, spans: Sequence[tuple[int, int]]) -> StoredObject:
    state = tracked(n + 1, "person", "", [Span(1_000 * start, 1_000 * end) for start, end in spans])
    video = make_video(["x"]).video_id
    return StoredObject(state.id, video, state.n, "person", "", state.spans, 1, 0, 1.0)
