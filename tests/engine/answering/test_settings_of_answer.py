"""What an answer keeps of the way in which it was made."""

from __future__ import annotations

import json
import re

import pytest

from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS
from gpu_workers.engine.answering.contract import EFFORTS, Effort
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.answering.presets import changed, settings_for, settings_of_answer
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.prompts import digest_of


def test_the_digest_is_of_the_prompts_and_of_nothing_else() -> None:
    digest = digest_of(["loop_rules", "dvd_rules"])

    assert re.fullmatch(r"[0-9a-f]{16}", digest)
    assert digest == digest_of(["dvd_rules", "loop_rules", "loop_rules"]), "order does not matter"
    assert digest != digest_of(["loop_rules"])
    assert digest_of(["check"]) != digest_of(["check_observed"])


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
