"""Tracks from detections: ByteTrack, then fragments of one object are joined again by time, position and looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import supervision as sv
from trackers import ByteTrackTracker

from gpu_workers.engine.ekg import Picture, Vector, unit
from gpu_workers.engine.models.observer.boxes import area, crop_of, intersection
from gpu_workers.engine.models.observer.categories import UNKNOWN, moves_itself
from gpu_workers.engine.models.observer.colour import appearance_of, colour_word, is_colourless, part_to_judge
from gpu_workers.engine.models.observer.detection import LABELS, Detection
from gpu_workers.engine.models.observer.identity import GoingOn, continuation, last_place

Box = tuple[float, float, float, float]
_LOST_S = 2.0
FRAGMENTS = GoingOn(gap_ms=5_000, near=0.6, reach=0.25, similarity=0.80)
"""Limits inside a segment, where the tracker has lost a thing that its own detections show before and after."""
_LAST = 32
"""Number of boxes that hold the last second of a track."""
_FEATURES_EVERY = 5
"""Number of looks at a track per crop that the classifier sees: 15 ms of CPU each."""


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
    """Tracks the objects of one segment. Call add() or skip() for frames in order of time, then finish().

    fps: highest rate of frames that are added. features: returns the look of a crop as a unit vector, for
    re-identification.
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
        self._looked: list[int] = []
        self._skipped: dict[int, list[int]] = {}
        # What the last look showed that was no track yet.
        self._new: list[tuple[Box, float]] = []

    def skip(self, ms: int) -> None:
        """Note a frame that nobody looked at. Things seen before and after it are taken to have moved evenly."""
        if self._looked:
            self._skipped.setdefault(self._looked[-1], []).append(ms)

    def add(self, ms: int, picture: Picture, detections_of_frame: Sequence[Detection]) -> None:
        """Track the detections of a frame."""
        self._looked.append(ms)
        height, width = picture.shape[:2]
        scale = np.array([width, height, width, height], dtype=np.float32)
        detections = sv.Detections(
            xyxy=np.array([d.box for d in detections_of_frame], dtype=np.float32).reshape(-1, 4) * scale,
            confidence=np.array([d.confidence for d in detections_of_frame], dtype=np.float32),
            class_id=np.array([LABELS.index(d.category) for d in detections_of_frame], dtype=int),
        )
        tracked = self._tracker.update(detections, timestamp=ms / 1000)
        if tracked.tracker_id is None or tracked.confidence is None or tracked.class_id is None:
            self._new = []
            return
        grey = is_colourless(picture)
        before, new, old = self._new, list[tuple[Box, float]](), list[Box]()
        for corners, score, label, number in zip(
            tracked.xyxy / scale, tracked.confidence, tracked.class_id, tracked.tracker_id, strict=True
        ):
            x0, y0, x1, y1 = (float(v) for v in corners)
            if number < 0:
                new.append(((x0, y0, x1, y1), float(score)))
                continue
            old.append((x0, y0, x1, y1))
            if int(number) not in self._tracks:
                self._tracks[int(number)] = self._begun(int(number), (x0, y0, x1, y1), before)
            track = self._tracks[int(number)]
            track.boxes.append((x0, y0, x1, y1))
            track.ms.append(ms)
            track.scores.append(float(score))
            track.names[LABELS[int(label)]] += 1
            if self._features is not None and len(track.ms) % _FEATURES_EVERY == 2:
                track.features.append(self._features(crop_of(picture, track.boxes[-1])))
            track.looks.append(appearance_of(picture, track.boxes[-1]))
            part = part_to_judge(track.category, track.boxes[-1])
            if part is not None and not grey:
                track.colours[colour_word(crop_of(picture, part))] += 1
        self._new = [seen for seen in new if not any(_covers(box, seen[0]) for box in old)]

    def _begun(self, number: int, box: Box, before: Sequence[tuple[Box, float]]) -> Track:
        """Return a track that begins where the look before saw the thing: there it was not known to stay."""
        track = Track(number)
        first, score = max(before, key=lambda seen: intersection(seen[0], box), default=(box, 0.0))
        if before and intersection(first, box) > 0:
            track.ms.append(self._looked[-2])
            track.boxes.append(first)
            track.scores.append(score)
        return track

    def finish(self) -> list[Track]:
        """Return trusted tracks, fragments joined, numbered from 1 in order of appearance."""
        after = dict(pairwise(self._looked))
        for track in self._tracks.values():
            _fill_in(track, after, self._skipped)
        tracks = [track for track in rejoin(self._tracks.values()) if track.trusted]
        tracks.sort(key=lambda track: (track.ms[0], track.boxes[0]))
        for number, track in enumerate(tracks, start=1):
            track.id = number
        return tracks


def _covers(box: Box, other: Box) -> bool:
    """Whether two boxes share half of the smaller one: a second box on a tracked thing is no other thing."""
    return 2 * intersection(box, other) > min(area(box), area(other))


def _fill_in(track: Track, after: Mapping[int, int], skipped: Mapping[int, Sequence[int]]) -> None:
    """Give the track a box on each skipped frame between two successive looks that both show it.

    after: the next look by look. skipped: frames without a look by the look before them.
    """
    seen = list(zip(track.ms, track.boxes, track.scores, strict=True))
    filled = seen[-1:]
    for (ms, box, score), (next_ms, next_box, next_score) in reversed(list(pairwise(seen))):
        if after.get(ms) == next_ms:
            for between in reversed(skipped.get(ms, ())):
                share = (between - ms) / (next_ms - ms)
                x0, y0, x1, y1 = (a + share * (b - a) for a, b in zip(box, next_box, strict=True))
                filled.append((between, (x0, y0, x1, y1), score + share * (next_score - score)))
        filled.append((ms, box, score))
    filled.reverse()
    track.ms, track.boxes, track.scores = (
        [ms for ms, _, _ in filled],
        [box for _, box, _ in filled],
        [score for _, _, score in filled],
    )


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
