"""Where to begin to read a file, so that a moment of a stretch can be decoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import av
import av.error
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.stream import VideoStream

from gpu_workers.engine.indexing.file_clock import Stretch

BACK_MS = (0, 2_000, 10_000, 60_000)
"""Distances to go back if reading begins behind its mark (MPEG-TS has no index); after these, the beginning."""
BEFORE_JOIN_BYTES = 512 * 1024
"""Distance before a stretch at which reading begins, so that the demuxer finds its first packet whole."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A position to begin at. stamp_ms: timestamp of the file to seek to. at_byte: position of the file, if it has
    several stretches, whose timestamps repeat. Neither: the file is read from its beginning."""

    stamp_ms: int | None = None
    at_byte: int | None = None
    is_beginning: bool = False


def entries(stretch: Stretch, ms: int) -> Iterator[Entry]:
    """Yield positions to decode the moment ms of the video from, each further back; the last is the beginning."""
    into_ms = ms - stretch.span.start_ms
    for back_ms in BACK_MS:
        if into_ms <= back_ms and (back_ms or not into_ms):
            break
        if stretch.is_whole_file:
            yield Entry(stamp_ms=stretch.stamp_ms + into_ms - back_ms)
        elif stretch.end_byte is not None:
            share = (into_ms - back_ms) / stretch.span.duration_ms
            yield Entry(at_byte=stretch.begin_byte + int(share * (stretch.end_byte - stretch.begin_byte)))
    if stretch.begin_byte:
        yield Entry(at_byte=max(0, stretch.begin_byte - BEFORE_JOIN_BYTES), is_beginning=True)
    else:
        yield Entry(is_beginning=True)


def enter(container: InputContainer, track: VideoStream | AudioStream, entry: Entry) -> bool:
    """Go to an entry in a container that was just opened. Return False if the container cannot seek."""
    try:
        if entry.at_byte is not None:
            container.seek(entry.at_byte, unsupported_byte_offset=True)
        elif entry.stamp_ms is not None and track.time_base is not None:
            container.seek(int(entry.stamp_ms / 1000 / track.time_base), stream=track, backward=True)
    except av.error.FFmpegError:
        return False
    return True
