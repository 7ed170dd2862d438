"""Colours in plain words, and the look of a crop as a vector."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from gpu_workers.engine.ekg import Picture, Vector, unit
from gpu_workers.engine.models.observer.boxes import crop_of
from gpu_workers.engine.models.observer.categories import VEHICLES

WORDS = ("black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "dark")
# Upper ends of hue on OpenCV's circle of 180, and the word below each.
_HUES = (
    (8, "red"),
    (20, "orange"),
    (34, "yellow"),
    (85, "green"),
    (130, "blue"),
    (150, "purple"),
    (170, "pink"),
    (181, "red"),
)
_LEAST_SHARE = 0.45
_BLACK = 40


def part_to_judge(category: str, box: Sequence[float]) -> tuple[float, float, float, float] | None:
    """Return the part of an object that shows its colour: a person's torso, the middle of a vehicle or animal; else
    None."""
    x0, y0, x1, y1 = box
    w, h = x1 - x0, y1 - y0
    if category == "person":
        return (x0 + 0.3 * w, y0 + 0.2 * h, x0 + 0.7 * w, y0 + 0.5 * h)
    if category in VEHICLES - {"bicycle", "motorcycle"}:
        return (x0 + 0.15 * w, y0 + 0.2 * h, x0 + 0.85 * w, y0 + 0.8 * h)
    return None


def colour_word(crop: Picture) -> str:
    """Return the colour word of most of crop's pixels, or "" if none has 45 % of them. "dark" if black, navy and brown
    cannot be distinguished."""
    hsv = cv2.cvtColor(np.ascontiguousarray(crop), cv2.COLOR_RGB2HSV).reshape(-1, 3).astype(np.int32)
    hue, saturation, value = hsv[:, 0], hsv[:, 1], hsv[:, 2]
    names = np.full(len(hsv), "", dtype="<U6")
    lower = 0
    for upper, word in _HUES:
        names[(hue >= lower) & (hue < upper)] = word
        lower = upper
    names[(names == "orange") & (value < 150)] = "brown"
    names[saturation < 50] = "grey"
    names[(saturation < 50) & (value > 175)] = "white"
    names[(value < 62) | ((value < 85) & (saturation < 70))] = "dark"
    words, counts = np.unique(names, return_counts=True)
    best = int(np.argmax(counts))
    if counts[best] < _LEAST_SHARE * len(hsv):
        return ""
    if words[best] == "dark" and float(np.median(value[names == "dark"])) < _BLACK:
        return "black"
    return str(words[best])


def is_colourless(picture: Picture) -> bool:
    """Whether the picture is black and white (night vision, old film): then no colour is given."""
    small = picture[::8, ::8].astype(np.int16)
    return float((small.max(axis=2) - small.min(axis=2)).mean()) < 8.0


def appearance_of(picture: Picture, box: Sequence[float]) -> Vector:
    """Return a 96-d unit vector of hue, saturation and brightness in the upper and lower half of a box."""
    crop = crop_of(picture, box)
    hsv = cv2.cvtColor(np.ascontiguousarray(crop), cv2.COLOR_RGB2HSV)
    # The rim of a box is background.
    margin = max(0, hsv.shape[1] // 5)
    hsv = hsv[:, margin : max(margin + 1, hsv.shape[1] - margin)]
    middle = max(1, hsv.shape[0] // 2)
    parts = []
    for half in (hsv[:middle], hsv[middle:] if hsv.shape[0] > middle else hsv[:middle]):
        histogram = cv2.calcHist([np.ascontiguousarray(half)], [0, 1, 2], None, [4, 3, 4], [0, 180, 0, 256, 0, 256])
        parts.append(np.sqrt(histogram.ravel() / max(1.0, float(histogram.sum()))))
    return unit(np.concatenate(parts))
