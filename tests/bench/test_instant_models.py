"""Benchmarks and the evaluation index with what was fitted to the models in use."""

from __future__ import annotations

from bench.instant_models import EqualTexts, instant_models
from gpu_workers.engine.models.calibration import EMBEDDED_SIMILARITY, SIMILARITIES, UNMEASURED


def test_a_similarity_that_was_measured_brings_its_threshold() -> None:
    similarity = EqualTexts()
    similarity.name = EMBEDDED_SIMILARITY

    assert instant_models(similarity=similarity).calibration.thresholds == SIMILARITIES[EMBEDDED_SIMILARITY]
    assert instant_models().calibration.thresholds == UNMEASURED.thresholds
