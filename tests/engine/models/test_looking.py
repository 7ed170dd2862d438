"""The detector looks where something changes, and tracks have a box on every frame all the same."""

from __future__ import annotations

import numpy as np

from gpu_workers.engine.ekg import Picture, SampledFrame
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.observer.detection import Detection
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.looking import Gaze
from gpu_workers.engine.models.observer.tracking import SegmentTracker, Track
from tests.engine.models.test_observer import RED, ScriptedDetector

FRAME_MS = 200


def street(left: int | None) -> Picture:
    """Return a picture with a red person of 60 pixels' width at left, whose part outside is not seen."""
    picture = np.full((240, 320, 3), (90, 100, 80), dtype=np.uint8)
    if left is not None:
        picture[80:200, max(0, left) : max(0, left + 60)] = RED
    return picture


def looked_at(pictures: list[Picture], detector: SsdDetector) -> tuple[list[int], list[Track]]:
    """Return the times of the looks, and the tracks."""
    looks, tracker = [], SegmentTracker(1000 / FRAME_MS)
    frames = [SampledFrame(n * FRAME_MS, picture) for n, picture in enumerate(pictures)]
    for frame, found in Gaze(detector).over(frames):
        if found is None:
            tracker.skip(frame.ms)
        else:
            looks.append(frame.ms)
            tracker.add(frame.ms, frame.picture, found)
    return looks, tracker.finish()


class TileDetector(ScriptedDetector):
    """Notes the quarters that it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[int] = []

    def detect(self, picture: Picture, *, tile: int | None = None, floor: float = 0.3) -> list[Detection]:
        self.shown += [] if tile is None else [tile]
        return super().detect(picture, tile=tile, floor=floor)


def test_a_still_scene_is_looked_at_once_for_each_quarter() -> None:
    detector = TileDetector()
    _, tracks = looked_at([street(100)] * 50, detector)
    assert detector.shown == [0, 1, 2, 3]
    assert [(track.ms[0], track.ms[-1]) for track in tracks] == [(0, 9_600)]


def test_a_walker_has_a_box_on_each_frame_between_the_looks() -> None:
    looks, (walker,) = looked_at([street(4 * n) for n in range(31)], ScriptedDetector())
    assert looks == [0, 600, 1_000, 1_600, 2_000, 2_600, 3_000, 3_600, 4_000, 4_600, 5_000, 5_600, 6_000]
    assert walker.ms == list(range(0, 6_001, FRAME_MS))
    lefts = [box[0] * 320 for box in walker.boxes]
    assert np.allclose(lefts, [4 * n for n in range(31)])


def test_a_thing_that_comes_between_two_looks_is_followed_from_the_border() -> None:
    # At 1,400 ms the first strip of the person is in the picture.
    pictures = [street(None if n < 7 else -60 + 10 * (n - 6)) for n in range(20)]
    looks, (person,) = looked_at(pictures, ScriptedDetector())
    assert looks[:6] == [0, 600, 1_000, 1_200, 1_400, 1_600]
    assert person.ms[0] == 1_400
    assert person.boxes[0][0] == 0.0


class CountingDetector(SsdDetector):
    """Counts the passes of the real network."""

    def __init__(self) -> None:
        super().__init__(weights.fetch("ssd-mobilenet-v2"))
        self.passes = 0

    def _run(self, picture: Picture, region: tuple[float, float, float, float], floor: float) -> list[Detection]:
        self.passes += 1
        return super()._run(picture, region, floor)


def test_the_whole_of_a_picture_is_looked_at_once() -> None:
    detector, picture = CountingDetector(), street(100)
    detector.detect(picture, floor=0.4)
    detector.detect(picture, tile=0)
    assert detector.passes == 2
    detector.detect(picture.copy())
    assert detector.passes == 3
