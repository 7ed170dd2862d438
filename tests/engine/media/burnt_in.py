"""Recordings whose pictures show their own time, so that a test reads what a player shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
from numpy.typing import NDArray

from tests.engine.indexing.media import run_ffmpeg

BARS, DARK, LIGHT = 10, 40, 215
"""Number of vertical bars that show tenths of a second in binary, the least significant first, and their levels."""
BURNT_IN = f"geq=lum='if(mod(floor(round(T*10)/pow(2,floor(X*{BARS}/W))),2),{LIGHT},{DARK})':cb=128:cr=128"
HEVC = ("-c:v", "libx265", "-x265-params", "log-level=error:keyint=40", "-c:a", "libopus")
H264 = ("-c:v", "libx264", "-g", "20", "-c:a", "aac")


@cache
def made(
    name: str,
    *options: str,
    seconds: float = 14,
    rate: str = "10",
    size: str = "320x180",
    sound: bool = True,
    filters: str = "null",
) -> bytes:
    """Return a recording whose pictures show their time. name: with the ending of its container."""
    source = f"color=s={size}:r={rate}:d={seconds},format=yuv420p,{BURNT_IN},{filters}"
    heard = ("-f", "lavfi", "-i", f"sine=d={seconds}") if sound else ()
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        run_ffmpeg("-f", "lavfi", "-i", source, *heard, *options, str(file))
        return file.read_bytes()


def time_in(grey: NDArray[np.uint8]) -> float:
    """Return the time in seconds that a grey picture shows."""
    high, wide = grey.shape
    row = grey[high // 3 : 2 * high // 3].mean(axis=0)
    bars = [row[int((bar + 0.5) * wide / BARS)] > (DARK + LIGHT) / 2 for bar in range(BARS)]
    return sum(2**bar for bar, light in enumerate(bars) if light) / 10


def pictures_in(data: bytes) -> Sequence[tuple[float, NDArray[np.uint8]]]:
    """Return the pictures of a fragmented MP4 in grey, each with the time in seconds at which it is shown."""
    found = []
    with av.open(BytesIO(data)) as container:
        stream = container.streams.video[0]
        assert stream.time_base is not None
        for frame in container.decode(stream):
            assert frame.pts is not None
            found.append((float(frame.pts * stream.time_base), frame.to_ndarray(format="gray")))
        container.seek(0)
        decoded = next(iter(container.demux(stream))).dts
    # The demuxer adds the delay of decoding to times in files with negative offsets.
    delay = found[0][0] - float((decoded or 0) * stream.time_base)
    return [(at - delay, picture) for at, picture in found]


def times_in(data: bytes) -> Sequence[tuple[float, float]]:
    """Return the time at which each picture of a fragmented MP4 is shown, and the time that it shows."""
    return [(at, time_in(picture)) for at, picture in pictures_in(data)]
