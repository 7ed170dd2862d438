"""How long recordings are and when they were filmed: their own data say so, and no model is asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.wall_clock import ClockStretch, WallClock
from tests.engine.answering.world import ScriptedReasoner, make_video, models, says

GATE, YARD = stable_id("video", "gate"), stable_id("video", "yard")
FILMED = WallClock(
    (ClockStretch(Span(0, 120_000), datetime.fromisoformat("2026-05-02T10:00+02:00"), "recorded_at"),), "Europe/Berlin"
)


def ask(question: str, *, videos: int = 1, **wishes: Any) -> tuple[Answer, int]:
    reasoner = ScriptedReasoner(lambda _: says("found in events"))
    gate = replace(make_video(["a man walks"] * 40, video_id=GATE), title="Gate camera", clock=FILMED)
    yard = replace(make_video(["a dog runs"] * 10, video_id=YARD), title="Yard")
    graph = InMemoryGraph([gate, yard][:videos])
    return answer_question(QuestionInput(question, **wishes), graph, models(reasoner)), len(reasoner.requests)


@pytest.mark.parametrize(
    "question",
    [
        "How long is this video?",
        "how long does the recording last",
        "What is the length of the video?",
        "What's the duration of the whole recording?",
    ],
)
def test_the_length_is_known_without_a_model(question: str) -> None:
    answer, _ = ask(question)
    assert answer.text.startswith("0:02:00 (filmed from 2 May 2026 10:00 to ")
    assert (answer.finish_reason, answer.signals) == ("answered", {"head": "recordings"})


def test_no_call_is_made_for_it() -> None:
    assert ask("How long is this video?")[1] == 0


def test_each_of_several_videos_has_its_length_and_a_named_one_its_own() -> None:
    gate, yard = sorted(ask("How long are the videos?", videos=2)[0].text.split("; "))
    assert gate.startswith('"Gate camera": 0:02:00 (filmed from ')
    assert yard == '"Yard": 0:00:30'
    assert ask('How long is the video "Yard"?', videos=2)[0].text == "0:00:30"


def test_when_it_was_filmed_is_said_if_it_is_known() -> None:
    assert "2 May 2026 10:00" in ask("When was this video recorded?")[0].text
    unknown, calls = ask('When was the video "Yard" filmed?', videos=2)
    assert "head" not in unknown.signals or unknown.signals["head"] != "recordings"
    assert calls > 0, "then events may show a clock"


@pytest.mark.parametrize(
    ("question", "wishes"),
    [
        ("How long does the man in the video walk?", {}),
        ("How long is the queue?", {}),
        ("How long is this video?", {"route": "search"}),
        ("How long is this video?", {"choices": ("a minute", "an hour")}),
        ("How long is this video?", {"method": "caption_rag"}),
    ],
)
def test_other_questions_are_searched_for(question: str, wishes: dict[str, Any]) -> None:
    assert ask(question, **wishes)[0].signals.get("head") != "recordings"
