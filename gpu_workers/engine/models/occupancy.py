"""Shares the time of a model server between the calls that run on it at once.

The wall times of overlapping calls add up to more than the server's time. Here each moment is divided by the number of
calls that run in it, so the shares of all calls of this process never add up to more than the time in which the server
worked for this process. A call of a served model without a rate is attributed its share (models.device_rates), and a
call that was cut is attributed its share at most.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Share:
    """The share of one call. ms: milliseconds of the server to the microsecond, final once the call has ended."""

    def __init__(self) -> None:
        self.ms = 0.0


class Occupancy:
    """The calls that run on one server now. Safe to share between threads.

    clock: seconds, never going back.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._at = 0.0
        # The integral of 1 / running over the busy time: a call's share is its growth between begin and end.
        self._shared_s = 0.0

    @contextmanager
    def call(self, share: Share) -> Iterator[None]:
        """Count a call from here to the end of the block, also if it fails. The share is set after the block."""
        began = self._change(+1)
        try:
            yield
        finally:
            share.ms = round((self._change(-1) - began) * 1000, 3)

    def _change(self, by: int) -> float:
        with self._lock:
            now = self._clock()
            if self._running:
                self._shared_s += (now - self._at) / self._running
            self._at = now
            self._running += by
            return self._shared_s


_servers: dict[str, Occupancy] = {}
_servers_lock = threading.Lock()


def occupancy_of(server: str) -> Occupancy:
    """Return the occupancy of a server, one per process. server: its base URL, or a device of this machine."""
    with _servers_lock:
        return _servers.setdefault(server, Occupancy())
