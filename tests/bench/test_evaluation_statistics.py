"""The numbers next to an accuracy: intervals, paired tests, and the value of confidence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.evaluation.statistics import auroc, calibration_error, compare, error_beyond_chance, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_stays_within_0_and_1_and_knows_nothing_of_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 5)[0] == pytest.approx(0.0, abs=1e-12)
    assert wilson(5, 5)[1] == pytest.approx(1.0)
    assert all(0.0 <= side <= 1.0 for n in range(1, 30) for k in (0, n) for side in wilson(k, n))
    low, high = wilson(5, 5)
    assert (low, high) == pytest.approx((1 - wilson(0, 5)[1], 1.0))


def flags(*groups: tuple[str, int, bool]) -> dict[str, bool]:
    return {f"{name}{n}": right for name, count, right in groups for n in range(count)}


def test_mcnemars_exact_p_of_the_pairs_that_differ() -> None:
    """8 gained, 2 lost: 2 (C(10,0) + C(10,1) + C(10,2)) / 2^10."""
    here = flags(("both", 5, True), ("none", 4, False), ("gained", 8, True), ("lost", 2, False), ("only here", 3, True))
    there = flags(("both", 5, True), ("none", 4, False), ("gained", 8, False), ("lost", 2, True))

    found = compare(here, there)

    assert (found.n, found.gained, found.lost) == (19, 8, 2)
    assert found.difference == pytest.approx(6 / 19)
    assert found.p_value == pytest.approx(2 * (1 + 10 + 45) / 2**10)
    assert compare(there, here).p_value == pytest.approx(found.p_value)
    assert compare(there, here).difference == pytest.approx(-6 / 19)


def test_nothing_that_differs_is_no_evidence() -> None:
    same = flags(("a", 3, True), ("b", 2, False))

    assert compare(same, same).p_value == 1.0
    assert compare(same, same).interval == (0.0, 0.0)
    apart = compare(same, {"other": True})
    assert (apart.n, apart.difference, apart.interval, apart.p_value) == (0, 0.0, (0.0, 0.0), 1.0)


def test_the_bootstrap_interval_is_about_the_difference_and_repeats() -> None:
    here, there = flags(("x", 70, True), ("y", 30, False)), flags(("x", 50, True), ("y", 30, False))
    there |= {f"x{n}": False for n in range(50, 70)}

    found = compare(here, there, seed=1)

    low, high = found.interval
    assert found.difference == pytest.approx(0.2)
    # Twenty of a hundred: 0.2 +- 1.96 sqrt(0.2 * 0.8 / 100), within the precision of resampling.
    reach = 1.96 * math.sqrt(0.2 * 0.8 / 100)
    assert (low, high) == pytest.approx((0.2 - reach, 0.2 + reach), abs=0.02)
    assert compare(here, there, seed=1) == found
    few = [compare(here, there, seed=seed, resamples=50).interval for seed in range(4)]
    assert len(set(few)) > 1
    shuffled = dict(reversed(here.items()))
    assert compare(shuffled, there, seed=1) == found


def test_auroc_counts_ties_half() -> None:
    """Pairs (right, wrong): 0.9 beats both, 0.5 ties with one and beats the other."""
    assert auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == pytest.approx((2 + 1.5) / 4)
    assert auroc([0.3, 0.3, 0.3], [True, False, True]) == 0.5
    assert auroc([0.1, 0.9], [True, False]) == 0.0
    assert auroc([0.1, 0.9], [True, True]) is None
    assert auroc([], []) is None


def test_calibration_error_is_the_mean_gap_of_confidence_and_accuracy() -> None:
    """Two at 0.95 of which one is right, two at 0.15 of which none is: (2 * 0.45 + 2 * 0.15) / 4."""
    assert calibration_error([0.95, 0.95, 0.15, 0.15], [True, False, False, False]) == pytest.approx(0.3)
    assert calibration_error([1.0, 0.0], [True, False]) == 0.0
    assert calibration_error([1.0], [False]) == 1.0
    assert calibration_error([], []) == 0.0


def test_the_gap_that_chance_explains_is_no_error() -> None:
    # Three of four: 0.25 squared is 0.0625, and so is 0.75 * 0.25 / 3.
    assert error_beyond_chance([0.5] * 4, [True, True, True, False], bins=1) == 0.0
    # One of four: 0.65 squared less 0.0625 is 0.36.
    assert error_beyond_chance([0.9] * 4, [True, False, False, False], bins=1) == pytest.approx(0.6)
    assert error_beyond_chance([], []) == 0.0


def test_an_exact_curve_has_an_error_by_chance_and_hardly_one_beyond_it() -> None:
    draws = np.random.default_rng(0)
    sure = draws.random((400, 120))
    right = draws.random(sure.shape) < sure
    plain = [calibration_error(row.tolist(), hits.tolist()) for row, hits in zip(sure, right, strict=True)]
    beyond = [error_beyond_chance(row.tolist(), hits.tolist()) for row, hits in zip(sure, right, strict=True)]
    assert np.median(plain) > 0.08
    assert np.median(beyond) < 0.04
    wrong = [error_beyond_chance((0.5 * row).tolist(), hits.tolist()) for row, hits in zip(sure, right, strict=True)]
    assert np.median(wrong) > 0.2
