"""The times at which frames are chosen: points k/fps of the video's clock, however a recording is cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


class SamplingGrid:
    """Chooses from rising times the first at or after each k/fps seconds. fps: one rate, or several with a grid each.

    Raises ValueError unless every rate is above 0.
    """

    def __init__(self, fps: float | Sequence[float], start_ms: int) -> None:
        rates = (fps,) if isinstance(fps, int | float) else fps
        if not rates or min(rates) <= 0:
            raise ValueError(f"fps is above 0, got {fps}")
        self._rates = sorted({Fraction(rate).limit_denominator(1000) / 1000 for rate in rates})
        self._reached = [math.ceil(start_ms * rate) - 1 for rate in self._rates]

    def takes(self, ms: int) -> bool:
        """Whether a grid point lies after the last time passed in and not after ms."""
        points = [math.floor(ms * rate) for rate in self._rates]
        taken = any(point > reached for point, reached in zip(points, self._reached, strict=True))
        self._reached = list(map(max, points, self._reached))
        return taken

    def skip(self, ms: int) -> None:
        """Take a frame before the span: it uses up the points up to its time."""
        self._reached = [math.floor(ms * rate) for rate in self._rates]
