"""`dvd_lite` over the real client: what it shows first, which tools it offers, and what it gives at each effort."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.method_settings import DVD_LITE
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.models.calibration import UNMEASURED
from tests.engine.answering.recordings import graph_of, park
from tests.engine.answering.served import Served
from tests.engine.answering.test_loop import call, finish
from tests.engine.answering.world import event_id, says
from tests.scripted_openai import ScriptedRequest, without_schemas

QUESTION = QuestionInput(
    "What does the boy do after drinking?", ("plays with a ball", "sings a song", "leaves the park"), method="dvd_lite"
)
LOOK = call(
    "frame_inspect",
    question="what is in his hands",
    ranges=[{"start_ms": 9_000, "end_ms": 12_000}],
    fps="1",
    resolution="low",
)
SEEN = {"findings": [{"statement": "he holds a red ball", "start_ms": 9_000, "end_ms": 12_000, "frames": [1],
                      "bearing": "none"}]}  # fmt: skip


class Asked:
    """A question to a server whose steps are given; the last one repeats."""

    def __init__(self, steps: Sequence[Any], *, effort: Any = "medium", schemas: bool = True, **video: Any) -> None:
        self.steps: list[ScriptedRequest] = []

        def words(request: ScriptedRequest) -> Any:
            if "Found so far" in request.text:
                return SEEN
            if "<findings>" in request.text:
                return says("A", evidence=[1])
            if "</passage>" in request.text:
                return {"verdicts": [{"statement": 1, "passage": 1, "verdict": "supported"}]}
            self.steps.append(request)
            return steps[min(len(self.steps), len(steps)) - 1]

        with Served(words if schemas else without_schemas(words)) as served:
            settings = replace(settings_for(effort, UNMEASURED), in_flight=1)
            question = replace(QUESTION, effort=effort)
            self.answer: Answer = served.ask(question, graph=graph_of(park(**video)), settings=settings)
            self.requests = list(served.server.requests)

    @property
    def trace(self) -> list[tuple[str, str, str]]:
        return [(node.path, node.action, node.error) for node in self.answer.nodes]


def offered(request: ScriptedRequest) -> list[str]:
    assert request.schema is not None
    return [one["properties"]["tool"]["enum"][0] for one in request.schema["properties"]["call"]["anyOf"]]


def test_the_whole_and_the_nearest_events_stand_before_the_first_step() -> None:
    asked = Asked([finish("A", [1])])

    first = asked.steps[0].text
    assert "Summary: A boy drinks juice, plays and sleeps in a park." in first
    assert "Part 0:00:00-0:00:12 The boy and his juice" in first
    assert "the boy plays with a ball" in first
    assert offered(asked.steps[0]) == [
        "clip_search", "frame_inspect", "topic_search", "transcript_search", "term_frequency", "finish",
    ]  # fmt: skip
    assert asked.trace == [("S01", "finish", ""), ("SA", "SA", "")]
    assert asked.answer.text == "plays with a ball"


def test_a_search_and_a_look_lead_to_an_answer_with_citations() -> None:
    asked = Asked([call("clip_search", query="boy ball", top_k=2), LOOK, finish("A", [4])])

    assert asked.trace == [
        ("S01", "clip_search", ""),
        ("S02", "frame_inspect", ""),
        ("S03", "finish", ""),
        ("SA", "SA", ""),
    ]
    head = next(request for request in asked.requests if "<findings>" in request.text)
    assert "he holds a red ball" in head.text
    (citation, *_) = asked.answer.citations
    assert citation.event_id in {event_id(n) for n in range(8)}
    assert asked.answer.degraded == ()
    assert json.loads(json.dumps(asked.answer.settings))["method"] == {
        "steps": 8,
        "top_k": 16,
        "frames": 50,
        "browses_first": True,
    }


def test_paper_browses_by_a_tool_and_gives_the_answer_of_the_loop() -> None:
    asked = Asked([call("global_browse", query="boy"), finish("B", [1])], effort="paper")

    assert "Summary:" not in asked.steps[0].text
    assert offered(asked.steps[0]) == ["global_browse", "clip_search", "frame_inspect", "finish"]
    assert "Summary:" in asked.steps[1].text
    assert asked.answer.text == "sings a song", "the head would have said A"
    assert asked.answer.signals["head"] == "sample"
    assert not any("<findings>" in request.text for request in asked.requests)


def test_what_is_said_is_searched_and_counted() -> None:
    spoken = [call("transcript_search", query="is the juice cold"), call("term_frequency", term="la la")]
    asked = Asked([*spoken, finish("A", [1])])

    assert '"this juice is cold"' in asked.steps[1].text
    assert '"la la" is said 1 time' in asked.steps[2].text


def test_a_server_without_schemas_is_read_all_the_same() -> None:
    """The client learns from the first refusal. The model writes prose around its object, and once prose alone."""
    steps = [call("clip_search", query="boy ball", top_k=2), "I will look again.", LOOK, finish("A", [1])]
    asked = Asked(steps, schemas=False)

    assert [action for _, action, _ in asked.trace] == ["clip_search", "unreadable", "frame_inspect", "finish", "SA"]
    assert asked.answer.text == "plays with a ball"
    assert "response_format" in asked.requests[0].body
    assert all("response_format" not in request.body for request in asked.requests[2:])


@pytest.mark.parametrize("effort", ["low", "medium", "high", "paper"])
def test_no_effort_makes_more_steps_than_it_says(effort: Any) -> None:
    searches = [call("clip_search", query=f"boy {n}", top_k=n + 1) for n in range(20)]
    asked = Asked(searches, effort=effort)

    assert 2 <= len(asked.steps) <= DVD_LITE[effort].steps
    assert offered(asked.steps[-1]) == ["finish"]


def test_a_video_that_is_not_summarised_says_what_is_missing() -> None:
    asked = Asked([finish("A", [1])], topics=False)

    assert asked.answer.degraded == ("no_summary",)
    assert "Not available for this video: topic_search (no_summary)" in asked.steps[0].text
