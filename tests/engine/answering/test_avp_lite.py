"""Planned looks over the whole scope: where they reach, what they cost, and what they leave to the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, Budget, NodeRecord, PartialAnswer, QuestionInput
from gpu_workers.engine.answering.methods.avp_lite import SCAN_FRAMES, AvpLite
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import ChatCapabilities, ModelError, ObserveRequest
from tests.engine.answering.filmed import filmed, overview, topic
from tests.engine.answering.world import Request, ScriptedChecker, ScriptedReasoner, models, says

QUESTION = QuestionInput("What colour is the bicycle?", ("red", "blue", "green"))
OTHER = stable_id("video", "other")
Script = Any


def look(start_s: float, end_s: float, find: str = "a bicycle", **more: Any) -> dict[str, Any]:
    span = {"start_ms": int(1_000 * start_s), "end_ms": int(1_000 * end_s)}
    return {**span, "what_to_find": find, "fps": 1, "resolution": "low", **more}


def plan(*looks: Mapping[str, Any]) -> dict[str, Any]:
    return {"looks": list(looks)}


def reflects(answer: str, *, sufficient: bool = True, missing: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    fields = {"reasoning": "the frames show it", "answer": answer, "evidence": [1], "confidence": 0.9}
    return {**fields, "sufficient": sufficient, "missing": list(missing), **more}


NOT_YET = reflects("insufficient", sufficient=False, missing=["the bicycle"])


def planning(plans: Sequence[Any], reflections: Sequence[Any] = (reflects("B"),)) -> ScriptedReasoner:
    asked: dict[str, int] = {}

    def script(request: Request) -> Any:
        number = asked.get(request.stage, 0)
        asked[request.stage] = number + 1
        replies = {"plan": plans, "reflect": reflections}.get(request.stage)
        return replies[min(number, len(replies) - 1)] if replies else says("B", "a blue bicycle stands there", [])

    return ScriptedReasoner(script)


def observing(statement: str = "a blue bicycle", max_frames: int = 64, fault: Any = None) -> ScriptedChecker:
    def observes(request: ObserveRequest) -> Any:
        found = {"statement": statement, "start_ms": 0, "end_ms": 10**12, "frames": [1], "bearing": "none"}
        return fault or {"findings": [found]}

    return ScriptedChecker(lambda _: says("A"), observes=observes, max_frames=max_frames)


def ask(
    reasoner: ScriptedReasoner, checker: Any = None, graph: Any = None, question: QuestionInput = QUESTION, **more: Any
) -> Answer:
    graph = graph or InMemoryGraph([filmed(600, {303: "a blue bicycle by the wall"})])
    return answer_question(question, graph, models(reasoner, checker=checker), method=AvpLite(), **more)


def seconds(request: ObserveRequest) -> list[float]:
    return [frame.ms / 1_000 for frame in request.frames]


def rounds(answer: Answer) -> list[NodeRecord]:
    return [node for node in answer.nodes if node.action == "observe"]


# --- the course ------------------------------------------------------------------------------------------------------


def test_it_plans_looks_reflects_and_answers_from_what_was_seen() -> None:
    reasoner, checker = planning([plan(look(300, 306))]), observing()

    answer = ask(reasoner, checker)

    assert [request.stage for request in reasoner.requests] == ["plan", "reflect", "answer"]
    assert [seconds(request) for request in checker.observed] == [[300, 301, 302, 303, 304, 305]]
    assert [node.path for node in answer.nodes][:3] == ["S01", "S02", "S03"]
    assert [node.action for node in answer.nodes][:3] == ["overview", "clip_search", "observe"]
    assert rounds(answer)[0].seen == ("05:00-05:06 a blue bicycle",)
    assert "a blue bicycle" in reasoner.requests[2].text
    assert (answer.text, answer.finish_reason) == ("blue", "answered")


def test_the_first_plan_reads_the_overview_the_nearest_events_and_how_far_the_video_goes() -> None:
    video = filmed(600, {303: "a blue bicycle by the wall"})
    video = replace(video, overview=overview("A yard on a long day.", 600_000), topics=[topic(0, 0, 50, "Yard", "day")])
    reasoner = planning([plan(look(300, 306))])

    ask(reasoner, observing(), InMemoryGraph([video]))

    prompt = reasoner.requests[0].text
    assert "A yard on a long day." in prompt
    assert "300000-312000 ms: a blue bicycle by the wall" in prompt
    assert "Times go from 0 to 600000 ms." in prompt


def test_a_look_may_go_anywhere_in_the_scope_and_no_further() -> None:
    graph = InMemoryGraph([filmed(600)], span=Span(120_000, 240_000))
    checker = observing()

    ask(planning([plan(look(0, 130), look(235, 10_000, "elsewhere"), look(500, 600))]), checker, graph)

    shown = [seconds(request) for request in checker.observed]
    assert [(min(times), max(times)) for times in shown] == [(120, 129), (235, 239)]


def test_a_first_plan_may_scan_an_hour_and_later_ones_look_closely() -> None:
    video = filmed(3_600)
    slow = look(0, 3_600, "a bicycle", fps=0.0001)
    reasoner = planning([plan(slow), plan(look(0, 3_600, "again", fps=0.0001))], [NOT_YET])
    checker = observing()

    ask(reasoner, checker, InMemoryGraph([video]), replace(QUESTION, effort="low"))

    assert "at least 0.018 frames per second" in reasoner.requests[0].text, "64 frames in 3,600 s"
    [scan] = checker.observed
    assert len(scan.frames) == SCAN_FRAMES
    assert (seconds(scan)[0], seconds(scan)[-1]) == (28, 3_572), "nearest to the middles of 64 parts of 56.25 s"


@pytest.mark.parametrize(("effort", "count"), [("low", 1), ("medium", 3), ("high", 5), ("paper", 3)])
def test_rounds_looks_and_frames_are_bounded_whatever_the_plan_says(effort: Any, count: int) -> None:
    plans = [plan(*(look(10 * n, 10 * n + 300 + r) for n in range(9))) for r in range(9)]
    reasoner, checker = planning(plans, [NOT_YET]), observing(max_frames=16)

    answer = ask(reasoner, checker, question=replace(QUESTION, effort=effort))

    assert len(rounds(answer)) == count
    looked = [request for request in checker.observed if request.find == "a bicycle"]
    assert len(looked) == 4 * count
    assert max(len(request.frames) for request in looked) == 16
    assert len(reasoner.asked("plan")) == len(reasoner.asked("reflect")) == count


def test_the_cost_does_not_grow_with_the_video() -> None:
    def frames(length: int) -> int:
        plans = [plan(look(n, length)) for n in range(4)]
        checker = observing(max_frames=16)
        ask(planning(plans, [NOT_YET]), checker, InMemoryGraph([filmed(length)]))
        return sum(len(request.frames) for request in checker.observed)

    assert frames(6_000) == frames(600) == 48


def test_each_round_reads_what_the_earlier_ones_found_and_missed() -> None:
    reasoner = planning([plan(look(0, 5)), plan(look(300, 305))], [NOT_YET, reflects("B")])
    checker = observing()

    answer = ask(reasoner, checker)

    second = reasoner.asked("plan")[1].text
    assert "a blue bicycle" in second.split("Findings so far")[1]
    assert "Still missing: the bicycle" in second
    assert [len(node.seen) for node in rounds(answer)] == [1, 2]
    assert checker.observed[1].known == ("00:00-00:05 a blue bicycle",)


def test_plans_and_judgements_begin_alike_so_that_a_prefix_cache_reads_the_events_once() -> None:
    reasoner = planning([plan(look(0, 5)), plan(look(300, 305))], [NOT_YET, reflects("B")])

    ask(reasoner, observing())

    texts = [request.text for request in reasoner.requests if request.stage in ("plan", "reflect")]
    opening = texts[0].split("none yet")[0]
    assert "</events>" in opening
    assert len(texts) == 4
    assert all(text.startswith(opening) for text in texts)
    found = [text.split("in which they were made:\n")[1] for text in texts]
    assert found[1].startswith("1. 00:00-00:05 a blue bicycle")
    assert found[3].startswith(found[2].split("\n\n")[0]), "findings are only added"


@pytest.mark.parametrize("window", [2_000, 3_000, 8_192])
def test_events_leave_the_prompts_of_a_small_window_when_findings_need_the_room(window: int) -> None:
    looks = [plan(*(look(60 * k + 5 * n, 60 * k + 5 * n + 5) for n in range(4))) for k in range(5)]
    reasoner = planning(looks, [NOT_YET])
    reasoner.capabilities = ChatCapabilities(window)

    answer = ask(reasoner, observing("a blue bicycle " * 20), question=replace(QUESTION, effort="high"))

    asked = [request for request in reasoner.requests if request.stage in ("plan", "reflect")]
    assert len(asked) == 10, answer.detail
    for request in asked:
        assert reasoner.count_tokens(request.text) + request.max_tokens <= window


def test_a_plan_that_cannot_be_used_looks_at_the_events_that_fit() -> None:
    checker = observing()

    answer = ask(planning(["no plan"]), checker)

    assert seconds(checker.observed[0])[:2] == [300, 301]
    assert answer.text == "blue"


def test_a_look_that_was_made_is_not_made_again() -> None:
    checker = observing()

    answer = ask(planning([plan(look(0, 5))], [NOT_YET]), checker)

    assert [node.error for node in rounds(answer)] == ["", "nothing_to_look_at"]
    assert len([request for request in checker.observed if request.find == "a bicycle"]) == 1


def test_what_was_seen_outside_every_retrieved_event_can_be_cited() -> None:
    graph = InMemoryGraph([filmed(3_000, dict.fromkeys(range(0, 600, 12), "a wall"))])
    reasoner = planning([plan(look(2_990, 2_995))], [reflects("B", evidence=[1])])

    answer = ask(reasoner, observing("the bicycle is blue"), graph, replace(QUESTION, effort="paper"))

    assert [(item.start_ms, item.end_ms, item.frame_ms) for item in answer.citations] == [
        (2_988_000, 3_000_000, 2_990_000)
    ]
    assert answer.text == "blue"


def test_several_videos_are_named_by_their_numbers_in_the_scope() -> None:
    first, second = filmed(60), filmed(60, {30: "a blue bicycle"}, video_id=OTHER)
    number = 1 + sorted([first.video_id, OTHER]).index(OTHER)
    reasoner = planning([plan(look(0, 5, video=number), look(0, 5, video=7), look(0, 5))])
    checker = observing()

    answer = ask(reasoner, checker, InMemoryGraph([first, second]))

    assert f"video {number}: 0 to 60000 ms" in reasoner.requests[0].text
    assert f"video {number} 24000-36000 ms: a blue bicycle" in reasoner.requests[0].text
    assert [seconds(request) for request in checker.observed] == [[0, 1, 2, 3, 4]]
    assert rounds(answer)[0].frames_used == 5


def test_a_close_look_takes_few_pictures_in_full() -> None:
    checker = observing()

    ask(
        planning([plan(look(0, 60, resolution="high"))]),
        checker,
        closer=lambda frames: [b"full" for _ in frames],
    )

    [request] = checker.observed
    assert len(request.frames) == 8
    assert {frame.jpeg for frame in request.frames} == {b"full"}


# --- what is lacking -------------------------------------------------------------------------------------------------


def test_without_eyes_it_answers_from_the_words_it_has() -> None:
    reasoner = planning([plan(look(0, 5))])

    answer = ask(reasoner)

    assert [request.stage for request in reasoner.requests] == ["answer"]
    assert "a blue bicycle by the wall" in reasoner.requests[0].text
    assert (answer.text, answer.finish_reason, answer.degraded) == ("blue", "answered", ("no_eyes", "no_summary"))


def test_without_frames_it_answers_from_the_words_it_has() -> None:
    graph = InMemoryGraph([filmed(600, {303: "a blue bicycle by the wall"}, frames=False)])

    answer = ask(planning([plan(look(0, 5))]), observing(), graph)

    assert answer.degraded == ("no_pictures", "no_summary")
    assert answer.text == "blue"


def test_a_video_of_one_frame_and_a_scope_of_none() -> None:
    checker = observing()
    assert ask(planning([plan(look(0, 5))]), checker, InMemoryGraph([filmed(1)])).text == "blue"
    assert [seconds(request) for request in checker.observed] == [[0]]

    answer = ask(planning([plan(look(0, 5))]), observing(), InMemoryGraph([]))
    assert (answer.text, answer.finish_reason) == ("", "insufficient_evidence")


# --- limits and faults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", range(5))
def test_every_limit_of_calls_keeps_the_best_answer_so_far(calls: int) -> None:
    reasoner, checker = planning([plan(look(300, 306))]), observing()
    told: list[PartialAnswer] = []

    answer = ask(reasoner, checker, budget=Budget(max_calls=calls), on_partial=told.append)

    assert len(reasoner.requests) + len(checker.observed) == calls
    assert answer.text == ("blue" if calls >= 3 else "")
    assert answer.finish_reason == ("answered" if calls == 4 else "budget")
    assert len(told) == (calls >= 3)


@pytest.mark.parametrize("stage", ["plan", "reflect"])
def test_a_failed_call_leaves_an_answer_from_what_was_shown(stage: str) -> None:
    reasoner = planning([plan(look(300, 306))])
    words = reasoner.script
    fault = ModelError("model_unavailable", "down", retryable=True)
    reasoner.script = lambda request: fault if request.stage == stage else words(request)

    answer = ask(reasoner, observing())

    assert rounds(answer)[0].error == "model_unavailable"
    assert (answer.text, answer.finish_reason) == ("blue", "answered")


def test_looks_that_fail_leave_the_words() -> None:
    late = ModelError("model_timeout", "late", retryable=True)

    answer = ask(planning([plan(look(300, 306))]), observing(fault=late))

    assert rounds(answer)[0].error == "model_timeout"
    assert answer.text == "blue"
