"""The threads of an API process, shared so that no caller takes them all.

A caller is an address, or the API key that a request presents. Before a request is authenticated neither proves
anything, so both count: random keys of one address share the address's threads, and many addresses with one key share
the key's.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")
Callers = tuple[str, ...]
"""Names under which a request counts; none for work of the server itself."""


class TooManyRequests(Exception):
    """The caller has as many requests in one process as it may have."""


class FairThreads:
    """A pool of threads. Used on one event loop.

    threads: size of the pool; a caller runs on at most three quarters of it. requests: maximum number of requests of
    one caller that are being read, wait for a thread, run or are being sent. bounds: names that run on fewer threads,
    with their maximum numbers.
    """

    def __init__(self, threads: int, requests: int, bounds: Mapping[str, int] | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads, "api")
        self._free = threads
        self._share = threads - threads // 4
        self._requests = requests
        self._bounds = bounds or {}
        self._admitted: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._waiting: deque[tuple[Callers, asyncio.Future[None]]] = deque()

    @contextmanager
    def admitted(self, callers: Callers) -> Iterator[None]:
        """Count a request until the end of the block. Raises TooManyRequests."""
        if any(self._admitted[caller] >= self._requests for caller in callers):
            raise TooManyRequests
        self._admitted.update(callers)
        try:
            yield
        finally:
            _subtract(self._admitted, callers)

    async def run(self, work: Callable[[], Result], callers: Callers = ()) -> Result:
        """Run work on a thread. Among those that wait, the caller with the fewest threads goes first."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((callers, turn))
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting.remove((callers, turn))
            else:
                self._give_back(callers)
            raise
        return await asyncio.wrap_future(self._start(work, callers))

    def shutdown(self) -> None:
        """End the threads; what waits for them is canceled."""
        self._pool.shutdown(cancel_futures=True)

    def _start(self, work: Callable[[], Result], callers: Callers) -> Future[Result]:
        loop = asyncio.get_running_loop()
        started = self._pool.submit(work)

        # A client that leaves cancels the wait and not the thread, which is free only when the work is over.
        def ended(_: Future[Result]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._give_back, callers)

        started.add_done_callback(ended)
        return started

    def _hand_out(self) -> None:
        while self._free:
            ready = [entry for entry in self._waiting if not entry[1].done() and self._may_run(entry[0])]
            if not ready:
                return
            callers, turn = first = min(ready, key=lambda entry: self._load(entry[0]))
            self._waiting.remove(first)
            self._free -= 1
            self._running.update(callers)
            turn.set_result(None)

    def _may_run(self, callers: Callers) -> bool:
        return all(self._running[caller] < self._bounds.get(caller, self._share) for caller in callers)

    def _load(self, callers: Callers) -> int:
        return max((self._running[caller] for caller in callers), default=0)

    def _give_back(self, callers: Callers) -> None:
        self._free += 1
        _subtract(self._running, callers)
        self._hand_out()


def _subtract(counts: Counter[str], callers: Callers) -> None:
    for caller in callers:
        counts[caller] -= 1
        if counts[caller] <= 0:
            del counts[caller]
