"""The embedded profile on a real video, speech and text on screen included: is it faster than the video plays?"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from threading import Barrier
from unittest.mock import patch

from bench.figures import Figure, Figures, at_least
from bench.videos import with_sound
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.indexing.assembly import EventAssembler
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.probe import ProbeResult, probe
from gpu_workers.engine.indexing.segments import Observation, Source, observe_segment, plan_segments
from gpu_workers.engine.models.bindings import ModelSettings, load_index_models
from gpu_workers.engine.models.roles import IndexModels, Meter
from infra.local import ffmpeg
from infra.local.default_video import default_video

PROCESSES = 2
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM", "AVA_TORCH_THREADS"), "1")
"""As the service's index worker runs on two cores."""
SEGMENT_MS = 12_000
"""Shorter than the service's, so that a short video keeps both processes at work to the end."""
VIDEO, SPEECH = "AVA_BENCH_VIDEO", "AVA_BENCH_SPEECH"


def real_time() -> Figures:
    """Two processes observe segments, a third makes events; loading models is not in the time."""
    path = _video()
    found = probe(str(path), ffprobe=str(ffmpeg.ffprobe()))
    length_s = found.duration_ms / 1000
    meter, seen, assembling_s = Meter(), list[Observation](), 0.0
    with patch.dict(os.environ, ONE_THREAD):
        index, assembler = _assembler(path, meter)
        with _observers() as pool:
            begun = time.monotonic()
            spans = plan_segments(found.duration_ms, segment_ms=SEGMENT_MS)
            waiting: list[Future[Observation]] = [pool.submit(_observe, path, found, span) for span in spans]
            for future in waiting:
                seen.append(future.result())
                index.add_segment(seen[-1].record)
                before = time.monotonic()
                assembler.push(seen[-1].record.chunks)
                assembling_s += time.monotonic() - before
            assembler.flush()
            wall_s = time.monotonic() - begun
    spoken = sum(len(observation.record.transcript) for observation in seen)
    words = sum(len(chunk.on_screen_text) for chunk in index.chunks)
    reference = (
        f"{length_s:.0f} s of video ({path.name}, {found.width} x {found.height}) over {wall_s:.0f} s with "
        f"{PROCESSES} processes of one thread; {len(index.events)} events, {spoken} spoken lines, "
        f"{words} texts on screen"
    )
    yield at_least("embedded_real_time", length_s / wall_s, 1.0, reference)
    for stage in asdict(seen[0].times):
        spent_s = sum(asdict(observation.times)[stage] for observation in seen) / 1000
        if spent_s:
            yield _stage(stage, length_s, spent_s)
    yield _stage("assemble", length_s, assembling_s)


def _stage(stage: str, length_s: float, spent_s: float) -> Figure:
    factor = length_s / spent_s
    reference = f"{length_s:.0f} s of video over {spent_s:.1f} s spent in this stage, in one process; part of the whole"
    return Figure(f"embedded_real_time_{stage}", float(f"{factor:.4g}"), "none", True, reference)


def _video() -> Path:
    """AVA_BENCH_VIDEO, else the demo's video; under it, if it is named, the speech of AVA_BENCH_SPEECH."""
    named = os.environ.get(VIDEO)
    path = Path(named) if named else default_video().path
    speech = os.environ.get(SPEECH)
    return with_sound(path, Path(speech)) if speech else path


def _assembler(path: Path, meter: Meter) -> tuple[MemoryIndex, EventAssembler]:
    index, models = MemoryIndex(stable_id("video", path.name)), _models()
    models.text_embedder.embed(["a first text"], meter=meter)
    assembler = EventAssembler(
        index.video_id, 1, models, index, index, profile="general", meter=meter, frames_for=index.frames_for
    )
    return index, assembler


# --- the processes that observe --------------------------------------------------------------------------------------


@contextmanager
def _observers() -> Iterator[ProcessPoolExecutor]:
    """All of them ready: each has its models."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(PROCESSES)
    with ProcessPoolExecutor(PROCESSES, context, _start, (ready,)) as pool:
        for future in [pool.submit(_wait) for _ in range(PROCESSES)]:
            future.result()
        yield pool


_ready: Barrier


def _start(ready: Barrier) -> None:
    global _ready
    _ready = ready
    _models()


def _wait() -> None:
    _ready.wait()


@cache
def _models() -> IndexModels:
    return load_index_models(ModelSettings(profile="embedded", threads=1))


def _observe(path: Path, found: ProbeResult, span: Span) -> Observation:
    source = Source.of_file(str(path), found.source_start_ms, found.has_audio, str(ffmpeg.ffmpeg()))
    return observe_segment(source, span, _models(), profile="general", meter=Meter())
