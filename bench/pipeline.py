"""All of indexing with models that answer at once: the engine's own cost in time and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

from bench.figures import Figures, at_least, at_most, ratio, side_by_side
from bench.instant_models import instant_models
from bench.peak_memory import peak_memory
from bench.videos import HD, HD_WITHOUT_B_FRAMES, TEN_MINUTES, Recipe, pure_decode, repeated, video
from gpu_workers.engine.ekg import CHUNK_MS, SampledFrame, Span, stable_id
from gpu_workers.engine.indexing import segments
from gpu_workers.engine.indexing.frame_samples import DECODER_THREADS
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.pipeline import index_recording
from gpu_workers.engine.indexing.sampling import sample_frames
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.roles import Meter
from infra.local.app_processes import MALLOC_ARENAS

REPEATS = 3
IN_FLIGHT = 2
MEMORY_SPREAD = 1.2
"""Maximum ratio of a peak over 360 segments to a peak over 20: some MiB are normal, 1 MiB per minute is above 2."""


def hd() -> Figures:
    yield from _against_floor(HD, "with B-frames")


def hd_without_b_frames() -> Figures:
    yield from _against_floor(HD_WITHOUT_B_FRAMES, "without B-frames")


def _against_floor(recipe: Recipe, kind: str) -> Figures:
    path = video(recipe)
    floor, whole = side_by_side(
        REPEATS, partial(pure_decode, path, DECODER_THREADS), partial(index, path, recipe.seconds)
    )
    reference = (
        f"ffmpeg -threads {DECODER_THREADS} -f null on the same 720p H.264 file {kind} ({floor.median:.2f} s, "
        f"{recipe.seconds / floor.median:.0f} times real time); {IN_FLIGHT} segments in flight"
    )
    yield at_least(f"pipeline_{recipe.name.replace('-', '_')}", ratio(floor, whole), 0.8, reference)


def index(path: Path, seconds: int) -> MemoryIndex:
    """Return the index of path as the service makes it, with instant models. Raises AssertionError if it is faulty."""
    models, meter = instant_models(), Meter()
    source = Source.of_file(str(path), tracks=())
    made = MemoryIndex(stable_id("video", path))
    index_recording(
        lambda span: segments.observe_segment(source, span, models, profile="general", meter=meter),
        seconds * 1000,
        models,
        made,
        video_id=made.video_id,
        meter=meter,
        in_flight=IN_FLIGHT,
    )
    if len(made.frames) != seconds or made.events[-1].event.span.end_ms != seconds * 1000:
        raise AssertionError(f"{path.name}: {len(made.frames)} frames, {len(made.events)} events")
    return made


class _AtHand:
    """Decoded frames that replace the frames a source would decode."""

    skipped = 0

    def __init__(self, frames: Iterator[SampledFrame]) -> None:
        self._frames = frames

    def __iter__(self) -> _AtHand:
        return self

    def __next__(self) -> SampledFrame:
        return next(self._frames)

    def __enter__(self) -> _AtHand:
        return self

    def __exit__(self, *exc: object) -> None:
        return


def frames_at_hand(minutes: int = 10) -> Figures:
    path, length_ms = video(HD), HD.seconds * 1000
    decoded = list(sample_frames(str(path), Span(0, length_ms), fps=2.0, max_side=768, hold_ms=CHUNK_MS))

    def frames(url: str, span: Span, **how: object) -> _AtHand:
        """Return the decoded minute, again and again."""
        turns = range(span.start_ms // length_ms, -(-span.end_ms // length_ms))
        moved = (SampledFrame(turn * length_ms + frame.ms, frame.picture) for turn in turns for frame in decoded)
        return _AtHand(frame for frame in moved if span.contains(frame.ms))

    with patch.object(segments, "sample_frames", frames):
        began = time.process_time()
        index(path, minutes * 60)
        cpu_s = time.process_time() - began
    reference = f"{minutes} minutes of video, over the CPU time of all threads ({cpu_s:.2f} s); 768 x 432 pixels, 2 fps"
    yield at_least("pipeline_frames_at_hand", minutes * 60 / cpu_s, 100, reference)


def memory(times: int = 18) -> Figures:
    path = video(TEN_MINUTES)
    short = peak_memory(path, TEN_MINUTES.seconds)
    long = peak_memory(repeated(path, times), TEN_MINUTES.seconds * times)
    reference = (
        f"peak memory of a process that indexes 10 minutes ({short / 2**20:.0f} MiB) against one with 3 hours "
        f"({long / 2**20:.0f} MiB): the same 320 x 180 pictures {times} times over, into a store that only counts; "
        f"malloc with {MALLOC_ARENAS} arenas, as workers run"
    )
    yield at_most("pipeline_peak_memory", long / short, MEMORY_SPREAD, reference)
