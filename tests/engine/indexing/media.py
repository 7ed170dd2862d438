"""Video files made at test time: by PyAV if each timestamp matters, by ffmpeg if a container feature does."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.video.stream import VideoStream

from gpu_workers.engine.ekg import Picture
from infra.local.ffmpeg import ffmpeg


def run_ffmpeg(*arguments: str) -> None:
    subprocess.run([str(ffmpeg()), "-nostdin", "-y", "-loglevel", "error", *arguments], check=True)


def solid(colour: Sequence[int], width: int = 64, height: int = 48) -> Picture:
    return np.full((height, width, 3), colour, dtype=np.uint8)


def grey(value: int, width: int = 64, height: int = 48) -> Picture:
    return solid((value, value, value), width, height)


def write_video(
    path: Path,
    times_ms: Sequence[int],
    pictures: Sequence[Picture],
    *,
    codec: str = "mpeg4",
    pix_fmt: str = "yuv420p",
    gop: int = 12,
    options: dict[str, str] | None = None,
) -> Path:
    """Write a video whose i-th picture is shown at times_ms[i]."""
    with av.open(str(path), "w", options=options or {}) as container:
        stream = cast("VideoStream", container.add_stream(codec, rate=25))
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = pix_fmt
        stream.codec_context.time_base = Fraction(1, 1000)
        stream.time_base = Fraction(1, 1000)
        stream.codec_context.gop_size = gop
        stream.codec_context.max_b_frames = 0
        for ms, picture in zip(times_ms, pictures, strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = ms, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def damage_packets(path: Path, every: int) -> int:
    """Overwrite bytes within every n-th packet of pictures of a file. Returns the number of packets."""
    data = bytearray(path.read_bytes())
    with av.open(str(path)) as container:
        packets = [(one.pos, one.size) for one in container.demux(container.streams.video[0]) if one.size]
    for pos, size in packets[every - 1 :: every]:
        assert pos is not None
        for at in range(pos + size // 4, pos + size - 8, max(1, size // 20)):
            data[at] ^= 0x5A
    path.write_bytes(data)
    return len(packets)


def write_steady(path: Path, seconds: float, *, fps: int = 10, gop: int = 12, codec: str = "mpeg4") -> Path:
    """Write a video of fps pictures per second; the picture at time t has the grey value of its whole second (x 10)."""
    times = [round(i * 1000 / fps) for i in range(round(seconds * fps))]
    return write_video(path, times, [grey(ms // 1000 % 25 * 10) for ms in times], gop=gop, codec=codec)
