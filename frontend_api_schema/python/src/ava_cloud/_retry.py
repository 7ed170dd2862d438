"""Sending a request again: which, how often and after how long; and one Idempotency-Key for all attempts of a POST.

The transports wrap those of httpx, so the façade and every generated operation behave the same.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from ava_cloud.errors import Unreachable, error_of, seconds_to_wait

KEY = "Idempotency-Key"
_STATUSES = frozenset({429, 500, 502, 503, 504})
_SAFE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
"""Methods that may be sent twice without a key."""

ONCE: dict[str, Any] = {"ava_once": True}
"""Extensions of a request that is sent once, because its sender knows what to do instead."""


@dataclass(frozen=True, slots=True)
class Retries:
    """attempts: at most so many in all. first_s, longest_s: wait before the second attempt, and before any; it doubles
    in between. total_s: no attempt begins after this time. A Retry-After counts instead of the own wait."""

    attempts: int = 6
    first_s: float = 0.5
    longest_s: float = 30.0
    total_s: float = 180.0

    def wait_s(self, attempt: int, response: httpx.Response | None, elapsed_s: float) -> float | None:
        """Return the wait after the attempt of this number, from 1; None if it was the last one."""
        if attempt >= self.attempts:
            return None
        asked = seconds_to_wait(response.headers) if response is not None else None
        doubled = min(self.longest_s, self.first_s * 2 ** (attempt - 1))
        wait = asked if asked is not None else doubled * random.uniform(0.5, 1.0)
        return wait if elapsed_s + wait <= self.total_s else None


STANDARD = Retries()


def _prepared(request: httpx.Request) -> None:
    if request.method == "POST" and KEY not in request.headers:
        request.headers[KEY] = str(uuid.uuid4())


def _repeatable(request: httpx.Request) -> bool:
    return "ava_once" not in request.extensions and (request.method in _SAFE or KEY in request.headers)


def _in_progress(response: httpx.Response) -> bool:
    """Whether a first request with this key still runs. The body of a 409 must have been read."""
    return response.status_code == 409 and error_of(response).code == "idempotency_in_progress"


def _unreachable(request: httpx.Request, error: httpx.TransportError, attempts: int) -> Unreachable:
    key = request.headers.get(KEY, "")
    return Unreachable(f"no reply from {request.url.host} after {attempts} attempts: {error}", key)


class RetryTransport(httpx.BaseTransport):
    """Sends requests through another transport, and again where that is safe and may help."""

    def __init__(
        self, inner: httpx.BaseTransport, retries: Retries, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._inner, self._retries, self._sleep = inner, retries, sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _prepared(request)
        began, attempt = time.monotonic(), 0
        while True:
            attempt += 1
            response, failure = None, None
            try:
                response = self._inner.handle_request(request)
            except httpx.TransportError as error:
                failure = error
            if response is not None:
                response.request = request
                if response.status_code == 409:
                    response.read()
                if response.status_code not in _STATUSES and not _in_progress(response):
                    return response
            wait = self._retries.wait_s(attempt, response, time.monotonic() - began)
            if wait is None or not _repeatable(request):
                if response is not None:
                    return response
                assert failure is not None
                raise _unreachable(request, failure, attempt) from failure
            if response is not None:
                response.close()
            self._sleep(wait)

    def close(self) -> None:
        self._inner.close()


class AsyncRetryTransport(httpx.AsyncBaseTransport):
    """RetryTransport for asyncio."""

    def __init__(self, inner: httpx.AsyncBaseTransport, retries: Retries) -> None:
        self._inner, self._retries = inner, retries

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _prepared(request)
        began, attempt = time.monotonic(), 0
        while True:
            attempt += 1
            response, failure = None, None
            try:
                response = await self._inner.handle_async_request(request)
            except httpx.TransportError as error:
                failure = error
            if response is not None:
                response.request = request
                if response.status_code == 409:
                    await response.aread()
                if response.status_code not in _STATUSES and not _in_progress(response):
                    return response
            wait = self._retries.wait_s(attempt, response, time.monotonic() - began)
            if wait is None or not _repeatable(request):
                if response is not None:
                    return response
                assert failure is not None
                raise _unreachable(request, failure, attempt) from failure
            if response is not None:
                await response.aclose()
            await asyncio.sleep(wait)

    async def aclose(self) -> None:
        await self._inner.aclose()
