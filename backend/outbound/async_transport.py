"""The same requests as backend.outbound.transport, on an event loop: hundreds of them wait in one thread."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache

import httpcore

from backend.outbound.addresses import TransportError, allowed, check_url, look_up, unresolved_in_time
from backend.outbound.transport import typed_errors


@dataclass(frozen=True, slots=True)
class Reply:
    """A response with the beginning of its body.

    headers: by name in lower case. address: the peer's. head_ms: time from the request's beginning to the status.
    """

    status: int
    headers: Mapping[str, str]
    address: str
    beginning: bytes
    head_ms: int


async def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes = b"",
    timeout_s: float = 20.0,
    allow_private: bool = False,
    keep_bytes: int = 2_000,
) -> Reply:
    """Send one request to one checked address and return its response with the first keep_bytes of the body.

    timeout_s covers everything: the resolver, the connection, the response. Any status is a response, a redirect too; a
    body that breaks off is kept as far as it came. Raises TransportError.
    """
    target = check_url(url, allow_private=allow_private)
    began = time.monotonic()
    deadline = asyncio.get_running_loop().time() + timeout_s
    try:
        async with asyncio.timeout_at(deadline):
            found = await asyncio.wrap_future(look_up(target.host, target.port))
    except TimeoutError:
        raise unresolved_in_time() from None
    backend = _PinnedBackend(allowed(found, allow_private=allow_private), deadline)
    async with AsyncExitStack() as opened:
        pool = httpcore.AsyncConnectionPool(
            ssl_context=_verified(), max_connections=1, retries=0, network_backend=backend
        )
        await opened.enter_async_context(pool)
        with typed_errors():
            try:
                async with asyncio.timeout_at(deadline):
                    answer = await opened.enter_async_context(
                        pool.stream(method, target.url, headers=list(headers.items()), content=content)
                    )
            except TimeoutError:
                raise httpcore.ReadTimeout from None
        head_ms = round((time.monotonic() - began) * 1000)
        return Reply(
            status=answer.status,
            headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers},
            address=backend.connected,
            beginning=await _beginning(answer, keep_bytes, deadline),
            head_ms=head_ms,
        )


async def _beginning(answer: httpcore.Response, limit: int, deadline: float) -> bytes:
    taken = bytearray()
    try:
        async with asyncio.timeout_at(deadline):
            with typed_errors():
                async for chunk in answer.aiter_stream():
                    taken += chunk[: limit - len(taken)]
                    if len(taken) >= limit:
                        break
    except (TimeoutError, TransportError):
        return bytes(taken)
    return bytes(taken)


@cache
def _verified() -> ssl.SSLContext:
    """Return the one context of this process: reading the certificates takes longer than most exchanges."""
    return ssl.create_default_context()


class _PinnedBackend(httpcore.AsyncNetworkBackend):
    """Opens sockets to the checked addresses, whatever host the client asks for."""

    def __init__(self, addresses: Sequence[str], deadline: float) -> None:
        self._addresses = addresses
        self._deadline = deadline
        self._sockets = httpcore.AnyIOBackend()
        self.connected = ""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = httpcore.ConnectError("no address")
        for position, address in enumerate(self._addresses):
            # An address that is silent leaves the others their share of the time.
            left = self._deadline - asyncio.get_running_loop().time()
            share = max(0.0, left) / (len(self._addresses) - position)
            try:
                stream = await self._sockets.connect_tcp(
                    address, port, timeout=share, local_address=local_address, socket_options=socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            self.connected = address
            return stream
        raise failure
