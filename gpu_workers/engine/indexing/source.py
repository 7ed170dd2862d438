"""The files of a recording: one, or several that follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.audio_tracks import FIRST_TRACK, AudioTrack
from gpu_workers.engine.indexing.file_clock import FileClock

_NO_END = 2**53


@dataclass(frozen=True, slots=True)
class Piece:
    """One recorded file of a source. url: a path or an http(s) URL. span: its span on the video's clock.

    clock: the file's own, as probed; None if it is to be read from the file, whose span must start at 0. tracks: the
    audio tracks to listen to.
    """

    url: str
    span: Span
    clock: FileClock | None = None
    tracks: tuple[AudioTrack, ...] = (FIRST_TRACK,)

    def __post_init__(self) -> None:
        if self.clock is None and self.span.start_ms:
            raise ValueError("a piece that does not begin at 0 needs its clock")

    @property
    def placed_clock(self) -> FileClock | None:
        """Return the file's clock in the time of the video."""
        return None if self.clock is None else self.clock.moved(self.span.start_ms)


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a video: one, or several that follow each other. pieces: in order, without overlap."""

    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        if any(after.span.start_ms < before.span.end_ms for before, after in pairwise(self.pieces)):
            raise ValueError("the pieces of a source follow each other")

    @classmethod
    def of_file(cls, url: str, clock: FileClock | None = None, tracks: Sequence[AudioTrack] = (FIRST_TRACK,)) -> Source:
        return cls((Piece(url, Span(0, _NO_END), clock, tuple(tracks)),))

    def within(self, span: Span) -> Iterator[tuple[Piece, Span]]:
        """Yield the pieces that reach into span, each with the part of span that it holds."""
        for piece in self.pieces:
            start, end = max(span.start_ms, piece.span.start_ms), min(span.end_ms, piece.span.end_ms)
            if start < end:
                yield piece, Span(start, end)
