"""Tracks from detections: ByteTrack, then fragments of one object are joined again by time, position and looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import supervision as sv
from trackers import ByteTrackTracker

from gpu_workers.engine.ekg import Picture, Vector, unit
from gpu_workers.engine.models.observer.categories import UNKNOWN, moves_itself
from gpu_workers.engine.models.observer.colour import appearance_of, colour_word, is_colourless, part_to_judge
from gpu_workers.engine.models.observer.detector import LABELS, Detection, crop_of
from gpu_workers.engine.models.observer.identity import GoingOn, continuation, last_place

Box = tuple[float, float, float, float]
_LOST_S = 2.0
FRAGMENTS = GoingOn(gap_ms=5_000, near=0.6, reach=0.25, similarity=0.80)
"""Limits inside a segment, where the tracker has lost a thing that its own detections show before and after."""
_LAST = 32
"""Number of boxes that hold the last second of a track."""
_COLOUR_EVERY = 2
_FEATURES_EVERY = 10
"""Number of frames of a track per crop that the classifier sees: 15 ms of CPU each."""


@dataclass
class Track:
    """One object while it is tracked. boxes: fractions of the picture, in order of time, one per frame."""

    id: int
    ms: list[int] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    colours: Counter[str] = field(default_factory=Counter)
    looks: list[Vector] = field(default_factory=list)
    features: list[Vector] = field(default_factory=list)
    doubted: bool = False
    """Whether it does something that a thing of its category cannot do; then it is called an object."""

    @property
    def category(self) -> str:
        return UNKNOWN if self.doubted else self.names.most_common(1)[0][0]

    @property
    def confidence(self) -> float:
        return float(np.mean(self.scores))

    @property
    def hue(self) -> Vector | None:
        """Return its mean colours alone, by which fragments are joined."""
        return unit(np.mean(self.looks, axis=0)) if self.looks else None

    @property
    def appearance(self) -> Vector | None:
        """Return colours and shape in equal parts: two men in black have the same colours, and are not the same man."""
        if not self.looks or not self.features:
            return self.hue
        parts = (unit(np.mean(part, axis=0)) for part in (self.looks, self.features))
        return unit(np.concatenate(list(parts)))

    @property
    def colour(self) -> str:
        """Return the word of at least half of the judged frames, else ""; black and dark together are dark."""
        total = sum(self.colours.values())
        if not total:
            return ""
        word, votes = self.colours.most_common(1)[0]
        if 2 * votes >= total:
            return word
        return "dark" if 2 * (self.colours["black"] + self.colours["dark"]) >= total else ""

    @property
    def trusted(self) -> bool:
        """Whether it was detected often and surely enough. Small things need more: the detector invents them on
        textures."""
        if moves_itself(self.category):
            return len(self.ms) >= 3 and self.confidence >= 0.45
        return len(self.ms) >= 5 and self.confidence >= 0.6


class SegmentTracker:
    """Tracks the objects of one segment. Call add() for frames in order of time, then finish().

    features: returns the look of a crop as a unit vector, for re-identification.
    """

    def __init__(self, fps: float, features: Callable[[Picture], Vector] | None = None) -> None:
        self._features = features
        self._tracker = ByteTrackTracker(
            lost_track_buffer=round(_LOST_S * 30),
            frame_rate=fps,
            track_activation_threshold=0.5,
            minimum_consecutive_frames=2,
            minimum_iou_threshold=0.1,
            high_conf_det_threshold=0.5,
        )
        self._tracks: dict[int, Track] = {}

    def add(self, ms: int, picture: Picture, detections_of_frame: Sequence[Detection]) -> None:
        height, width = picture.shape[:2]
        scale = np.array([width, height, width, height], dtype=np.float32)
        detections = sv.Detections(
            xyxy=np.array([d.box for d in detections_of_frame], dtype=np.float32).reshape(-1, 4) * scale,
            confidence=np.array([d.confidence for d in detections_of_frame], dtype=np.float32),
            class_id=np.array([LABELS.index(d.category) for d in detections_of_frame], dtype=int),
        )
        tracked = self._tracker.update(detections)
        if tracked.tracker_id is None or tracked.confidence is None or tracked.class_id is None:
            return
        grey = is_colourless(picture)
        for box, score, label, number in zip(
            tracked.xyxy / scale, tracked.confidence, tracked.class_id, tracked.tracker_id, strict=True
        ):
            if number < 0:
                continue
            track = self._tracks.setdefault(int(number), Track(int(number)))
            x0, y0, x1, y1 = (float(v) for v in box)
            track.boxes.append((x0, y0, x1, y1))
            track.ms.append(ms)
            track.scores.append(float(score))
            track.names[LABELS[int(label)]] += 1
            if self._features is not None and len(track.ms) % _FEATURES_EVERY == 3:
                track.features.append(self._features(crop_of(picture, track.boxes[-1])))
            if len(track.ms) % _COLOUR_EVERY == 1:
                track.looks.append(appearance_of(picture, track.boxes[-1]))
                part = part_to_judge(track.category, track.boxes[-1])
                if part is not None and not grey:
                    track.colours[colour_word(crop_of(picture, part))] += 1

    def finish(self) -> list[Track]:
        """Return trusted tracks, fragments joined, numbered from 1 in order of appearance."""
        tracks = [track for track in rejoin(self._tracks.values()) if track.trusted]
        tracks.sort(key=lambda track: (track.ms[0], track.boxes[0]))
        for number, track in enumerate(tracks, start=1):
            track.id = number
        return tracks


def rejoin(fragments: Iterable[Track]) -> list[Track]:
    """Join a track to an earlier one that ended at most 5 s before, near its beginning, and looks similar.

    Two tracks that share a frame are two objects and never join.
    """
    joined: list[Track] = []
    for track in sorted(fragments, key=lambda t: t.ms[0]):
        best = max(joined, key=lambda earlier: _joint_similarity(earlier, track), default=None)
        if best is None or _joint_similarity(best, track) <= 0:
            joined.append(track)
            continue
        best.ms += track.ms
        best.boxes += track.boxes
        best.scores += track.scores
        best.looks += track.looks
        best.features += track.features
        best.names += track.names
        best.colours += track.colours
    return joined


def _joint_similarity(earlier: Track, later: Track) -> float:
    found = continuation(
        last_place([(ms, *box) for ms, box in zip(earlier.ms[-_LAST:], earlier.boxes[-_LAST:], strict=True)]),
        earlier.category,
        earlier.hue,
        (later.ms[0], *later.boxes[0]),
        later.category,
        later.hue,
        FRAGMENTS,
    )
    return 0.0 if found is None else found.similarity
