"""The embedded describer writes measurements as sentences, without a language model.

Every number and word in a description was measured; unsure measurements are left out. Chunk.facts holds the
measurements as data (observer.measured).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gpu_workers.engine.ekg import CHUNK_MS, Chunk, Picture, SampledFrame, Span, TrackObservation
from gpu_workers.engine.models.observer.categories import BALLS, FIXTURES, moves_itself
from gpu_workers.engine.models.observer.clock import Clock, fit_clock, read_clock
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.measured import Box, CategoryCount, MeasuredChunk, MeasuredObject
from gpu_workers.engine.models.observer.movement import (
    border_of,
    camera_moves,
    change,
    comes_in,
    is_cut,
    movement,
    palette,
    thumbnail,
)
from gpu_workers.engine.models.observer.scene import SceneClassifier
from gpu_workers.engine.models.observer.sentences import describe
from gpu_workers.engine.models.observer.text_reader import TextReader
from gpu_workers.engine.models.observer.tracking import SegmentTracker, Track
from gpu_workers.engine.models.roles import ChunkView, Meter, ModelCall, SegmentDescription, SegmentView

_BLACK, _DARK = 12.0, 40.0
_QUIET, _BUSY = 0.6, 8.0
_EDGE_MS = 700
"""Minimum time after the segment's first frame at which a track that begins at a border came in."""
_TEXT_EVERY = 4
"""Minimum number of chunks from one reading of text to the next: a pass costs 0.25 to 1.7 s of CPU."""
_CHANGED = 6.0
_TRACKS_PER_CHUNK = 1_000
_STILL = frozenset({"", "stays in place"})


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
        """Describe the chunks; chunks without frames become gaps (no_frames)."""
        started = time.monotonic()
        thumbnails = {frame.ms: thumbnail(frame.picture) for chunk in view.chunks for frame in chunk.frames}
        cuts = _cuts(view, thumbnails)
        tracks = self._follow(view, cuts)
        aspect = next((f.picture.shape[1] / f.picture.shape[0] for c in view.chunks for f in c.frames), 1.0)
        reading = _Reading(self._text)
        measured: dict[int, MeasuredChunk] = {}
        for chunk in view.chunks:
            if chunk.frames:
                small = [thumbnails[frame.ms] for frame in chunk.frames]
                measurements = self._measured(chunk, small, tracks, view.span, aspect, reading)
                measured[chunk.n] = replace(measurements, cuts=sum(chunk.span.contains(ms) for ms in cuts))
        # Only all readings of a segment together show the text that stays between two readings, and the clock.
        shown = on_screen(reading.readings)
        chunks = []
        for chunk in view.chunks:
            if chunk.n not in measured:
                chunks.append(Chunk(chunk.n, chunk.span, None, gap="no_frames", transcript=chunk.transcript))
                continue
            on_show = shown[chunk.n]
            whole = replace(measured[chunk.n], text=on_show.lines, clock=on_show.clock)
            chunks.append(
                Chunk(
                    chunk.n,
                    chunk.span,
                    describe(whole),
                    facts=whole.facts(),
                    on_screen_text=(*on_show.lines, *on_show.clock_lines),
                    transcript=chunk.transcript,
                )
            )
        wall_ms = round((time.monotonic() - started) * 1000)
        meter.record(ModelCall("description", self.name, wall_ms, items=len(view.chunks)))
        still = [chunk.span for chunk in view.chunks if chunk.frames and not measured[chunk.n].camera_moves]
        observed = tuple(_observation(track, view.span, aspect, still) for track in tracks)
        return SegmentDescription(tuple(chunks), observed)

    def _follow(self, view: SegmentView, cuts: Collection[int]) -> list[Track]:
        tracker = SegmentTracker(self.sample_fps, self._scene.features)
        tracks: list[Track] = []
        frames = (frame for chunk in view.chunks for frame in chunk.frames)
        for k, frame in enumerate(frames):
            if frame.ms in cuts:
                # A position before a cut says nothing about positions after it.
                tracks += tracker.finish()
                tracker = SegmentTracker(self.sample_fps, self._scene.features)
            if frame.picture.mean() < _BLACK:
                continue
            tile = k % self._detector.tiles if self._tiles else None
            tracker.add(frame.ms, frame.picture, self._detector.detect(frame.picture, tile=tile))
        tracks += tracker.finish()
        for number, track in enumerate(tracks, start=1):
            # Events reach over segments, so a number must not mean another object in the next segment.
            track.id = number + view.span.start_ms // CHUNK_MS * _TRACKS_PER_CHUNK
            track.doubted = _is_doubtful(track, view.span, tracks)
        return tracks

    def _measured(
        self,
        chunk: ChunkView,
        small: Sequence[Picture],
        tracks: Sequence[Track],
        segment: Span,
        aspect: float,
        reading: _Reading,
    ) -> MeasuredChunk:
        moving = camera_moves(small)
        brightness = float(np.mean([picture.mean() for picture in small]))
        objects = _objects(tracks, chunk.span, segment, aspect, moving)
        if any(o.category in FIXTURES and (o.motion not in _STILL or o.entered or o.left) for o in objects):
            moving = True
            objects = _objects(tracks, chunk.span, segment, aspect, moving)
        steps = [change(a, b) for a, b in pairwise(small)]
        level = float(np.mean(steps)) if steps else 0.0
        middle = chunk.frames[len(chunk.frames) // 2]
        black = brightness < _BLACK
        reading.look(chunk.n, middle, small[len(small) // 2], black=black)
        return MeasuredChunk(
            objects=objects,
            counts=_counts(objects),
            scene=() if black else tuple(self._scene.tags(middle.picture)),
            motion_level="none" if level < _QUIET else "much" if level > _BUSY else "some",
            camera_moves=moving,
            brightness="black" if black else "dark" if brightness < _DARK else "normal",
            speech=" ".join(" ".join(line.text for line in chunk.transcript).split()),
            aspect=round(aspect, 4),
        )


@dataclass(frozen=True, slots=True)
class ScreenReading:
    """The text on the middle frame of chunk n.

    lines: None if the frame was not read and differs from the last frame that was. read: whether the lines were read
    from this frame; else they are those of an earlier frame that it resembles.
    """

    n: int
    ms: int
    lines: tuple[str, ...] | None
    read: bool


@dataclass(frozen=True, slots=True)
class OnScreen:
    """Text that a chunk shows.

    lines: without the clock's. clock_lines: the clock as it was read here. clock: the time that it must show here, or
    "".
    """

    lines: tuple[str, ...]
    clock_lines: tuple[str, ...] = ()
    clock: str = ""


class _Reading:
    """Reads the text of a segment's chunks, as often as it changes and _TEXT_EVERY allows."""

    def __init__(self, reader: TextReader | None) -> None:
        self.readings: list[ScreenReading] = []
        self._reader = reader
        self._wait = 0
        self._seen: Picture | None = None
        self._lines: tuple[str, ...] = ()

    def look(self, n: int, frame: SampledFrame, small: Picture, *, black: bool) -> None:
        self._wait -= 1
        if black or self._reader is None:
            self.readings.append(ScreenReading(n, frame.ms, (), read=False))
            return
        changed = self._seen is None or change(self._seen, small) > _CHANGED
        # The picture around a clock may stand still while the clock goes on.
        ticking = any(read_clock(line) is not None for line in self._lines)
        if (changed or ticking) and self._wait <= 0:
            self._lines = self._reader.read(frame.picture)
            self._seen, self._wait = small, _TEXT_EVERY
            self.readings.append(ScreenReading(n, frame.ms, self._lines, read=True))
        else:
            self.readings.append(ScreenReading(n, frame.ms, None if changed else self._lines, read=False))


def on_screen(readings: Sequence[ScreenReading]) -> dict[int, OnScreen]:
    """Return text and clock by chunk, from all readings of a segment.

    Text that the readings before and after a chunk share was on screen in between. The clock is known if the readings
    agree on one. A single reading with a time to the second is shown only for its own chunk.
    """
    clock = _clock_of(readings)
    shown = {}
    for k, reading in enumerate(readings):
        lines, ticking = _text_of(readings, k)
        ticks = _times(lines) if clock.known else ()
        rest = tuple(line for line in lines if line not in ticks)
        shown[reading.n] = OnScreen(rest, ticks if reading.read else (), clock.at(reading) if ticking else "")
    return shown


def _text_of(readings: Sequence[ScreenReading], k: int) -> tuple[tuple[str, ...], bool]:
    """Return the lines on screen at a reading, and whether the lines that they come from show a clock."""
    lines = readings[k].lines
    if lines is not None:
        return lines, bool(_times(lines))
    before = next((r.lines for r in reversed(readings[:k]) if r.lines is not None), ())
    after = next((r.lines for r in readings[k:] if r.lines is not None), ())
    return tuple(line for line in before if line in after), bool(_times(before) and _times(after))


@dataclass(frozen=True, slots=True)
class _ScreenClock:
    """The clock of a segment: fitted to several readings, or the only line with a time, or neither."""

    fitted: Clock | None
    alone: str

    @property
    def known(self) -> bool:
        return self.fitted is not None or bool(self.alone)

    def at(self, reading: ScreenReading) -> str:
        """Return the time on the clock, "" if it is unknown."""
        if self.fitted is not None:
            return self.fitted.at(reading.ms).replace("T", " ")
        return self.alone if reading.read else ""


def _clock_of(readings: Sequence[ScreenReading]) -> _ScreenClock:
    lines = [(reading.ms, line) for reading in readings if reading.read for line in reading.lines or ()]
    fitted = fit_clock(lines)
    times = [(line, time) for _, line in lines if (time := read_clock(line)) is not None]
    alone = times[0][0] if fitted is None and len(times) == 1 and times[0][1].fine else ""
    return _ScreenClock(fitted, alone)


def _times(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if read_clock(line) is not None)


def _cuts(view: SegmentView, thumbnails: Mapping[int, Picture]) -> frozenset[int]:
    """Return the times of the frames with which another scene begins."""
    cuts, before = set(), None
    for frame in (frame for chunk in view.chunks for frame in chunk.frames):
        colours = palette(frame.picture)
        if before is not None and is_cut(thumbnails[before[0]], thumbnails[frame.ms], (before[1], colours)):
            cuts.add(frame.ms)
        before = frame.ms, colours
    return frozenset(cuts)


def _is_doubtful(track: Track, segment: Span, tracks: Sequence[Track]) -> bool:
    """Whether a thing that does not move itself passes the picture's border while nobody is there to carry it."""
    if moves_itself(track.category) or track.category in BALLS | FIXTURES or not any(_passage(track, segment)):
        return False
    return not any(
        other.category == "person" and other.ms[0] <= track.ms[-1] + _EDGE_MS and other.ms[-1] >= track.ms[0] - _EDGE_MS
        for other in tracks
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
    entered, left = _passage(track, segment)
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


def _passage(track: Track, segment: Span) -> tuple[str, str]:
    """Return the borders over which a track came in and went out, "" if it did not."""
    came = border_of(track.boxes[0]) if track.ms[0] > segment.start_ms + _EDGE_MS else ""
    went = border_of(track.boxes[-1]) if track.ms[-1] < segment.end_ms - _EDGE_MS else ""
    return (
        came if came and comes_in(came, track.ms, track.boxes) else "",
        went if went and comes_in(went, track.ms[::-1], track.boxes[::-1]) else "",
    )


def _counts(objects: Sequence[MeasuredObject]) -> dict[str, CategoryCount]:
    distinct = Counter(o.category for o in objects)
    at_once: Counter[tuple[str, int]] = Counter((o.category, ms) for o in objects for ms in o.frames_ms)
    most = {category: max(n for (c, _), n in at_once.items() if c == category) for category in distinct}
    return {category: CategoryCount(most[category], n) for category, n in distinct.items()}


def _observation(track: Track, segment: Span, aspect: float, still: Sequence[Span]) -> TrackObservation:
    """Return the record of a track. still: chunks with a still camera; only there boxes show movement."""
    entered, left = _passage(track, segment)
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
