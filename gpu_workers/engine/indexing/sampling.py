"""Pictures of a span of a video, decoded in a box: the worker receives pictures and never touches the video's bytes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from gpu_workers.engine.ekg import SampledFrame, Span
from gpu_workers.engine.indexing.box.boxes import Box
from gpu_workers.engine.indexing.box.decoding import answer, decoding, number
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.container import DecodingFailed, DeviceUnavailable, SourceUnreadable
from gpu_workers.engine.indexing.file_clock import FileClock, rows_within
from gpu_workers.engine.indexing.frame_stream import Damage, FrameStream
from gpu_workers.engine.indexing.hardware import accelerator, chosen, report_failure

__all__ = ["BoxedFrames", "DecodingFailed", "SourceUnreadable", "sample_frames"]

SLOTS = 4
"""Pictures that a box decodes ahead of the worker."""
_CPU_S, _WALL_S = 120, 600.0
"""Next to 20 s per second of video. CPU time ends first for a file that keeps the decoder busy for ever: it is refused,
while a source whose bytes come slowly is read again."""
_MOST_SKIPPED = 2**31
_REASON_CHARACTERS = 200


class BoxedFrames(FrameStream):
    """Iterator over the chosen frames of a span, in order of time. skipped: packets and frames lost to corruption."""

    def __init__(
        self,
        source: str,
        span: Span,
        *,
        fps: float | Sequence[float],
        max_side: int,
        clock: FileClock | None = None,
        hold_ms: int | None = None,
    ) -> None:
        if max_side < 1:
            raise ValueError(f"max_side is above 0, got {max_side}")
        self.skipped, self.damage = 0, Damage()
        self._source, self._span, self._max_side = source, span, max_side
        rates = [float(rate) for rate in (fps if isinstance(fps, Sequence) else [fps])]
        self._wanted = {"fps": rates, "clock": rows_within(clock, span), "hold_ms": hold_ms}
        seconds = span.duration_ms / 1000
        held = span.duration_ms // hold_ms + 2 if hold_ms else 0
        # A box that was taken over must not fill the worker's memory with pictures that nobody asked for.
        self._most = sum(int(rate * seconds) + 2 for rate in rates) + held
        self._frames = self._receive()

    def _receive(self) -> Generator[SampledFrame, None, None]:
        device = accelerator() is not None
        try:
            yield from self._receive_from_box(device=device)
        except DeviceUnavailable as error:
            # No frame has come: the box was not started.
            report_failure(str(error))
            yield from self._receive_from_box(device=False)

    def _receive_from_box(self, *, device: bool) -> Generator[SampledFrame, None, None]:
        slot_bytes = 3 * self._max_side**2
        arguments = {
            "span": [self._span.start_ms, self._span.end_ms],
            "max_side": self._max_side,
            "slots": SLOTS,
            "slot_bytes": slot_bytes,
            "hwaccel": chosen() if device else "off",
            **self._wanted,
        }
        seconds = self._span.duration_ms // 1000
        with decoding(
            "frames",
            self._source,
            arguments,
            memory_bytes=SLOTS * slot_bytes,
            limits=BoxLimits(cpu_s=_CPU_S + 20 * seconds),
            wall_s=_WALL_S + 20.0 * seconds,
            device=device,
        ) as box:
            for n in range(self._most + 1):
                message = answer(box)
                if "end" in message:
                    self.skipped = number(message["end"], _MOST_SKIPPED)
                    packets, damaged = (number(message.get(name), _MOST_SKIPPED) for name in ("packets", "damaged"))
                    self.damage = Damage(packets, damaged)
                    if message.get("hardware_failure") is not None:
                        report_failure(str(message["hardware_failure"])[:_REASON_CHARACTERS])
                    return
                yield self._frame(box, message, n % SLOTS * slot_bytes)
            raise DecodingFailed("the decoder gave more pictures than were asked for")

    def _frame(self, box: Box, message: dict[str, Any], offset: int) -> SampledFrame:
        size = message.get("size")
        if not (isinstance(size, list) and len(size) == 2):
            raise DecodingFailed("the decoder's answer makes no sense")
        width, height = (number(side, self._max_side) for side in size)
        ms = number(message.get("ms"), self._span.end_ms)
        since_ms = message.get("held_since_ms")
        self.skipped = number(message.get("skipped"), _MOST_SKIPPED)
        pixels = box.shared(np.uint8, width * height * 3, offset)
        box.release()
        return SampledFrame(ms, pixels.reshape(height, width, 3), None if since_ms is None else number(since_ms, ms))


def sample_frames(
    url_or_path: str,
    span: Span,
    *,
    fps: float | Sequence[float],
    max_side: int,
    clock: FileClock | None = None,
    hold_ms: int | None = None,
) -> BoxedFrames:
    """Return frames of span on the grid of fps per second, upright, RGB, no side above max_side, in order of time.

    With several rates, the frames on any of their grids, each once.
    A frame belongs to the span that contains its own time. A source slower than the grid gives each of its frames once.
    With hold_ms, a stretch of that length (counted from 0) in which no frame was chosen gives the picture shown at its
    beginning, with that time: a still slide is not a hole. Corrupt packets are skipped and counted in .skipped. clock:
    the probe's; read from the file again when None. Raises SourceUnreadable
    when the bytes cannot be fetched, DecodingFailed when the box ends at its limits. To stop early, close the result or
    use it in a `with` block.
    """
    return BoxedFrames(url_or_path, span, fps=fps, max_side=max_side, clock=clock, hold_ms=hold_ms)
