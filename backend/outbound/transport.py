"""HTTP to addresses that customers name: a name is resolved once, and the connection uses the checked address.

All addresses of a name are checked, and the connection goes to exactly the address that was checked, while Host and SNI
keep the name. So a resolver that answers differently a moment later changes nothing. Redirects are not followed, no
proxy of the environment is used, and one deadline covers the whole exchange.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpcore

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

ALLOWED_PORTS = frozenset({443, 8443})
# Python does not count these as private: carrier-grade NAT, and IPv6 forms that carry an IPv4 address of any kind.
_CGNAT = ipaddress.ip_network("100.64.0.0/10")
_CARRIERS_OF_IPV4 = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))
# Names under which clouds hand out credentials to any client inside.
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"})


class TransportError(Exception):
    """No response arrived.

    code is stable: invalid_url, address_refused, unresolvable, timeout, tls_error, connection_failed.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of an accepted URL."""

    scheme: str
    host: str
    port: int


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


def check_url(url: str, *, allow_private: bool) -> Target:
    """Return the parts of a URL that may be called, without resolving its host. Raises TransportError("invalid_url").

    The URL must use https on port 443 or 8443, without user info, with a host name or a public address. allow_private
    also permits http and any port and address, for a local stack.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise TransportError("invalid_url", "the URL cannot be read") from None
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        raise TransportError("invalid_url", "the URL must begin with https://")
    if parts.username is not None or parts.password is not None:
        raise TransportError("invalid_url", "the URL must not carry a user name or password")
    try:
        host = (parts.hostname or "").rstrip(".").encode("idna").decode().lower()
    except UnicodeError:
        host = ""
    if not host or any(character.isspace() for character in url):
        raise TransportError("invalid_url", "the URL names no valid host")
    port = port or (443 if parts.scheme == "https" else 80)
    if not allow_private:
        if port not in ALLOWED_PORTS:
            raise TransportError("invalid_url", "the URL must use port 443 or 8443")
        if host in _METADATA_NAMES or host == "localhost" or host.endswith((".localhost", ".internal", ".local")):
            raise TransportError("address_refused", "the host is not reachable from the internet")
        literal = _literal(host)
        if literal is not None and not is_public(literal):
            raise TransportError("address_refused", "the address is not public")
    return Target(parts.scheme, host, port)


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to a host on the internet, in any notation."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in network for network in _CARRIERS_OF_IPV4):
            return False
    elif address in _CGNAT:
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
        or address.is_link_local or address.is_private
    )  # fmt: skip


def look_up(host: str, port: int) -> Future[list[str]]:
    """Ask the resolver for the addresses of a host, in a thread of its own that nobody has to wait for.

    The resolver has time limits of its own, which no caller can shorten. The future raises TransportError
    ("unresolvable").
    """
    found: Future[list[str]] = Future()

    def ask() -> None:
        if not found.set_running_or_notify_cancel():
            return
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found.set_exception(TransportError("unresolvable", f"{host} has no address"))
        except BaseException as error:
            found.set_exception(error)
            raise
        else:
            found.set_result(list(dict.fromkeys(str(entry[4][0]) for entry in infos)))

    threading.Thread(target=ask, name="resolver", daemon=True).start()
    return found


def allowed(host: str, addresses: Sequence[str], *, allow_private: bool) -> list[str]:
    """Return the addresses of a host if all may be called. Raises TransportError (address_refused).

    One forbidden address refuses the whole name, because the resolver decides which address a client would use.
    """
    if not allow_private:
        for text in addresses:
            # A zone index marks a link-local address.
            if "%" in text or not is_public(ipaddress.ip_address(text)):
                raise TransportError("address_refused", f"{host} has an address that is not public")
    return list(addresses)


def resolve(host: str, port: int, *, allow_private: bool, timeout_s: float = 20.0) -> list[str]:
    """Return every address of a host if all are allowed. Raises TransportError (unresolvable, address_refused,
    timeout)."""
    try:
        found = look_up(host, port).result(timeout=timeout_s)
    except TimeoutError:
        raise TransportError("timeout", f"{host} was not resolved in time") from None
    return allowed(host, found, allow_private=allow_private)


def _literal(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


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
                method, url, headers=list(headers.items()), content=content, extensions={"timeout": {"read": silent_s}}
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
