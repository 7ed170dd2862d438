"""TLS of the HTTP clients of this process."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def tls() -> ssl.SSLContext:
    """Return one context for all clients: to read the list of authorities takes 50 ms each time."""
    return httpx.create_ssl_context()
