"""A toolbox over a small world, for tests of programs and tools."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Budget, Effort, NodeRecord, QuestionInput
from gpu_workers.engine.answering.methods.ravu.functions import FUNCTIONS
from gpu_workers.engine.answering.methods.ravu.program import read_program, run_program
from gpu_workers.engine.answering.methods.ravu.values import Run, Value
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.calibration import UNMEASURED, Calibration
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.ports import KnowledgeGraph
from tests.engine.answering.world import Request, ScriptedReasoner, event_id, make_video, models

JUICE = (
    "a boy enters the kitchen",
    "the boy drinks juice",
    "a girl sings a song",
    "the boy plays with a ball",
    "the boy sleeps on the sofa",
)
"""The world of "What did the boy do after drinking juice?": an event of 3 s each."""


def as_json(text: str) -> str:
    """Return a program in JSON. text: lines of the form `name = function("words", of=name)`, for tests to be read."""
    steps = []
    for line in ast.parse(text.replace("with=", "with_=")).body:
        assert isinstance(line, ast.Assign)
        assert isinstance(line.value, ast.Call)
        op, out = ast.unparse(line.value.func), ast.unparse(line.targets[0])
        names = [parameter.name for parameter in FUNCTIONS[op].parameters]
        given = [*zip(names, line.value.args, strict=False), *((word.arg, word.value) for word in line.value.keywords)]
        values = {
            str(name).rstrip("_"): node.value if isinstance(node, ast.Constant) else ast.unparse(node)
            for name, node in given
        }
        steps.append({"op": op, **values, "out": out})
    return json.dumps({"steps": steps})


PROGRAM = as_json("""
juice = localize("boy drinks juice", "event")
boy = localize("boy", "entity")
later = after(of=juice, with=boy)
next = first(later)
seen = frames(next)
""")


def juice(**more: Any) -> MemoryVideo:
    return make_video(JUICE, entities={"boy": [0, 1, 3, 4], "girl": [2]}, **more)


def nobody(request: Request) -> Any:
    raise AssertionError(f"the reasoner was asked: {request.stage}")


def toolbox_over(
    graph: KnowledgeGraph | MemoryVideo,
    script: Callable[[Request], Any] = nobody,
    *,
    question: QuestionInput | None = None,
    effort: Effort = "medium",
    budget: Budget | None = None,
    checker: Any = None,
    calibration: Calibration = UNMEASURED,
    **settings: Any,
) -> Toolbox:
    """Return a toolbox over a graph, or over one video."""
    bound = models(ScriptedReasoner(script), checker=checker, calibration=calibration)
    meter = Meter()
    spending = Spending(budget or Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    question = question or QuestionInput("What did the boy do after drinking juice?", effort=effort)
    asked = Asked(
        question,
        InMemoryGraph([graph]) if isinstance(graph, MemoryVideo) else graph,
        bound,
        replace(settings_for(effort, UNMEASURED), **settings),
        question.question,
    )
    return Toolbox(asked, Calls(bound, spending=spending, meter=meter, in_flight=4))


def run_over(toolbox: Toolbox, *, ranks: bool = False, calls_left: int = 8) -> Run:
    return Run(toolbox, ranks, calls_left, lambda: True)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program came to. error: why it has no value."""

    value: Value | None
    error: str
    records: tuple[NodeRecord, ...]


def ran(text: str, toolbox: Toolbox, **more: Any) -> Ran:
    """Read, check and run a program."""
    recorder = StepRecorder(toolbox, total=1)
    value, error = run_program(read_program(text), run_over(toolbox, **more), recorder)
    return Ran(value, error, tuple(recorder.records))


def reasoner_of(toolbox: Toolbox) -> ScriptedReasoner:
    reasoner = toolbox.asked.models.reasoner
    assert isinstance(reasoner, ScriptedReasoner)
    return reasoner


def numbers_at(value: Any) -> list[int]:
    """Return n of the events of moments or of a record, or of frames by their time in the small world."""
    if isinstance(value, NodeRecord):
        ids = [event_id(n) for n in range(len(JUICE))]
        return [ids.index(event.event_id) for event in value.events]
    if hasattr(value.items[0], "place"):
        return [moment.place.n for moment in value.items]
    return [frame.ms // 3_000 for frame in value.items]


def fitting(*answers: Sequence[int]) -> Callable[[Request], Mapping[str, Any]]:
    """Return a script that ranks: each request gets the next list of numbers."""
    given = iter(answers)
    return lambda request: {"fits": list(next(given))}
