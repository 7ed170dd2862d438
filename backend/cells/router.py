"""The router: one address for all cells. It finds the cell of a request and hands the request on.

    uvicorn backend.cells.router:application

A request is routed by its API key. That of a person in a browser is routed by the tenant that it names: in the header
AVA-Tenant, in the query's `tenant`, or, for the pages of signing in, in the cookie that the router sets when one of
them is opened with `?tenant=`. The cell authenticates the request.

The router holds no state and no secret of a customer: it reads the public part of a key, asks the control database for
the cell, and remembers the answer for a few seconds. While the control database is away, places that are known stay
valid. This module imports no Django.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import httpx
import psycopg

from backend.tenancy.directory import ANY_CELL, CONNECT_SECONDS, PLACE_OF_KEY, PLACE_OF_SLUG

logger = logging.getLogger("ava.router")

REMEMBER_SECONDS = 5.0
"""Time for which a place is used without asking. A move erases the old cell only long after it (Patience.forget)."""
REMEMBERED = 100_000
"""Keys whose places are remembered."""
_TIMEOUT = httpx.Timeout(connect=5.0, read=330.0, write=60.0, pool=5.0)
_LIMITS = httpx.Limits(max_connections=2_000, max_keepalive_connections=200)
_KEY = re.compile(r"vk_live_([0-9A-Za-z]{10})_[0-9A-Za-z]{38}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_COOKIE = "__Host-ava_cell_of"
COOKIE = re.compile(rf"(?:^|;\s*){_COOKIE}=([a-z0-9-]+)")
"""The cookie with the slug of the tenant whose pages of accounts a browser opened last."""
_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te", b"trailer", b"upgrade",
     b"transfer-encoding"}
)  # fmt: skip

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Name:
    """By what a request is routed: the public part of its key, or the slug of its tenant; "" if it names neither."""

    text: str
    is_slug: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests of one key or tenant go. known: whether the directory has it. asked_at: on the monotonic clock."""

    api_url: str
    moving: bool
    known: bool
    asked_at: float


class ControlAway(OSError):
    """The control database does not answer, and the key's place is not remembered."""


class Routes:
    """The places of keys and tenants, remembered for REMEMBER_SECONDS, or until the control database is back."""

    def __init__(self, control_url: str) -> None:
        self._url = control_url
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._routes: OrderedDict[Name, Route] = OrderedDict()

    async def find(self, name: Name) -> Route:
        """Return the route of a name; that of any cell for an unknown one, which refuses it. Raises ControlAway."""
        known = self._routes.get(name)
        if known is not None and time.monotonic() - known.asked_at < REMEMBER_SECONDS:
            return known
        try:
            found = await self._ask(name)
        except (psycopg.Error, OSError) as error:
            if known is not None:
                return known
            raise ControlAway(type(error).__name__) from error
        self._routes[name] = found
        self._routes.move_to_end(name)
        if len(self._routes) > REMEMBERED:
            self._routes.popitem(last=False)
        return found

    def forget(self, name: Name) -> None:
        """Ask the directory again at the name's next request."""
        self._routes.pop(name, None)

    async def _ask(self, name: Name) -> Route:
        statement = PLACE_OF_SLUG if name.is_slug else PLACE_OF_KEY
        async with self._one_at_a_time:
            if self._connection is None or self._connection.closed:
                self._connection = await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, prepare_threshold=None
                )
            found = await (await self._connection.execute(statement, [name.text])).fetchone()
            if found is not None:
                _, _, _, api_url, moving = found
                return Route(api_url, moving, True, time.monotonic())
            any_cell = await (await self._connection.execute(ANY_CELL)).fetchone()
        if any_cell is None:
            raise OSError("the directory has no cell")
        return Route(any_cell[0], False, False, time.monotonic())

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


class Router:
    """The ASGI application."""

    def __init__(self, control_url: str) -> None:
        self._routes = Routes(control_url)
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, limits=_LIMITS, follow_redirects=False, trust_env=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self._client.aclose()
                await self._routes.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            await _reply(send, 200, {"status": "ok"}, "application/json")
            return
        name = name_of(scope)
        try:
            route = await self._routes.find(name)
        except ControlAway:
            logger.warning("the control database is away")
            await _refuse(scope, send, "unavailable", "The service is briefly unavailable; try again.")
            return
        if route.moving:
            await _refuse(scope, send, "tenant_moving", "Your data is being moved; try again in a few seconds.")
            return
        await self._exchange(route, name, scope, receive, send)

    async def _exchange(self, route: Route, name: Name, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.Event()
        query = scope["query_string"].decode("latin-1")
        # raw_path keeps the customer's escapes.
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        request = self._client.build_request(
            scope["method"],
            httpx.URL(f"{route.api_url}{path}{query and '?' + query}"),
            headers=_handed_on(scope),
            content=_body(receive, gone) if _has_body(scope) else None,
        )
        try:
            reply = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            self._routes.forget(name)
            logger.warning("a cell does not answer: %s", type(error).__name__)
            await _refuse(scope, send, "unavailable", "The service is briefly unavailable; try again.")
            return
        if reply.status_code in (401, 503):
            self._routes.forget(name)
        leaving = asyncio.ensure_future(_left(receive, gone))
        sending = asyncio.ensure_future(_send_on(reply, send, _remembered(scope, route)))
        try:
            await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            leaving.cancel()
            sending.cancel()
            await reply.aclose()


def public_id_of(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the public part of the API key of a request; "" if the request has none."""
    for name, value in headers:
        if name in (b"authorization", b"x-api-key") and (match := _KEY.search(value.decode("latin-1"))):
            return match[1]
    return ""


def name_of(scope: Scope) -> Name:
    """Return by what a request is routed. A key goes before a tenant, as it does in the cell."""
    if public_id := public_id_of(scope["headers"]):
        return Name(public_id)
    sent = dict(scope["headers"])
    cookies = COOKIE.findall(sent.get(b"cookie", b"").decode("latin-1"))
    for slug in (sent.get(b"ava-tenant", b"").decode("latin-1"), _asked_tenant(scope), *cookies):
        if _SLUG.fullmatch(slug):
            return Name(slug, is_slug=True)
    return Name("")


def _asked_tenant(scope: Scope) -> str:
    query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=100, errors="replace")
    named: str = query.get("tenant", [""])[0]
    return named


def _remembered(scope: Scope, route: Route) -> list[tuple[bytes, bytes]]:
    """Return the cookie that leads the next pages of accounts to the tenant that this page was opened with."""
    slug = _asked_tenant(scope) if scope["path"].startswith("/accounts/") else ""
    if not _SLUG.fullmatch(slug) or not route.known:
        return []
    return [(b"set-cookie", f"{_COOKIE}={slug}; Path=/; Secure; HttpOnly; SameSite=Lax".encode())]


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


def _handed_on(scope: Scope) -> list[tuple[bytes, bytes]]:
    # The body is sent on as it comes, so a length next to Transfer-Encoding says nothing about it.
    chunked = any(name == b"transfer-encoding" for name, _ in scope["headers"])
    dropped = _HOP | {b"content-length"} if chunked else _HOP
    headers = [(name, value) for name, value in scope["headers"] if name not in dropped]
    client = scope.get("client")
    return [*headers, (b"x-forwarded-for", client[0].encode())] if client else headers


async def _body(receive: Receive, gone: asyncio.Event) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            gone.set()
            return
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body"):
            return


async def _left(receive: Receive, gone: asyncio.Event) -> None:
    """Return when the customer has closed the connection."""
    while not gone.is_set():
        message = await receive()
        if message["type"] == "http.disconnect":
            gone.set()


async def _send_on(reply: httpx.Response, send: Send, added: list[tuple[bytes, bytes]]) -> None:
    headers = [(name.lower(), value) for name, value in reply.headers.raw if name.lower() not in _HOP] + added
    await send({"type": "http.response.start", "status": reply.status_code, "headers": headers})
    async for block in reply.aiter_raw():
        await send({"type": "http.response.body", "body": block, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(scope: Scope, send: Send, code: str, detail: str) -> None:
    body = {
        "type": f"/errors#{code}", "title": "Service Unavailable", "status": 503, "detail": detail,
        "instance": scope["path"], "code": code, "request_id": "", "errors": [],
    }  # fmt: skip
    await _reply(send, 503, body, "application/problem+json", (b"retry-after", b"2"))


async def _reply(send: Send, status: int, body: Any, kind: str, *headers: tuple[bytes, bytes]) -> None:
    content = json.dumps(body).encode()
    own = [(b"content-type", kind.encode()), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": content})


def __getattr__(name: str) -> Any:
    # Made when the server asks for it, so that reading this module needs no setting.
    if name == "application":
        return Router(os.environ["DATABASE_CONTROL_URL"])
    raise AttributeError(name)
