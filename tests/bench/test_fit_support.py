"""Fitting the weights of the parts of a choice's support."""

from __future__ import annotations

import numpy as np
import pytest

from bench.evaluation.fit_support import fit, fit_and_report


def test_the_weights_that_choices_were_drawn_with_are_found() -> None:
    chance = np.random.default_rng(0)
    wanted = np.array([8.0, 1.5, 0.0])
    parts, truths = [], []
    for _ in range(1_500):
        part = chance.normal(size=(3, 4)) * np.array([[0.2], [1.0], [5.0]])
        powers = np.exp(wanted @ part)
        parts.append(part)
        truths.append(int(chance.choice(4, p=powers / powers.sum())))

    found = fit(parts, truths, ("fine", "plain", "noise"))

    assert found["n"] == 1_500
    # The ridge shrinks the weights a little.
    assert found["fine"] == pytest.approx(8.0, rel=0.2)
    assert found["plain"] == pytest.approx(1.5, rel=0.2)
    assert abs(found["noise"]) < 0.03
    assert found["accuracy"] > 0.6
    assert found["log_loss"] < 0.8
    assert found["auroc"] > 0.7
    assert fit([part[2:] for part in parts], truths, ("noise",))["accuracy"] < 0.35


def test_a_part_that_never_differs_counts_for_nothing() -> None:
    truths = [n % 2 for n in range(40)]
    parts = [np.array([[1.0 - truth, truth], [0.3, 0.3]]) for truth in truths]

    found = fit(parts, truths, ("telling", "level"))

    assert found["accuracy"] == 1.0
    assert np.isfinite(found["level"])


def test_too_few_questions_are_reported() -> None:
    with pytest.raises(ValueError, match="9 questions are too few: 10 at least"):
        fit([np.eye(2)] * 9, [0] * 9, ("one", "two"))


def test_weights_and_curve_are_tried_on_questions_that_they_were_not_fitted_on() -> None:
    chance = np.random.default_rng(1)
    rows = []
    for _ in range(400):
        part = chance.normal(size=(1, 4))
        powers = np.exp(2.0 * part[0])
        rows.append((part, int(chance.choice(4, p=powers / powers.sum()))))

    found = fit_and_report(rows[:200], rows[200:], ("only",))

    assert (found["n"], found["reported"]) == (200, 200)
    assert found["only"] == fit([part for part, _ in rows[:200]], [truth for _, truth in rows[:200]], ("only",))["only"]
    assert found["accuracy"] > 0.55
    assert found["auroc"] > 0.65
    assert found["calibration_error"] < 0.12
    # Where the reported half follows another rule, the same weights fail there and the figures say so.
    wrong = [(-part, truth) for part, truth in rows[200:]]
    failed = fit_and_report(rows[:200], wrong, ("only",))
    assert failed["accuracy"] < 0.2
    assert failed["calibration_error"] > 0.2
