"""Refusals on the event loop, without Django and without a thread, that look and are logged as Django's replies are."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

from django.conf import settings
from django.urls import Resolver404, resolve

from backend.api.browsers import API_POLICY
from backend.api.middleware import HEADER, request_id_of
from backend.api.problems import CONTENT_TYPE, Problem
from backend.api.server.asgi_requests import Scope, Send
from backend.observability import log_context
from backend.observability.middleware import METHODS, UNMATCHED

logger = logging.getLogger("ava.requests")
_WANTED = HEADER.lower().encode()

Headers = list[tuple[bytes, bytes]]


def headers_for_browsers() -> dict[str, str]:
    """Return what the middlewares set on every reply that is no page."""
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": API_POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    if settings.SECURE_HSTS_SECONDS:
        headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}"
    return headers


async def refuse(scope: Scope, send: Send, problem: Problem, *, request_id: str = "") -> None:
    """Answer with a problem, close the connection, and write the line of the request.

    request_id: the id that the request has already, "" for one that Django has not seen.
    """
    sent_id = next((value.decode("latin-1") for name, value in scope["headers"] if name == _WANTED), "")
    request_id = request_id or request_id_of(sent_id)
    address = (scope.get("client") or ("", 0))[0]
    head, body = reply_of(problem, scope["path"], request_id)
    note(problem, scope["method"], route_of(scope["path"]), address, request_id)
    await send({"type": "http.response.start", "status": problem.status, "headers": head})
    await send({"type": "http.response.body", "body": body})


def refuse_bytes(address: str, *, most: int | None) -> tuple[int, Headers, bytes]:
    """Return status, headers and body of the reply to bytes that are no HTTP request, and write its line.

    most: bytes of headers that are read, for headers beyond it; None for other faults.
    """
    if most is None:
        problem = Problem(400, "bad_request", "The bytes are no HTTP request that can be read.")
    else:
        problem = Problem(431, "headers_too_large", f"The headers have more than {most // 1024} KiB.")
    request_id = request_id_of("")
    note(problem, "", UNMATCHED, address, request_id)
    return problem.status, *reply_of(problem, "", request_id)


def reply_of(problem: Problem, path: str, request_id: str) -> tuple[Headers, bytes]:
    """Return the headers and the body of a reply that closes the connection."""
    request = SimpleNamespace(path=path, request_id=request_id)
    body = json.dumps(problem.body(request)).encode()  # type: ignore[arg-type]
    headers = {
        "Content-Type": CONTENT_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
        HEADER: request_id,
        **headers_for_browsers(),
        **problem.headers,
    }
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()], body


def note(problem: Problem, method: str, route: str, address: str, request_id: str) -> None:
    """Write the line of a refused request."""
    method = method if method in METHODS else "OTHER"
    with log_context.bound(request=request_id, route=route):
        line = {"method": method, "status": problem.status, "reason": problem.code}
        logger.warning("%s %s %d for %s", method, route, problem.status, address, extra=line)


def route_of(path: str) -> str:
    """Return the pattern of a path's route, which names no id."""
    try:
        return f"/{resolve(path).route}"
    except Resolver404:
        return UNMATCHED
