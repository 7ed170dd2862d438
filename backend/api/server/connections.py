"""The connections of the API's server: time limits on headers and on readers, and maximum numbers.

uvicorn bounds the idle time between two requests and nothing else. Here a client that drips its headers, or reads its
reply slowly or not at all, loses its connection. The time of a body is bounded in backend.api.server.serving, where no
thread waits for it. So a proxy in front is welcome and not needed (docs/adr/0038-nobody-waits-for-somebody-else.md).
"""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
from collections import Counter
from functools import lru_cache
from typing import Any, ClassVar

import h11
from django.conf import settings
from uvicorn import Config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 15.0
"""Longest time from the opening of a connection, or the first byte of a later request, to the end of the headers."""
READER_SECONDS = 60.0
"""Longest time for which a client takes nothing of a reply that is ready for it."""
MAX_HEADER_BYTES = 64 * 1024
"""Maximum size of the headers of a request; h11 keeps no more than this of what it cannot parse yet."""
TOO_LARGE = 431
"""Status that h11 proposes for headers above MAX_HEADER_BYTES."""
_SPARE_FILES = 256


class OneLength(h11.Connection):
    """Refuses a request that states the length of its body twice: with Content-Length and Transfer-Encoding.

    A proxy in front may believe the other one, and take the rest of the body for somebody else's request.
    """

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if names >= {b"content-length", b"transfer-encoding"}:
                raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding in one request")
        return event


class BoundedConnection(H11Protocol):
    """One HTTP/1.1 connection (uvicorn's option --http)."""

    _open_by_network: ClassVar[Counter[str]] = Counter()
    """Connections of this process by the network of their peer, without those of trusted proxies."""
    _network = ""
    _header_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = OneLength(h11.SERVER, MAX_HEADER_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > settings.API_CONNECTIONS or not self._takes_one_of_its_network():
            transport.abort()
            return
        peer: socket.socket | None = transport.get_extra_info("socket")
        if peer is not None and peer.family in (socket.AF_INET, socket.AF_INET6):
            # A reply that fits the buffers of the system waits there for a reader that has gone or stands still.
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(READER_SECONDS * 1000))
            # asyncio does not do it for the listener that uvicorn's workers share. Otherwise a body waits up to 40 ms
            # for the client's acknowledgement of the headers.
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._header_timer = _stopped(self._header_timer)
        self._reader_timer = _stopped(self._reader_timer)
        if self._network:
            self._open_by_network[self._network] -= 1
            if not self._open_by_network[self._network]:
                del self._open_by_network[self._network]
            self._network = ""
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reader_timer is None:
            self._reader_timer = self.loop.call_later(READER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reader_timer = _stopped(self._reader_timer)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP request with a problem, as every other fault of a request, and close.

        uvicorn calls it while it handles h11's error, and would send its message as text.
        """
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            # A reply has begun: a second one would be taken for a part of it.
            self.transport.close()
            return
        # Only now, because uvicorn loads this module before Django is set up.
        from backend.api.server.early_refusals import refuse_bytes

        error = sys.exc_info()[1]
        too_large = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == TOO_LARGE
        status, headers, body = refuse_bytes((self.client or ("", 0))[0], most=MAX_HEADER_BYTES if too_large else None)
        events = (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage())
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _takes_one_of_its_network(self) -> bool:
        """Count the connection for the network of its peer. Returns False if that has as many as it may have.

        A trusted proxy connects for everybody, so its connections count in all alone.
        """
        # Only now, because uvicorn loads this module before Django is set up.
        from backend.api.limits.address_limits import network_of

        peer = (self.client or ("", 0))[0]
        if not peer or peer in _proxies(self.config):
            return True
        network = network_of(peer)
        if self._open_by_network[network] >= settings.CONNECTIONS_PER_ADDRESS:
            return False
        self._open_by_network[network] += 1
        self._network = network
        return True

    def _watch_headers(self) -> None:
        """Start the clock when headers have begun and not ended; stop it when they have."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._header_timer = _stopped(self._header_timer)
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)


@lru_cache(maxsize=8)
def _proxies(config: Config) -> Any:
    """Return the peers whose X-Forwarded-For uvicorn believes (FORWARDED_ALLOW_IPS), for the operator `in`."""
    application: Any = config.loaded_app
    return ProxyHeadersMiddleware(application, config.forwarded_allow_ips).trusted_hosts


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


def allow_connections() -> None:
    """Let this process open as many files as its connections need. The system's own limit stays."""
    wanted = settings.API_CONNECTIONS + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most: Any = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
