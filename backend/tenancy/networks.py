"""Addresses of clients, and the networks from which a key may be used."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any


def client_address(request: Any) -> str:
    """Return the address of the client in its shortest form; "" if the server does not know it.

    The server has read it from a trusted proxy or from the socket. A header that the client sends itself is not read.
    """
    address = _address(request.META.get("REMOTE_ADDR", ""))
    return "" if address is None else str(address)


def network(text: str) -> str:
    """Return an address or a network in its shortest CIDR form. Raises ValueError."""
    return str(ipaddress.ip_network(text.strip(), strict=False))


def covers(networks: Iterable[str], address: str) -> bool:
    """Whether one of the networks holds the address; False for an unknown address."""
    found = _address(address)
    if found is None:
        return False
    return any(found in ipaddress.ip_network(one) for one in networks)


def within(inner: Iterable[str], outer: Iterable[str]) -> bool:
    """Whether every network of inner lies inside one of outer. An empty outer is everywhere, as is an empty inner."""
    wide = [ipaddress.ip_network(one) for one in outer]
    narrow = [ipaddress.ip_network(one) for one in inner]
    if not wide:
        return True
    return bool(narrow) and all(any(_inside(one, other) for other in wide) for one in narrow)


def _inside(one: Any, other: Any) -> bool:
    return one.version == other.version and bool(one.subnet_of(other))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
