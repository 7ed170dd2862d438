"""What an answer keeps of the way in which it was made."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpu_workers.engine import prompts
from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS
from gpu_workers.engine.answering.contract import EFFORTS, Effort
from gpu_workers.engine.answering.identity import QUESTION_PROMPTS, prompts_digest, settings_of_answer
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.models.calibration import UNMEASURED

PROMPTS = Path(prompts.__file__).parent


def test_the_digest_is_of_the_prompts_and_of_nothing_else() -> None:
    digest = prompts_digest(["loop_rules", "dvd_rules"])

    assert re.fullmatch(r"[0-9a-f]{16}", digest)
    assert digest == prompts_digest(["dvd_rules", "loop_rules", "loop_rules"]), "order does not matter"
    assert digest != prompts_digest(["loop_rules"])
    assert prompts_digest(["check"]) != prompts_digest(["check_observed"])


def test_methods_with_other_prompts_have_other_digests() -> None:
    digests = {name: prompts_digest(method.prompts) for name, method in METHODS.items()}

    assert digests["ava"] != digests["dvd_lite"] != digests["caption_rag"]
    assert digests["uniform"] == digests["vector"]


def test_every_prompt_of_an_answer_is_in_the_digest_of_a_method() -> None:
    # The judge of comparisons sends the one, a chat model that ranks texts the other.
    others = {"judge_answer", "rank_texts"}
    sent = {file.stem for file in PROMPTS.glob("*.txt")} - others

    assert sent <= frozenset().union(*(method.prompts for method in METHODS.values()))
    assert all(method.prompts >= QUESTION_PROMPTS for method in METHODS.values())


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("method", METHODS)
def test_settings_are_stored_with_the_methods_own(method: str, effort: Effort) -> None:
    settings = settings_for(effort, UNMEASURED)

    stored = json.loads(json.dumps(settings_of_answer(settings, method)))

    assert stored["effort"] == effort
    assert stored["samples"]["n"] == settings.samples.n
    assert stored["retrieval"]["weights"] == dict(settings.retrieval.weights)
    assert ("method" in stored) == (method in METHOD_SETTINGS)
    assert stored != json.loads(json.dumps(settings_of_answer(changed(settings, n=99), method)))


def test_every_new_method_has_settings_for_every_effort() -> None:
    for name, by_effort in METHOD_SETTINGS.items():
        assert set(by_effort) == set(EFFORTS), name
