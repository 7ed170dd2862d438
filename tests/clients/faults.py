"""A network that fails on demand, between a client and the real service."""

from __future__ import annotations

from collections.abc import Callable

import httpx

Fault = Callable[[httpx.Request, Callable[[], httpx.Response]], httpx.Response]
"""What happens to a request instead of being sent. It may send it."""


def lost_reply(request: httpx.Request, send: Callable[[], httpx.Response]) -> httpx.Response:
    """The service does the work, and the connection is cut before its reply."""
    send().read()
    raise httpx.ReadError("the connection was cut", request=request)


def cut(request: httpx.Request, send: Callable[[], httpx.Response]) -> httpx.Response:
    """The connection is cut before the service reads the request."""
    raise httpx.ConnectError("no route", request=request)


def refused(status: int, code: str, **headers: str) -> Fault:
    """Return a fault that answers instead of the service."""

    def answer(request: httpx.Request, send: Callable[[], httpx.Response]) -> httpx.Response:
        problem = {"code": code, "status": status, "detail": code, "request_id": "req_fault"}
        return httpx.Response(status, json=problem, headers=headers, request=request)

    return answer


def broken_reply(status: int) -> Fault:
    """Return a fault in which the service does the work and a proxy answers with an error."""

    def answer(request: httpx.Request, send: Callable[[], httpx.Response]) -> httpx.Response:
        send().read()
        return httpx.Response(status, text="bad gateway", request=request)

    return answer


class FaultyNetwork(httpx.BaseTransport):
    """faults: by the beginning of "METHOD path"; each happens once, in their order. sent: what was tried, in order."""

    def __init__(self, faults: list[tuple[str, Fault]]) -> None:
        self._real, self._faults, self.sent = httpx.HTTPTransport(), faults, list[str]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        line = f"{request.method} {request.url.path}"
        self.sent.append(line)
        for place, (beginning, fault) in enumerate(self._faults):
            if line.startswith(beginning):
                del self._faults[place]
                return fault(request, lambda: self._real.handle_request(request))
        return self._real.handle_request(request)

    @property
    def quiet(self) -> bool:
        """Whether every fault has happened."""
        return not self._faults

    def close(self) -> None:
        self._real.close()
