"""When the detector looks at a scene. On a GPU it looks at every frame. On the CPU it looks twice a second, more often
where a thing comes or goes, and not again at what has not changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from gpu_workers.engine.ekg import SampledFrame
from gpu_workers.engine.models.change import Grey, same_picture, small_grey
from gpu_workers.engine.models.observer.boxes import intersection
from gpu_workers.engine.models.observer.detection import BatchDetector, Detection
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.roles import Meter

LOOK_MS = 500
"""One look falls into each such span of the recording: on its first frame. The frame embedder sees the first frame of
each second, so half of the looks at the whole picture are shared with it."""
_SURE = 0.5
"""Confidence from which a thing that only one of two looks shows has come or gone."""


class EachFrame:
    """The looks of a detector on a GPU at one scene: at every frame, many at once."""

    def __init__(self, detector: BatchDetector, *, meter: Meter) -> None:
        self._detector, self._meter = detector, meter

    def over(self, frames: Iterable[SampledFrame]) -> Iterator[tuple[SampledFrame, list[Detection]]]:
        """Yield the frames of the scene with what is seen on them. Raises ModelError."""
        waiting = iter(frames)
        while batch := list(islice(waiting, self._detector.batch)):
            found = self._detector.detect_all([frame.picture for frame in batch], meter=self._meter)
            yield from zip(batch, found, strict=True)


class Gaze:
    """The looks of a detector on the CPU at one scene. Each look also sees one quarter of the picture, in turn, which
    finds small and far objects at the cost of a second pass."""

    def __init__(self, detector: SsdDetector) -> None:
        self._detector = detector
        self._turns = range(detector.tiles)
        self._looks = 0
        # What the last look of each turn saw, the oldest first.
        self._seen: deque[tuple[Grey, list[Detection]]] = deque(maxlen=len(self._turns))

    def over(self, frames: Iterable[SampledFrame]) -> Iterator[tuple[SampledFrame, list[Detection] | None]]:
        """Yield the frames of the scene with what is seen on them, None for a frame that is not looked at."""
        last: SampledFrame | None = None
        passed: list[SampledFrame] = []
        for frame in frames:
            if last is not None and last.ms // LOOK_MS == frame.ms // LOOK_MS:
                passed.append(frame)
                continue
            found, is_new = self._look(frame)
            # Where a thing crosses the border, and how fast, shows only in between.
            closely = last is not None and is_new and bool(passed) and self._differ(last, frame)
            for between in passed:
                yield between, self._detector.detect(between.picture) if closely else None
            yield frame, found
            last = frame
            passed.clear()
        for frame in passed:
            yield frame, None

    def _look(self, frame: SampledFrame) -> tuple[list[Detection], bool]:
        """Return what is seen on a frame, and whether the detector had to run."""
        grey, turn = small_grey(frame.picture), self._looks % len(self._turns)
        self._looks += 1
        # The oldest look saw the same quarter. If the picture is still the same, so is what it shows.
        is_new = len(self._seen) < len(self._turns) or not same_picture(self._seen[0][0], grey)
        found = self._detector.detect(frame.picture, tile=self._turns[turn]) if is_new else self._seen[0][1]
        self._seen.append((grey, found))
        return found, is_new

    def _differ(self, before: SampledFrame, after: SampledFrame) -> bool:
        """Whether a thing came or went between two looks. Quarters differ, so only whole pictures compare."""
        one, other = self._detector.detect(before.picture), self._detector.detect(after.picture)
        return _is_missing(one, other) or _is_missing(other, one)


def _is_missing(seen: Sequence[Detection], there: Sequence[Detection]) -> bool:
    """Whether a sure thing is not there, however unsure."""
    return any(
        thing.confidence >= _SURE and not any(intersection(thing.box, other.box) > 0 for other in there)
        for thing in seen
    )
