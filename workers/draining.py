"""The end of a worker's work: it stops claiming, its jobs finish or are handed back, and it exits.

The worker's own process decides (at SIGTERM, or when `manage.py drain` asks). The processes that run jobs read the
decision from memory that they share with it, because each was forked from it. Nothing locks this memory, so a process
that is killed leaves no lock behind.
"""

from __future__ import annotations

import mmap
import struct
import threading
import time
from collections.abc import Callable

POLL_SECONDS = 0.25
"""Longest time in which a process that runs jobs notices that it has to stop."""
EXIT_SECONDS = 20.0
"""Time after its hand-back in which a job's work must end. Then its process exits, because nobody needs the work."""

_TIME = struct.Struct("d")


class Drain:
    """Whether this worker takes new jobs, and until when it keeps those it has.

    clock: the monotonic clock, which all processes of a machine share, in seconds. One writer, any number of readers.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._shared = mmap.mmap(-1, _TIME.size)
        self._clock = clock

    def begin(self, finish_seconds: float) -> None:
        """Take no more jobs, and hand those back that still run after finish_seconds. An earlier end stands."""
        until = self._clock() + finish_seconds
        if not self.is_on() or until < self._until():
            _TIME.pack_into(self._shared, 0, until)

    def is_on(self) -> bool:
        """Whether no job may be claimed any more."""
        return self._until() > 0

    def is_over(self) -> bool:
        """Whether the jobs that still run have to be handed back."""
        return self.is_on() and self._clock() >= self._until()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait until seconds have passed, stop is set or the jobs have to be handed back. Returns whether it is set."""
        until = self._clock() + seconds
        while not self.is_over() and (left := until - self._clock()) > 0:
            if stop.wait(min(left, POLL_SECONDS)):
                return True
        return stop.is_set()

    def _until(self) -> float:
        return float(_TIME.unpack_from(self._shared)[0])


DRAIN = Drain()
"""The drain of this worker. The processes of a pool share it, since they are forked after this module is imported."""
