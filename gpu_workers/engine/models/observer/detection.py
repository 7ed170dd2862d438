"""Detections, whichever detector makes them: their categories, and which of several boxes show one thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gpu_workers.engine.ekg import Picture
from gpu_workers.engine.models.observer.boxes import area, intersection
from gpu_workers.engine.models.observer.categories import VEHICLES
from gpu_workers.engine.models.roles import Meter

_LABELS = (
    "person bicycle car motorcycle airplane bus train truck boat traffic_light fire_hydrant - stop_sign "
    "parking_meter bench bird cat dog horse sheep cow elephant bear zebra giraffe - backpack umbrella - - "
    "handbag tie suitcase frisbee skis snowboard ball kite baseball_bat baseball_glove skateboard "
    "surfboard tennis_racket bottle - wine_glass cup fork knife spoon bowl banana apple sandwich orange "
    "broccoli carrot hot_dog pizza donut cake chair couch potted_plant bed - dining_table - - toilet - "
    "television laptop computer_mouse remote_control keyboard cell_phone microwave oven toaster sink "
    "refrigerator - book clock vase pair_of_scissors teddy_bear hair_dryer toothbrush"
)
LABELS: tuple[str, ...] = ("", *(word.replace("_", " ") for word in _LABELS.split()))
"""Names by COCO id, 1 to 90; "-" where COCO has no class."""

FLOOR = 0.3
"""Lowest confidence of a detection."""


@dataclass(frozen=True, slots=True)
class Detection:
    """An object in one picture. box: x0, y0, x1, y1 as fractions of the picture."""

    category: str
    confidence: float
    box: tuple[float, float, float, float]


@runtime_checkable
class BatchDetector(Protocol):
    """A detector that looks at many whole pictures at once. name: of its model. batch: maximum number of pictures of
    one call."""

    name: str
    batch: int

    def detect_all(self, pictures: Sequence[Picture], *, meter: Meter) -> list[list[Detection]]:
        """Return the objects of each picture, from FLOOR on, best first."""
        ...


def suppress(detections: Sequence[Detection], *, overlap: float = 0.5, inside: float = 0.8) -> list[Detection]:
    """Return one detection per object, best first, across classes: the model detects one van as both car and truck.

    A box is dropped if it overlaps a better one (IoU), or if it lies inside a better one of the same kind: the lower
    half of a person is no second person, but a bag on a person is a bag.
    """
    kept: list[Detection] = []
    for detection in sorted(detections, key=lambda d: -d.confidence):
        if not any(_same(detection, better, overlap, inside) for better in kept):
            kept.append(detection)
    return kept


def _same(detection: Detection, better: Detection, overlap: float, inside: float) -> bool:
    common = intersection(detection.box, better.box)
    smaller, union = min(area(detection.box), area(better.box)), area(detection.box) + area(better.box) - common
    same_kind = detection.category == better.category or {detection.category, better.category} <= VEHICLES
    return common > overlap * union or (same_kind and common > inside * smaller)


def plausible(detection: Detection) -> bool:
    """Whether a box has a size that a thing has."""
    x0, y0, x1, y1 = detection.box
    if x1 - x0 < 0.005 or y1 - y0 < 0.005:
        return False
    # Boxes of half the picture are only right for close-ups, and there the model is sure of them.
    return (x1 - x0) * (y1 - y0) < 0.4 or detection.confidence >= 0.6
