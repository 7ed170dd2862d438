"""Six frames in a row, strictly before or after a moment: the seconds by hand."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.agent.tool import BadArguments, Observation, Tool, read_arguments
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.agent.tools.frame_tools import ACTION_AFTER, ACTION_BEFORE
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Budget, QuestionInput
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import Meter, ModelError, ObserveRequest
from tests.engine.answering.filmed import filmed
from tests.engine.answering.world import ScriptedChecker, ScriptedReasoner, models, says

QUESTION = QuestionInput("What does she do before she sits down?")


def toolbox_of(graph: Any, checker: Any) -> Toolbox:
    played, meter = models(ScriptedReasoner(lambda _: ""), checker=checker), Meter()
    asked = Asked(QUESTION, graph, played, settings_for("medium", UNMEASURED), QUESTION.question)
    spending = Spending(Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    return Toolbox(asked, Calls(played, spending=spending, meter=meter, in_flight=1))


def watching(findings: Any = None) -> ScriptedChecker:
    found = {"statement": "she picks up a cup", "start_ms": 0, "end_ms": 10**9, "frames": [1], "bearing": "none"}
    return ScriptedChecker(
        lambda _: says("A"), observes=lambda _: {"findings": [found]} if findings is None else findings
    )


def use(tool: Tool, toolbox: Toolbox, **given: Any) -> Observation:
    return tool.use(toolbox, read_arguments(tool, given, videos=max(1, len(toolbox.videos))))


def seconds(request: ObserveRequest) -> list[float]:
    return [frame.ms / 1_000 for frame in request.frames]


@pytest.mark.parametrize(
    ("tool", "t_ms", "shown"),
    [
        (ACTION_BEFORE, 42_000, [36, 37, 38, 39, 40, 41]),
        (ACTION_BEFORE, 42_500, [37, 38, 39, 40, 41, 42]),
        (ACTION_BEFORE, 2_000, [0, 1]),
        (ACTION_AFTER, 42_000, [43, 44, 45, 46, 47, 48]),
        (ACTION_AFTER, 41_999, [42, 43, 44, 45, 46, 47]),
        (ACTION_AFTER, 58_000, [59]),
    ],
)
def test_six_frames_in_a_row_are_looked_at(tool: Tool, t_ms: int, shown: list[float]) -> None:
    checker = watching()
    toolbox = toolbox_of(InMemoryGraph([filmed(60)]), checker)

    observation = use(tool, toolbox, t_ms=t_ms)

    [request] = checker.observed
    assert seconds(request) == shown
    assert observation.error == ""
    assert "she picks up a cup" in observation.text
    assert f"{len(shown)} frames just" in observation.text
    assert list(toolbox.evidence.numbers) == list(observation.events), "what was seen can be cited"
    assert len(toolbox.evidence.findings) == 1


def test_at_the_beginning_nothing_lies_before_and_no_look_is_made() -> None:
    checker = watching()
    toolbox = toolbox_of(InMemoryGraph([filmed(60)]), checker)

    assert use(ACTION_BEFORE, toolbox, t_ms=0).error == "nothing_found"
    assert use(ACTION_AFTER, toolbox, t_ms=60_000).error == "nothing_found"
    assert checker.observed == []


def test_a_moment_past_the_end_is_told_what_there_is() -> None:
    observation = use(ACTION_BEFORE, toolbox_of(InMemoryGraph([filmed(60)]), watching()), t_ms=61_000)

    assert observation.error == "out_of_range"
    assert "0:00:00-0:01:00 (0 to 60000 ms)" in observation.text


@pytest.mark.parametrize("value", ["0:42", 42.5, float("nan"), True, None, [42]])
def test_a_time_that_is_none_is_refused_before_any_look(value: Any) -> None:
    checker = watching()
    with pytest.raises(BadArguments, match="whole milliseconds"):
        use(ACTION_BEFORE, toolbox_of(InMemoryGraph([filmed(60)]), checker), t_ms=value)
    assert checker.observed == []


def test_frames_stay_in_the_scope_and_in_their_video() -> None:
    checker = watching()
    others = [filmed(60, video_id=UUID(int=n)) for n in (1, 2)]
    toolbox = toolbox_of(InMemoryGraph(others, span=Span(20_000, 40_000)), checker)

    observation = use(ACTION_BEFORE, toolbox, t_ms=22_000, video=2)

    assert seconds(checker.observed[0]) == [20, 21]
    assert "video 2 0:00:20" in observation.text
    assert use(ACTION_BEFORE, toolbox, t_ms=20_000, video=2).error == "nothing_found"
    assert use(ACTION_BEFORE, toolbox, t_ms=45_000, video=2).error == "out_of_range"


def test_sparse_frames_are_sought_up_to_a_minute_away() -> None:
    video = filmed(200)
    sparse = InMemoryGraph([type(video)(video.video_id, video.events, video.chunks, video.frames[::9])])
    checker = watching()

    use(ACTION_BEFORE, toolbox_of(sparse, checker), t_ms=100_000)

    assert seconds(checker.observed[0]) == [54, 63, 72, 81, 90, 99]


def test_a_look_that_fails_or_shows_nothing_says_so() -> None:
    graph = InMemoryGraph([filmed(60)])
    late = ModelError("model_timeout", "late", retryable=True)
    failing = toolbox_of(graph, ScriptedChecker(lambda _: says("A"), observes=lambda _: late))

    assert use(ACTION_BEFORE, failing, t_ms=9_000).error == "failed: model_timeout"
    assert use(ACTION_BEFORE, toolbox_of(graph, watching({"findings": []})), t_ms=9_000).error == "nothing_found"


def test_it_is_not_offered_without_frames_or_eyes() -> None:
    assert not ACTION_BEFORE.needs <= toolbox_of(InMemoryGraph([filmed(60)]), None).artifacts
    assert not ACTION_BEFORE.needs <= toolbox_of(InMemoryGraph([filmed(60, frames=False)]), watching()).artifacts
    assert ACTION_AFTER.needs <= toolbox_of(InMemoryGraph([filmed(60)]), watching()).artifacts
