"""Action CA: when frames are looked at, which frames, and how much their answer counts (AVA, section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.presets import SearchSettings, changed, settings_for
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.pictures import jpeg_of
from gpu_workers.engine.models.roles import ChatCapabilities, FrameEvidence, ModelError
from gpu_workers.engine.ports import StoredFrame
from tests.engine.answering.world import Request, ScriptedChecker, long_street, make_video, models, says, scripted

QUESTION = QuestionInput("Which way does the person walk?", ("left", "right", "up"))
OURS = changed(settings_for("high", UNMEASURED), max_depth=2, level_width=None, early_majority=False)
PAPER = changed(settings_for("paper", UNMEASURED), max_depth=2)


def at_odds(request: Request) -> Any:
    """Answer so that every node agrees with itself, and the re-query's node differs from the others."""
    if "Searches that found" in request.text:
        return says("B", "one two three four five")
    return [says("A", "one two three four five") for _ in range(3)] + [says("C", f"x{n}") for n in range(5)]


def ask(settings: SearchSettings, checker: ScriptedChecker, script: Any = at_odds, graph: Any = None) -> Answer:
    return answer_question(
        QUESTION, graph or long_street(), models(scripted(script), checker=checker), settings=settings
    )


def test_two_nodes_that_differ_are_settled_by_frames() -> None:
    checker = ScriptedChecker(lambda request: says("A", "the frames show left"))

    answer = ask(PAPER, checker)

    assert [set(request.hypotheses) for request in checker.requests] == [{"left", "right"}] * len(checker.requests)
    assert len(checker.requests) == 2
    assert (answer.text, answer.finish_reason) == ("left", "answered")
    assert [node.path.endswith("CA") for node in answer.nodes][-2:] == [True, True]


def test_the_paper_does_not_look_where_nodes_agree() -> None:
    checker = ScriptedChecker(lambda request: says("C"))

    assert ask(PAPER, checker, lambda request: says("A", "same")).text == "left"
    assert checker.requests == []


def test_ours_looks_when_one_answer_stands_but_is_doubtful() -> None:
    checker = ScriptedChecker(lambda request: says("A", "the frames show left"))

    def doubtful(request: Request) -> Any:
        return [says("A", f"t{n}of{request.seed}") for n in range(request.n)]

    answer = ask(changed(OURS, max_depth=1), checker, doubtful)

    assert len(checker.requests) == 1
    assert answer.text == "left"


def test_ours_does_not_look_where_consensus_is_clear() -> None:
    checker = ScriptedChecker(lambda request: says("C"))

    assert ask(OURS, checker, lambda request: says("A", "same")).text == "left"
    assert checker.requests == []


@pytest.mark.parametrize(
    "fault",
    [ModelError("model_unavailable", "down", retryable=True), "nonsense", "", says("insufficient"), "{}"],
)
@pytest.mark.parametrize("settings", [OURS, PAPER])
def test_a_check_that_fails_leaves_the_summary_answer(settings: SearchSettings, fault: Any) -> None:
    alone = answer_question(QUESTION, long_street(), models(scripted(at_odds)), settings=settings)

    answer = ask(settings, ScriptedChecker(lambda request: fault))

    assert alone.text != ""
    assert (answer.text, answer.finish_reason) == (alone.text, "answered")
    checks = [node for node in answer.nodes if node.action == "CA"]
    assert checks
    if isinstance(fault, ModelError):
        assert {node.error for node in checks} == {"model_unavailable"}
        assert {node.candidates for node in checks} == {()}


def test_a_failed_check_of_one_node_does_not_borrow_the_others_words() -> None:
    calls = 0

    def script(request: Any) -> Any:
        nonlocal calls
        calls += 1
        return says("B", "seen") if calls == 1 else ModelError("model_unavailable", "down", retryable=True)

    answer = ask(replace(PAPER, in_flight=1), ScriptedChecker(script))

    checks = [node for node in answer.nodes if node.action == "CA"]
    assert [(node.answer, node.error) for node in checks] == [("right", ""), (None, "model_unavailable")]
    assert answer.text == "right"


def test_frames_are_capped_and_the_record_says_how_many_there_were() -> None:
    checker = ScriptedChecker(lambda request: says("A"), max_frames=5)

    answer = ask(PAPER, checker)

    assert {len(request.frames) for request in checker.requests} == {5}
    checks = [node for node in answer.nodes if node.action == "CA"]
    assert {(node.frames_used, node.frames_available) for node in checks} == {(5, 7), (5, 12)}


def test_the_frames_are_those_of_the_nodes_events() -> None:
    checker = ScriptedChecker(lambda request: says("A"), max_frames=64)

    answer = ask(PAPER, checker)

    frames = {frame.jpeg for frame in checker.requests[0].frames}
    assert len(frames) == len([e for e in answer.nodes[-2].events if e.number is not None])


def test_measured_observations_go_along_but_no_other_models_words() -> None:
    measured, described = (ScriptedChecker(lambda request: says("A")) for _ in range(2))
    summaries = [f"person number {n} walks along street {n % 7}" for n in range(120)]

    ask(PAPER, measured, graph=InMemoryGraph([make_video(summaries, measured=True)]))
    ask(PAPER, described, graph=InMemoryGraph([make_video(summaries)]))

    assert all(frame.observation.startswith("seen: person") for frame in measured.requests[0].frames)
    assert {frame.observation for frame in described.requests[0].frames} == {""}


def test_a_third_answer_from_frames_needs_more_than_the_summaries_have() -> None:
    """One sample of a checker scores 0.3, the summaries' best node 1.0; the paper lets the frames overrule it."""
    ours = ask(changed(OURS, check_samples=1), ScriptedChecker(lambda request: says("C")))
    paper = ask(changed(PAPER, check_samples=1), ScriptedChecker(lambda request: says("C")))

    assert [node.answer for node in ours.nodes if node.action == "CA"] == ["up", "up"]
    assert (ours.text, paper.text) == ("right", "up")


def test_no_frames_no_check() -> None:
    checker = ScriptedChecker(lambda request: says("B"))
    video = make_video([f"person number {n} walks" for n in range(40)])

    answer = ask(PAPER, checker, graph=InMemoryGraph([replace(video, frames=())]))

    assert checker.requests == []
    assert answer.finish_reason == "answered"


def test_a_prompt_never_exceeds_the_reasoners_window() -> None:
    """Tokens are counted before the call, and the lowest ranked events are dropped."""
    reasoner = scripted(says("A", "same"))
    reasoner.capabilities = ChatCapabilities(800)

    answer = answer_question(QUESTION, long_street(), models(reasoner), settings=PAPER)

    assert answer.finish_reason == "answered"
    for request in reasoner.requests:
        assert reasoner.count_tokens(request.text) + request.max_tokens <= 800


# --- pictures in full ------------------------------------------------------------------------------------------------


def jpeg(width: int, height: int) -> bytes:
    return jpeg_of(np.zeros((height, width, 3), dtype=np.uint8), longest=max(width, height))


def look_in_full(
    picture: bytes | None, *, effort: Any = "high", sees: bool = True, window: int = 32_768
) -> tuple[Sequence[FrameEvidence], list[int], Answer]:
    """Return the frames that a checker was shown, how many pictures were read at a time, and the answer."""
    checker = ScriptedChecker(lambda request: says("A", "the frames show it"), max_frames=64)
    checker.sees = sees
    checker.capabilities = ChatCapabilities(window, images=True)
    read: list[int] = []

    def closer(frames: Sequence[StoredFrame]) -> Sequence[bytes | None]:
        read.append(len(frames))
        return [picture] * len(frames)

    reasoner = scripted(says("insufficient"))
    question = QuestionInput("Which way does the person walk?", ("left", "right"), effort=effort)
    answer = answer_question(question, long_street(), models(reasoner, checker=checker), closer=closer)
    return checker.requests[0].frames, read, answer


def test_effort_high_looks_at_full_pictures_as_many_as_the_window_holds() -> None:
    large = jpeg(1280, 720)

    shown, read, answer = look_in_full(large, window=16_384)

    # 46 by 26 squares of 28 pixels, 2 marks and a label; 16,384 tokens less the answer's and the prompt's.
    fitting = (16_384 - 768 - 1_500) // (46 * 26 + 2 + 12)
    assert fitting == 11
    assert [frame.jpeg for frame in shown] == [large] * fitting
    assert sum(read) == fitting, "one tells their size, the others are read together"
    assert [frame.ms for frame in shown] == sorted({frame.ms for frame in shown})
    assert next(node for node in answer.nodes if node.action == "CA").frames_used == fitting


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"effort": "medium"}, "only effort high pays for them"),
        ({"sees": False}, "nobody looks"),
        ({"window": 4_096}, "one or two pictures show less than all thumbnails"),
        ({"picture": None}, "the source is gone"),
    ],
)
def test_other_checks_look_at_thumbnails(options: Any, why: str) -> None:
    shown, _, answer = look_in_full(**{"picture": jpeg(1280, 720), **options})

    assert all(frame.jpeg.startswith(b"jpeg ") for frame in shown), why
    assert len(shown) >= 12
    assert next(node for node in answer.nodes if node.action == "CA").frames_used == len(shown)
