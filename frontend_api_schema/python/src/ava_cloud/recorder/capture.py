"""Reading a camera, and cutting what it sends into files at its key frames, without encoding anything again.

The address stays in this process: no other program gets it, so nobody reads its password in a list of processes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import av

from ava_cloud.recorder.pieces import Piece, Spool

SILENCE_S = 10.0
"""A camera that sends nothing for so long is gone."""


class CameraGone(Exception):
    """The camera cannot be reached, or sends nothing. The message does not name the address."""


def captured(address: str, spool: Spool, seconds: float) -> Iterator[tuple[Piece, list[Piece]]]:
    """Put pieces of at least so many seconds into the spool until the camera is gone. Raises CameraGone.

    Yields each piece with those that had to go for it; what was read of the next one is kept however this ends.

    When a piece was recorded follows from the times that the camera gives its packets, and from the packet that took
    the least time to come: a camera's declared frame rate plays no part.
    """
    options = {"rtsp_transport": "tcp", "fflags": "+genpts"} if address.startswith("rtsp") else {}
    try:
        with av.open(address, options=options, timeout=(SILENCE_S, SILENCE_S)) as source:
            yield from _cut(source, spool, seconds)
    except (av.FFmpegError, OSError) as error:
        raise CameraGone(type(error).__name__) from None
    raise CameraGone("it ended the connection")


def _cut(source: Any, spool: Spool, seconds: float) -> Iterator[tuple[Piece, list[Piece]]]:
    video = source.streams.video[0]
    streams = [video, *(stream for stream in source.streams.audio[:1] if stream.codec_context.name in ("aac", "mp3"))]
    writer: _Writer | None = None
    offset_s: float | None = None
    try:
        for packet in source.demux(streams):
            if packet.dts is None or packet.pts is None or packet.is_corrupt:
                continue
            at_s = float(packet.pts * packet.time_base)
            # The smallest delay so far: a packet that waited in a buffer does not move the clock.
            delay = time.time() - at_s
            offset_s = delay if offset_s is None else min(offset_s, delay)
            if packet.stream is video and packet.is_keyframe:
                if writer is not None and at_s - writer.start_s >= seconds:
                    piece, writer = writer.closed(offset_s), None
                    yield piece, spool.add(piece)
                if writer is None:
                    writer = _Writer(spool, streams, at_s)
            if writer is not None:
                writer.write(packet)
    finally:
        if writer is not None:
            spool.add(writer.closed(offset_s or 0.0))


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

    def closed(self, offset_s: float) -> Piece:
        """End the file. offset_s: wall clock less the camera's clock."""
        self._out.close()
        piece = Piece(self._n, round((self.start_s + offset_s) * 1000), round((self._end_s - self.start_s) * 1000))
        return piece
