"""The storyboard of a rendition as WebVTT: which part of which sheet a time shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backend.playback.captions import Cue, as_vtt
from backend.playback.models import RenditionPiece
from gpu_workers.engine.media.storyboards import ACROSS, TILE_HEIGHT, TILE_WIDTH


def storyboard(pieces: Iterable[RenditionPiece], *, token: str) -> str:
    """Return the cues of the pictures of these pieces, in order of time."""
    return as_vtt(cue for piece in pieces for cue in _cues(piece, token))


def _cues(piece: RenditionPiece, token: str) -> Iterator[Cue]:
    for place, (_, _, first, tiles) in enumerate(piece.sheets):
        for tile in range(tiles):
            start_ms = (first + tile) * piece.tile_ms
            left, top = tile % ACROSS * TILE_WIDTH, tile // ACROSS * TILE_HEIGHT
            part = f"#xywh={left},{top},{TILE_WIDTH},{TILE_HEIGHT}"
            yield Cue(start_ms, start_ms + piece.tile_ms, f"hls/s/{piece.n}-{place}.jpg?token={token}{part}")
