"""The statistics of compared arms, against hand-computed values, published tables and scipy."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binomtest, rankdata

from backend.questions import paired
from backend.questions.paired import Fourfold
from bench.evaluation import statistics


def test_wilson_of_two_in_three() -> None:
    assert paired.wilson(2, 3) == pytest.approx((0.2077, 0.9385), abs=5e-5)


def test_wilson_equals_scipys_for_all_small_counts() -> None:
    for n in range(1, 40):
        for k in range(n + 1):
            reference = binomtest(k, n).proportion_ci(0.95, method="wilson")
            assert paired.wilson(k, n) == pytest.approx((reference.low, reference.high), abs=1e-6)


@pytest.mark.parametrize(("gained", "lost", "p"), [(8, 1, 0.0391), (3, 0, 0.25), (12, 3, 0.0352), (0, 0, 1.0)])
def test_mcnemar_by_hand(gained: int, lost: int, p: float) -> None:
    assert paired.mcnemar(gained, lost) == pytest.approx(p, abs=5e-5)
    assert paired.mcnemar(lost, gained) == paired.mcnemar(gained, lost)


def test_mcnemar_equals_scipys_binomial_test() -> None:
    for gained in range(25):
        for lost in range(25 if gained else 1, 25):
            reference = binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1.0
            assert paired.mcnemar(gained, lost) == pytest.approx(reference, rel=1e-9)
    for gained, lost in ((5, 5), (24, 24), (60, 41)):
        assert paired.mcnemar(gained, lost) == pytest.approx(binomtest(gained, gained + lost, 0.5).pvalue, rel=1e-9)


def test_mcnemar_holds_with_more_pairs_than_a_float_can_count() -> None:
    assert paired.mcnemar(1_200, 1_000) == pytest.approx(binomtest(1_200, 2_200, 0.5).pvalue, rel=1e-6)


def test_holm_by_hand() -> None:
    """0.01 x 3, 0.02 x 2, 0.04 x 1 -> 0.03, 0.04, 0.04: the last is raised to the one before it."""
    assert paired.holm([0.02, 0.01, 0.04]) == pytest.approx([0.04, 0.03, 0.04])
    assert paired.holm([0.01, 0.039, 0.02]) == pytest.approx([0.03, 0.04, 0.04])
    assert paired.holm([0.5, 0.6]) == [1.0, 1.0]
    assert paired.holm([]) == []
    assert paired.holm([0.3]) == [0.3]


def test_the_interval_of_a_paired_difference_is_the_published_one() -> None:
    """Airway hyper-responsiveness of 21 children before and after transplantation: 1, 1, 7, 12 (Fagerland, Lydersen
    and Laake 2014, table VII)."""
    table = Fourfold(both=1, gained=1, lost=7, neither=12)

    assert table.difference == pytest.approx(-0.286, abs=5e-4)
    assert paired.difference_interval(table) == pytest.approx((-0.507, -0.026), abs=5e-4)


def test_the_interval_turns_with_the_pair_and_stays_within_1() -> None:
    rng = random.Random(0)
    for _ in range(300):
        counts = [rng.choice((0, 0, 1, 2, 5, 30)) for _ in range(4)]
        both, gained, lost, neither = counts
        table, turned = Fourfold(both, gained, lost, neither), Fourfold(both, lost, gained, neither)
        low, high = paired.difference_interval(table)
        if table.n:
            assert -1 <= low <= table.difference <= high <= 1
        back = paired.difference_interval(turned)
        assert (low, high) == pytest.approx((-back[1], -back[0]), abs=1e-12)
    assert paired.difference_interval(Fourfold(0, 0, 0, 0)) == (-1.0, 1.0)


def test_items_are_counted_by_who_is_right() -> None:
    assert paired.fourfold([True, True, False, False, True], [True, False, True, False, True]) == Fourfold(2, 1, 1, 1)
    with pytest.raises(ValueError, match="zip"):
        paired.fourfold([True], [True, False])


@pytest.mark.parametrize(("n", "points"), [(60, 14.0), (248, 6.9), (500, 4.8)])
def test_the_smallest_difference_at_15_percent_discordant(n: int, points: float) -> None:
    found = paired.smallest_difference(n, 0.15)
    assert found is not None
    assert round(100 * found, 1) == points


def test_no_discordant_item_shows_no_difference_and_no_difference_exceeds_1() -> None:
    assert paired.smallest_difference(60, 0.0) is None
    assert paired.smallest_difference(0, 0.15) is None
    assert paired.smallest_difference(2, 1.0) == 1.0


def test_percentiles_equal_numpys() -> None:
    rng = random.Random(1)
    for n in range(1, 30):
        values = [rng.uniform(-5, 5) for _ in range(n)]
        for share in (0.0, 0.05, 0.5, 0.95, 1.0):
            assert paired.percentile(values, share) == pytest.approx(float(np.quantile(values, share)))
    assert paired.percentile([], 0.5) is None


def test_auroc_equals_the_rank_sum() -> None:
    rng = random.Random(2)
    for _ in range(100):
        n = rng.randrange(2, 40)
        sure, right = [rng.choice((0.1, 0.4, 0.5, 0.9)) for _ in range(n)], [rng.random() < 0.5 for _ in range(n)]
        positives = sum(right)
        if positives in {0, n}:
            assert paired.auroc(sure, right) is None
            continue
        ranks = rankdata(sure)
        won = sum(rank for rank, flag in zip(ranks, right, strict=True) if flag) - positives * (positives + 1) / 2
        assert paired.auroc(sure, right) == pytest.approx(won / (positives * (n - positives)))


def test_calibration_error_rises_with_overconfidence() -> None:
    right = [True, False] * 10
    errors = [paired.calibration_error([sure] * 20, right) for sure in (0.5, 0.7, 0.95)]

    assert errors == pytest.approx([0.0, 0.2, 0.45])
    assert all(one < two for one, two in pairwise(errors))


def test_the_evaluation_uses_the_same_functions() -> None:
    for name in ("wilson", "mcnemar", "auroc", "calibration_error"):
        assert getattr(statistics, name) is getattr(paired, name)
    here = {f"{n}": n < 9 for n in range(20)}
    there = {f"{n}": 8 <= n < 10 for n in range(20)}
    found = statistics.compare(here, there)
    assert (found.gained, found.lost, found.p_value) == (8, 1, paired.mcnemar(8, 1))


def test_the_figures_import_neither_django_nor_scipy() -> None:
    code = (
        "import sys; from backend.questions import paired; from backend.questions.figures import report, grading; "
        "print(sorted({'django', 'rest_framework', 'scipy', 'numpy'} & {name.split('.')[0] for name in sys.modules}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
