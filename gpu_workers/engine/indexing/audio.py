"""The sound of a span of a video, for speech recognition; decoded in a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.box.decoding import answer, decoding, number
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.file_clock import FileClock, rows_within

SAMPLE_RATE = 16_000
_BYTES = 4
_CPU_S = 120
"""Below the time limit, so that a file that keeps the decoder busy for ever is refused and not read again."""


def read_audio(
    url_or_path: str, span: Span, *, track: int = 1, clock: FileClock | None = None, timeout_s: float = 300.0
) -> NDArray[np.float32]:
    """Return mono samples at 16 kHz of an audio track in span; empty if the video has none there.

    Sound that begins late, or has holes, keeps its time: silence fills the time before it.
    track: its number, from 1. clock: of the file; read from the file when None.
    Raises SourceUnreadable when the bytes cannot be fetched or reading takes longer than timeout_s, DecodingFailed when
    the file cannot be decoded.
    """
    most = span.duration_ms * SAMPLE_RATE // 1000
    arguments = {"span": [span.start_ms, span.end_ms], "track": track, "clock": rows_within(clock, span)}
    limits = BoxLimits(cpu_s=_CPU_S)
    with decoding(
        "sound", url_or_path, arguments, memory_bytes=_BYTES * max(1, most), limits=limits, wall_s=timeout_s
    ) as box:
        count = number(answer(box).get("samples"), most)
        samples = box.shared(np.float32, count, 0)
    return np.asarray(np.nan_to_num(samples), dtype=np.float32)
