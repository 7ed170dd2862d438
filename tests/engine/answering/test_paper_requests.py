"""Presets `paper` and `authors` send the recorded requests, word for word, to a real HTTP server.

Record them again only if a preset is meant to ask something else:
    AVA_RECORD=1 .venv/bin/python -m pytest tests/engine/answering/test_paper_requests.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.contract import QuestionInput, Turn
from gpu_workers.engine.answering.presets import settings_for, settings_of_authors
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.ports import StoredFrame
from tests.engine.answering.served import CHOICES, QUESTION, Served, sensible
from tests.engine.answering.world import STREET, make_video
from tests.scripted_openai import ScriptedRequest

RECORDED = Path(__file__).with_name("paper_requests.json")
PAPER = settings_for("paper", UNMEASURED)
AUTHORS = "a choice question, by the authors' code"
VIDEOS = {
    "long": lambda: make_video([f"person number {n} walks along street {n % 7}" for n in range(40)]),
    "street": lambda: make_video(STREET, entities={"person": [0, 1, 3], "car": [2]}, speech={4: "look, a dog"}),
}
CASES: Mapping[str, tuple[QuestionInput, str]] = {
    "a follow-up with choices": (QUESTION, "long"),
    "a choice question": (QuestionInput("Which way does the person walk?", CHOICES, effort="paper", seed=7), "street"),
    "an open question": (QuestionInput("What does the dog do?", effort="paper"), "street"),
    "a traffic question": (
        QuestionInput("Who crosses?", history=(Turn("Any cars?", ""),), profile="traffic", effort="paper"),
        "street",
    ),
}
CASES = {**CASES, AUTHORS: CASES["a choice question"]}


class ScriptedFrames(InMemoryGraph):
    """A graph that offers the frames of the recording: of each event the only one, of too many events the first ones.

    The preset does not choose frames, its graph does.
    """

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        return super().frames_of(event_ids[:limit], limit=limit)


def _requests(case: str) -> list[dict[str, Any]]:
    """Return the bodies that the server received, in an order that does not depend on which call arrived first."""
    question, graph = CASES[case]
    with Served(_answers) as served:
        settings = settings_of_authors(served.models) if case == AUTHORS else PAPER
        served.ask(question, settings=settings, graph=ScriptedFrames([VIDEOS[graph]()]))
        bodies = [dict(request.body) for request in served.server.requests]
    return sorted(bodies, key=lambda body: json.dumps(body, sort_keys=True))


def _answers(request: ScriptedRequest) -> Any:
    """Reply like sensible(), with an answer in words if the question has no choices."""
    if request.schema_name == "answer" and "sufficient" in json.dumps(request.schema):
        words = ("it runs", "it runs across the street", "it sleeps")
        return [
            {"reasoning": f"t{n}", "answer": words[n % 3], "evidence": [1], "sufficient": True}
            for n in range(request.n)
        ]
    if request.schema_name == "check" and "sufficient" in json.dumps(request.schema):
        return {"reasoning": "seen", "answer": "it runs", "evidence": [1], "sufficient": True}
    return sensible(request)


@pytest.mark.parametrize("case", CASES)
def test_the_preset_sends_what_was_recorded(case: str) -> None:
    sent = _requests(case)
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    if os.environ.get("AVA_RECORD"):
        recorded[case] = sent
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

    assert len(sent) == len(recorded[case])
    for body, expected in zip(sent, recorded[case], strict=True):
        assert body == expected
