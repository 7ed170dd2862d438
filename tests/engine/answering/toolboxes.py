"""A toolbox over a recording, for tests of single tools."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpu_workers.engine.answering.agent.tool import Observation, Tool, read_arguments
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Budget, Effort, QuestionInput
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.ekg import ObjectState, Place, Span, stable_id
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.ports import KnowledgeGraph
from tests.engine.answering.world import VIDEO, ScriptedReasoner, models

OPEN = QuestionInput("What does the boy do?")


def toolbox_of(
    graph: KnowledgeGraph,
    *,
    question: QuestionInput = OPEN,
    effort: Effort = "medium",
    window: int = 32_768,
    checker: Any = None,
    frames: Any = None,
) -> Toolbox:
    """Return a toolbox whose reasoner is never asked. frames: its frame embedder, by default that of texts."""
    scripted = models(ScriptedReasoner(lambda request: "", context_tokens=window), checker=checker)
    scripted = replace(scripted, frame_embedder=frames or scripted.frame_embedder)
    meter = Meter()
    spending = Spending(Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    calls = Calls(scripted, spending=spending, meter=meter, in_flight=1)
    settings = settings_for(effort, UNMEASURED)
    asked = Asked(replace(question, effort=effort), graph, scripted, settings, searched=question.question)
    return Toolbox(asked, calls)


def use(toolbox: Toolbox, tool: Tool, **arguments: Any) -> Observation:
    """Call a tool as a loop does. Raises BadArguments."""
    return tool.use(toolbox, read_arguments(tool, arguments, videos=max(1, len(toolbox.extents))))


def tracked(
    n: int,
    category: str = "person",
    colour: str = "",
    spans: Sequence[Span] = (Span(0, 1_000),),
    *,
    confidence: float = 1.0,
    video: Any = VIDEO,
) -> ObjectState:
    """Return an object of a video's object memory."""
    return ObjectState(
        id=stable_id("object", video, n),
        n=n,
        categories={category: 1},
        colours={colour: 1},
        spans=tuple(spans),
        segments=(0,),
        tracks=1,
        observations=1,
        entries=1,
        exits=0,
        confidence=confidence,
        weight=0,
        embedding=None,
        last=Place(spans[-1].end_ms - 1, (0.1, 0.1, 0.3, 0.9)),
    )
