"""How many requests are in flight at a model server: additive increase, multiplicative decrease."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

FIRST = 16
"""Requests in flight before a server has answered: a small server is not flooded, a large one soon has more."""
SLOW_SHARE = 0.5
"""Share of a request's time limit from which its answer counts as a sign of overload. A batching server answers each
request later the more it has, so that lateness alone is none."""


class AdaptiveLimiter:
    """Admits requests to one server. Safe to share between threads.

    Until the first overload, each answer admits one request more; then each round of answers does. An overload (429,
    503, a time-out, or an answer that took most of its time) halves what is admitted, once for all requests that were
    in flight at that moment. most: upper limit; what is admitted never falls below 1.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        if most < 1:
            raise ValueError(f"at least one request must be in flight, got {most}")
        self._clock = clock
        self._most = most
        self._admitted = float(min(FIRST, most))
        self._in_flight = 0
        self._urgent_waiting = 0
        self._starting = True
        self._halved_at = float("-inf")
        self._free = threading.Condition()

    @property
    def admitted(self) -> int:
        """Return how many requests may be in flight now."""
        with self._free:
            return int(self._admitted)

    def allow(self, most: int) -> None:
        """Raise the upper limit to most, if it is lower."""
        with self._free:
            if most > self._most:
                self._most = most
                self._admitted = max(self._admitted, float(min(FIRST, most)))
                self._free.notify_all()

    def acquire(self, timeout: float, *, urgent: bool = False) -> bool:
        """Wait for a slot, before all requests that are not urgent. Returns False if there was none within timeout
        seconds."""

        def may_go() -> bool:
            return self._in_flight < int(self._admitted) and (urgent or not self._urgent_waiting)

        with self._free:
            self._urgent_waiting += urgent
            try:
                if not self._free.wait_for(may_go, timeout):
                    return False
                self._in_flight += 1
                return True
            finally:
                if urgent:
                    self._urgent_waiting -= 1
                    self._free.notify_all()

    def release(self, *, began: float, overloaded: bool) -> None:
        """Give a slot back. began: clock when its request was sent. overloaded: whether its end was a sign of that."""
        with self._free:
            if overloaded:
                if began > self._halved_at:
                    self._admitted = max(1.0, self._admitted / 2)
                    self._halved_at = self._clock()
                self._starting = False
            elif self._in_flight >= int(self._admitted):
                # Only a server that was asked for all that it may be asked for has shown that it can take more.
                self._admitted = min(
                    float(self._most), self._admitted + (1.0 if self._starting else 1 / self._admitted)
                )
            self._in_flight -= 1
            self._free.notify_all()


_limiters: WeakValueDictionary[str, AdaptiveLimiter] = WeakValueDictionary()
_registry = threading.Lock()


def limiter_of(base_url: str, most: int) -> AdaptiveLimiter:
    """Return the limiter that all clients of a server in this process share; the largest `most` is its upper limit."""
    with _registry:
        limiter = _limiters.get(base_url)
        if limiter is None:
            limiter = _limiters[base_url] = AdaptiveLimiter(most)
        limiter.allow(most)
        return limiter
