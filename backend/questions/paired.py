"""Statistics of compared arms: shares, paired tests, percentiles, the value of confidence.

Pure Python, so that the API image needs no scipy and the evaluation harness can import it without Django.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

Z95 = 1.959964
"""Quantile of the normal distribution for two-sided 95 % intervals."""

_VISIBLE = 2.80
"""Sum of the normal quantiles of a two-sided test at 5 % (1.96) and of a power of 80 % (0.84)."""


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), inside 0..1 for all counts; (0, 1) for n = 0."""
    if n == 0:
        return 0.0, 1.0
    share, square = successes / n, Z95 * Z95
    middle = (share + square / (2 * n)) / (1 + square / n)
    reach = Z95 / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p of McNemar's exact test over the pairs that differ; 1 if no pair differs."""
    n, fewer = gained + lost, min(gained, lost)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    # Whole numbers until the last step: 2^n exceeds a float from n = 1024 on.
    return min(1.0, 2 * tail / (1 << n))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for their number (Holm 1979), in the given order, each at most 1."""
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        highest = max(highest, min(1.0, p_values[position] * (len(p_values) - rank)))
        corrected[position] = highest
    return corrected


@dataclass(frozen=True, slots=True)
class Fourfold:
    """Items by who is right. gained: the arm alone; lost: the other alone."""

    both: int
    gained: int
    lost: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.gained + self.lost + self.neither

    @property
    def difference(self) -> float:
        """Accuracy of the arm less the other's; 0 without items."""
        return (self.gained - self.lost) / self.n if self.n else 0.0

    @property
    def discordant(self) -> float:
        """Share of the items on which one arm alone is right; 0 without items."""
        return (self.gained + self.lost) / self.n if self.n else 0.0


def fourfold(here: Sequence[bool], there: Sequence[bool]) -> Fourfold:
    """Count items by who is right. here, there: whether each arm is right, item by item, equally long."""
    pairs = list(zip(here, there, strict=True))
    return Fourfold(
        pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True)), pairs.count((False, False))
    )


def difference_interval(table: Fourfold) -> tuple[float, float]:
    """Return the 95 % interval of a paired difference of shares; (-1, 1) without items.

    Newcombe's square-and-add method from two Wilson intervals and the correlation of the pairs (Newcombe 1998,
    Statistics in Medicine 17:2635, method 10).
    """
    n = table.n
    if not n:
        return -1.0, 1.0
    first, second = (table.both + table.gained) / n, (table.both + table.lost) / n
    (low_1, high_1), (low_2, high_2) = (wilson(share * n, n) for share in (first, second))
    phi = _correlation(table)

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))

    low = table.difference - reach(first - low_1, high_2 - second)
    high = table.difference + reach(high_1 - first, second - low_2)
    return max(-1.0, low), min(1.0, high)


def _correlation(table: Fourfold) -> float:
    """Return phi of the table, drawn towards 0 where it is positive, as the method asks; 0 if a margin is empty."""
    a, b, c, d = table.both, table.gained, table.lost, table.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if not margins:
        return 0.0
    product = a * d - b * c
    return (max(product - table.n / 2, 0.0) if product > 0 else product) / math.sqrt(margins)


def smallest_difference(n: int, discordant: float) -> float | None:
    """Return the smallest difference that n items show with a power of 80 % at the 5 % level, 0 to 1.

    discordant: share of the items on which one arm alone is right. Returns None if there is none.
    """
    return min(1.0, _VISIBLE * math.sqrt(discordant / n)) if n and discordant else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which a share of the values lies, interpolated between neighbors; None without values."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def auroc(confidence: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return how often a right answer is more confident than a wrong one, ties half; None if either kind is missing."""
    rows = sorted(zip(confidence, right, strict=True), key=lambda row: row[0])
    positives = sum(map(bool, right))
    negatives = len(rows) - positives
    if not positives or not negatives:
        return None
    wins, wrong_below = 0.0, 0
    for _, tied in groupby(rows, key=lambda row: row[0]):
        flags = [bool(flag) for _, flag in tied]
        right_here = sum(flags)
        wrong_here = len(flags) - right_here
        wins += right_here * (wrong_below + wrong_here / 2)
        wrong_below += wrong_here
    return wins / (positives * negatives)


_BINS = 10


def calibration_error(confidence: Sequence[float], right: Sequence[bool]) -> float:
    """Return the calibration error over 10 bins of equal width.

    It is the mean gap of confidence and accuracy, weighted by size.
    """
    rows = list(zip(confidence, right, strict=True))
    if not rows:
        return 0.0
    gaps = [0.0] * _BINS
    for sure, flag in rows:
        gaps[min(int(sure * _BINS), _BINS - 1)] += sure - bool(flag)
    return sum(map(abs, gaps)) / len(rows)
