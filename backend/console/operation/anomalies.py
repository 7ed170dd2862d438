"""Marks of values that stand out of their series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

FEWEST = 6
"""Values from which on a series has a usual range."""
THRESHOLD = 3.5
"""Modified z-score from which on a value stands out (Iglewicz and Hoaglin, 1993)."""
_SCALE = 0.6745
"""Ratio of the median absolute deviation to the standard deviation of a normal distribution."""
_LEAST = 0.05
"""Smallest deviation, as a share of the median: a series that hardly varies has no anomalies of 1 %."""


def anomalies(values: Sequence[float | None], *, counts: bool = False) -> list[int]:
    """Return the positions of the values that lie far from the median of the series, in order.

    values: one per bucket of time; None where nothing was measured. counts: whether they count what happens by itself,
    such as questions: five of them an hour are sometimes four and sometimes six (Poisson).
    """
    known = [value for value in values if value is not None]
    if len(known) < FEWEST:
        return []
    middle = median(known)
    spread = max(median(abs(value - middle) for value in known) / _SCALE, _LEAST * abs(middle))
    if counts:
        spread = max(spread, math.sqrt(max(middle, 1)))
    if spread == 0:
        return [n for n, value in enumerate(values) if value is not None and value != middle]
    return [n for n, value in enumerate(values) if value is not None and abs(value - middle) / spread > THRESHOLD]
