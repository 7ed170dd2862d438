"""Pictures that show their number: a row of black and white blocks, which survives encoding, scaling and turning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

from gpu_workers.engine.ekg import Picture
from tests.engine.indexing.media import write_video

BITS, BLOCK = 12, 16
WIDTH, HEIGHT = 2 * BLOCK * (BITS // 2), 96


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture of a file: its time in it in ms, and the number that it shows."""

    ms: float
    number: int


def numbered(number: int) -> Picture:
    """Return a picture with the bits of a number, the highest first, in two rows, over two rows of their opposites."""
    picture = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    half = BITS // 2
    for bit in range(BITS):
        row, column = divmod(bit, half)
        value = 255 if number >> (BITS - 1 - bit) & 1 else 0
        left = 2 * BLOCK * column
        picture[24 * row : 24 * row + 24, left : left + 2 * BLOCK] = value
        picture[48 + 24 * row : 72 + 24 * row, left : left + 2 * BLOCK] = 255 - value
    return picture


def number_of(picture: Picture) -> int:
    """Return the number that a picture of any size shows. Raises ValueError if it shows none."""
    height, width = picture.shape[:2]
    half, number = BITS // 2, 0
    for bit in range(BITS):
        row, column = divmod(bit, half)
        at = slice(round(width * (column + 0.3) / half), round(width * (column + 0.7) / half))
        rows = [slice(round(height * (r + 0.3) / 4), round(height * (r + 0.7) / 4)) for r in (row, row + 2)]
        value, opposite = (float(picture[r, at].mean()) for r in rows)
        if abs(value - opposite) < 60:
            raise ValueError(f"bit {bit} is unclear: {value} and {opposite}")
        number = 2 * number + (value > opposite)
    return number


def write_clock(path: Path, times_ms: Iterable[int], *, first: int = 0, codec: str = "libx264", gop: int = 20) -> Path:
    """Write a video whose i-th picture shows first + i."""
    times = list(times_ms)
    return write_video(path, times, [numbered(first + n) for n in range(len(times))], codec=codec, gop=gop)


def shown(path: Path, *, turned: Callable[[Picture], Picture] = lambda picture: picture) -> list[Shown]:
    """Return the pictures of a file in the order in which they are shown. turned: applied to each decoded picture."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return [
            Shown(
                float((frame.pts or 0) * (frame.time_base or 0)) * 1000,
                number_of(turned(frame.to_ndarray(format="rgb24"))),
            )
            for frame in container.decode(stream)
        ]
