"""What the frames of a span are to their reader, wherever they are decoded: an iterator that can be closed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from types import TracebackType
from typing import Self

from gpu_workers.engine.ekg import SampledFrame


class FrameStream(Iterator[SampledFrame]):
    """Iterator over frames, in order of time; the end of its `with` block closes it.

    A subclass sets _frames, and skipped: packets and frames lost to corruption so far.
    """

    skipped: int
    _frames: Generator[SampledFrame, None, None]

    def __next__(self) -> SampledFrame:
        return next(self._frames)

    def close(self) -> None:
        """Give back what the decoding holds. Safe to repeat."""
        self._frames.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
