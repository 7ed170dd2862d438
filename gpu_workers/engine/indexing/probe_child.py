"""The half of the probe that parses a stranger's file; runs as `python -m gpu_workers.engine.indexing.probe_child`.

Reads one JSON request from stdin, limits its own CPU time and memory (ffprobe, its child, inherits both), and writes
one JSON answer to stdout: the fields of ProbeResult (fps as text, without size), or {code, message, retryable}.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import av
import av.error
import ffmpeg
from av.container import InputContainer
from av.video.stream import VideoStream

from gpu_workers.engine.indexing.container import ProbeError, input_options
from gpu_workers.engine.indexing.opening import open_video, origin_ms, shown_stream

ONE_FRAME_MS = 40
"""Duration of a picture if the file does not state one (25 per second)."""

RATE_PACKETS = 500
"""Number of packets whose timestamps give the rate of a file that states none."""


def examine(source: str, container: str, ffprobe: str) -> dict[str, Any]:
    """Return the fields of ProbeResult without size. Raises ProbeError."""
    stated = _ffprobe(source, container, ffprobe)
    streams = stated.get("streams", [])
    videos = [s for s in streams if s.get("codec_type") == "video" and not s.get("disposition", {}).get("attached_pic")]
    if not videos:
        raise ProbeError("no_video_stream", "The file has no video stream.")
    with open_video(source, container=container) as opened:
        stream = shown_stream(opened)
        if stream is None or stream.codec_context is None:
            raise ProbeError("not_a_video", f"No decoder for {videos[0].get('codec_name', 'this codec')}.")
        _refuse_cut_index(opened, stream, container)
        start_ms = origin_ms(opened, stream)
        rate = _stated_rate(videos[0]) or _measured_rate(opened, stream)
        width, height, rotation = _shown_size(opened, stream)
        end_ms = _end_ms(opened, stream, rate)
    if end_ms is None:
        raise ProbeError("duration_unknown", "The video has no timestamps.")
    return {
        "container": container,
        "codec": str(videos[0].get("codec_name", "unknown")),
        "duration_ms": max(1, end_ms - start_ms),
        "width": width,
        "height": height,
        "fps": str(rate) if rate else None,
        "rotation": rotation,
        "has_audio": any(s.get("codec_type") == "audio" for s in streams),
        "has_video": True,
        "source_start_ms": start_ms,
        "bitrate": int(stated["format"]["bit_rate"]) if "bit_rate" in stated.get("format", {}) else None,
    }


def _ffprobe(source: str, container: str, ffprobe: str) -> dict[str, Any]:
    try:
        answer = ffmpeg.probe(source, cmd=ffprobe, f=container, v="error", **input_options(source))
    except ffmpeg.Error as error:
        words = (error.stderr or b"").decode("utf-8", errors="replace")
        if "moov atom not found" in words:
            raise ProbeError("truncated", "The file ends before its index; the upload is incomplete.") from error
        if any(sign in words for sign in ("HTTP error 5", "Connection", "timed out", "Input/output error")):
            raise ProbeError("unreachable", "The file could not be read.", retryable=True) from error
        raise ProbeError("not_a_video", "The file's structure cannot be read.") from error
    return dict(answer)


def _refuse_cut_index(container: InputContainer, stream: VideoStream, name: str) -> None:
    """Raise ProbeError for a file that was cut. An MP4's index gives the position of every packet, so its end need not
    be read."""
    count = len(stream.index_entries)
    if name != "mov" or not count or not container.size:
        return
    last = stream.index_entries[count - 1]
    if last.pos + last.size > container.size:
        raise ProbeError("truncated", "The file ends before its last packets; the upload is incomplete.")


def _stated_rate(stream: Mapping[str, Any]) -> Fraction | None:
    for key in ("avg_frame_rate", "r_frame_rate"):
        up, _, down = str(stream.get(key, "0/0")).partition("/")
        # Above 1000 it is a time base that was taken for a rate.
        if int(up) and int(down or 1) and Fraction(int(up), int(down or 1)) <= 1000 and stream.get("nb_frames") != "1":
            return Fraction(int(up), int(down or 1))
    return None


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


def main() -> None:
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (request["cpu_s"], request["cpu_s"]))
    resource.setrlimit(resource.RLIMIT_AS, (request["memory_bytes"], request["memory_bytes"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        answer = examine(request["source"], request["container"], request["ffprobe"])
    except ProbeError as error:
        answer = {"code": error.code, "message": error.message, "retryable": error.retryable}
    except (av.error.FFmpegError, OverflowError) as error:
        answer = {"code": "not_a_video", "message": f"The file cannot be parsed: {error}.", "retryable": False}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
