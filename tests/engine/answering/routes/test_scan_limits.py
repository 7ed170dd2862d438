"""Route `scan` at its limits: what could not be described, scopes that are larger than a scan, and exact words in
them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.routes import scan_events
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from tests.engine.answering.routes.test_scan import honest, listed
from tests.engine.answering.world import Request, ScriptedReasoner, make_video, models

FIVE = ["a person waves", "a person stands", "0:00:06 to 0:00:09 could not be described: model_refused",
        "a person waves", "a person stands"]  # fmt: skip


def with_gaps(video: MemoryVideo, gaps: Sequence[int], code: str = "model_refused") -> MemoryVideo:
    """Return the video with chunks that could not be described."""
    chunks = [replace(chunk, description=None, gap=code) if chunk.n in gaps else chunk for chunk in video.chunks]
    return replace(video, chunks=chunks)


def ask(
    video: MemoryVideo, question: str, script: Callable[[Request], Any] = honest, **wishes: Any
) -> tuple[Answer, list[Request]]:
    reasoner = ScriptedReasoner(script)
    answer = answer_question(QuestionInput(question, **wishes), InMemoryGraph([video]), models(reasoner))
    return answer, reasoner.asked("scan")


# --- what could not be described -----------------------------------------------------------------------------------


def test_a_stretch_that_could_not_be_described_is_not_judged_and_makes_the_number_at_least() -> None:
    answer, requests = ask(with_gaps(make_video(FIVE), [2]), "How many times does a person wave?")
    assert answer.text == "At least 2 times: 0:00:00, 0:00:09."
    assert [len(listed(request)) for request in requests] == [4], "nobody pays for the gap"
    assert "could not be described" not in requests[0].text
    assert answer.signals["read"] == 0.8
    assert "0:00:03 in 1 of 5 events could not be described" in answer.notes


def test_never_is_said_as_far_as_is_known() -> None:
    def no(request: Request) -> Any:
        return {"true": [], "false": list(listed(request))}

    answer, _ = ask(with_gaps(make_video(FIVE), [2]), "Does the person never swim?", no)
    assert answer.text == (
        "Never, as far as is known: none of the 4 events that were read says so, and 1 were not read. "
        "0:00:03 could not be described."
    )


def test_an_event_with_a_described_part_is_judged() -> None:
    answer, _ = ask(make_video(FIVE), "How many times does a person wave?")
    assert answer.text.startswith("Exactly 2 times")


def test_words_are_not_found_in_the_note_about_a_gap() -> None:
    answer, _ = ask(with_gaps(make_video(FIVE), [2]), "In how many events is 'described' mentioned?", route="scan")
    assert answer.text.startswith("No event says so: at least 0")


@pytest.mark.parametrize(
    ("gaps", "code", "text"),
    [
        ([], "", "Exactly 1 time"),
        ([2], "model_refused", "Exactly 1 time"),
        ([2], "model_unavailable", "At least 1 time"),
        ([0], "model_unavailable", "Exactly 1 time"),
    ],
)
def test_speech_is_counted_exactly_only_if_all_of_it_was_heard(gaps: list[int], code: str, text: str) -> None:
    video = make_video(FIVE, speech={0: "good morning everybody"})
    answer, _ = ask(with_gaps(video, gaps, code), 'How many times does someone say "morning"?')
    assert answer.text.startswith(text)
    assert any("was not heard" in note for note in answer.notes) == text.startswith("At least")


# --- large scopes --------------------------------------------------------------------------------------------------


def test_events_are_read_up_to_the_cap_though_none_of_them_is_near() -> None:
    """640 events are allowed; the floor of similarity leaves few that are near to the statement."""
    events = [f"quiet {n}" for n in range(1_000)]
    answer, requests = ask(make_video(events), "Does the person ever wave?", effort="low")
    assert sum(len(listed(request)) for request in requests) == 640
    read = sorted(int(text.removeprefix("quiet ")) for request in requests for text in listed(request).values())
    assert max(after - before for before, after in pairwise(read)) <= 3, "evenly spread"
    assert answer.text == ("Not that is known: none of the 640 events that were read says so, and 360 were not read.")


def test_the_total_of_a_large_scope_is_its_number_of_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_events, "MOST_EVENTS", 700)
    monkeypatch.setattr(scan_events, "NEAREST", 20)
    events = [f"a person waves, take {n}" if n in (50, 700) else f"quiet {n}" for n in range(900)]
    answer, requests = ask(make_video(events), "How many times does a person wave?", effort="low")
    assert sum(len(listed(request)) for request in requests) == 640
    assert answer.text == "At least 2 times: 0:02:30, 0:35:00."
    assert "260 of 900 events were not judged" in answer.notes


def test_words_are_compared_in_all_events_of_a_large_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_events, "MOST_EVENTS", 100)
    monkeypatch.setattr(scan_events, "NEAREST", 20)
    events = [f"quiet {n}" for n in range(900)]
    events[3], events[500], events[899] = "parcel 77 is there", "the parcel 77 is back", "parcel 78 is there"
    answer, requests = ask(make_video(events), 'In how many events is "parcel 77" mentioned?', route="scan")
    assert requests == []
    assert answer.text.startswith("Exactly 2 times: 0:00:09, 0:25:00.")
