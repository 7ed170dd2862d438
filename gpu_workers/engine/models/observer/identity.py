"""When a track goes on as another one: the one rule of the tracker inside a segment and of the object memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_workers.engine.ekg import Place, Vector
from gpu_workers.engine.models.observer.categories import kind_of

TimedBox = tuple[int, float, float, float, float]
"""Time in ms, and the box in fractions of the picture."""
_DRIFT_MS, _SHORTEST_DRIFT_MS = 1_000, 300
_SMALLEST, _LARGEST = 0.6, 1.7
"""Range of the later height over the earlier one: between two sightings a thing does not grow beyond it."""


@dataclass(frozen=True, slots=True)
class GoingOn:
    """Limits of the rule.

    gap_ms: maximum time between the end of one track and the beginning of the other. near, reach: maximum distance from
    the expected position in heights, at once and for each second of the gap. similarity: minimum cosine of appearance.
    """

    gap_ms: int
    near: float
    reach: float
    similarity: float


@dataclass(frozen=True, slots=True)
class Continuation:
    """A later track that can be an earlier one. distance: from the expected position, in heights."""

    distance: float
    similarity: float


def continuation(
    last: Place,
    category: str,
    look: Vector | None,
    first: TimedBox,
    later_category: str,
    later_look: Vector | None,
    limits: GoingOn,
) -> Continuation | None:
    """Return how a track that begins at `first` continues a thing last seen at `last`; None if it cannot be that thing.

    The expected position is that of `last`, moved by its drift. look, later_look: unit vectors of one space.
    """
    if later_category not in kind_of(category) or look is None or later_look is None or look.shape != later_look.shape:
        return None
    ms, *box = first
    gap = ms - last.ms
    if not 0 < gap <= limits.gap_ms:
        return None
    seconds, before = gap / 1000, last.box
    earlier, later = before[3] - before[1], box[3] - box[1]
    if not _SMALLEST < later / max(earlier, 1e-6) < _LARGEST:
        return None
    dx = (box[0] + box[2] - before[0] - before[2]) / 2 - last.drift[0] * seconds
    dy = box[3] - before[3] - last.drift[1] * seconds
    distance = math.hypot(dx, dy) / max(earlier, later, 1e-6)
    similarity = float(look @ later_look)
    if distance > limits.near + limits.reach * seconds or similarity < limits.similarity:
        return None
    return Continuation(distance, similarity)


def last_place(boxes: Sequence[TimedBox]) -> Place:
    """Return the last box of a track and the drift over its last second."""
    end = boxes[-1]
    start = next(box for box in boxes if box[0] >= end[0] - _DRIFT_MS)
    seconds = (end[0] - start[0]) / 1000
    if seconds * 1000 < _SHORTEST_DRIFT_MS:
        return Place(end[0], end[1:])
    across = (end[1] + end[3] - start[1] - start[3]) / 2 / seconds
    return Place(end[0], end[1:], (round(across, 4), round((end[4] - start[4]) / seconds, 4)))
