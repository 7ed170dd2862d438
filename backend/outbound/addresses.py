"""Addresses that customers name: which URLs and addresses may be called, and how a name is resolved.

All addresses of a name are checked, and the caller connects to exactly the address that was checked. So a resolver that
answers differently a moment later changes nothing.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

ALLOWED_PORTS = frozenset({443, 8443})
# Python does not count these as private: carrier-grade NAT, services of clouds at fixed addresses (Oracle's under
# 192.0.0.0/24, Azure's at 168.63.129.16), IPv6 forms that carry an IPv4 address of any kind, the former site-local
# addresses, documentation and segment routing.
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            "100.64.0.0/10", "192.0.0.0/24", "168.63.129.16/32", "::/96", "64:ff9b::/96", "64:ff9b:1::/48",
            "2002::/16", "2001::/23", "fec0::/10", "3fff::/20", "5f00::/16",
        ),
    )
)  # fmt: skip
# RFC 3986: what stands in a path or query as itself. "%" too, because a customer's URL may be encoded already.
_IN_PATH = "/%:@!$&'()*+,;=~-._"
# Names under which clouds hand out credentials to any client inside.
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"})


logger = logging.getLogger("ava.outbound")


class TransportError(Exception):
    """No response arrived.

    code is stable: invalid_url, address_refused, unresolvable, timeout, tls_error, connection_failed.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of an accepted URL as they go over the wire, in ASCII.

    host: in lower case, an international name in Punycode. path: with the query, percent-encoded.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """The URL that is requested, with its port unless it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        own = {"https": 443, "http": 80}[self.scheme] == self.port
        return f"{self.scheme}://{host}{'' if own else f':{self.port}'}{self.path}"


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
    if not host or any(ord(character) <= 32 or ord(character) == 127 or character.isspace() for character in url):
        raise TransportError("invalid_url", "the URL names no valid host")
    port = port or (443 if parts.scheme == "https" else 80)
    if not allow_private:
        if port not in ALLOWED_PORTS:
            raise TransportError("invalid_url", "the URL must use port 443 or 8443")
        literal = _literal(host)
        if literal is not None and not is_public(literal):
            raise TransportError("address_refused", "the address is not public")
        inside = host in _METADATA_NAMES or host.endswith((".localhost", ".internal", ".local"))
        # A name without a dot is one of ours or of nobody.
        if literal is None and (inside or "." not in host):
            raise TransportError("address_refused", "the host is not reachable from the internet")
    return Target(parts.scheme, host, port, _path(parts))


def _path(parts: SplitResult) -> str:
    """Return path and query, percent-encoded. Raises TransportError("invalid_url")."""
    try:
        path = quote(parts.path or "/", safe=_IN_PATH)
        return f"{path}?{quote(parts.query, safe=_IN_PATH + '?')}" if parts.query else path
    except UnicodeError:
        raise TransportError("invalid_url", "the URL cannot be read") from None


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to a host on the internet, in any notation."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    return address.is_global and not any(address in network for network in _NOT_PUBLIC) and not (
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
            logger.info("a host that a customer named has no address")
            found.set_exception(_unresolvable())
        except BaseException as error:
            found.set_exception(error)
            raise
        else:
            found.set_result(list(dict.fromkeys(str(entry[4][0]) for entry in infos)))

    threading.Thread(target=ask, name="resolver", daemon=True).start()
    return found


def allowed(addresses: Sequence[str], *, allow_private: bool) -> list[str]:
    """Return the addresses of a host if all may be called. Raises TransportError (unresolvable).

    One forbidden address refuses the whole name, because the resolver decides which address a client would use. The
    refusal is that of a name without any address: otherwise a customer could find out which names exist inside.
    """
    if not allow_private:
        for text in addresses:
            # A zone index marks a link-local address.
            if "%" in text or not is_public(ipaddress.ip_address(text)):
                logger.info("a host that a customer named has an address that is not public")
                raise _unresolvable()
    return list(addresses)


def resolve(host: str, port: int, *, allow_private: bool, timeout_s: float = 20.0) -> list[str]:
    """Return every address of a host if all are allowed. Raises TransportError (unresolvable, timeout)."""
    try:
        found = look_up(host, port).result(timeout=timeout_s)
    except TimeoutError:
        raise unresolved_in_time() from None
    return allowed(found, allow_private=allow_private)


def _unresolvable() -> TransportError:
    return TransportError("unresolvable", "the host has no public address")


def unresolved_in_time() -> TransportError:
    """Return the error of a resolver that took too long. It names no host: customers read it in their webhooks."""
    return TransportError("timeout", "the host was not resolved in time")


def _literal(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
