"""Six frames in a row, strictly before or after a moment: the seconds by hand."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.agent.frame_tools import ACTION_AFTER, ACTION_BEFORE
from gpu_workers.engine.answering.agent.tool import BadArguments, Tool
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import ModelError, ObserveRequest
from tests.engine.answering.filmed import filmed
from tests.engine.answering.toolboxes import toolbox_of, use
from tests.engine.answering.world import ScriptedChecker, says

QUESTION = QuestionInput("What does she do before she sits down?")


def watching(findings: Any = None) -> ScriptedChecker:
    found = {"statement": "she picks up a cup", "start_ms": 0, "end_ms": 10**9, "frames": [1], "bearing": "none"}
    return ScriptedChecker(
        lambda _: says("A"), observes=lambda _: {"findings": [found]} if findings is None else findings
    )


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
    toolbox = toolbox_of(InMemoryGraph([filmed(60)]), checker=checker)

    observation = use(toolbox, tool, t_ms=t_ms)

    [request] = checker.observed
    assert seconds(request) == shown
    assert observation.error == ""
    assert "she picks up a cup" in observation.text
    assert f"{len(shown)} frames just" in observation.text
    assert list(toolbox.evidence.numbers) == list(observation.events), "what was seen can be cited"
    assert len(toolbox.evidence.findings) == 1


def test_at_the_beginning_nothing_lies_before_and_no_look_is_made() -> None:
    checker = watching()
    toolbox = toolbox_of(InMemoryGraph([filmed(60)]), checker=checker)

    assert use(toolbox, ACTION_BEFORE, t_ms=0).error == "nothing_found"
    assert use(toolbox, ACTION_AFTER, t_ms=60_000).error == "nothing_found"
    assert checker.observed == []


def test_a_moment_past_the_end_is_told_what_there_is() -> None:
    observation = use(toolbox_of(InMemoryGraph([filmed(60)]), checker=watching()), ACTION_BEFORE, t_ms=61_000)

    assert observation.error == "out_of_range"
    assert observation.text == "0:01:01 is outside. Times go from 0 to 60000 ms."


@pytest.mark.parametrize("value", ["0:42", 42.5, float("nan"), True, None, [42]])
def test_a_time_that_is_none_is_refused_before_any_look(value: Any) -> None:
    checker = watching()
    with pytest.raises(BadArguments, match="whole milliseconds"):
        use(toolbox_of(InMemoryGraph([filmed(60)]), checker=checker), ACTION_BEFORE, t_ms=value)
    assert checker.observed == []


def test_frames_stay_in_the_scope_and_in_their_video() -> None:
    checker = watching()
    others = [filmed(60, video_id=UUID(int=n)) for n in (1, 2)]
    toolbox = toolbox_of(InMemoryGraph(others, span=Span(20_000, 40_000)), checker=checker)

    observation = use(toolbox, ACTION_BEFORE, t_ms=22_000, video=2)

    assert seconds(checker.observed[0]) == [20, 21]
    assert "video 2 0:00:20" in observation.text
    assert use(toolbox, ACTION_BEFORE, t_ms=20_000, video=2).error == "nothing_found"
    assert use(toolbox, ACTION_BEFORE, t_ms=45_000, video=2).error == "out_of_range"


def test_sparse_frames_are_sought_up_to_a_minute_away() -> None:
    video = filmed(200)
    sparse = InMemoryGraph([type(video)(video.video_id, video.events, video.chunks, video.frames[::9])])
    checker = watching()

    use(toolbox_of(sparse, checker=checker), ACTION_BEFORE, t_ms=100_000)

    assert seconds(checker.observed[0]) == [54, 63, 72, 81, 90, 99]


def test_a_look_that_fails_or_shows_nothing_says_so() -> None:
    graph = InMemoryGraph([filmed(60)])
    late = ModelError("model_timeout", "late", retryable=True)
    failing = toolbox_of(graph, checker=ScriptedChecker(lambda _: says("A"), observes=lambda _: late))

    assert use(failing, ACTION_BEFORE, t_ms=9_000).error == "failed: model_timeout"
    assert (
        use(toolbox_of(graph, checker=watching({"findings": []})), ACTION_BEFORE, t_ms=9_000).error == "nothing_found"
    )


def test_it_is_not_offered_without_frames_or_eyes() -> None:
    assert not ACTION_BEFORE.needs <= toolbox_of(InMemoryGraph([filmed(60)]), checker=None).artifacts
    assert (
        not ACTION_BEFORE.needs <= toolbox_of(InMemoryGraph([filmed(60, frames=False)]), checker=watching()).artifacts
    )
    assert ACTION_AFTER.needs <= toolbox_of(InMemoryGraph([filmed(60)]), checker=watching()).artifacts
