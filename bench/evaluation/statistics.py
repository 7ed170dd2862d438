"""Paired comparison of two reports; the other statistics are those of the product (backend/questions/paired.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import f1_score

from backend.questions.paired import auroc, calibration_error, mcnemar, smallest_difference, wilson

__all__ = [
    "Comparison",
    "auroc",
    "calibration_error",
    "compare",
    "error_beyond_chance",
    "macro_f1",
    "mcnemar",
    "wilson",
]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison over the items that both reports have. gained: right here and wrong there; lost: the reverse.
    difference: mean of the paired differences, with its 95 % bootstrap interval. p_value: McNemar's exact test,
    two-sided. smallest: the smallest difference that so many items show with a power of 80 %, None if no item differs.
    """

    n: int
    gained: int
    lost: int
    difference: float
    interval: tuple[float, float]
    p_value: float
    smallest: float | None = None


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
    n = len(shared)
    return Comparison(
        n,
        gained,
        lost,
        float(gaps.mean()),
        (float(low), float(high)),
        mcnemar(gained, lost),
        smallest_difference(n, (gained + lost) / n),
    )


def macro_f1(given: Sequence[int | None], truth: Sequence[int]) -> float:
    """Return the mean F1 over the positions of right choices. A method that prefers a position has less than its
    accuracy. An answer without a choice (None) is a miss."""
    if not truth:
        return 0.0
    chosen = [-1 if choice is None else choice for choice in given]
    return float(f1_score(truth, chosen, labels=sorted(set(truth)), average="macro", zero_division=0.0))


def error_beyond_chance(confidence: Sequence[float], right: Sequence[bool], *, bins: int = 10) -> float:
    """Return the root mean square gap of confidence and accuracy, less what chance adds to it; at least 0.

    The items are divided into bins of equal size by confidence. A bin of n items differs from its accuracy a by chance
    alone, by a (1 - a) / (n - 1) in the mean square (Kumar, Liang and Ma, NeurIPS 2019).
    """
    order = np.argsort(confidence, kind="stable")
    sure, hits = np.asarray(confidence, dtype=np.float64)[order], np.asarray(right, dtype=np.float64)[order]
    total = 0.0
    for part in np.array_split(np.arange(len(order)), max(1, min(bins, len(order) // 2))):
        if len(part) > 1:
            accuracy = hits[part].mean()
            by_chance = accuracy * (1 - accuracy) / (len(part) - 1)
            total += len(part) * ((sure[part].mean() - accuracy) ** 2 - by_chance)
    return float(np.sqrt(max(0.0, total / max(1, len(order)))))
