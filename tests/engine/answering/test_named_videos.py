"""Questions that name a video of several by its title: only that video is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput, Turn
from gpu_workers.engine.answering.reading.titles import named_videos, without_titles
from gpu_workers.engine.answering.routes import result
from gpu_workers.engine.ekg import stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.ports import Recording
from tests.engine.answering.routes.test_scan import honest
from tests.engine.answering.world import Request, ScriptedReasoner, make_video, models

TITLES = (
    *("Gate camera", "Yard", "Camera 2 - Dock", "vtest.avi"),
    *("Budget meeting of the board in May", "", "The red car", "Video"),
)
RECORDINGS = {UUID(int=n): Recording(UUID(int=n), title, 60_000) for n, title in enumerate(TITLES, start=1)}
GATE, YARD = stable_id("video", "gate"), stable_id("video", "yard")
WAVES = ["a person waves", "a person stands", "a person waves", "a person stands"]
QUIET = ["a person stands", "a van parks", "a person stands", "a person waves"]


def test_titles_in_full_name_videos() -> None:
    expected = {
        "Who comes in on the gate camera?": [1],
        'What happens in "Yard"?': [2],
        "What happens on camera 2 - dock at 10:00?": [3],
        "What is in vtest.avi?": [4],
        "Who spoke in the budget meeting of the board in May?": [5],
        "Is the GATE-CAMERA busier than vtest.avi?": [1, 4],
        "Who drives the red car?": [7],
    }
    for question, named in expected.items():
        assert [video.int for video in named_videos([question], RECORDINGS)] == named, question


def test_words_of_a_title_alone_name_nothing() -> None:
    for question in (
        "Who opens the gate?",
        "How many people are in the yard?",
        "What is in this video?",
        "What happens in video 1?",
        "Do 2 cameras show it?",
    ):
        assert named_videos([question], RECORDINGS) == (), question


def test_one_video_is_never_named() -> None:
    only = {UUID(int=1): RECORDINGS[UUID(int=1)]}
    assert named_videos(["Who comes in on the gate camera?"], only) == ()


@pytest.mark.parametrize("title", ["(", "[a-z]+", "\\", "a|b", "*" * 300, "🎥", "' OR 1=1 --", "\u202eevil"])
def test_a_title_is_never_a_pattern(title: str) -> None:
    recordings = {**RECORDINGS, UUID(int=9): Recording(UUID(int=9), title, 60_000)}
    assert named_videos(["Who opens the gate? ab"], recordings) == ()
    assert named_videos([""], recordings) == ()
    assert without_titles("Who opens the gate?", recordings, [UUID(int=9)]) == "Who opens the gate?"


def filmed(video_id: UUID, title: str, events: list[str]) -> MemoryVideo:
    return replace(make_video(events, video_id=video_id), title=title)


def ask(question: str, **wishes: Any) -> tuple[Answer, list[Request]]:
    reasoner = ScriptedReasoner(honest)
    graph = InMemoryGraph([filmed(GATE, "Gate camera", WAVES), filmed(YARD, "Yard", QUIET)])
    return answer_question(QuestionInput(question, **wishes), graph, models(reasoner)), list(reasoner.requests)


def test_only_the_named_video_is_counted_and_paid_for() -> None:
    answer, requests = ask("How many times does a person wave on the gate camera?")
    assert answer.text == "Exactly 2 times: 0:00:00, 0:00:06."
    assert answer.understood["videos"] == [str(GATE)]
    assert answer.understood["statement"] == "person wave"
    assert not any("van" in request.text for request in requests)
    assert 'only what the question names was read: "Gate camera"' in answer.notes


def test_all_videos_are_counted_without_a_name() -> None:
    answer, _ = ask("How many times does a person wave?")
    assert answer.text.startswith("Exactly 3 times: ")
    assert answer.understood["videos"] == []


def test_a_search_reads_events_of_the_named_video_alone() -> None:
    answer, requests = ask('Who parks in "Yard"?')
    prompt = next(request.text for request in requests if request.stage == "answer")
    assert "a van parks" in prompt
    assert "person waves" not in prompt, "three of the four events match, and the gate's are not among them"
    assert {citation.video_id for citation in answer.citations} <= {YARD}


def test_the_whole_of_a_named_video_is_read() -> None:
    answer, _ = ask('Summarise the video "Yard"')
    assert (answer.understood["route"], answer.understood["videos"]) == ("whole", [str(YARD)])
    assert {citation.video_id for citation in answer.citations} == {YARD}


def test_two_named_videos_are_compared() -> None:
    answer, _ = ask('Compare the gate camera and "Yard": how many times does a person wave?')
    gate, yard = answer.text.split("; ")
    assert gate == '"Gate camera": exactly 2 times: 0:00:00, 0:00:06'
    assert yard == '"Yard": exactly 1 time: 0:00:09.'


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("On which camera does a person wave most often?", '"Gate camera": exactly 2 times'),
        ("On which camera does a person wave least often?", '"Yard": exactly 1 time'),
    ],
)
def test_the_video_with_most_or_fewest_comes_first(question: str, first: str) -> None:
    answer, _ = ask(question)
    assert answer.understood["route"] == "scan"
    assert answer.text.startswith(first)


def test_every_video_gets_a_number() -> None:
    """An answer reads events of six videos at most; numbers are not limited by what it can read."""
    ids = sorted(stable_id("video", str(n)) for n in range(9))
    videos = [filmed(video_id, f"Hall {n}", WAVES[: n % 4 + 1]) for n, video_id in enumerate(ids)]
    reasoner = ScriptedReasoner(honest)
    question = QuestionInput("How many times does a person wave in each video?")
    answer = answer_question(question, InMemoryGraph(videos), models(reasoner))
    assert len(answer.text.split("; ")) == 9


def test_videos_that_get_no_number_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result, "MOST_GROUPS", 2)
    videos = [filmed(stable_id("video", str(n)), f"Hall {n}", WAVES) for n in range(3)]
    question = QuestionInput("How many times does a person wave in each video?")
    answer = answer_question(question, InMemoryGraph(videos), models(ScriptedReasoner(honest)))
    assert len(answer.text.split("; ")) == 2
    assert "2 of 3 videos were counted one by one" in answer.notes


def test_an_earlier_answer_chooses_no_video() -> None:
    """The question that stands alone was written by a model that read the answer; the customer never named a video."""
    turn = Turn("How many times does a person wave?", "3 times, on the gate camera")

    def script(request: Request) -> Any:
        if request.stage == "condense":
            return {"question": "How many times does a person stand on the gate camera?"}
        return honest(request)

    reasoner = ScriptedReasoner(script)
    graph = InMemoryGraph([filmed(GATE, "Gate camera", WAVES), filmed(YARD, "Yard", QUIET)])
    answer = answer_question(QuestionInput("And stands?", history=(turn,)), graph, models(reasoner))
    assert answer.understood["videos"] == []
