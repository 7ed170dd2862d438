"""Model calls in order of priority: a bounded number is in flight, and one thread reads what they return."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

Reply = TypeVar("Reply")

Priority = tuple[int, ...]
"""Priority of a call: the waiting call with the lowest one begins first."""


@dataclass(order=True, slots=True)
class _Call:
    priority: Priority
    ask: Callable[[], Any] = field(compare=False)
    landed: Callable[[Any], None] = field(compare=False)


class CallScheduler:
    """Keeps up to in_flight calls going on pool. Every callback runs in the thread that calls run()."""

    def __init__(self, pool: ThreadPoolExecutor, in_flight: int) -> None:
        self._pool, self._in_flight = pool, in_flight
        self._waiting: list[_Call] = []
        self._flying: dict[Future[Any], _Call] = {}
        self._idle_work: deque[Callable[[], None]] = deque()
        self.stopped = False

    def add(self, priority: Priority, ask: Callable[[], Reply], landed: Callable[[Reply], None]) -> None:
        """Run ask in another thread as soon as a call may begin; landed gets its reply. A call that still waits when
        the scheduler is stopped never begins."""
        heapq.heappush(self._waiting, _Call(priority, ask, landed))
        self._begin()

    def when_idle(self, work: Callable[[], None]) -> None:
        """Run work as soon as no reply waits to be read: calls may depend on a reply, but none depends on work."""
        self._idle_work.append(work)

    def stop(self) -> None:
        """Begin no further call. Calls in flight still land, and idle work is still run."""
        self.stopped = True

    def run(self) -> None:
        """Run until no call is in flight and no work is left. Raises what a call or a callback raises."""
        while self._flying or self._idle_work:
            landed = wait(self._flying, timeout=0 if self._idle_work else None, return_when=FIRST_COMPLETED).done
            for future in sorted(landed, key=lambda future: self._flying[future].priority):
                self._flying.pop(future).landed(future.result())
            self._begin()
            if self._idle_work and not landed:
                self._idle_work.popleft()()

    def _begin(self) -> None:
        while self._waiting and not self.stopped and len(self._flying) < self._in_flight:
            call = heapq.heappop(self._waiting)
            self._flying[self._pool.submit(call.ask)] = call
