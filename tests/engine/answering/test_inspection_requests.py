"""An inspection (action IN) sends the requests whose digests are recorded, to a real HTTP server.

digests.py says how to compare the requests of two commits, and how to record digests again.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.ekg import stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from tests.engine.answering.digests import differences, how_to_compare
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


def _requests(case: str) -> dict[str, Any]:
    """Return the bodies of the inspection's requests, named and numbered by stage, whichever arrived first."""
    with Served(_reply) as served:
        served.ask(QUESTION, settings=INSPECTING, graph=GRAPHS[case]())
        sent = [
            (request.schema_name, request.body) for request in served.server.requests if request.schema_name in STAGES
        ]
    numbers: Counter[str] = Counter()
    bodies = {}
    for stage, body in sorted(sent, key=lambda one: json.dumps(one, sort_keys=True)):
        numbers[stage] += 1
        bodies[f"{case}, {stage} {numbers[stage]}"] = body
    return bodies


@pytest.mark.parametrize("case", GRAPHS)
def test_an_inspection_sends_what_was_recorded(case: str) -> None:
    assert differences(RECORDED, _requests(case), of=f"{case}, ") == [], how_to_compare(__file__)
