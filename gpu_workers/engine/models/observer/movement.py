"""The movement of a track in plain words, by its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from gpu_workers.engine.ekg import Picture, Vector, unit
from gpu_workers.engine.models.observer.categories import VEHICLES, moves_itself

Box = tuple[float, float, float, float]
_STANDS = 0.12
"""Speed in box heights per second below which a person stands; 1.4 m/s at 1.7 m height is 0.8."""
_RUNS = 2.2
_BORDER = 0.025
_PASSAGE_MS, _PASSAGE = 1_500, 0.1
"""Time in ms, and minimum movement in that time over the thing's own size, of a thing that passes a border."""


@dataclass(frozen=True, slots=True)
class Movement:
    """A movement. words: third person singular, "walks left", "stands", "stays in place"; "" if it is unknown."""

    words: str
    speed: float = 0.0


def movement(category: str, ms: Sequence[int], boxes: Sequence[Box], aspect: float) -> Movement:
    """Return the movement of a track of at least half a second. aspect: width over height of the picture, since boxes
    are fractions."""
    if len(ms) < 3 or ms[-1] - ms[0] < 400:
        return Movement("")
    table = np.array(boxes)
    third = max(1, len(table) // 3)
    times = np.array(ms, dtype=float)
    # Medians of the first and last third: one box that jumps does not make a runner.
    first, last = np.median(table[:third], axis=0), np.median(table[-third:], axis=0)
    seconds = max(0.2, (float(np.median(times[-third:])) - float(np.median(times[:third]))) / 1000)
    height = float(np.median(table[:, 3] - table[:, 1]))
    width = float(np.median(table[:, 2] - table[:, 0])) * aspect
    size = height if category == "person" else max(height, 0.6 * width)
    dx = float((last[0] + last[2] - first[0] - first[2]) / 2) * aspect / size
    dy = float(last[3] - first[3]) / size
    # If the border cuts a box, the box's moving edge is the border's, not the object's.
    if first[3] > 1 - _BORDER or last[3] > 1 - _BORDER:
        dy = 0.0
    speed = float(np.hypot(dx, dy)) / seconds
    person = category == "person"
    if speed < _STANDS:
        return Movement("stands" if person else "stays in place", speed)
    if abs(dx) >= abs(dy):
        way = "right" if dx > 0 else "left"
    else:
        # Only a thing on the ground comes nearer as it goes down in the picture.
        grounded = moves_itself(category)
        way = ("towards the camera" if grounded else "down") if dy > 0 else "away from the camera" if grounded else "up"
    verb = ("runs" if speed > _RUNS else "walks") if person else ("drives" if category in VEHICLES else "moves")
    return Movement(f"{verb} {way}", speed)


def border_of(box: Box) -> str:
    """Return the border that a box touches: left, right, top, bottom or ""."""
    x0, y0, x1, y1 = box
    if x0 < _BORDER:
        return "left"
    if x1 > 1 - _BORDER:
        return "right"
    if y1 > 1 - _BORDER:
        return "bottom"
    return "top" if y0 < _BORDER else ""


def comes_in(border: str, ms: Sequence[int], boxes: Sequence[Box]) -> bool:
    """Whether the edge of the box away from border moves inwards in the first moments: a thing that is detected again
    while it stands at a border has not come in. With time reversed: whether it goes out."""
    edge, inwards = {"left": (2, 1), "right": (0, -1), "top": (3, 1), "bottom": (1, -1)}[border]
    begun = [box for at, box in zip(ms, boxes, strict=True) if abs(at - ms[0]) <= _PASSAGE_MS]
    size = max(box[edge % 2 + 2] - box[edge % 2] for box in begun)
    return inwards * (begun[-1][edge] - begun[0][edge]) >= _PASSAGE * size


def thumbnail(picture: Picture) -> Picture:
    """Return a grey 160 x 120 copy for measures of the whole picture."""
    small = cv2.resize(picture, (160, 120), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def change(a: Picture, b: Picture) -> float:
    """Return the mean absolute difference of two thumbnails, 0 to 255."""
    return float(cv2.absdiff(a, b).mean())


def palette(picture: Picture) -> Vector:
    """Return the shares of 64 colours in the whole picture, as a unit vector."""
    histogram = cv2.calcHist([picture], [0, 1, 2], None, [4, 4, 4], [0, 256] * 3).ravel()
    return unit(np.sqrt(histogram))


def is_cut(before: Picture, after: Picture, palettes: tuple[Vector, Vector]) -> bool:
    """Whether another scene begins: other colours, all at once. before, after: thumbnails of successive frames.

    Measured on nine videos: only cuts fall below 0.92; a cut between similar colours is missed.
    """
    return change(before, after) > 25 and float(palettes[0] @ palettes[1]) < 0.92


def camera_moves(thumbnails: Sequence[Picture]) -> bool:
    """Whether the whole picture shifts in at least half of the steps: then boxes do not show who moves."""
    moved = 0
    for a, b in pairwise(thumbnails):
        (dx, dy), response = cv2.phaseCorrelate(a.astype(np.float32), b.astype(np.float32))
        moved += (np.hypot(dx, dy) > 1.2 and response > 0.05) or change(a, b) > 25
    return len(thumbnails) > 1 and 2 * moved >= len(thumbnails) - 1
