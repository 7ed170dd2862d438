"""What a stranger's file holds: streams, size, true duration, and whether it keeps to the limits. Runs in a box."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import av
import av.error
import av.logging
from av.container import InputContainer
from av.video.stream import VideoStream

from gpu_workers.engine.indexing.container import ProbeError
from gpu_workers.engine.indexing.opening import (
    MAX_PIXELS,
    MAX_SIDE,
    Recording,
    bound_pictures,
    open_video,
    origin_ms,
    shown_stream,
)

MAX_FRAME_RATE = 240
MAX_STREAMS = 16
SPARSE_AFTER_MS, LONGEST_PACKET_MS = 600_000, 60_000
"""A video above the first duration has at least one packet per LONGEST_PACKET_MS of it on average. A file of kilobytes
could claim days otherwise, and each of its segments costs as much as a segment of a true recording."""

ONE_FRAME_MS = 40
"""Duration of a picture if the file does not state one (25 per second)."""

RATE_PACKETS = 500
"""Number of packets whose timestamps give the rate of a file that states none."""


def examine(source: Recording, container: str) -> dict[str, Any]:
    """Return the fields of ProbeResult without size. Raises ProbeError, and OSError for bytes that do not arrive."""
    with _open(source, container) as opened:
        _refuse_many_streams(opened)
        stream = shown_stream(opened)
        if stream is None:
            raise ProbeError("no_video_stream", "The file has no video stream.")
        if stream.codec_context is None:
            raise ProbeError("not_a_video", "There is no decoder for the video stream.")
        _refuse_large_pictures(stream)
        _refuse_cut_index(opened, stream, container)
        start_ms = origin_ms(opened, stream)
        rate = _rate(opened, stream)
        bound_pictures(stream)
        width, height, rotation = _shown_size(opened, stream)
        end_ms = _end_ms(opened, stream, rate)
        if end_ms is None:
            raise ProbeError("duration_unknown", "The video has no timestamps.")
        duration_ms = max(1, end_ms - start_ms)
        _refuse_few_packets(opened, stream, duration_ms)
        return {
            "container": container,
            "codec": stream.codec_context.codec.canonical_name,
            "duration_ms": duration_ms,
            "width": width,
            "height": height,
            "fps": str(rate) if rate else None,
            "rotation": rotation,
            "has_audio": bool(opened.streams.audio),
            "has_video": True,
            "source_start_ms": start_ms,
            "bitrate": opened.bit_rate or None,
        }


def _open(source: Recording, container: str) -> InputContainer:
    av.logging.set_level(av.logging.ERROR)  # so that errors carry the demuxer's last words
    try:
        return open_video(source, container=container)
    except av.error.FFmpegError as error:
        if "moov atom not found" in str(error.log):
            raise ProbeError("truncated", "The file ends before its index; the upload is incomplete.") from error
        raise ProbeError("not_a_video", "The file's structure cannot be read.") from error


def _refuse_many_streams(opened: InputContainer) -> None:
    if len(opened.streams) > MAX_STREAMS:
        raise ProbeError("too_many_streams", f"The file has {len(opened.streams)} streams; {MAX_STREAMS} are accepted.")


def _refuse_large_pictures(stream: VideoStream) -> None:
    width, height = stream.codec_context.width, stream.codec_context.height
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        limit = f"at most {MAX_SIDE} x {MAX_SIDE} and {MAX_PIXELS // 1_000_000} megapixels are accepted"
        raise ProbeError("too_many_pixels", f"The pictures have {width} x {height} pixels; {limit}.")


def _refuse_few_packets(container: InputContainer, stream: VideoStream, duration_ms: int) -> None:
    """Raise ProbeError for a video of far fewer packets than its duration needs. Reads no more packets than that."""
    needed = duration_ms // LONGEST_PACKET_MS if duration_ms > SPARSE_AFTER_MS else 0
    if len(stream.index_entries) >= needed:
        return
    _rewind(container, stream)
    count = 0
    for _ in _packet_times(container, stream):
        count += 1
        if count >= needed:
            return
    raise ProbeError("too_few_packets", f"The video claims {duration_ms} ms, but has only {count} pictures.")


def _refuse_cut_index(container: InputContainer, stream: VideoStream, name: str) -> None:
    """Raise ProbeError for a file that was cut. An MP4's index gives the position of every packet, so its end need not
    be read."""
    count = len(stream.index_entries)
    if name != "mov" or not count or not container.size:
        return
    last = stream.index_entries[count - 1]
    if last.pos + last.size > container.size:
        raise ProbeError("truncated", "The file ends before its last packets; the upload is incomplete.")


def _rate(container: InputContainer, stream: VideoStream) -> Fraction | None:
    """Return frames per second, measured if the header states none or more than is accepted. Raises ProbeError."""
    # In a file of one picture the header's rate is a guess.
    stated = None if stream.frames == 1 else stream.average_rate or stream.base_rate or None
    rate = stated if stated and stated <= MAX_FRAME_RATE else _measured_rate(container, stream)
    if rate and rate > MAX_FRAME_RATE:
        reason = f"The video has {float(rate):.0f} frames per second; at most {MAX_FRAME_RATE} are accepted."
        raise ProbeError("frame_rate_too_high", reason)
    return rate


def _measured_rate(container: InputContainer, stream: VideoStream) -> Fraction | None:
    times: list[Fraction] = []
    for start, _ in _packet_times(container, stream):
        times.append(start)
        if len(times) == RATE_PACKETS:
            break
    if len(set(times)) < 2:
        return None
    return ((len(times) - 1) / (max(times) - min(times))).limit_denominator(1001)


def _shown_size(container: InputContainer, stream: VideoStream) -> tuple[int, int, int]:
    """Return width and height as shown, and the clockwise turn to show it. Decodes one frame.

    Raises ProbeError no_frames if there is none.
    """
    _rewind(container, stream)
    for packet in _packets(container, stream):
        try:
            frames = packet.decode()
        except av.error.InvalidDataError:
            continue
        for frame in frames:
            if isinstance(frame, av.VideoFrame):
                turn = -frame.rotation % 360
                wide, high = round(frame.width * (stream.sample_aspect_ratio or 1)), frame.height
                return (high, wide, turn) if turn in (90, 270) else (wide, high, turn)
    raise ProbeError("no_frames", "No picture of the video can be decoded.")


def _end_ms(container: InputContainer, stream: VideoStream, rate: Fraction | None) -> int | None:
    """Return the end of the last packet in milliseconds of the file's own clock, None if no packet has a timestamp.

    Looks at the end of the file first; a file that cannot be positioned there is read through.
    """
    picture = 1 / rate if rate else Fraction(ONE_FRAME_MS, 1000)
    for from_end in (True, False):
        _rewind(container, stream, to_end=from_end)
        ends = (start + (length or picture) for start, length in _packet_times(container, stream))
        end = max(ends, default=None)
        if end is not None:
            return round(end * 1000)
    return None


def _packet_times(container: InputContainer, stream: VideoStream) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield (time, length) of packets in seconds; length 0 if the file does not state it."""
    base = stream.time_base or Fraction(1, 1000)
    for packet in _packets(container, stream):
        stamp = packet.pts if packet.pts is not None else packet.dts
        if stamp is not None and packet.size:
            yield stamp * base, (packet.duration or 0) * base


def _packets(container: InputContainer, stream: VideoStream) -> Iterator[av.Packet[Any]]:
    try:
        yield from container.demux(stream)
    except av.error.InvalidDataError:
        return  # the readable part ends here


def _rewind(container: InputContainer, stream: VideoStream, *, to_end: bool = False) -> None:
    """Seek to the first keyframe, or to the last; a container that cannot seek stays where it is."""
    first = stream.start_time or 0
    try:
        container.seek(2**62 if to_end else min(0, first), stream=stream, backward=True)
    except av.error.FFmpegError:
        if to_end:
            return
        raise
