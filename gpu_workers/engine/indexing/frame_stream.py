"""What the frames of a span are to their reader, wherever they are decoded: an iterator that can be closed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from gpu_workers.engine.ekg import SampledFrame


@dataclass(frozen=True, slots=True)
class Damage:
    """packets: number of packets of a span that the decoder was given. damaged: number of those that are not whole."""

    packets: int = 0
    damaged: int = 0

    def __add__(self, other: Damage) -> Damage:
        return Damage(self.packets + other.packets, self.damaged + other.damaged)

    @property
    def is_serious(self) -> bool:
        """Whether more than 1 % of the packets are damaged."""
        return self.damaged * 100 > self.packets


class FrameStream(Iterator[SampledFrame]):
    """Iterator over frames, in order of time; the end of its `with` block closes it.

    A subclass sets _frames, and skipped: packets and frames lost to corruption so far. damage: of the span, once all
    frames were read.
    """

    skipped: int
    damage: Damage
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
