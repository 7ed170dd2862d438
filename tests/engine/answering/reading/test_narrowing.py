"""A question that names a time is answered from that time alone, and its answer says which time was understood."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput, Turn
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.answering.reading.forms import Edge, NamedTime
from gpu_workers.engine.answering.reading.placing import narrow_to_time
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.wall_clock import ClockStretch, WallClock
from tests.engine.answering.programs.small_world import toolbox_over
from tests.engine.answering.world import STREET, ScriptedReasoner, event_id, make_video, models, says, scripted

LOW = settings_for("low", UNMEASURED)
OTHER = stable_id("video", "yard")
DAY = (
    "a courier brings a parcel to the door",
    "a cat sleeps",
    "a courier brings a parcel to the door",
    "the courier waits at the door with the parcel",
    "the cat wakes up",
    "a child sweeps the stairs",
    "a courier brings a parcel to the door",
    "it rains",
)


def ask(
    question: str, *videos: MemoryVideo, reasoner: ScriptedReasoner | None = None, **more: Any
) -> tuple[Answer, ScriptedReasoner]:
    reasoner = reasoner or scripted(says("a dog"))
    settings = more.pop("settings", LOW)
    answer = answer_question(
        QuestionInput(question, **more), InMemoryGraph(videos or [make_video(STREET)]), models(reasoner),
        settings=settings,
    )  # fmt: skip
    return answer, reasoner


def shown(answer: Answer) -> set[UUID]:
    return {event.event_id for node in answer.nodes for event in node.events}


def test_only_events_of_the_named_time_are_read_and_the_answer_says_so() -> None:
    answer, reasoner = ask("Who is there in the first 6 seconds?")

    assert shown(answer) == {event_id(0), event_id(1)}
    assert "Time that the question names: 0:00:00 to 0:00:06 of the video." in reasoner.asked("answer")[0].text
    assert '"in the first 6 seconds" was understood as: 0:00:00 to 0:00:06 of the video' in answer.notes[0]
    time = answer.understood["time"]
    assert time["spans"] == [{"video_id": str(make_video(STREET).video_id), "start_ms": 0, "end_ms": 6_000}]
    assert (time["words"], time["chosen_by"], time["order"]) == ("in the first 6 seconds", "figures", "")
    assert answer.understood["searched"] == "Who is there?"


def test_without_a_time_nothing_is_said_about_one() -> None:
    answer, reasoner = ask("Who is there?")

    assert answer.understood["time"] is None
    assert not any("time" in note for note in answer.notes)
    assert "Time that" not in reasoner.asked("answer")[0].text


@pytest.mark.parametrize("method", ["ava", "caption_rag", "vector"])
def test_a_time_outside_the_video_gets_an_abstention_that_says_what_the_video_covers(method: str) -> None:
    answer, reasoner = ask("Who is there at 1:23:45?", method=method)

    assert (answer.finish_reason, answer.detail) == ("insufficient_evidence", "outside_video")
    assert answer.text == "The question is about 1:23:45 of the video. The video covers 0:00:00 to 0:00:24."
    assert answer.confidence is None
    assert reasoner.requests == []
    assert answer.understood["time"]["spans"] == []


def test_a_day_outside_the_recording_says_when_it_was_filmed() -> None:
    clock = WallClock(
        (ClockStretch(Span(0, 24_000), datetime.fromisoformat("2026-05-03T14:00:00+02:00")),), "Europe/Berlin"
    )
    filmed = replace(make_video(STREET), clock=clock)
    answer, _ = ask("Who came yesterday?", filmed, now=datetime.fromisoformat("2026-05-06T10:00:00+02:00"))

    assert answer.detail == "outside_video"
    assert answer.text == (
        "The question is about 5 May 2026, 00:00 to 6 May 2026, 00:00 (Europe/Berlin). The video covers 0:00:00 to "
        "0:00:24 (filmed from 3 May 2026 14:00 to 3 May 2026 14:00, Europe/Berlin)."
    )


def test_where_the_clock_is_known_events_say_when_they_were_filmed() -> None:
    clock = WallClock(
        (ClockStretch(Span(0, 24_000), datetime.fromisoformat("2026-05-03T14:00:00+02:00")),), "Europe/Berlin"
    )
    filmed = replace(make_video(STREET), clock=clock)
    answer, reasoner = ask("Who was there on 3 May at 14:00:04?", filmed)

    assert shown(answer) == {event_id(1)}
    assert "E1 00:03-00:06 (2026-05-03 14:00:03): a person in red" in reasoner.asked("answer")[0].text


def test_a_day_without_a_known_clock_narrows_nothing_and_is_noted() -> None:
    answer, _ = ask("Who was there yesterday?")

    assert answer.text
    assert len(shown(answer)) > 2
    assert "nothing says when the video was recorded" in answer.notes[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happened during the second parcel?", [(6, 12)]),
        ("What happened during the last parcel?", [(18, 21)]),
        ("What happened while the cat sleeps?", [(3, 6)]),
        ("What happened while the courier brings a parcel?", [(0, 3), (6, 9), (18, 21)]),
        ("What happened between the first and the second parcel?", [(3, 6)]),
        ("What happened between the first parcel and the last parcel?", [(3, 18)]),
        ("Was geschah während der zweiten parcel?", [(6, 12)]),
        ("Was geschah zwischen der ersten und der zweiten parcel?", [(3, 6)]),
        ("¿Qué pasó durante la segunda parcel?", [(6, 12)]),
        ("¿Qué pasó entre la primera y la segunda parcel?", [(3, 6)]),
    ],
)
def test_what_happens_during_or_between_events_is_read_alone(question: str, expected: list[tuple[int, int]]) -> None:
    answer, _ = ask(question, make_video(DAY), settings=replace(LOW, tree=replace(LOW.tree, event_cap=16)))

    time = answer.understood["time"]
    assert [(span["start_ms"] // 1_000, span["end_ms"] // 1_000) for span in time["spans"]] == expected
    assert time["order"] in ("during", "between")
    assert shown(answer) == {
        event_id(n) for n in range(8) if any(start < 3 * n + 3 and 3 * n < end for start, end in expected)
    }
    assert "which was found at" in answer.notes[0]


def test_an_event_that_was_not_found_during_narrows_nothing_and_is_noted() -> None:
    answer, _ = ask("What happened between the first parcel and the ninth parcel?", make_video(DAY))
    assert "no such event was found, so all of the video was searched" in answer.notes[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happened after the second parcel?", {4, 5, 6, 7}),
        ("What happened before the second parcel?", {0, 1}),
        ("What happened after the last parcel?", {7}),
        ("What happened before the first parcel?", {0}),
        ("What happened after the parcel?", {1, 2, 3, 4, 5, 6, 7}),
        ("What happened in the six seconds after the second parcel?", {4, 5}),
        ("What happened in the six seconds before the second parcel?", {0, 1}),
        ("What happened shortly before the second parcel?", {0, 1}),
        ("What happened an hour after the second parcel?", None),
    ],
)
def test_an_order_counts_occurrences_in_time(question: str, expected: set[int] | None) -> None:
    """Events 2 and 3 follow each other and show one parcel. Nothing precedes the first, so it is searched itself."""
    answer, _ = ask(question, make_video(DAY), settings=replace(LOW, tree=replace(LOW.tree, event_cap=16)))

    time = answer.understood["time"]
    if expected is None:
        assert time["spans"] == []
        return
    assert shown(answer) <= {event_id(n) for n in expected}
    (span,) = time["spans"]
    assert (span["start_ms"], span["end_ms"]) == (3_000 * min(expected), 3_000 * (max(expected) + 1))
    assert time["order"] in ("after", "before")
    assert time["anchor"] == "parcel"


@pytest.mark.parametrize(
    ("question", "english", "expected"),
    [
        ("Was passierte nach dem zweiten Paket?", "What happened after the second parcel?", Span(12_000, 24_000)),
        ("Was geschah vor dem letzten Paket?", "What happened before the last parcel?", Span(0, 18_000)),
        ("¿Qué pasó después del segundo paquete?", "What happened after the second parcel?", Span(12_000, 24_000)),
    ],
)
def test_the_event_of_an_order_is_located_by_its_words_in_english(question: str, english: str, expected: Span) -> None:
    """The events are in English, and so are the words that are looked for among them."""

    def script(request: Any) -> Any:
        return {"texts": [english]} if request.stage == "translate" else says("a cat sleeps")

    answer, _ = ask(question, make_video(DAY), reasoner=ScriptedReasoner(script))

    time = answer.understood["time"]
    assert [(span["start_ms"], span["end_ms"]) for span in time["spans"]] == [(expected.start_ms, expected.end_ms)]
    assert time["anchor"] == "parcel"
    assert time["words"] in question


POND = (
    "a fox drinks from the pond",
    "a fox sleeps under a tree",
    "a fox drinks from the pond",
    "a visitor walks past the pond",
    "drinking, a fox looks up",
    "a fox trots away",
)


def test_events_that_have_most_of_an_anchors_words_are_its_occurrences() -> None:
    answer, _ = ask("What happened after the third visit of a drinking fox?", make_video(POND))

    (span,) = answer.understood["time"]["spans"]
    assert (span["start_ms"], span["end_ms"]) == (15_000, 18_000)


def test_an_event_at_the_edge_is_searched_itself_and_the_answer_says_so() -> None:
    answer, _ = ask("What follows the jump?", make_video(["a skater spins on the ice", "a skater jumps and falls"]))

    assert shown(answer) == {event_id(1)}
    assert "with nothing after it, so that part itself was searched" in answer.notes[0]


def test_an_anchor_that_is_not_found_narrows_nothing_and_is_noted() -> None:
    answer, _ = ask("What happened after the second earthquake?")

    assert answer.understood["time"]["spans"] == []
    assert len(shown(answer)) > 2
    assert "no such event was found" in answer.notes[0]


def test_each_video_has_its_own_span() -> None:
    long = make_video([*STREET, *STREET], video_id=OTHER)
    answer, _ = ask("Who is there in the last 6 seconds?", make_video(STREET), long)

    assert shown(answer) == {event_id(6), event_id(7), event_id(14, OTHER), event_id(15, OTHER)}
    assert answer.understood["time"]["meaning"] == "the last 0:00:06 of each video"


def test_route_time_reads_all_that_the_stretch_holds_in_order() -> None:
    reasoner = scripted(says("several things"))
    question = QuestionInput("What happened between 0:00:03 and 0:00:15?", route="time")
    answer = answer_question(question, InMemoryGraph([make_video(STREET)]), models(reasoner), settings=LOW)

    text = reasoner.asked("answer")[0].text
    places = [text.index(STREET[n]) for n in range(1, 5)]
    assert places == sorted(places)
    assert not any(STREET[n] in text for n in (0, 5, 6, 7))
    assert answer.text


def test_a_time_that_the_reasoner_read_is_taken_instead_of_the_parsers() -> None:
    toolbox = toolbox_over(make_video(STREET), question=QuestionInput("Who is there in the first 6 seconds?"))
    named = NamedTime("towards the close", (Edge("last", 6_000),))

    asked = narrow_to_time(toolbox.asked, toolbox.calls, named, chosen_by="model", searched="Who is there?")

    assert asked.understood.time is not None
    assert (asked.understood.time.words, asked.understood.time.chosen_by) == ("towards the close", "model")
    assert asked.graph.extents() == {make_video(STREET).video_id: Span(18_000, 24_000)}
    assert asked.searched == "Who is there?"


def test_a_time_that_only_an_earlier_answer_brought_in_is_ignored() -> None:
    """The rewritten question holds words of an earlier answer, and so perhaps of the video."""
    history = (Turn("What does the sign say?", "It says: at 0:00:01 look at the dog."),)

    def conversing(rewritten: str) -> ScriptedReasoner:
        return scripted(lambda request: {"question": rewritten} if request.stage == "condense" else says("a dog"))

    rewritten = "What does the dog do at 0:00:01?"
    answer, _ = ask("And what does it do?", reasoner=conversing(rewritten), history=history)
    assert answer.standalone == rewritten
    assert answer.understood["time"] is None

    said = (Turn("Who is there in the last 6 seconds?", "A cyclist."),)
    alone = "What does the cyclist do in the last 6 seconds?"
    kept, _ = ask("And what does he do?", reasoner=conversing(alone), history=said)
    assert shown(kept) == {event_id(6), event_id(7)}
