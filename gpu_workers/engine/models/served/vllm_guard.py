"""An ASGI middleware for vLLM that asks for the key on every path.

vLLM's own check covers /v1, /v2, /inference and /cohere only. Without this one, /pooling, /classify, /tokenize and
/invocations answer everybody who reaches the port.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

OPEN = frozenset({"/health", "/ping", "/metrics"})
"""Paths without content of requests: liveness and counters."""


class KeyGuard:
    """Answers 401 to a request without "Authorization: Bearer VLLM_API_KEY". Without that variable all may pass."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app
        self._expected = f"Bearer {key}".encode() if (key := os.environ.get("VLLM_API_KEY")) else b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._expected and scope["type"] != "lifespan" and not self._may_pass(scope):
            headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"error": "Unauthorized"}'})
            return
        await self._app(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        if scope["type"] == "http" and scope["path"] in OPEN:
            return True
        sent = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(sent, self._expected)
