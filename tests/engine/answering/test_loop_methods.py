"""`dvd_lite` over the real client: what it shows first, which tools it offers, and what it gives at each effort."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.catalogue import DVD_LITE, VIDEOAGENT_MEM
from gpu_workers.engine.answering.contract import Answer, Budget, Effort, QuestionInput
from gpu_workers.engine.answering.methods.videoagent_mem import SEGMENT_LOCALIZATION, VISUAL_QUESTION_ANSWERING
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.ekg import FrameRow, Span
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.ports import KnowledgeGraph
from tests.engine.answering.recordings import PARK, SECOND, graph_of, park
from tests.engine.answering.served import Served
from tests.engine.answering.test_loop import call, finish
from tests.engine.answering.toolboxes import toolbox_of, tracked, use
from tests.engine.answering.world import (
    Request,
    ScriptedChecker,
    ScriptedReasoner,
    embed,
    event_id,
    models,
    says,
)
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
                return {"verdict": "supported"}
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


CHOICES = ("plays with a ball", "sings", "sleeps")
PEOPLE = [
    tracked(0, "person", "blue", [Span(0, 2_500)]),
    tracked(1, "person", "red", [Span(6_000, 9_000)]),
    tracked(2, "dog", "brown", [Span(12_000, 13_000)]),
]
SQL = "SELECT object_id FROM objects WHERE category = 'person'"


def filmed(**more: Any) -> InMemoryGraph:
    return graph_of(replace(park(objects=False), objects=PEOPLE), **more)


class Agent:
    """A run of the method. outer, inner: replies of the steps in turn; the last one repeats."""

    def __init__(
        self,
        outer: Sequence[Any],
        inner: Sequence[Any] = (),
        *,
        graph: KnowledgeGraph | None = None,
        effort: Effort = "medium",
        choices: Sequence[str] = CHOICES,
        checker: Any = None,
        answer: Any = None,
        **more: Any,
    ) -> None:
        replies: Mapping[str, Iterator[Any]] = {"step": _repeating(outer), "object_step": _repeating(inner)}

        def script(request: Request) -> Any:
            if request.stage in replies:
                must_finish = len(request.schema["properties"]["call"]["anyOf"]) == 1
                return finish("A", [1]) if must_finish else next(replies[request.stage])
            return answer or says("A" if choices else "two people")

        self.reasoner = ScriptedReasoner(script)
        self.checker = checker
        question = QuestionInput("What does the boy do?", tuple(choices), method="videoagent_mem", effort=effort)
        self.answer: Answer = answer_question(
            question, graph or filmed(), models(self.reasoner, checker=checker), **more
        )

    def offered(self, stage: str) -> list[str]:
        schema = self.reasoner.asked(stage)[0].schema
        return [one["properties"]["tool"]["enum"][0] for one in schema["properties"]["call"]["anyOf"]]

    @property
    def paths(self) -> list[tuple[str, str]]:
        return [(node.path, node.action) for node in self.answer.nodes]


def _repeating(replies: Sequence[Any]) -> Iterator[Any]:
    yield from replies
    while True:
        yield replies[-1]


def seeing(statement: str) -> ScriptedChecker:
    found = {"findings": [{"statement": statement, "start_ms": 0, "end_ms": 90_000, "frames": [1], "bearing": "none"}]}
    return ScriptedChecker(lambda request: says("A"), observes=lambda request: found)


def test_the_agent_asks_an_agent_that_asks_the_objects() -> None:
    run = Agent(
        [
            call("segment_localization", description="the boy plays with a ball"),
            call("object_memory_querying", question="How many people are there?"),
            finish("A", [4]),
        ],
        [call("object_sql", sql=SQL), finish("two people", [1, 3])],
        checker=seeing("a ball"),
    )
    assert run.paths[:6] == [
        ("S01", "segment_localization"),
        ("S02", "object_memory_querying"),
        ("S02/O1", "object_sql"),
        ("S02/O2", "finish"),
        ("S03", "finish"),
        ("SA", "SA"),
    ]
    assert run.offered("object_step") == ["object_sql", "object_lookup", "finish"]
    inner = run.reasoner.asked("object_step")[0].text
    assert "Question: How many people are there?" in inner
    assert "A. plays" not in inner
    assert "<objects>person (2), dog (1)</objects>" in inner
    told = run.reasoner.asked("step")[2].text
    assert "two people\nEvents: E" in told
    assert "O1 blue person, O2 red person" in told
    assert (run.answer.choice, run.answer.finish_reason, run.answer.degraded) == (0, "answered", ())
    prompt = run.reasoner.asked("answer")[0].text
    assert "It says: two people" in prompt
    assert "O1 blue person, visible 0:00:00-0:00:02" in prompt


def test_the_memory_of_objects_can_be_left_out() -> None:
    own = replace(VIDEOAGENT_MEM["medium"], objects=False)
    plain = settings_for("medium", UNMEASURED)
    with_objects, without = (
        Agent([finish("A", [1])], settings=settings) for settings in (plain, replace(plain, own=own))
    )

    left_out = [tool for tool in with_objects.offered("step") if tool not in without.offered("step")]
    assert left_out == ["object_memory_querying"]
    assert without.answer.choice == 0
    assert Agent([finish("A", [1])], settings=replace(plain, own=DVD_LITE["medium"])).offered("step") == (
        with_objects.offered("step")
    ), "settings of another method change nothing"


def test_ours_reads_the_overview_and_the_nearest_segments_first_and_the_paper_does_not() -> None:
    ours, paper = (Agent([finish("A", [1])], effort=effort) for effort in ("medium", "paper"))
    seen = ours.reasoner.asked("step")[0].text
    assert "Summary: A boy drinks juice" in seen
    assert "E5 0:00:18-0:00:21: the girl leaves through the gate" in seen
    assert "the girl leaves through the gate" in ours.reasoner.asked("answer")[0].text, "the answer may rest on it"
    assert "Summary" not in paper.reasoner.asked("step")[0].text
    assert "leaves through the gate" not in paper.reasoner.asked("step")[0].text


def test_ours_searches_and_counts_what_is_said_and_the_paper_does_not() -> None:
    ours, paper = (Agent([finish("A", [1])], effort=effort) for effort in ("medium", "paper"))
    assert ours.offered("step")[-3:] == ["transcript_search", "term_frequency", "finish"]
    assert not {"transcript_search", "term_frequency"} & set(paper.offered("step"))


def test_the_paper_preset_answers_by_itself() -> None:
    run = Agent([call("segment_localization", description="the boy sleeps"), finish("C", [1])], effort="paper")
    assert run.answer.choice == 2
    assert run.reasoner.asked("answer") == [], "its own answer stands alone"
    window = Agent([call("caption_retrieval", start_ms=0, end_ms=60_000), finish("A", [1])], effort="paper")
    assert "at most 10 slices" in window.reasoner.asked("step")[0].text
    assert "at most 15 slices" in Agent([finish("A", [1])]).reasoner.asked("step")[0].text


@pytest.mark.parametrize(("effort", "steps"), [("low", 4), ("medium", 8), ("high", 12), ("paper", 15)])
def test_steps_by_effort(effort: Effort, steps: int) -> None:
    searches = [call("segment_localization", description=f"the boy {n}") for n in range(6)]
    reads = [call("caption_retrieval", start_ms=0, end_ms=3_000 * n) for n in range(1, 9)]
    run = Agent([x for pair in zip(searches, reads, strict=False) for x in pair] * 3, effort=effort)
    asked = run.reasoner.asked("step")
    assert len(asked) <= steps
    last = asked[-1].schema["properties"]["call"]["anyOf"]
    assert [one["properties"]["tool"]["enum"] for one in last] == [["finish"]], "in the end only finish is offered"


def test_the_inner_agent_ends_after_its_own_steps() -> None:
    lookups = [call("object_lookup", words=word) for word in ("people", "dog", "boy", "girl", "man", "woman")]
    run = Agent(
        [call("object_memory_querying", question="Who?"), finish("A", [1])],
        [*lookups[:3], finish("two people", [1])],
        effort="medium",
    )
    asked = run.reasoner.asked("object_step")
    assert len(asked) == 4
    assert [one["properties"]["tool"]["enum"] for one in asked[3].schema["properties"]["call"]["anyOf"]] == [["finish"]]


def test_without_objects_the_rest_still_answers() -> None:
    run = Agent(
        [call("segment_localization", description="the boy plays"), finish("A", [1])],
        graph=graph_of(park(objects=False)),
    )
    assert run.offered("step") == [
        "segment_localization", "caption_retrieval", "transcript_search", "term_frequency", "finish",
    ]  # fmt: skip
    assert "object_memory_querying (no_object_memory)" in run.reasoner.asked("step")[0].text
    assert run.answer.degraded == ("no_eyes", "no_object_memory")
    assert (run.answer.choice, run.answer.finish_reason) == (0, "answered")


def test_an_agent_that_finds_nothing_says_so() -> None:
    run = Agent(
        [call("object_memory_querying", question="How many cups?"), finish("A", [1])],
        [call("object_lookup", words="cup"), finish("insufficient", sufficient=False)],
    )
    step = next(node for node in run.answer.nodes if node.path == "S01")
    assert "The object memory does not decide this." in step.detail["observation"]
    assert step.error == ""
    told = run.reasoner.asked("object_step")[1].text
    assert "The object memory has: person (2), dog (1)." in told


@pytest.mark.parametrize("calls", range(1, 7))
def test_every_budget_ends_with_an_answer_if_one_was_readable(calls: int) -> None:
    outer = [
        call("segment_localization", description="the boy plays"),
        call("object_memory_querying", question="Who?"),
        finish("A", [1]),
    ]
    inner = [call("object_sql", sql=SQL), finish("two", [1])]
    free, bound = Agent(outer, inner), Agent(outer, inner, budget=Budget(max_calls=calls))
    assert len(bound.reasoner.requests) <= calls
    same = [request.text for request in free.reasoner.requests[: len(bound.reasoner.requests) - 1]]
    assert [request.text for request in bound.reasoner.requests[:-1]][: len(same) - 1] == same[:-1]
    assert bound.answer.choice == 0


def test_segments_come_with_their_best_slice() -> None:
    video = park()
    first = video.events[0]
    merged = replace(first, event=replace(first.event, span=Span(0, 6_000), end_chunk=2))
    toolbox = toolbox_of(graph_of(replace(video, events=[merged, *video.events[2:]])))
    found = use(toolbox, SEGMENT_LOCALIZATION, description="a boy enters with orange juice on the bench")
    lines = found.text.splitlines()
    at = next(index for index, line in enumerate(lines) if " 0:00:00-0:00:06: " in line)
    assert lines[at + 1] == "  best segment: 0:00:03-0:00:06, from 3000 ms"
    assert len(found.events) <= 5


def test_the_paper_weighs_pictures_and_captions_18_to_11() -> None:
    texts = ("a cat sits", *(f"car {n} waits" for n in range(8)), "a dog barks")
    video = park(texts, objects=False)
    seen = {0: "a dog barks", 9: "a cat sits"}
    frames = [
        FrameRow(frame.ms, frame.jpeg, embed(seen[n]) if n in seen else frame.embedding)
        for n, frame in enumerate(video.frames)
    ]
    graph = graph_of(replace(video, frames=frames))
    toolbox = toolbox_of(graph, effort="paper")
    found = use(toolbox, SEGMENT_LOCALIZATION, description="a dog barks")
    assert {event_id(0), event_id(9)} <= set(found.events)
    # Event 0 looks like the dog (18 * 1 + 11 / 3 = 21.7), event 9 reads like it (18 / 3 + 11 = 17).
    assert embed("a dog barks") @ embed("a cat sits") == pytest.approx(1 / 3)
    alone = SEGMENT_LOCALIZATION
    assert alone.needs == frozenset({"events"})
    assert toolbox.top_similarity == pytest.approx(1.0)


def test_a_question_about_a_segment_sees_its_neighbours() -> None:
    checker = seeing("the boy kicks a ball")
    toolbox = toolbox_of(graph_of(park()), checker=checker)
    found = use(toolbox, VISUAL_QUESTION_ANSWERING, question="What does he kick?", at_ms=10_000)
    (request,) = checker.observed
    assert [frame.ms for frame in request.frames] == [7_500, 10_500, 13_500]
    assert request.find == "Describe what happens, then answer: What does he kick?"
    assert "the boy kicks a ball" in found.text
    assert found.events == (event_id(2),), "the finding names the first of the frames"
    assert use(toolbox, VISUAL_QUESTION_ANSWERING, question="And?", at_ms=24_000).error == "out_of_range"
    first = use(toolbox, VISUAL_QUESTION_ANSWERING, question="And?", at_ms=0)
    assert [frame.ms for frame in checker.observed[-1].frames] == [1_500, 4_500]
    assert first.error == ""


def test_a_segment_of_several_videos_needs_its_video() -> None:
    checker = seeing("the boy sleeps")
    toolbox = toolbox_of(graph_of(park(), park(PARK[::-1], video_id=SECOND)), checker=checker)
    number = next(number for number, video in toolbox.videos.items() if video == SECOND)
    found = use(toolbox, VISUAL_QUESTION_ANSWERING, question="Who?", video=number, at_ms=1_000)
    assert f"video {number} " in found.text
    assert found.events == (event_id(0, SECOND),)


def test_garbage_and_repeats_end_in_an_answer() -> None:
    for outer in (["no json"], [call("caption_retrieval", start_ms=0, end_ms=3_000)], [call("drop_table", sql="x")]):
        run = Agent(outer)
        assert len(run.reasoner.asked("step")) <= 8
        assert run.answer.finish_reason in ("answered", "insufficient_evidence")


def test_an_open_question_is_answered_in_words() -> None:
    run = Agent(
        [call("object_memory_querying", question="How many people?"), finish("two people", [1])],
        [call("object_sql", sql=SQL), finish("two people", [1])],
        choices=(),
        answer=says("two people", evidence=[1]),
    )
    assert run.answer.text == "two people"
    assert {citation.event_id for citation in run.answer.citations} <= {event_id(0), event_id(2)}
    assert run.answer.citations


def test_the_inner_agent_reads_the_words_of_the_outer_one_and_no_language_of_the_customer() -> None:
    """The outer reasoner was asked to write in the language of the index."""
    toolbox = toolbox_of(filmed(), question=QuestionInput("Wie viele Leute sind im Park?"))
    toolbox.asked = replace(toolbox.asked, question_language="de", translated=("How many people are in the park?",))

    inner = toolbox.for_question("How many dogs are there?").asked

    assert (inner.in_english, inner.searched, inner.query) == ("How many dogs are there?",) * 3
    assert inner.question_language == ""
