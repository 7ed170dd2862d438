"""HTTP to addresses that customers name: a name is resolved once, and the connection uses the checked address.

The connection goes to exactly the address that backend.outbound.addresses has checked, while Host and SNI keep the
name. Redirects are not followed, no proxy of the environment is used, and one deadline covers the whole exchange.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpcore

from backend.outbound.addresses import TransportError, check_url, is_public, resolve

__all__ = ["Response", "TransportError", "check_url", "is_public", "request", "resolve", "typed_errors"]


@dataclass(frozen=True, slots=True)
class Response:
    """The head of a response; chunks() reads the body under the request's deadline."""

    status: int
    headers: Mapping[str, str]
    """Header values by name in lower case."""
    address: str
    _body: Iterable[bytes]

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it arrives. Raises TransportError."""
        with typed_errors():
            yield from self._body

    def excerpt(self, limit: int) -> bytes:
        """Return at most the first limit bytes; of a body that breaks off, the bytes that arrived."""
        taken = bytearray()
        try:
            for chunk in self.chunks():
                taken += chunk[: limit - len(taken)]
                if len(taken) >= limit:
                    break
        except TransportError:
            return bytes(taken)
        return bytes(taken)


class _DeadlineStream(httpcore.NetworkStream):
    """A stream whose reads and writes all end at one deadline, so a peer that drips bytes gains no time."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def _remaining(self, timeout: float | None) -> float:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise httpcore.ReadTimeout("the deadline has passed")
        return remaining if timeout is None else min(remaining, timeout)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._remaining(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._remaining(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(
            self._stream.start_tls(ssl_context, server_hostname, self._remaining(timeout)), self._deadline
        )

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _PinnedBackend(httpcore.NetworkBackend):
    """Opens sockets to the checked addresses, whatever host the client asks for."""

    def __init__(self, addresses: list[str], deadline: float) -> None:
        self._addresses = addresses
        self._deadline = deadline
        self._sockets = httpcore.SyncBackend()
        self.connected = ""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError("no address")
        for address in self._addresses:
            remaining = self._deadline - time.monotonic()
            if remaining <= 0:
                raise httpcore.ConnectTimeout("the deadline has passed")
            try:
                stream = self._sockets.connect_tcp(
                    address, port, timeout=remaining, local_address=local_address, socket_options=socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            self.connected = address
            return _DeadlineStream(stream, self._deadline)
        raise failure


@contextmanager
def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes = b"",
    timeout_s: float = 20.0,
    silent_s: float | None = None,
    allow_private: bool = False,
) -> Iterator[Response]:
    """Send one request to one checked address; the response's body is read inside the context.

    timeout_s covers everything from the resolver to the last byte read. silent_s: longest wait for the next bytes. Any
    status is a response, a redirect too. Raises TransportError.
    """
    target = check_url(url, allow_private=allow_private)
    deadline = time.monotonic() + timeout_s
    addresses = resolve(target.host, target.port, allow_private=allow_private, timeout_s=timeout_s)
    backend = _PinnedBackend(addresses, deadline)
    pool = httpcore.ConnectionPool(
        ssl_context=ssl.create_default_context(), max_connections=1, retries=0, network_backend=backend
    )
    with pool:
        with typed_errors():
            stream = pool.stream(
                method,
                target.url,
                headers=list(headers.items()),
                content=content,
                extensions={"timeout": {"read": silent_s}},
            )
            answer = stream.__enter__()
        try:
            yield Response(
                status=answer.status,
                headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers},
                address=backend.connected,
                _body=answer.iter_stream(),
            )
        finally:
            stream.__exit__(None, None, None)


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise TransportError for the errors of httpcore."""
    try:
        yield
    except httpcore.TimeoutException:
        raise TransportError("timeout", "the receiver did not answer in time") from None
    except httpcore.ConnectError as error:
        if isinstance(error.__cause__, ssl.SSLError) or "SSL" in str(error):
            raise TransportError("tls_error", "the receiver's certificate was not accepted") from None
        raise TransportError("connection_failed", "no connection to the receiver") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol, ValueError):
        raise TransportError("connection_failed", "the exchange broke off") from None
