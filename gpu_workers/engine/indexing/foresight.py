"""The packets of a span that must be decoded to a picture, known before any packet is decoded.

A decoder must decode every reference frame, but a frame that no other frame refers to can be skipped at no cost.
Timestamps show in advance which frames will be chosen, so any other frame is decoded only if frames refer to it.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from gpu_workers.engine.ekg import Span

_NEVER = -(2**62)
_LONGEST_WAIT = 256
"""Maximum number of packets that are held back if timestamps are missing; no codec reorders by a tenth of it."""


class Grid(Protocol):
    def takes(self, ms: int) -> bool: ...

    def skip(self, ms: int) -> None: ...


class Timed(Protocol):
    @property
    def pts(self) -> int | None: ...

    @property
    def dts(self) -> int | None: ...


P = TypeVar("P", bound=Timed)


class Foresight(Generic[P]):
    """Decides for packets in decoding order whether their picture is wanted, a few packets behind the demuxer.

    The wanted pictures are those that grid takes inside span, every picture that is shown for hold_ms or longer, and
    the last picture. A packet about which too little is known in time is wanted. Packets that only serve pictures
    after the span are left out. last_before: time of the latest frame before the span.

    origin: of the video's clock, in ms; ms_per_tick: of the packets' timestamps. A decision is possible since no later
    packet is shown before the decoding time of this one: all frames up to that time are known and in order.
    """

    def __init__(self, span: Span, grid: Grid, *, hold_ms: int | None, origin: int, ms_per_tick: Fraction) -> None:
        self.last_before: int | None = None
        self._span, self._grid, self._hold = span, grid, hold_ms
        self._origin, self._scale = origin, ms_per_tick
        self._waiting: deque[tuple[P, int | None]] = deque()
        self._unsettled: list[int] = []
        self._decided_until = _NEVER
        self._previous: int | None = None
        self._wanted: dict[int, bool] = {}
        self._over = False

    def sift(self, packets: Iterable[P]) -> Iterator[tuple[P, bool]]:
        """Yield the packets that must go to the decoder, and whether their picture is wanted."""
        for packet in packets:
            self._take(packet)
            yield from self._decided()
            if self._over:
                break
        self._settle(2**62)
        self._close(None)
        yield from self._decided(everything=True)

    def _take(self, packet: P) -> None:
        ms = None if packet.pts is None else round(packet.pts * self._scale) - self._origin
        self._waiting.append((packet, ms))
        if ms is not None:
            bisect.insort(self._unsettled, ms)
        if packet.dts is not None:
            # Frames before this time are known; a frame shown at this very time may still come.
            self._settle(round(packet.dts * self._scale) - self._origin)

    def _settle(self, until: int) -> None:
        """Process the frames before `until` in the order in which they are shown."""
        while self._unsettled and self._unsettled[0] < until and not self._over:
            ms = self._unsettled.pop(0)
            self._close(ms)
            if ms >= self._span.end_ms:
                self._over = True
                return
            if ms < self._span.start_ms:
                self._grid.skip(ms)
                self.last_before = ms
                self._previous, self._wanted[ms] = ms, False
            else:
                self._previous, self._wanted[ms] = ms, self._wanted.get(ms, False) or self._grid.takes(ms)

    def _close(self, following: int | None) -> None:
        """Decide about the frame before `following` (None: it is the last)."""
        before = self._previous
        if before is None:
            return
        if self._hold is not None and (following is None or following - before >= self._hold):
            self._wanted[before] = True
        self._decided_until = before
        self._previous = None

    def _decided(self, *, everything: bool = False) -> Iterator[tuple[P, bool]]:
        everything = everything or self._over
        while self._waiting:
            packet, ms = self._waiting[0]
            decided = ms is not None and (everything or ms <= self._decided_until)
            if not decided and ms is not None and len(self._waiting) <= _LONGEST_WAIT:
                return
            self._waiting.popleft()
            yield packet, self._wanted.pop(ms, False) if decided and ms is not None else True
