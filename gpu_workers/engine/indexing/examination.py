"""What a stranger's file holds: streams, size, true duration, and whether it keeps to the limits. Runs in a box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import av
import av.error
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from gpu_workers.engine.indexing.audio_tracks import MAX_TAG, MAX_TITLE
from gpu_workers.engine.indexing.clock_reading import ReadClock, read_clock, readable_packets
from gpu_workers.engine.indexing.container import MAX_STREAMS, ProbeError
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.opening import (
    MAX_PIXELS,
    MAX_SIDE,
    Recording,
    bound_pictures,
    open_video,
    shown_stream,
    video_tracks,
)
from gpu_workers.engine.indexing.picture_format import TRANSFERS, PictureFormat

MAX_FRAME_RATE = 960
"""Highest rate that phones film in slow motion. Frames are chosen by time, so a high rate costs decoding only."""
RATE_TOLERANCE = Fraction(101, 100)
SPARSE_AFTER_MS, LONGEST_PACKET_MS = 600_000, 60_000
"""A video above the first duration has at least one packet per LONGEST_PACKET_MS of it on average. A file of kilobytes
could claim days otherwise, and each of its segments costs as much as a segment of a true recording."""

CUT_MS = 1_000
"""Time, next to 1 % of the duration, by which a header may claim more than the file holds before the file counts as
cut."""

KEYFRAMES_SEEN_MS, KEYFRAME_BYTES = 60_000, 16 * 2**20
"""Part of a file whose keyframes are looked at: in time, and in bytes where they have to be read."""

RATE_PACKETS = 500
"""Number of packets whose timestamps give the rate of a file that states none."""


@dataclass(frozen=True, slots=True)
class Examined:
    """fields: of ProbeResult, without size and clock."""

    fields: dict[str, Any]
    clock: FileClock


def examine(source: Recording, container: str) -> Examined:
    """Return what the file at source holds. Raises ProbeError, and OSError for bytes that do not arrive."""
    with _open(source, container) as opened:
        _refuse_many_streams(opened)
        stream = shown_stream(opened)
        if stream is None:
            raise ProbeError("no_video_stream", "The file has no video stream.")
        if stream.codec_context is None:
            raise ProbeError("not_a_video", "There is no decoder for the video stream.")
        _refuse_large_pictures(stream)
        _refuse_cut_index(opened, stream, container)
        bound_pictures(stream)
        first = _first_frame(opened, stream)
        width, height, rotation = _shown_size(first, stream)
        codec, bitrate = stream.codec_context.codec.canonical_name, opened.bit_rate
        audio_tracks = _audio_tracks(opened)
        lacks = ["video_not_seen"] if len(video_tracks(opened)) > 1 else []
    pictures = PictureFormat(
        pixel_format=first.format.name,
        bit_depth=first.format.components[0].bits,
        keyframe_ms=_keyframe_ms(source, container),
        is_interlaced=bool(first.interlaced_frame),
        transfer=TRANSFERS.get(int(first.color_trc or 0), ""),
    )
    rate = _rate(source, container)
    read = read_clock(source, container)
    if read is None:
        raise ProbeError("duration_unknown", "The video has no timestamps.")
    clock = read.clock
    _refuse_few_packets(source, container, clock.duration_ms)
    fields = {
        "container": container,
        "codec": codec,
        "duration_ms": clock.duration_ms,
        "width": width,
        "height": height,
        "fps": str(rate) if rate else None,
        "rotation": rotation,
        "audio_tracks": audio_tracks,
        "has_video": True,
        "source_start_ms": clock.stretches[0].stamp_ms,
        "bitrate": bitrate or None,
        "degraded": lacks + _lacks(read),
        "pictures": pictures.as_fields(),
    }
    return Examined(fields, clock)


def _audio_tracks(opened: InputContainer) -> list[dict[str, Any]]:
    """Return the fields of AudioTrack for each audio track. The file's own words come as they are."""
    return [
        {
            "number": number,
            "language": str(one.metadata.get("language", ""))[:MAX_TAG],
            "title": str(one.metadata.get("title") or one.metadata.get("name") or "")[:MAX_TITLE],
            "codec": "" if one.codec_context is None else one.codec_context.codec.canonical_name,
            "channels": 0 if one.codec_context is None else one.codec_context.layout.nb_channels,
            "is_default": bool(one.disposition & Disposition.default),
        }
        for number, one in enumerate(opened.streams.audio, 1)
    ]


def _lacks(read: ReadClock) -> list[str]:
    """Return the codes of what a file lacks (probe.LACKS)."""
    duration_ms, lacks = read.clock.duration_ms, []
    if read.stated_ms is not None and read.stated_ms - read.reached_ms > max(CUT_MS, duration_ms // 100):
        lacks.append("truncated")
    # A join damages the packet before it.
    if (read.damaged - len(read.clock.stretches) + 1) * 100 > read.packets:
        lacks.append("damaged")
    return lacks


def _open(source: Recording, container: str) -> InputContainer:
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


def _refuse_few_packets(source: Recording, container: str, duration_ms: int) -> None:
    """Raise ProbeError for a video of far fewer packets than its duration needs. Reads no more packets than that."""
    needed = duration_ms // LONGEST_PACKET_MS if duration_ms > SPARSE_AFTER_MS else 0
    with _open(source, container) as opened:
        stream = shown_stream(opened)
        if stream is None or len(stream.index_entries) >= needed:
            return
        count = sum(1 for _ in islice(_picture_times(opened, stream), needed))
    if count < needed:
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


def _rate(source: Recording, container: str) -> Fraction | None:
    """Return frames per second, measured if the header states none or more than is accepted. Raises ProbeError."""
    with _open(source, container) as opened:
        stream = shown_stream(opened)
        if stream is None:
            return None
        # In a file of one picture the header's rate is a guess.
        stated = None if stream.frames == 1 else stream.average_rate or stream.base_rate or None
        rate = stated if stated and stated <= MAX_FRAME_RATE * RATE_TOLERANCE else _measured_rate(opened, stream)
    if rate and rate > MAX_FRAME_RATE * RATE_TOLERANCE:
        reason = f"The video has {float(rate):.0f} frames per second; at most {MAX_FRAME_RATE} are accepted."
        raise ProbeError("frame_rate_too_high", reason)
    return rate


def _measured_rate(container: InputContainer, stream: VideoStream) -> Fraction | None:
    times = list(islice(_picture_times(container, stream), RATE_PACKETS))
    if len(set(times)) < 2:
        return None
    return ((len(times) - 1) / (max(times) - min(times))).limit_denominator(1001)


def _first_frame(container: InputContainer, stream: VideoStream) -> av.VideoFrame:
    """Decode one frame. Raises ProbeError no_frames if there is none."""
    for packet in readable_packets(container, stream):
        try:
            frames = packet.decode()
        except av.error.InvalidDataError:
            continue
        for frame in frames:
            if isinstance(frame, av.VideoFrame):
                return frame
    raise ProbeError("no_frames", "No picture of the video can be decoded.")


def _shown_size(frame: av.VideoFrame, stream: VideoStream) -> tuple[int, int, int]:
    """Return width and height as shown, and the clockwise turn to show it."""
    # Pictures are shown in quarter turns; a damaged file may ask for another.
    turn = -round(frame.rotation / 90) % 4 * 90
    wide, high = round(frame.width * (stream.sample_aspect_ratio or 1)), frame.height
    return (high, wide, turn) if turn in (90, 270) else (wide, high, turn)


def _keyframe_ms(source: Recording, container: str) -> int | None:
    """Return the longest time between keyframes in the first KEYFRAMES_SEEN_MS, None without times."""
    with _open(source, container) as opened:
        stream = shown_stream(opened)
        if stream is None:
            return None
        base = (stream.time_base or Fraction(1, 1000)) * 1000
        times: list[Fraction] = []
        longest, key = Fraction(0), None
        for stamp, is_keyframe in _decoding_times(opened, stream):
            times.append(stamp * base)
            if is_keyframe:
                longest, key = max(longest, times[-1] - (times[0] if key is None else key)), times[-1]
            if times[-1] - times[0] > KEYFRAMES_SEEN_MS:
                break
    return round(max(longest, times[-1] - (times[0] if key is None else key))) if times else None


def _decoding_times(container: InputContainer, stream: VideoStream) -> Iterator[tuple[int, bool]]:
    """Yield decoding times, and whether a keyframe is decoded then; from the index of an MP4, else from packets."""
    if container.format.name.startswith("mov") and len(stream.index_entries):
        for entry in stream.index_entries:
            yield entry.timestamp, entry.is_keyframe
        return
    left = KEYFRAME_BYTES
    for packet in readable_packets(container, stream):
        stamp = packet.dts if packet.dts is not None else packet.pts
        if stamp is not None and packet.size:
            yield stamp, packet.is_keyframe
        left -= packet.size
        if left < 0:
            return


def _picture_times(container: InputContainer, stream: VideoStream) -> Iterator[Fraction]:
    """Yield the times of an unread file's pictures in seconds."""
    base = stream.time_base or Fraction(1, 1000)
    for packet in readable_packets(container, stream):
        stamp = packet.pts if packet.pts is not None else packet.dts
        if stamp is not None and packet.size:
            yield stamp * base
