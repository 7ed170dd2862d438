"""The embedded describer writes measurements as sentences, without a language model.

Every number and word in a description was measured; unsure measurements are left out. Chunk.facts holds the
measurements as data (observer.measured).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gpu_workers.engine.ekg import Chunk, Picture, SampledFrame, Span
from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.observer.clock import Clock, fit_clock, read_clock
from gpu_workers.engine.models.observer.following import (
    BLACK,
    Followed,
    Follower,
    objects_in,
    observations,
)
from gpu_workers.engine.models.observer.measured import CategoryCount, MeasuredChunk, MeasuredObject, at_once
from gpu_workers.engine.models.observer.movement import (
    change,
    thumbnail,
)
from gpu_workers.engine.models.observer.scene import SceneClassifier
from gpu_workers.engine.models.observer.sentences import describe
from gpu_workers.engine.models.observer.text_reader import TextReader
from gpu_workers.engine.models.roles import ChunkView, Meter, ModelCall, SegmentDescription, SegmentView

_DARK = 40.0
_QUIET, _BUSY = 0.6, 8.0
_TEXT_EVERY = 4
"""Minimum number of chunks from one reading of text to the next: a pass costs 0.25 to 1.7 s of CPU."""
_CHANGED = 6.0


class Observer:
    """A roles.Describer around a follower. text: None leaves reading out."""

    name = "observer"

    def __init__(self, follower: Follower, scene: SceneClassifier, text: TextReader | None = None) -> None:
        self._follower, self._scene, self._text = follower, scene, text
        self.sample_fps = follower.fps

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        """Describe the chunks; chunks without frames become gaps (no_frames)."""
        started = time.monotonic()
        with on_device("cpu") as share:
            described = self._described(view, meter)
        wall_ms = round((time.monotonic() - started) * 1000)
        meter.record(ModelCall("description", self.name, wall_ms, items=len(view.chunks), device_ms=share.ms))
        return described

    def _described(self, view: SegmentView, meter: Meter) -> SegmentDescription:
        thumbnails = {frame.ms: thumbnail(frame.picture) for chunk in view.chunks for frame in chunk.frames}
        followed = self._follower.follow(view, thumbnails, meter=meter)
        reading = _Reading(self._text)
        measured: dict[int, MeasuredChunk] = {}
        for chunk in view.chunks:
            if chunk.frames:
                small = [thumbnails[frame.ms] for frame in chunk.frames]
                measurements = self._measured(chunk, small, followed, view.span, reading)
                cuts = sum(chunk.span.contains(ms) for ms in followed.cuts)
                measured[chunk.n] = replace(measurements, cuts=cuts)
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
        still = [chunk.span for chunk in view.chunks if chunk.frames and not measured[chunk.n].camera_moves]
        return SegmentDescription(tuple(chunks), observations(followed, view.span, still))

    def _measured(
        self,
        chunk: ChunkView,
        small: Sequence[Picture],
        followed: Followed,
        segment: Span,
        reading: _Reading,
    ) -> MeasuredChunk:
        brightness = float(np.mean([picture.mean() for picture in small]))
        objects, moving = objects_in(chunk, small, followed, segment)
        steps = [change(a, b) for a, b in pairwise(small)]
        level = float(np.mean(steps)) if steps else 0.0
        middle = chunk.frames[len(chunk.frames) // 2]
        black = brightness < BLACK
        reading.look(chunk.n, middle, small[len(small) // 2], black=black)
        return MeasuredChunk(
            objects=objects,
            counts=_counts(objects),
            scene=() if black else tuple(self._scene.tags(middle.picture)),
            motion_level="none" if level < _QUIET else "much" if level > _BUSY else "some",
            camera_moves=moving,
            brightness="black" if black else "dark" if brightness < _DARK else "normal",
            speech=" ".join(" ".join(line.text for line in chunk.transcript).split()),
            aspect=round(followed.aspect, 4),
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
            self.readings.append(ScreenReading(n, frame.taken_ms, (), read=False))
            return
        changed = self._seen is None or change(self._seen, small) > _CHANGED
        # The picture around a clock may stand still while the clock goes on.
        ticking = any(read_clock(line) is not None for line in self._lines)
        if (changed or ticking) and self._wait <= 0:
            self._lines = self._reader.read(frame.picture)
            self._seen, self._wait = small, _TEXT_EVERY
            self.readings.append(ScreenReading(n, frame.taken_ms, self._lines, read=True))
        else:
            self.readings.append(ScreenReading(n, frame.taken_ms, None if changed else self._lines, read=False))


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


def _counts(objects: Sequence[MeasuredObject]) -> dict[str, CategoryCount]:
    distinct = Counter(o.category for o in objects)
    return {
        category: CategoryCount(at_once([o for o in objects if o.category == category]), n)
        for category, n in distinct.items()
    }
