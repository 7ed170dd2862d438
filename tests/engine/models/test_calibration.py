"""The values fitted to each model, and the values that other models get."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from bench.evaluation.datasets import SETS
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.models.bindings import load_answer_models, load_index_models
from gpu_workers.engine.models.calibration import (
    EMBEDDED_REASONER,
    EMBEDDED_SIMILARITY,
    EMBEDDED_TEXT_EMBEDDER,
    LIMITS,
    SAME_SENSE,
    SIMILARITIES,
    SMALL_REASONERS,
    SUPPORTS,
    TRADE_OFFS,
    UNMEASURED,
    Calibration,
    Fit,
    calibration_of,
)
from gpu_workers.engine.models.settings import ModelSettings
from infra.local.llama import REASONERS
from tests.engine.answering.world import EMBEDDED, models, says, scripted, street
from tests.scripted_openai import ScriptedOpenAIServer

ROOT = Path(__file__).parents[3]


def bound(reasoner: str) -> Calibration:
    """Return the calibration of the embedded models with a reasoner of this name on a server of its own."""
    with ScriptedOpenAIServer(model=reasoner) as server:
        env = {"REASONER_URL": server.url, "REASONER_MODEL": reasoner}
        return load_answer_models(ModelSettings.from_env(env)).calibration


def fits(value: object, name: str) -> Iterator[tuple[str, Fit[object]]]:
    """Yield every Fit inside value, with the path to it."""
    if isinstance(value, Fit):
        yield name, value
    elif is_dataclass(value):
        for field in fields(value):
            yield from fits(getattr(value, field.name), f"{name}.{field.name}")


TABLES = {
    "similarities": SIMILARITIES,
    "same_sense": SAME_SENSE,
    "limits": LIMITS,
    "trade_offs": TRADE_OFFS,
    "supports": SUPPORTS,
}
NUMBERS = [
    found
    for table, rows in TABLES.items()
    for key, row in rows.items()  # type: ignore[attr-defined]
    if key not in SMALL_REASONERS
    for found in fits(row, f"{table} {key}")
]


@pytest.mark.parametrize(("name", "fit"), NUMBERS, ids=[name for name, _ in NUMBERS])
def test_every_number_names_its_data_and_a_command_that_exists(name: str, fit: Fit[object]) -> None:
    assert fit.measured
    assert len(fit.data.split()) >= 3, "a data set that a reader can find"
    words = fit.command.split()
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert dict(word.split("=") for word in words[2:])["SET"] in SETS
    elif words[:3] == ["python", "-m", "pytest"]:
        assert (ROOT / words[3]).is_file()
    else:
        assert words[:2] == ["python", "-m"]
        assert importlib.util.find_spec(words[2]) is not None


def test_the_embedded_models_are_bound_under_the_names_of_their_numbers() -> None:
    answering = bound(REASONERS[0])
    assert (answering.reasoner, answering.similarity, answering.text_embedder) == (
        EMBEDDED_REASONER,
        EMBEDDED_SIMILARITY,
        EMBEDDED_TEXT_EMBEDDER,
    )
    assert answering == EMBEDDED
    assert answering.unmeasured == ()
    assert load_index_models(ModelSettings.from_env({})).calibration.thresholds.merge.value == 0.65


def test_the_embedded_models_keep_their_numbers() -> None:
    assert (EMBEDDED.thresholds.same_meaning.value, EMBEDDED.thresholds.compatible_meaning.value) == (0.76, 0.55)
    assert EMBEDDED.same_sense.value == 0.42
    efforts = [settings_for(effort, EMBEDDED) for effort in ("low", "medium", "high", "paper")]
    assert [(s.prompt.context_tokens, s.support.weight, s.support.judge_tokens) for s in efforts] == [
        (700, 0.9, 0),
        (1_000, 0.9, 500),
        (1_000, 0.9, 500),
        (1_000, 0.0, 500),
    ]
    short = {(s.tree.requery_tokens, s.prompt.reasoning_words, s.prompt.answer_tokens, s.in_flight) for s in efforts}
    assert short == {(600, 40, 224, 2)}


@pytest.mark.parametrize(
    "name", ["gpt-4o", "qwen2.5-72b", "Qwen2.5-Coder-1.5B", f"{EMBEDDED_REASONER}-instruct", f"my-{EMBEDDED_REASONER}"]
)
def test_a_reasoner_of_another_name_inherits_nothing_of_the_embedded_one(name: str) -> None:
    found = bound(name)

    assert (found.small, found.support) == (False, None)
    for effort in ("low", "medium", "high", "paper"):
        assert settings_for(effort, found) == settings_for(effort, UNMEASURED)
    assert settings_for("medium", found).prompt.context_tokens == 16_384, "half of a window of 32,768"
    assert settings_for("medium", found).support.weight == 0.0
    assert found.unmeasured == (
        f"limits of reasoner {name}",
        f"support of choices by {name} with {EMBEDDED_TEXT_EMBEDDER}: votes decide",
    )
    assert (found.thresholds, found.same_sense) == (EMBEDDED.thresholds, EMBEDDED.same_sense), "these are MiniLM's"


def test_every_reasoner_of_the_local_stack_has_limits_and_only_the_default_one_weights() -> None:
    for name in REASONERS:
        found = bound(name)
        assert found.small
        assert found.limits.measured == (found.support is not None) == (name == EMBEDDED_REASONER)


def test_weights_belong_to_reasoner_and_text_embedder_together() -> None:
    other = calibration_of(reasoner=EMBEDDED_REASONER, similarity=EMBEDDED_SIMILARITY, text_embedder="bge-m3")

    assert other.support is None
    assert other.limits == EMBEDDED.limits
    assert settings_for("medium", other).support.weight == 0.0
    assert other.unmeasured == (
        f"support of choices by {EMBEDDED_REASONER} with bge-m3: votes decide",
        "same sense by bge-m3",
    )


def test_models_that_nobody_measured_get_initial_thresholds() -> None:
    found = calibration_of(reasoner="r", similarity="bertscore-deberta-40", text_embedder="e")

    merge, same, compatible = (getattr(found.thresholds, field.name) for field in fields(found.thresholds))
    assert (merge.value, same.value, compatible.value, found.same_sense.value) == (0.275, 0.55, 0.55, 0.75)
    assert not any(fit.measured for fit in (merge, same, compatible, found.same_sense, found.limits))
    assert found.unmeasured[2:] == (
        "same meaning by bertscore-deberta-40",
        "trade-off of agreement and thought by bertscore-deberta-40",
        "same sense by e",
    )


CHOICES = QuestionInput(
    "Who is there?", ("a dog runs across the street", "divers surface near boats", "a choir sings old songs")
)


def test_the_answer_names_what_was_not_fitted_and_its_votes_decide() -> None:
    other = calibration_of(reasoner="gpt-4o", similarity=EMBEDDED_SIMILARITY, text_embedder=EMBEDDED_TEXT_EMBEDDER)
    answer = answer_question(CHOICES, street(), models(scripted(says("B")), calibration=other))

    assert answer.unmeasured == other.unmeasured
    assert answer.choice == 1, "the events support the first choice"
    assert "CS" not in {node.action for node in answer.nodes}
    assert "support" not in answer.signals


def test_the_embedded_models_answer_has_nothing_to_name_and_support_decides() -> None:
    answer = answer_question(CHOICES, street(), models(scripted(says("B")), calibration=EMBEDDED))

    assert answer.unmeasured == ()
    assert answer.choice == 0
    assert "CS" in {node.action for node in answer.nodes}


def test_support_is_left_out_without_weights_whatever_the_settings_say() -> None:
    settings = changed(settings_for("medium", EMBEDDED), judge_tokens=0)
    answer = answer_question(CHOICES, street(), models(scripted(says("B"))), settings=settings)

    assert settings.support.weight == 0.9
    assert answer.choice == 1
