"""Index a file with instant models in a separate process and print that process's peak memory in bytes.

python -m bench.peak_memory FILE SECONDS
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.instant_models import instant_models
from gpu_workers.engine.ekg import Entity, EventRecord, ObjectState, SegmentRecord, Span, Vector, stable_id
from gpu_workers.engine.indexing.objects import LinkedTracks
from gpu_workers.engine.indexing.pipeline import index_recording
from gpu_workers.engine.indexing.segments import observe_segment
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.roles import Meter
from infra.local.app_processes import MALLOC_ARENAS

_RECENT = 8


class CountingStore:
    """A store that counts and forgets; it keeps only thumbnails of the last segments, which events still read."""

    def __init__(self) -> None:
        self.events = self.frames = 0
        self._recent: deque[SegmentRecord] = deque(maxlen=_RECENT)

    def add_segment(self, segment: SegmentRecord) -> None:
        self.frames += len(segment.frames)
        self._recent.append(segment)

    def append(self, record: EventRecord) -> None:
        self.events += 1

    def put_objects(self, linked: LinkedTracks) -> None:
        return

    def count(self) -> int:
        return 0

    def recent(self, since_ms: int) -> Sequence[ObjectState]:
        return ()

    def alike(
        self, categories: Collection[str], appearance: Vector, *, limit: int
    ) -> Sequence[tuple[ObjectState, float]]:
        return ()

    def nearest(
        self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0
    ) -> list[Sequence[tuple[Entity, float]]]:
        return [() for _ in embeddings]

    def expect(self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0) -> None:
        pass

    def frames_for(self, span: Span, limit: int) -> list[tuple[int, bytes]]:
        frames = [frame for segment in self._recent for frame in segment.frames if span.contains(frame.ms)]
        return [(frame.ms, frame.jpeg) for frame in frames[:limit]]


def peak_memory(path: Path, seconds: int) -> int:
    """Return the peak resident bytes of a process that indexes path. Raises CalledProcessError."""
    command = [sys.executable, "-m", "bench.peak_memory", str(path), str(seconds)]
    environment = {**os.environ, "MALLOC_ARENA_MAX": str(MALLOC_ARENAS)}
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)


def main(path: str, seconds: int) -> None:
    models, store, meter = instant_models(), CountingStore(), Meter()
    source = Source.of_file(path, tracks=())
    index_recording(
        lambda span: observe_segment(source, span, models, profile="general", meter=meter),
        seconds * 1000,
        models,
        store,
        video_id=stable_id("video", path),
        meter=meter,
    )
    if store.events == 0 or store.frames < seconds * 0.9:
        raise AssertionError(f"{path}: {store.events} events, {store.frames} frames in {seconds} s")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
