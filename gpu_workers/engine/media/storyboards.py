"""Small pictures of a recording at regular times, put together on sheets: what a player shows over its timeline.

Each piece of a rendition has sheets of its own, so that pictures are there as soon as the piece is. Ten hours have
1,000 pictures on 300 sheets of 4, and not on 40 of 25: more requests while somebody looks along the whole timeline, and
fewer bytes for each place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ffmpeg

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.media.encoding import made

TILE_WIDTH, TILE_HEIGHT, ACROSS, DOWN = 160, 90, 5, 5
TILES = ACROSS * DOWN
LEAST_TILE_MS, MOST_TILES = 2_000, 1_000


@dataclass(frozen=True, slots=True)
class Sheet:
    """A JPEG of up to TILES pictures, row by row. first: number of its first picture, which shows first × tile_ms."""

    data: bytes
    first: int
    tiles: int


def tile_ms_of(duration_ms: int) -> int:
    """Return the time between two pictures of a recording that is so long."""
    return max(LEAST_TILE_MS, -(-duration_ms // MOST_TILES))


def tiles_within(span: Span, tile_ms: int) -> range:
    """Return the numbers of the pictures whose times lie in the span."""
    return range(-(-span.start_ms // tile_ms), -(-span.end_ms // tile_ms))


def output(pictures: Any, span: Span, tile_ms: int) -> Any | None:
    """Return the output of a graph that writes the sheets of a span; None if none of the times lies in it."""
    tiles = tiles_within(span, tile_ms)
    if not tiles:
        return None
    # A time shows the last picture that begins by then.
    chosen = pictures.filter("fps", fps=f"1000/{tile_ms}", start_time=tiles[0] * tile_ms / 1000, round="up")
    small = chosen.filter(
        "scale", TILE_WIDTH, TILE_HEIGHT, force_original_aspect_ratio="decrease"
    ).filter("pad", TILE_WIDTH, TILE_HEIGHT, -1, -1)  # fmt: skip
    # A sheet that is not full is no larger than its pictures: players keep sheets decoded.
    rows = min(DOWN, -(-len(tiles) // ACROSS))
    sheets = small.filter("tile", f"{ACROSS}x{rows}")
    count = -(-len(tiles) // TILES)
    return ffmpeg.output(sheets, "sheet-%d.jpg", format="image2", vcodec="mjpeg", qscale=5, vframes=count)


def sheets_of(folder: Path, span: Span, tile_ms: int) -> tuple[Sheet, ...]:
    """Return the sheets that output() wrote for the span."""
    tiles = tiles_within(span, tile_ms)
    return tuple(
        Sheet(made(folder, f"sheet-{number}.jpg"), part[0], len(part))
        for number, part in enumerate((tiles[at : at + TILES] for at in range(0, len(tiles), TILES)), start=1)
    )
