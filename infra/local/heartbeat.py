"""A line for the person at the terminal at least every few seconds. Standard library only: the bootstrap uses it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

EVERY_S = 7.0
"""Longest silence. A person who sees nothing for ten seconds wonders whether the program hangs."""


@dataclass(frozen=True, eq=False)
class _Step:
    name: Callable[[], str]
    since: float


class Heartbeat:
    """Says what goes on, and for how long, whenever nothing was said for EVERY_S seconds.

    say: prints a line. It is called from one thread at a time.
    """

    def __init__(self, say: Callable[[str], None], *, every_s: float = EVERY_S) -> None:
        self._say, self._every_s = say, every_s
        # Reentrant: a beat speaks under the lock.
        self._lock = threading.RLock()
        self._said_at = time.monotonic()
        self._steps: list[_Step] = []

    def say(self, line: str) -> None:
        """Print a line."""
        with self._lock:
            self._said_at = time.monotonic()
            self._say(line)

    @contextmanager
    def during(self, name: str | Callable[[], str]) -> Iterator[None]:
        """Say what goes on inside the block: words, or a function that returns them. Blocks may be nested."""
        step = _Step(name if callable(name) else lambda: name, time.monotonic())
        ended = threading.Event()
        with self._lock:
            self._steps.append(step)
        threading.Thread(target=self._beat, args=(step, ended), name="heartbeat", daemon=True).start()
        try:
            yield
        finally:
            ended.set()
            with self._lock:
                self._steps.remove(step)

    def _beat(self, step: _Step, ended: threading.Event) -> None:
        while not ended.wait(min(1.0, self._every_s / 4)):
            with self._lock:
                silent = time.monotonic() - self._said_at >= self._every_s
                # The innermost step speaks for all.
                if silent and self._steps and self._steps[-1] is step:
                    self.say(f"  {step.name()}: {time.monotonic() - step.since:.0f} s")
