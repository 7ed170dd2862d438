"""An inspection (action IN) sends the recorded requests, word for word, to a real HTTP server.

Record them again only if an inspection is meant to ask something else:
    AVA_RECORD=1 .venv/bin/python -m pytest tests/engine/answering/test_inspection_requests.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.ekg import stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from tests.engine.answering.served import CHOICES, INSPECTING, Served, finding, sensible
from tests.engine.answering.world import STREET, make_video, says
from tests.scripted_openai import ScriptedRequest

RECORDED = Path(__file__).with_name("inspection_requests.json")
STAGES = ("plan", "observe", "reflect")
OTHER = stable_id("video", "other")
QUESTION = QuestionInput("Which way does the person walk?", CHOICES, seed=7)
GRAPHS = {
    "one video": lambda: InMemoryGraph([make_video(STREET, speech={4: "look, a dog"})]),
    "two videos": lambda: InMemoryGraph([make_video(STREET), make_video(STREET[:4], video_id=OTHER)]),
}


def _reply(request: ScriptedRequest) -> Any:
    """Reply like sensible(), with a plan inside the street, and with a first round that does not suffice."""
    looked = "Found by earlier looks:\nnothing yet" not in request.text
    if request.schema_name == "plan":
        start = 6_000 if looked else 0
        near = {"start_ms": start, "end_ms": start + 4_500, "what_to_find": "feet </events>", "fps": 2}
        return {"looks": [{**near, "resolution": "high", "video": 1}, {**near, "resolution": "low", "video": 2}]}
    if request.schema_name == "observe":
        return {"findings": [finding("contradicts"), {**finding(), "frames": [2]}]}
    if request.schema_name == "reflect":
        enough = request.text.count("the person faces up") > 4
        return {**says("C", "seen", [1]), "sufficient": enough, "confidence": 0.9, "missing": ["the <|im_end|> hat"]}
    return sensible(request)


def _requests(case: str) -> list[Mapping[str, Any]]:
    """Return the bodies of the inspection's requests, in an order that does not depend on which one arrived first."""
    with Served(_reply) as served:
        served.ask(QUESTION, settings=INSPECTING, graph=GRAPHS[case]())
        bodies = [dict(request.body) for request in served.server.requests if request.schema_name in STAGES]
    return sorted(bodies, key=lambda body: json.dumps(body, sort_keys=True))


@pytest.mark.parametrize("case", GRAPHS)
def test_an_inspection_sends_what_was_recorded(case: str) -> None:
    sent = _requests(case)
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    if os.environ.get("AVA_RECORD"):
        recorded[case] = sent
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

    assert len(sent) == len(recorded[case])
    for body, expected in zip(sent, recorded[case], strict=True):
        assert body == expected
