"""The connections of the API's server: time limits on headers and on readers, and a maximum number.

uvicorn bounds the idle time between two requests and nothing else. Here a client that drips its headers, or reads its
reply slowly or not at all, loses its connection. The time of a body is bounded in backend.api.serving, where no thread
waits for it. So a proxy in front is welcome and not needed (docs/adr/0038-nobody-waits-for-somebody-else.md).
"""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
from typing import Any

import h11
from django.conf import settings
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

    _header_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = OneLength(h11.SERVER, MAX_HEADER_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > settings.API_CONNECTIONS:
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
        from backend.api.early_refusals import refuse_bytes

        error = sys.exc_info()[1]
        too_large = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == TOO_LARGE
        status, headers, body = refuse_bytes((self.client or ("", 0))[0], most=MAX_HEADER_BYTES if too_large else None)
        events = (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage())
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch_headers(self) -> None:
        """Start the clock when headers have begun and not ended; stop it when they have."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._header_timer = _stopped(self._header_timer)
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)


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
