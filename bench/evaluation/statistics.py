"""Statistics of a report's numbers: intervals, paired comparisons, how well confidence separates right from wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, rankdata

Z95 = 1.959964


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), inside 0..1 for all counts; (0, 1) for n = 0."""
    if n == 0:
        return 0.0, 1.0
    share, square = successes / n, Z95 * Z95
    middle = (share + square / (2 * n)) / (1 + square / n)
    reach = Z95 / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison over the items that both reports have. gained: right here and wrong there; lost: the reverse.
    difference: mean of the paired differences, with its 95 % bootstrap interval. p_value: McNemar's exact test,
    two-sided."""

    n: int
    gained: int
    lost: int
    difference: float
    interval: tuple[float, float]
    p_value: float


def compare(
    here: Mapping[str, bool], there: Mapping[str, bool], *, seed: int = 0, resamples: int = 10_000
) -> Comparison:
    """Compare two reports item by item; items that only one report has are left out."""
    shared = sorted(set(here) & set(there))
    gaps = np.asarray([int(here[key]) - int(there[key]) for key in shared], dtype=np.float64)
    gained, lost = int((gaps > 0).sum()), int((gaps < 0).sum())
    if not shared:
        return Comparison(0, 0, 0, 0.0, (0.0, 0.0), 1.0)
    picks = np.random.default_rng(seed).integers(0, len(gaps), size=(resamples, len(gaps)))
    low, high = np.quantile(gaps[picks].mean(axis=1), [0.025, 0.975])
    p_value = float(binomtest(gained, gained + lost, 0.5).pvalue) if gained + lost else 1.0
    return Comparison(len(shared), gained, lost, float(gaps.mean()), (float(low), float(high)), p_value)


def auroc(confidence: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return how often a right answer is more confident than a wrong one, ties half; None if either kind is missing."""
    wins = np.asarray(right, dtype=bool)
    positives, negatives = int(wins.sum()), int((~wins).sum())
    if not positives or not negatives:
        return None
    ranks = rankdata(np.asarray(confidence, dtype=np.float64))
    return float((ranks[wins].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def calibration_error(confidence: Sequence[float], right: Sequence[bool], *, bins: int = 10) -> float:
    """Return the calibration error over bins of equal width: mean gap of confidence and accuracy, weighted by size."""
    values, wins = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if not len(values):
        return 0.0
    bin_of = np.minimum((values * bins).astype(int), bins - 1)
    gaps = [abs(values[bin_of == b].mean() - wins[bin_of == b].mean()) * (bin_of == b).sum() for b in set(bin_of)]
    return float(sum(gaps) / len(values))
