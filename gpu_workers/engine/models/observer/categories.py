"""Kinds of things over the detector's labels: labels that the detector confuses are one kind."""

from __future__ import annotations

VEHICLES = frozenset({"car", "truck", "bus", "train", "motorcycle", "bicycle", "boat", "airplane"})
ANIMALS = frozenset({"bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"})

BALLS = frozenset({"ball", "frisbee", "kite"})
FIXTURES = frozenset(
    {
        "refrigerator", "oven", "microwave", "sink", "toilet", "bed", "couch", "dining table", "television", "bench",
        "traffic light", "fire hydrant", "stop sign", "parking meter", "potted plant", "clock",
    }
)  # fmt: skip
"""Categories of things that nobody carries: if one moves in the picture, the camera moves."""
UNKNOWN = "object"


def kind_of(category: str) -> frozenset[str]:
    """Return the labels that one thing may have from track to track."""
    return next((kind for kind in (VEHICLES, ANIMALS) if category in kind), frozenset({category}))


def moves_itself(category: str) -> bool:
    """Whether category is a person, an animal or a vehicle; other things stay unless someone carries them."""
    return category == "person" or category in VEHICLES or category in ANIMALS
