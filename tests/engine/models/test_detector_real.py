"""The real SSD detector on the real default video finds the people and the cars that a person sees there."""

from __future__ import annotations

import cv2
import pytest

from gpu_workers.engine.ekg import Picture
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.observer.categories import ANIMALS, VEHICLES
from gpu_workers.engine.models.observer.detection import Detection, suppress
from gpu_workers.engine.models.observer.detector import SsdDetector
from infra.local.default_video import default_video

# Positions at which a person sees them, as fractions of the picture's width and height.
WALKERS = {
    "next to the tape": (0.503, 0.378),
    "behind the sign": (0.544, 0.390),
    "in black at the tape": (0.579, 0.365),
    "in red and blue": (0.680, 0.460),
    "blonde in black": (0.738, 0.450),
    "at the right": (0.898, 0.547),
}
CARS = {"white van": (0.89, 0.13), "teal car": (0.976, 0.13)}


def picture_at(ms: int) -> Picture:
    video = default_video()
    assert video.path.name == "vtest.avi", "the positions below are those of vtest.avi"
    capture = cv2.VideoCapture(str(video.path))
    capture.set(cv2.CAP_PROP_POS_MSEC, ms)
    read, frame = capture.read()
    assert read
    return cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)


@pytest.fixture(scope="module")
def found() -> list[Detection]:
    """Return all detections at 5 s, in the whole picture and its four tiles."""
    detector = SsdDetector(weights.fetch("ssd-mobilenet-v2"))
    picture = picture_at(5_000)
    return suppress([detection for tile in range(detector.tiles) for detection in detector.detect(picture, tile=tile)])


def covers(detection: Detection, point: tuple[float, float]) -> bool:
    x0, y0, x1, y1 = detection.box
    return x0 <= point[0] <= x1 and y0 <= point[1] <= y1


def test_most_walkers_are_found_and_nobody_is_invented(found: list[Detection]) -> None:
    people = [detection for detection in found if detection.category == "person" and detection.confidence >= 0.5]
    seen = {name for name, place in WALKERS.items() if any(covers(detection, place) for detection in people)}

    assert len(seen) >= 4, f"found only {sorted(seen)}"
    assert len(people) >= 4, "one box for several people is not enough"
    ghosts = [detection for detection in people if not any(covers(detection, place) for place in WALKERS.values())]
    assert ghosts == []


def test_a_parked_car_is_found_where_it_stands(found: list[Detection]) -> None:
    vehicles = [detection for detection in found if detection.category in VEHICLES]

    assert any(detection.category == "car" for detection in vehicles)
    assert all(any(covers(detection, place) for place in CARS.values()) for detection in vehicles)
    assert not [detection for detection in found if detection.category in ANIMALS]
