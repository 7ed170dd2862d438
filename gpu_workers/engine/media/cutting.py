"""Cuts a span out of a recorded file without decoding it: the packets come out of a box, in the video's own time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.box.decoding import answer, decoding, number
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.container import DecodingFailed
from gpu_workers.engine.indexing.file_clock import FileClock, rows_within

JOB = "gpu_workers.engine.media.copied_packets:cut"
SLOTS, SLOT_BYTES = 4, 4 * 2**20
_GREATEST_MS, _MOST_PACKETS = 2**53, 2**40
_CPU_S, _WALL_S = 120, 600.0

Edges = Literal["around", "keyframes"]
"""around: from the keyframe at or before the span to its end, so that all its pictures can be decoded. keyframes: from
the first keyframe at or after the span's start up to the first one at or after its end; neighbours fit together."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What was cut. begin_ms: time of its first picture in the video. end_ms: of the keyframe after it, if it ends at
    keyframes, else the end of the span. packets: number of pictures, 0 for none. held: number of pictures before the
    one that is shown at the beginning of the span.

    is_counted: whether pictures have no times of their own, so the n-th one follows begin_ms by n steady steps. format:
    a digest of what a decoder has to know first; the packets of cuts with the same one can follow each other.
    """

    begin_ms: int
    end_ms: int
    packets: int
    held: int
    is_counted: bool
    format: str = ""


def cut(
    source: str,
    span: Span,
    into: Path,
    *,
    clock: FileClock | None,
    track: int | None,
    edges: Edges = "around",
    most_bytes: int = 2 * 2**30,
    on_progress: Callable[[], None] | None = None,
) -> Cut:
    """Write the packets of span to a file that encoding.source() reads, with the times of clock.

    source: a path or a URL, of which only the needed ranges are read. track: number of the audio track to keep.
    on_progress: called with every few megabytes, for the heart-beat of a lease; it raises to cancel. Raises
    SourceUnreadable when bytes cannot be fetched, DecodingFailed when the file cannot be read or the span has more than
    most_bytes, DecoderUnavailable when this host cannot do it.
    """
    arguments = {
        "span": [span.start_ms, span.end_ms], "clock": rows_within(clock, span), "track": track, "edges": edges,
        "slots": SLOTS, "slot_bytes": SLOT_BYTES,
    }  # fmt: skip
    limits = BoxLimits(cpu_s=_CPU_S)
    size = 0
    with (
        decoding(
            JOB, source, arguments, memory_bytes=SLOTS * SLOT_BYTES, limits=limits, wall_s=_WALL_S
        ) as box,
        into.open("wb") as file,
    ):  # fmt: skip
        for n in range(most_bytes):
            message = answer(box)
            if "end" in message:
                begin_ms, end_ms = (number(message.get(name), _GREATEST_MS) for name in ("begin_ms", "end_ms"))
                packets, held = (number(message.get(name), _MOST_PACKETS) for name in ("packets", "held"))
                return Cut(begin_ms, end_ms, packets, held, message.get("counted") is True, str(message.get("format")))
            count = number(message.get("bytes"), SLOT_BYTES)
            size += count
            if size > most_bytes or not count:
                break
            file.write(box.shared(np.uint8, count, n % SLOTS * SLOT_BYTES).tobytes())
            box.release()
            if on_progress is not None:
                on_progress()
    raise DecodingFailed("the span holds too many bytes")
