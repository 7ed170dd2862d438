"""The embedded profile on a real video, with speech and text on screen: is it faster than the video plays?"""

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
from gpu_workers.engine.models.bindings import load_index_models
from gpu_workers.engine.models.roles import IndexModels, Meter
from gpu_workers.engine.models.settings import ModelSettings
from infra.local import ffmpeg
from infra.local.default_video import default_video

PROCESSES = 2
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM", "AVA_TORCH_THREADS"), "1")
"""One thread per library, as in the service's index worker on two cores."""
SEGMENT_MS = 12_000
"""Length of a segment. It is below the service's, so that a short video keeps both processes busy to the end."""
VIDEO, SPEECH = "AVA_BENCH_VIDEO", "AVA_BENCH_SPEECH"


def real_time() -> Figures:
    """Measure two processes that observe segments and a third that makes events; loading models is not timed."""
    path = _video()
    probed = probe(str(path), ffprobe=str(ffmpeg.ffprobe()))
    length_s = probed.duration_ms / 1000
    meter, observations, assembling_s = Meter(), list[Observation](), 0.0
    with patch.dict(os.environ, ONE_THREAD):
        index, assembler = _assembler(path, meter)
        with _observers() as pool:
            began = time.monotonic()
            spans = plan_segments(probed.duration_ms, segment_ms=SEGMENT_MS)
            waiting: list[Future[Observation]] = [pool.submit(_observe, path, probed, span) for span in spans]
            for future in waiting:
                observations.append(future.result())
                index.add_segment(observations[-1].record)
                before = time.monotonic()
                assembler.push(observations[-1].record.chunks)
                assembling_s += time.monotonic() - before
            assembler.flush()
            wall_s = time.monotonic() - began
    spoken = sum(len(observation.record.transcript) for observation in observations)
    words = sum(len(chunk.on_screen_text) for chunk in index.chunks)
    reference = (
        f"{length_s:.0f} s of video ({path.name}, {probed.width} x {probed.height}) over {wall_s:.0f} s with "
        f"{PROCESSES} processes of one thread; {len(index.events)} events, {spoken} spoken lines, "
        f"{words} texts on screen"
    )
    yield at_least("embedded_real_time", length_s / wall_s, 1.0, reference)
    for stage in asdict(observations[0].times):
        spent_s = sum(asdict(observation.times)[stage] for observation in observations) / 1000
        if spent_s:
            yield _stage(stage, length_s, spent_s)
    yield _stage("assemble", length_s, assembling_s)


def _stage(stage: str, length_s: float, spent_s: float) -> Figure:
    factor = length_s / spent_s
    reference = f"{length_s:.0f} s of video over {spent_s:.1f} s spent in this stage, in one process; part of the whole"
    return Figure(f"embedded_real_time_{stage}", float(f"{factor:.4g}"), "none", True, reference)


def _video() -> Path:
    """Return AVA_BENCH_VIDEO, or else the demo's video; with the speech of AVA_BENCH_SPEECH as its sound, if named."""
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
    """Yield a pool whose processes all have loaded their models."""
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
    return load_index_models(ModelSettings(threads=1))


def _observe(path: Path, probed: ProbeResult, span: Span) -> Observation:
    source = Source.of_file(str(path), probed.source_start_ms, probed.has_audio, str(ffmpeg.ffmpeg()))
    return observe_segment(source, span, _models(), profile="general", meter=Meter())
