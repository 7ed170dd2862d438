"""Reading a camera, a playlist or files, and cutting them into pieces at their key frames, without encoding again.

The address stays in this process: no other program gets it, so nobody reads its password in a list of processes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from ava_cloud.recorder.pieces import Piece, Spool

_SAME_S = 0.001
"""Times that differ by less are equal: they are kept as decimals."""
SILENCE_S, LIST_SILENCE_S = 10.0, 30.0
"""A camera that sends nothing for so long is gone. A playlist grows by whole segments, so it may be silent longer."""


class CameraGone(Exception):
    """The camera cannot be reached, or sends nothing. The message does not name the address."""


def captured(address: str, spool: Spool, seconds: float) -> Iterator[tuple[Piece, list[Piece]]]:
    """Put pieces of at least so many seconds into the spool until the camera is gone.

    Yields each piece with those that had to go for it; what was read of the next one is kept however this ends. Raises
    CameraGone. Ends without it after a playlist that is complete.

    When a piece was recorded follows from the times that the camera gives its packets, and from the packet that took
    the least time to come: a camera's declared frame rate plays no part.
    """
    is_list = address.startswith("http")
    options = {"fflags": "+genpts"} | ({} if is_list else {"rtsp_transport": "tcp"})
    silence = LIST_SILENCE_S if is_list else SILENCE_S
    try:
        with av.open(address, options=options, timeout=(silence, silence)) as source:
            ends = is_list and source.duration is not None
            begin_s = (source.start_time or 0) / 1_000_000
            # What is complete comes faster than it was recorded, so it begins now.
            yield from _cut(source, spool, seconds, Clock(time.time() - begin_s, fixed=True) if ends else Clock())
    except (av.FFmpegError, OSError) as error:
        raise CameraGone(type(error).__name__) from None
    if not ends:
        raise CameraGone("it ended the connection")


def cut_file(file: Path, spool: Spool, seconds: float, *, after_s: float) -> Iterator[tuple[Piece, list[Piece]]]:
    """Put pieces of a finished file into the spool, as captured() does. after_s: how far it was cut before.

    The file's last picture is from the time at which the file was last changed. Raises CameraGone for a file that
    cannot be read.
    """
    try:
        with av.open(str(file)) as source:
            length_s = (source.duration or 0) / 1_000_000
            begin_s = (source.start_time or 0) / 1_000_000
            clock = Clock(file.stat().st_mtime - length_s - begin_s, fixed=True, file=str(file), after_s=after_s)
            yield from _cut(source, spool, seconds, clock)
    except (av.FFmpegError, OSError) as error:
        raise CameraGone(f"{file}: {type(error).__name__}") from None


@dataclass
class Clock:
    """Wall clock less the clock of the packets, in seconds; None until a camera's first packet. fixed: whether packets
    do not change it. file, after_s: what is cut, and from where."""

    offset_s: float | None = None
    fixed: bool = False
    file: str = ""
    after_s: float = -math.inf

    def see(self, at_s: float) -> None:
        """Take note of a packet that has just come. The smallest delay counts: one that waited moves no clock."""
        if not self.fixed:
            delay = time.time() - at_s
            self.offset_s = delay if self.offset_s is None else min(self.offset_s, delay)


def _cut(source: Any, spool: Spool, seconds: float, clock: Clock) -> Iterator[tuple[Piece, list[Piece]]]:
    video = source.streams.video[0]
    streams = [video, *(stream for stream in source.streams.audio[:1] if stream.codec_context.name in ("aac", "mp3"))]
    writer: _Writer | None = None
    ended = False
    try:
        for packet in source.demux(streams):
            if packet.dts is None or packet.pts is None or packet.is_corrupt:
                continue
            at_s = float(packet.pts * packet.time_base)
            clock.see(at_s)
            if packet.stream is video and packet.is_keyframe:
                if writer is not None and at_s - writer.start_s >= seconds:
                    piece, writer = writer.closed(clock, until_s=at_s), None
                    yield piece, spool.add(piece)
                if writer is None and at_s >= clock.after_s - _SAME_S:
                    writer = _Writer(spool, streams, at_s)
            if writer is not None:
                writer.write(packet)
        ended = True
    finally:
        if writer is not None:
            piece = writer.closed(clock, until_s=math.inf)
            # Half a piece of a file is cut again; what a camera sent does not come back.
            if ended or not clock.file:
                spool.add(piece)


class _Writer:
    """One file. start_s: time of its first picture, by the camera's clock."""

    def __init__(self, spool: Spool, streams: list[Any], start_s: float) -> None:
        self.start_s, self._end_s = start_s, start_s
        self._n, self._spool = spool.next_n(), spool
        self._out = av.open(str(spool.path(self._n)), "w", format="mp4")
        self._streams = {stream.index: self._out.add_stream_from_template(stream) for stream in streams}
        self._last: dict[int, int] = {}

    def write(self, packet: Any) -> None:
        """Copy a packet, with times from 0; one that is older than the file, or that goes back in time, is left out."""
        shift = round(Fraction(self.start_s).limit_denominator(1_000_000) / packet.time_base)
        index, at = packet.stream.index, packet.dts - shift
        if at < 0 or at <= self._last.get(index, -1):
            return
        self._last[index] = at
        if packet.stream.type == "video":
            self._end_s = max(self._end_s, float((packet.pts + (packet.duration or 0)) * packet.time_base))
        packet.pts, packet.dts = max(packet.pts - shift, at), at
        packet.stream = self._streams[index]
        self._out.mux(packet)

    def closed(self, clock: Clock, *, until_s: float) -> Piece:
        """End the file, and say when it was recorded. until_s: where the next piece begins."""
        self._out.close()
        recorded_ms = round((self.start_s + (clock.offset_s or 0.0)) * 1000)
        duration_ms = round((self._end_s - self.start_s) * 1000)
        return Piece(self._n, recorded_ms, duration_ms, clock.file, until_s if clock.file else 0.0)
