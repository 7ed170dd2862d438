"""Boxes (x0, y0, x1, y1): how far they overlap, and what a picture shows inside one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpu_workers.engine.ekg import Picture


def iou(a: Sequence[float], b: Sequence[float]) -> float:
    """Return intersection over union, 0 to 1."""
    common = intersection(a, b)
    return common / max(area(a) + area(b) - common, 1e-9)


def intersection(a: Sequence[float], b: Sequence[float]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def area(box: Sequence[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def crop_of(picture: Picture, box: Sequence[float]) -> Picture:
    """Return the part of picture inside box (fractions), at least one pixel."""
    height, width = picture.shape[:2]
    x0, y0 = min(width - 1, int(box[0] * width)), min(height - 1, int(box[1] * height))
    x1, y1 = max(x0 + 1, math.ceil(box[2] * width)), max(y0 + 1, math.ceil(box[3] * height))
    return picture[y0:y1, x0:x1]
