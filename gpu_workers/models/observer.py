"""The embedded describer: no language model, only measurements written out as sentences.

Every number and word in a description was measured; what is unsure is left out. Chunk.facts holds the same as data:

    objects        [{track_id, category, colour, motion, entered, left, start_ms, end_ms, frames_ms, first_box, box}]
                   colour "" when unsure; motion as in movement.py; entered/left: the border, or ""; box: the last one
    counts         {category: {"most": at once, "distinct": in the chunk}}
    scene          [[tag, probability]]
    motion_level   none, some or much
    camera_moves   bool; then no object has a motion
    brightness     black, dark or normal
    text           [line on screen]
    speech         what is said, "" for nothing
    aspect         width over height of the picture
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gpu_workers.ekg import CHUNK_MS, Chunk, Picture, SampledFrame, Span, TrackObservation
from gpu_workers.models.detector import SsdDetector
from gpu_workers.models.movement import border_of, camera_moves, change, movement, thumbnail
from gpu_workers.models.observed_text import TextReader
from gpu_workers.models.roles import ChunkView, Meter, ModelCall, SegmentDescription, SegmentView
from gpu_workers.models.scene import SceneClassifier
from gpu_workers.models.sentences import describe_facts
from gpu_workers.models.tracking import SegmentTracker, Track

_BLACK, _DARK = 12.0, 40.0
_QUIET, _BUSY = 0.6, 8.0
_EDGE_MS = 700
"""A track that begins this long after the segment's first frame, at a border, came in."""
_TEXT_EVERY = 4
"""Text is read at most once per so many chunks: a pass costs 0.25 to 1.7 s of CPU."""
_CHANGED = 6.0
_TRACKS_PER_CHUNK = 1_000


class Observer:
    """A roles.Describer. text: None leaves reading out. tiles: also look at one quarter of the picture per frame, in
    turn, which finds small and far objects at the cost of a second detector pass."""

    name = "observer"
    sample_fps = 5.0

    def __init__(
        self, detector: SsdDetector, scene: SceneClassifier, text: TextReader | None = None, *, tiles: bool = True
    ) -> None:
        self._detector, self._scene, self._text = detector, scene, text
        self._tiles = tiles

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        """Chunks without frames become gaps (no_frames)."""
        started = time.monotonic()
        thumbnails = {frame.ms: thumbnail(frame.picture) for chunk in view.chunks for frame in chunk.frames}
        tracks = self._follow(view)
        aspect = next((f.picture.shape[1] / f.picture.shape[0] for c in view.chunks for f in c.frames), 1.0)
        reading = _Reading(self._text)
        chunks = []
        for chunk in view.chunks:
            if not chunk.frames:
                chunks.append(Chunk(chunk.n, chunk.span, None, gap="no_frames", transcript=chunk.transcript))
                continue
            small = [thumbnails[frame.ms] for frame in chunk.frames]
            facts = self._facts(chunk, small, tracks, view.span, aspect, reading)
            chunks.append(
                Chunk(
                    chunk.n,
                    chunk.span,
                    describe_facts(facts),
                    facts=facts,
                    on_screen_text=tuple(facts["text"]),
                    transcript=chunk.transcript,
                )
            )
        wall_ms = round((time.monotonic() - started) * 1000)
        meter.record(ModelCall("description", self.name, wall_ms, items=len(view.chunks)))
        return SegmentDescription(tuple(chunks), tuple(_observation(track, view, aspect) for track in tracks))

    def _follow(self, view: SegmentView) -> list[Track]:
        tracker = SegmentTracker(self.sample_fps)
        frames = (frame for chunk in view.chunks for frame in chunk.frames)
        for k, frame in enumerate(frames):
            if frame.picture.mean() < _BLACK:
                continue
            tile = k % self._detector.tiles if self._tiles else None
            tracker.add(frame.ms, frame.picture, self._detector.detect(frame.picture, tile=tile))
        tracks = tracker.finish()
        for track in tracks:
            # Events reach over segments, so a number must not mean another object in the next one.
            track.id += view.span.start_ms // CHUNK_MS * _TRACKS_PER_CHUNK
        return tracks

    def _facts(
        self,
        chunk: ChunkView,
        small: Sequence[Picture],
        tracks: Sequence[Track],
        segment: Span,
        aspect: float,
        reading: _Reading,
    ) -> dict[str, Any]:
        moving = camera_moves(small)
        brightness = float(np.mean([picture.mean() for picture in small]))
        objects = [o for track in tracks if (o := _object(track, chunk.span, segment, aspect, moving)) is not None]
        steps = [change(a, b) for a, b in pairwise(small)]
        level = float(np.mean(steps)) if steps else 0.0
        middle = chunk.frames[len(chunk.frames) // 2]
        black = brightness < _BLACK
        return {
            "objects": objects,
            "counts": _counts(objects),
            "scene": [] if black else [list(tag) for tag in self._scene.tags(middle.picture)],
            "motion_level": "none" if level < _QUIET else "much" if level > _BUSY else "some",
            "camera_moves": moving,
            "brightness": "black" if black else "dark" if brightness < _DARK else "normal",
            "text": [] if black else list(reading.of(middle, small[len(small) // 2])),
            "speech": " ".join(" ".join(line.text for line in chunk.transcript).split()),
            "aspect": round(aspect, 4),
        }


class _Reading:
    """Text of the picture last read, kept as long as the picture stays alike."""

    def __init__(self, reader: TextReader | None) -> None:
        self._reader = reader
        self._wait = 0
        self._seen: Picture | None = None
        self._lines: tuple[str, ...] = ()

    def of(self, frame: SampledFrame, small: Picture) -> tuple[str, ...]:
        self._wait -= 1
        changed = self._seen is None or change(self._seen, small) > _CHANGED
        if self._reader is not None and changed and self._wait <= 0:
            self._lines = self._reader.read(frame.picture)
            self._seen, self._wait = small, _TEXT_EVERY
            return self._lines
        # Not read and not alike: nothing is known about this picture's text.
        return () if changed else self._lines


def _object(track: Track, span: Span, segment: Span, aspect: float, camera: bool) -> dict[str, Any] | None:
    inside = [k for k, ms in enumerate(track.ms) if span.contains(ms)]
    if not inside:
        return None
    ms, boxes = [track.ms[k] for k in inside], [track.boxes[k] for k in inside]
    entered, left = _passage(track, segment)
    return {
        "track_id": track.id,
        "category": track.category,
        "colour": track.colour,
        "motion": "" if camera else movement(track.category, ms, boxes, aspect).words,
        "entered": entered if inside[0] == 0 and not camera else "",
        "left": left if inside[-1] == len(track.ms) - 1 and not camera else "",
        "start_ms": ms[0],
        "end_ms": ms[-1],
        "frames_ms": ms,
        "first_box": [round(v, 4) for v in boxes[0]],
        "box": [round(v, 4) for v in boxes[-1]],
    }


def _passage(track: Track, segment: Span) -> tuple[str, str]:
    """The borders over which a track came in and went out, "" where it did not."""
    came = track.ms[0] > segment.start_ms + _EDGE_MS
    went = track.ms[-1] < segment.end_ms - _EDGE_MS
    return border_of(track.boxes[0]) if came else "", border_of(track.boxes[-1]) if went else ""


def _counts(objects: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    distinct = Counter(o["category"] for o in objects)
    at_once: Counter[tuple[str, int]] = Counter((o["category"], ms) for o in objects for ms in o["frames_ms"])
    most = {category: max(n for (c, _), n in at_once.items() if c == category) for category in distinct}
    return {category: {"most": most[category], "distinct": n} for category, n in distinct.items()}


def _observation(track: Track, view: SegmentView, aspect: float) -> TrackObservation:
    entered, left = _passage(track, view.span)
    return TrackObservation(
        track_id=track.id,
        category=track.category,
        span=Span(track.ms[0], min(view.span.end_ms, track.ms[-1] + 1)),
        confidence=round(track.confidence, 3),
        colour=track.colour,
        motion=movement(track.category, track.ms, track.boxes, aspect).words,
        entered=bool(entered),
        left=bool(left),
        boxes=tuple((ms, *box) for ms, box in zip(track.ms, track.boxes, strict=True)),
        appearance=track.appearance,
    )
