"""What each effort does follows from what the models can do, and from nothing that they are called."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.choices.support import choice_support
from gpu_workers.engine.answering.context import shares
from gpu_workers.engine.answering.contract import Answer, Budget, QuestionInput
from gpu_workers.engine.answering.presets import SearchSettings, settings_for, settings_with
from gpu_workers.engine.ekg import stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import (
    EMBEDDED_SIMILARITY,
    EMBEDDED_TEXT_EMBEDDER,
    UNMEASURED,
    Calibration,
    Fit,
    calibration_of,
)
from gpu_workers.engine.models.roles import ChatCapabilities, Meter, Sample
from tests.engine.answering.world import (
    EMBEDDED,
    ScriptedChecker,
    ScriptedReasoner,
    make_video,
    models,
    says,
    scripted,
    street,
)

STRONG = calibration_of(reasoner="Qwen/Qwen3-32B", similarity=EMBEDDED_SIMILARITY, text_embedder=EMBEDDED_TEXT_EMBEDDER)
"""A strong reasoner behind REASONER_URL next to the embedded embedders, as the README advises."""
CHOICES = ("it turns left at the red gate", "it turns right at the red gate", "it stops in front of the gate")
QUESTION = QuestionInput("Which way does the car turn at the gate?", CHOICES)


class Counting(ScriptedReasoner):
    """Counts tokens as the chat client does: a third of the bytes."""

    def count_tokens(self, text: str) -> int:
        return len(text.encode()) // 3 + 1


def counting(script: Any, *, context_tokens: int = 32_768) -> Counting:
    return Counting(scripted(script).script, context_tokens=context_tokens)


def told_at_length(events: int, words: int = 150, seed: int = 0) -> InMemoryGraph:
    """Return a video whose events have so many words each, as a VLM writes them."""
    said = random.Random(seed)
    vocabulary = ("car", "gate", "street", "person", "red", "walks", "turns", "stops", "left", "right", "door", "bus")
    texts = [f"event {n}: " + " ".join(said.choices(vocabulary, k=words)) for n in range(events)]
    return InMemoryGraph([make_video(texts)])


def lines_of(text: str) -> list[str]:
    return text.split("<events>")[-1].split("</events>")[0].strip().splitlines()


def ask(
    reasoner: ScriptedReasoner,
    question: QuestionInput = QUESTION,
    *,
    graph: InMemoryGraph | None = None,
    calibration: Calibration = STRONG,
    checker: Any = None,
) -> Answer:
    asked = models(reasoner, calibration=calibration, checker=checker)
    return answer_question(question, graph or told_at_length(40), asked)


# --- a strong reasoner next to embedded embedders (README's advice) -------------------------------------------------


@pytest.mark.parametrize(("effort", "least"), [("medium", 12), ("high", 12), ("low", 8)])
def test_a_strong_reasoner_reads_the_events_that_a_vlm_wrote(effort: Any, least: int) -> None:
    reasoner = counting(says("A", "it is so"))

    ask(reasoner, replace(QUESTION, effort=effort))

    first = reasoner.asked("answer")[0]
    assert len(lines_of(first.text)) >= least
    assert all(len(line.split()) > 150 for line in lines_of(first.text)), "none of them is cut"


def test_a_strong_reasoner_gets_tree_requery_rewriting_and_frame_check() -> None:
    checker = ScriptedChecker(lambda request: says("B", "the frames show it"))
    reasoner = counting(says("insufficient"))

    answer = ask(reasoner, checker=checker)

    assert {request.stage for request in reasoner.requests} >= {"rewrite", "answer", "requery"}
    assert checker.requests, "no event was enough"
    actions = {node.action for node in answer.nodes}
    assert {"SA", "CA"} <= actions
    assert actions & {"F", "B", "RQ"}
    assert "CS" not in actions, "no support is weighed for a reasoner that nobody measured to be small"


def test_the_whole_answer_is_asked_for_at_once_where_a_server_takes_several_samples() -> None:
    whole = counting(says("A", "it is so"))
    ask(whole)
    assert [request.n for request in whole.asked("answer")] == [4]

    one_by_one = counting(says("A", "it is so"))
    one_by_one.capabilities = ChatCapabilities(32_768, samples=False)
    ask(one_by_one)
    assert [request.n for request in one_by_one.asked("answer")] == [3], "a fourth one would cost a prompt of its own"


@pytest.mark.parametrize("window", [4_096, 8_192, 32_768, 131_072])
def test_the_prompt_of_a_strong_reasoner_fits_its_window_and_has_events_in_it(window: int) -> None:
    reasoner = counting(says("A", "it is so"), context_tokens=window)

    answer = ask(reasoner, replace(QUESTION, effort="high"))

    assert answer.finish_reason == "answered"
    for request in reasoner.asked("answer"):
        assert reasoner.count_tokens(request.text) + request.max_tokens <= window
        assert len(lines_of(request.text)) >= 8, "long events are cut before there are fewer"


def test_a_window_changes_no_paper_setting_and_has_an_upper_limit() -> None:
    wide, narrow = ChatCapabilities(1_000_000), ChatCapabilities(4_096)
    assert settings_for("paper", STRONG, wide) == settings_for("paper", STRONG, narrow)
    assert settings_for("high", STRONG, wide).prompt.context_tokens == 24_000
    assert [settings_for(e, STRONG, narrow).prompt.context_tokens for e in ("low", "medium", "high")] == [
        3_000, 6_000, 12_000,
    ]  # fmt: skip


def test_a_small_reasoner_checks_frames_only_where_a_model_sees_them() -> None:
    blind = ScriptedChecker(lambda request: says("B"))
    blind.sees = False
    for checker, rule in ((None, "off"), (blind, "off"), (ScriptedChecker(lambda request: says("B")), "on_doubt")):
        with_models = models(scripted(says("A")), checker=checker, calibration=EMBEDDED)
        assert settings_with("medium", with_models).look.check == rule
    assert settings_for("medium", STRONG, eyes=False).look.check == "on_doubt"


# --- judged choices -------------------------------------------------------------------------------------------------


def judged(yes: float = 0.7) -> Any:
    return Sample("yes", first={"yes": math.log(yes), "no": math.log(1 - yes)})


def small(script: Any = None, *, context_tokens: int = 8_192) -> Counting:
    """Return a small reasoner that believes the second choice."""

    def reply(request: Any) -> Any:
        if request.stage == "judge":
            return judged(0.9 if CHOICES[1] in request.text.split("Proposed answer: ")[-1] else 0.2)
        return script(request) if script else says("A", "it is so")

    return counting(reply, context_tokens=context_tokens)


def test_a_judgement_over_long_events_reads_eight_of_them_in_part() -> None:
    reasoner = small()

    answer = ask(reasoner, calibration=EMBEDDED)

    assert answer.choice == 1
    for request in reasoner.asked("judge"):
        lines = lines_of(request.text)
        assert len(lines) == 8
        assert all(len(line.split()) >= 20 for line in lines)
        assert sum(reasoner.count_tokens(f"{line}\n") for line in lines) <= 1_000


def test_short_events_are_judged_by_tokens_alone_as_they_were_measured() -> None:
    captions = InMemoryGraph([make_video([f"C looks around the room {n} and picks a red cup" for n in range(60)])])
    reasoner = small()

    ask(reasoner, calibration=EMBEDDED, graph=captions)

    lines = lines_of(reasoner.asked("judge")[0].text)
    assert len(lines) > 20
    assert all("picks a red cup" in line for line in lines), "none of them is cut"
    assert 480 <= sum(reasoner.count_tokens(f"99. {line.split('. ', 1)[1]}\n") for line in lines) <= 500


def test_no_judgement_is_made_without_events_in_500_random_cases() -> None:
    chance = random.Random(7)
    judged_cases = 0
    for case in range(500):
        count = chance.choice([1, 2, 3, 7, 8, 9, 20])
        lengths = [chance.choice([1, 5, 14, 60, 150, 400, 1_000]) for _ in range(count)]
        graph = InMemoryGraph(
            [make_video([" ".join(["walks"] * length) + f" {n}" for n, length in enumerate(lengths)])]
        )
        window = chance.choice([64, 256, 600, 1_000, 2_048, 8_192])
        reasoner = small(context_tokens=window)
        words = " ".join(["quickly"] * chance.choice([1, 30, 200]))
        question = replace(QUESTION, question=f"Who walks {words}?")
        settings: SearchSettings = settings_for(
            chance.choice(["medium", "high"]), EMBEDDED, ChatCapabilities(window), eyes=False
        )
        asked = Asked(question, graph, models(reasoner, calibration=EMBEDDED), settings, searched=question.question)
        meter = Meter()
        spending = Spending(Budget(), meter, clock=lambda: 0.0, should_stop=lambda: False)
        support = choice_support(asked, Calls(asked.models, spending=spending, meter=meter, in_flight=1))
        judged_cases += bool(support and support.judged)
        for request in reasoner.asked("judge"):
            lines = [line for line in lines_of(request.text) if line.split(". ", 1)[-1].strip()]
            assert lines, f"case {case}: nothing to judge by"
            assert reasoner.count_tokens(request.text) < window
            room = min(1_000, window - reasoner.count_tokens(request.text.replace("\n".join(lines), "")) - 20)
            assert len(lines) >= min(4, count, room // 24 - 1), f"case {case}: too few events"
    assert judged_cases > 200


@pytest.mark.parametrize("effort", ["high", "paper"])
def test_judged_choices_replace_no_tree_at_high_and_paper(effort: Any) -> None:
    """The reasoner's odds are sure of one choice. Its samples disagree, so that the whole tree is searched."""

    def in_doubt(request: Any) -> Any:
        return [says("ABC"[n % 3], f"reason {n} {request.seed}") for n in range(request.n)]

    checker = ScriptedChecker(lambda request: says("B", "the frames show it"))
    reasoner = small(in_doubt)

    answer = ask(reasoner, replace(QUESTION, effort=effort), calibration=EMBEDDED, checker=checker)

    depths = {node.path.count("/") + 1 for node in answer.nodes if node.action == "SA"}
    assert depths == {1, 2, 3}
    assert bool(checker.requests) == (effort == "high"), "at paper the nodes agree"
    assert {node.note for node in answer.nodes} == {""}
    assert bool(reasoner.asked("judge")) == (effort == "high")


def test_a_server_without_probabilities_is_not_asked_to_judge() -> None:
    silent = ChatCapabilities(8_192, log_probabilities=False)
    assert settings_for("medium", EMBEDDED, silent).support.judge_tokens == 0
    assert settings_for("medium", EMBEDDED, silent).support.weight == 0.9


def test_no_support_counts_for_a_reasoner_that_was_not_measured_to_be_small() -> None:
    """Weights may have been fitted to a reasoner that needs no help with choices."""
    strong = replace(EMBEDDED, limits=Fit(None))

    assert settings_for("medium", strong) == settings_for("medium", UNMEASURED)
    assert settings_for("medium", strong).support.weight == 0.0


def test_odds_are_taken_at_the_temperature_of_the_model() -> None:
    def odds(temperature: float) -> Sequence[float]:
        assert EMBEDDED.support is not None
        fitted = replace(EMBEDDED.support, temperature=Fit(temperature, "some made-up data", "make eval"))
        reasoner = small()
        settings = settings_for("medium", EMBEDDED)
        asked = Asked(
            QUESTION, street(), models(reasoner, calibration=replace(EMBEDDED, support=fitted)), settings, searched="?"
        )
        meter = Meter()
        spending = Spending(Budget(), meter, clock=lambda: 0.0, should_stop=lambda: False)
        support = choice_support(asked, Calls(asked.models, spending=spending, meter=meter, in_flight=1))
        assert support is not None
        return support.parts.odds.tolist()

    assert odds(1.0) == pytest.approx([math.log(0.2 / 0.8), math.log(0.9 / 0.1), math.log(0.2 / 0.8)], abs=1e-3)
    assert odds(4.0) == pytest.approx([value / 4 for value in odds(1.0)])


def test_shares_leave_short_items_whole_and_cut_long_ones_alike() -> None:
    assert shares([10, 500, 20, 500], 230) == [10, 100, 20, 100]
    assert shares([10, 20], 100) == [10, 20]
    assert shares([50, 50, 50], 0) == [0, 0, 0]
    assert shares([], 10) == []


def test_two_videos_are_still_told_apart_when_their_events_are_cut() -> None:
    other = make_video(["walks " * 600, "stops " * 600], video_id=stable_id("video", "other"))
    reasoner = small()

    ask(reasoner, calibration=EMBEDDED, graph=InMemoryGraph([make_video(["turns " * 600] * 2), other]))

    lines = lines_of(reasoner.asked("judge")[0].text)
    assert [line[:12] for line in lines] == ["1. video 1: ", "2. video 1: ", "3. video 2: ", "4. video 2: "]
