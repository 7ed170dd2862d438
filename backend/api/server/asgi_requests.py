"""ASGI requests for a WSGI application: the body, read before any thread is taken, the environment, the callers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from io import BytesIO
from typing import Any

from backend.api.limits.address_limits import network_of
from backend.api.parsers import MAX_BODY_BYTES, readable_type
from backend.api.server.body_budget import HeldBody

BODY_SECONDS = 60.0
"""Longest time in which a client sends the body of a request."""


class BodyTooSlow(Exception):
    """A body has not come after BODY_SECONDS."""


Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def read_body(scope: Scope, receive: Receive, held: HeldBody) -> bytes | None:
    """Return the body as far as a parser accepts it, before any thread is taken; None if the client has left.

    held: counts the bytes. A body that is too large is kept up to one byte above the limit, so that the parser refuses
    it. Raises BodyTooSlow, AddressHasTooMany or ProcessHasTooMany.
    """
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if int(announced) > MAX_BODY_BYTES:
        return b""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while len(body) <= MAX_BODY_BYTES:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                held.grow(len(message.get("body", b"")))
                body += message.get("body", b"")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise BodyTooSlow from None
    return bytes(body[: MAX_BODY_BYTES + 1])


async def disconnected(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        continue


def address_of(scope: Scope) -> str:
    """Return the address under which a request counts, of IPv6 the /64."""
    return network_of((scope.get("client") or ("", 0))[0])


def key_digest_of(scope: Scope) -> str | None:
    """Return a digest of the API key that a request presents; None if it presents none."""
    for name, value in scope["headers"]:
        if name in (b"authorization", b"x-api-key"):
            # The last word alone, so that spaces or the case of "Bearer" do not make two keys out of one.
            return sha256(value.split()[-1] if value.strip() else b"").hexdigest()
    return None


def environ_of(scope: Scope, body: bytes) -> dict[str, Any]:
    """Return the WSGI environment of an ASGI request (PEP 3333)."""
    host, port = scope.get("server") or ("localhost", 80)
    wsgi: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": (scope.get("client") or ("", 0))[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "CONTENT_LENGTH": str(len(body)),
    }
    for raw_name, raw_value in scope["headers"]:
        if b"_" in raw_name:
            continue  # it would pass for the header with a hyphen
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        if name == "TRANSFER_ENCODING":
            continue  # the body is here as a whole
        key = name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
        separator = "; " if name == "COOKIE" else ","
        earlier = wsgi.get(key) if key.startswith("HTTP_") else None
        wsgi[key] = f"{earlier}{separator}{value}" if earlier is not None else value
    wsgi["CONTENT_TYPE"] = readable_type(wsgi.get("CONTENT_TYPE", ""))
    return wsgi
