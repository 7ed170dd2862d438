"""How much of a process the identity providers of tenants may hold up, and what is kept of their replies.

A tenant chooses its provider, and a thread of the API waits for its replies. So few exchanges run at once, an exchange
has one deadline whatever number of requests it makes, and documents that everybody may read are kept for minutes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

import requests

PER_PROCESS, PER_TENANT = 2, 1
"""Maximum number of exchanges of one process, and of one tenant in it, that run at once."""
EXCHANGE_S = 5.0
"""Longest time of an exchange, from its first request to the last byte of its last reply."""
KEPT_S = 300.0
"""Time for which a discovery document or a set of keys is kept."""
_KEPT_BYTES, _KEPT_REPLIES = 65_536, 256
"""Largest reply that is kept, and maximum number of kept replies."""


class TooManyExchanges(Exception):
    """The process, or the tenant in it, has its maximum number of exchanges."""


class Exchange:
    """The requests to one tenant's provider for one request of a browser. It counts from its first request on."""

    _lock = threading.Lock()
    _running: Counter[UUID] = Counter()

    def __init__(self, tenant_id: UUID) -> None:
        self._tenant_id = tenant_id
        self._ends: float | None = None

    def begin(self) -> None:
        """Start the clock, once. Raises TooManyExchanges."""
        if self._ends is not None:
            return
        with self._lock:
            if self._running.total() >= PER_PROCESS or self._running[self._tenant_id] >= PER_TENANT:
                raise TooManyExchanges
            self._running[self._tenant_id] += 1
        self._ends = time.monotonic() + EXCHANGE_S

    def remaining_s(self) -> float:
        """Return the time that is left, of an exchange that has begun. Raises requests.Timeout if there is none."""
        remaining = (self._ends or 0.0) - time.monotonic()
        if remaining <= 0:
            raise requests.Timeout("the identity provider took too long")
        return remaining

    def end(self) -> None:
        """Make room for another exchange."""
        if self._ends is not None:
            with self._lock:
                self._running[self._tenant_id] -= 1
            self._ends = None


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def exchange(tenant_id: UUID) -> Iterator[Exchange]:
    """Bound the requests to a tenant's provider until the end of the block."""
    made = Exchange(tenant_id)
    token = _current.set(made)
    try:
        yield made
    finally:
        _current.reset(token)
        made.end()


def time_for_a_request() -> float:
    """Return the seconds that a request to a provider may take now.

    Raises TooManyExchanges if the exchange cannot begin, requests.Timeout if its time is up, LookupError outside of an
    exchange.
    """
    current = _current.get()
    if current is None:
        raise LookupError("providers are asked within an exchange")
    current.begin()
    return current.remaining_s()


class KeptReplies:
    """Successful replies to requests that present nothing, by name, for KEPT_S."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[bool, str], tuple[float, requests.Response]] = OrderedDict()

    def get(self, name: tuple[bool, str]) -> requests.Response | None:
        """Return a kept reply; None if there is none, or its time is up."""
        with self._lock:
            until, reply = self._kept.get(name, (0.0, None))
        return reply if time.monotonic() < until else None

    def keep(self, name: tuple[bool, str], reply: requests.Response) -> None:
        """Keep a reply, and let the oldest go when there are too many. A large reply is not kept."""
        if reply.status_code != requests.codes.ok or len(reply.content) > _KEPT_BYTES:
            return
        with self._lock:
            self._kept.pop(name, None)
            self._kept[name] = time.monotonic() + KEPT_S, reply
            while len(self._kept) > _KEPT_REPLIES:
                self._kept.popitem(last=False)
