"""People of a real recording, asked by SQL: six come in one after another (docs/lab/quality.md).

It is indexed in the segments of the service. A man stands still at one of their cuts and is lost for 13 s.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from docs.examples.index_a_file import index_file
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.bindings import load_index_models
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, Meter
from gpu_workers.engine.models.settings import ModelSettings
from tests.engine.answering.test_loop import call, finish
from tests.engine.answering.world import Request, ScriptedReasoner, ScriptedSimilarity, says
from tests.shared_data import SHARED_DATA, needs

RECORDING = SHARED_DATA / "video" / "intel_onebyone.mp4"
SQL = "SELECT object_id FROM objects WHERE category='person'"
QUESTION = "How many people come into the office?"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1_800),
    needs(RECORDING),
]


@pytest.fixture(scope="module")
def office() -> InMemoryGraph:
    models = load_index_models(ModelSettings.from_env({}))
    return index_file(RECORDING, models, profile="general", meter=Meter()).graph()


def test_six_rows_name_six_moments(office: InMemoryGraph) -> None:
    shown: list[str] = []

    def script(request: Request) -> Any:
        if request.stage == "step":
            asks = len(reasoner.asked("step")) == 1
            return call("object_memory_querying", question=QUESTION) if asks else finish("6 people", named(shown[-1]))
        if request.stage == "object_step":
            shown.append(request.text)
            return call("object_sql", sql=SQL) if len(shown) == 1 else finish("6 people", named(shown[-1]))
        return {"verdict": "supported"} if request.stage == "verify" else says("6 people", evidence=named(shown[-1]))

    reasoner = ScriptedReasoner(script)
    seeing = load_index_models(ModelSettings.from_env({}))
    answer = answer_question(
        QuestionInput(QUESTION, method="videoagent_mem", effort="paper"),
        office,
        AnswerModels(reasoner, seeing.text_embedder, seeing.frame_embedder, ScriptedSimilarity(), UNMEASURED),
    )
    step = next(node for node in answer.nodes if node.action == "object_sql")
    rows = [line for line in step.detail["observation"].splitlines() if line in {f"O{n}" for n in range(1, 100)}]
    assert len(rows) == 6
    assert len(step.events) == 6
    assert answer.text == "6 people"
    cited = {citation.event_id for citation in answer.citations}
    assert len(cited) == 6
    entries = {thing.spans[0].start_ms for thing in office.objects(limit=100) if thing.category == "person"}
    spans = [event.span for event in office.load_events(list(cited)).values()]
    assert all(any(span.contains(ms) for span in spans) for ms in entries), "each person's entry is cited"


def named(text: str) -> list[int]:
    """Return the numbers of the events in which the objects of the last observation are first seen."""
    return [int(number) for number in dict.fromkeys(re.findall(r"first in E(\d+)", text))]
