"""Overlap of boxes (x0, y0, x1, y1)."""

from __future__ import annotations

from collections.abc import Sequence


def iou(a: Sequence[float], b: Sequence[float]) -> float:
    """Return intersection over union, 0 to 1."""
    common = intersection(a, b)
    return common / max(area(a) + area(b) - common, 1e-9)


def intersection(a: Sequence[float], b: Sequence[float]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def area(box: Sequence[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
