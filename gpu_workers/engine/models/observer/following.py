"""The things in a segment, followed from frame to frame: what every describer with an object memory shares."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gpu_workers.engine.ekg import CHUNK_MS, Picture, SampledFrame, Span, TrackObservation
from gpu_workers.engine.models.observer.categories import BALLS, FIXTURES, moves_itself
from gpu_workers.engine.models.observer.detection import BatchDetector
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.looking import EachFrame, Gaze
from gpu_workers.engine.models.observer.measured import Box, MeasuredObject
from gpu_workers.engine.models.observer.movement import border_of, camera_moves, comes_in, is_cut, movement, palette
from gpu_workers.engine.models.observer.scene import SceneClassifier
from gpu_workers.engine.models.observer.tracking import SegmentTracker, Track
from gpu_workers.engine.models.roles import ChunkView, Meter, SegmentView

TRACKED_FPS = 5.0
"""Frame rate at which things are followed on the CPU."""
BLACK = 12.0
"""Mean brightness below which a picture shows nothing."""
_EDGE_MS = 700
"""Minimum time after the segment's first frame at which a track that begins at a border came in."""
_TRACKS_PER_CHUNK = 1_000
_STILL = frozenset({"", "stays in place"})


@dataclass(frozen=True, slots=True)
class Followed:
    """tracks: in order of appearance. cuts: times of the frames with which another scene begins. aspect: width over
    height of the pictures."""

    tracks: list[Track]
    cuts: frozenset[int]
    aspect: float


class Follower:
    """Runs the detector over the frames of a segment and a tracker over the detections.

    fps: frame rate at which things are followed. Safe to share between threads.
    """

    def __init__(
        self,
        detector: SsdDetector | BatchDetector,
        scene: SceneClassifier,
        *,
        fps: float = TRACKED_FPS,
    ) -> None:
        self._detector, self._scene = detector, scene
        self.fps = fps
        self.detector_name = detector.name

    def follow(self, view: SegmentView, thumbnails: Mapping[int, Picture], *, meter: Meter) -> Followed:
        """Follow the things in the segment. thumbnails: grey copies of its frames by time (movement.thumbnail). Raises
        ModelError of a detector on a GPU."""
        frames = [frame for chunk in view.chunks for frame in chunk.frames]
        cuts = cuts_between(frames, thumbnails)
        tracks: list[Track] = []
        # A position before a cut says nothing about positions after it.
        for scene in _scenes(frames, cuts):
            tracker = SegmentTracker(self.fps, self._scene.features)
            looks = self._looks(meter)
            for frame, detections in looks.over(frame for frame in scene if frame.picture.mean() >= BLACK):
                if detections is None:
                    tracker.skip(frame.ms)
                else:
                    tracker.add(frame.ms, frame.picture, detections)
            tracks += tracker.finish()
        for number, track in enumerate(tracks, start=1):
            # Events reach over segments, so a number must not mean another object in the next segment.
            track.id = number + view.span.start_ms // CHUNK_MS * _TRACKS_PER_CHUNK
            track.doubted = _is_doubtful(track, view.span, tracks)
        aspect = next((frame.picture.shape[1] / frame.picture.shape[0] for frame in frames), 1.0)
        return Followed(tracks, cuts, aspect)

    def _looks(self, meter: Meter) -> Gaze | EachFrame:
        if isinstance(self._detector, SsdDetector):
            return Gaze(self._detector)
        return EachFrame(self._detector, meter=meter)


def observations(followed: Followed, segment: Span, still: Sequence[Span]) -> tuple[TrackObservation, ...]:
    """Return the records of the tracks. still: chunks with a still camera; only there boxes show movement."""
    return tuple(_observation(track, segment, followed.aspect, still) for track in followed.tracks)


def objects_in(
    chunk: ChunkView, small: Sequence[Picture], followed: Followed, segment: Span
) -> tuple[tuple[MeasuredObject, ...], bool]:
    """Return what the tracks do in one chunk, and whether the camera moves: then no object has a motion.

    small: grey copies of the chunk's frames.
    """
    moving = camera_moves(small)
    objects = _objects(followed.tracks, chunk.span, segment, followed.aspect, moving)
    if not moving and any(o.category in FIXTURES and (o.motion not in _STILL or o.entered or o.left) for o in objects):
        # Nobody carries these things, so it is the camera that moves.
        return _objects(followed.tracks, chunk.span, segment, followed.aspect, True), True
    return objects, moving


def cuts_between(frames: Sequence[SampledFrame], thumbnails: Mapping[int, Picture]) -> frozenset[int]:
    """Return the times of the frames with which another scene begins."""
    cuts, before = set(), None
    for frame in frames:
        colours = palette(frame.picture)
        if before is not None and is_cut(thumbnails[before[0]], thumbnails[frame.ms], (before[1], colours)):
            cuts.add(frame.ms)
        before = frame.ms, colours
    return frozenset(cuts)


def _scenes(frames: Sequence[SampledFrame], cuts: Collection[int]) -> list[list[SampledFrame]]:
    scenes: list[list[SampledFrame]] = [[]]
    for frame in frames:
        if frame.ms in cuts:
            scenes.append([])
        scenes[-1].append(frame)
    return scenes


def passage(track: Track, segment: Span) -> tuple[str, str]:
    """Return the borders over which a track came in and went out, "" if it did not."""
    came = border_of(track.boxes[0]) if track.ms[0] > segment.start_ms + _EDGE_MS else ""
    went = border_of(track.boxes[-1]) if track.ms[-1] < segment.end_ms - _EDGE_MS else ""
    return (
        came if came and comes_in(came, track.ms, track.boxes) else "",
        went if went and comes_in(went, track.ms[::-1], track.boxes[::-1]) else "",
    )


def _is_doubtful(track: Track, segment: Span, tracks: Collection[Track]) -> bool:
    """Whether a thing that does not move itself passes the picture's border while nobody is there to carry it."""
    if moves_itself(track.category) or track.category in BALLS | FIXTURES or not any(passage(track, segment)):
        return False
    return not any(
        other.category == "person" and other.ms[0] <= track.ms[-1] + _EDGE_MS and other.ms[-1] >= track.ms[0] - _EDGE_MS
        for other in tracks
    )


def _observation(track: Track, segment: Span, aspect: float, still: Sequence[Span]) -> TrackObservation:
    entered, left = passage(track, segment)
    in_still = [any(span.contains(ms) for span in still) for ms in track.ms]
    return TrackObservation(
        track_id=track.id,
        category=track.category,
        span=Span(track.ms[0], min(segment.end_ms, track.ms[-1] + 1)),
        confidence=round(track.confidence, 3),
        colour=track.colour,
        motion=movement(track.category, track.ms, track.boxes, aspect).words if all(in_still) else "",
        entered=bool(entered) and in_still[0],
        left=bool(left) and in_still[-1],
        boxes=tuple((ms, *box) for ms, box in zip(track.ms, track.boxes, strict=True)),
        appearance=track.appearance,
    )


def _objects(
    tracks: Sequence[Track], span: Span, segment: Span, aspect: float, camera: bool
) -> tuple[MeasuredObject, ...]:
    return tuple(o for track in tracks if (o := _object(track, span, segment, aspect, camera)) is not None)


def _object(track: Track, span: Span, segment: Span, aspect: float, camera: bool) -> MeasuredObject | None:
    inside = [k for k, ms in enumerate(track.ms) if span.contains(ms)]
    if not inside:
        return None
    ms, boxes = [track.ms[k] for k in inside], [track.boxes[k] for k in inside]
    entered, left = passage(track, segment)
    return MeasuredObject(
        track_id=track.id,
        category=track.category,
        colour=track.colour,
        motion="" if camera else movement(track.category, ms, boxes, aspect).words,
        entered=entered if inside[0] == 0 and not camera else "",
        left=left if inside[-1] == len(track.ms) - 1 and not camera else "",
        start_ms=ms[0],
        end_ms=ms[-1],
        frames_ms=tuple(ms),
        first_box=_rounded(boxes[0]),
        box=_rounded(boxes[-1]),
    )


def _rounded(box: Sequence[float]) -> Box:
    x0, y0, x1, y1 = (round(value, 4) for value in box)
    return x0, y0, x1, y1
