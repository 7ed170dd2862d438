"""/healthz and /readyz of an API process, answered on its event loop, where no customer's request stands before them.

They answer on the public port, and at AVA_HEALTH_ADDRESS, which no customer reaches: so a probe gets through even when
the public port takes no further connection.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus

from django.conf import settings

from backend.api.monitoring import health
from backend.api.server.asgi_requests import Scope, Send
from backend.api.server.early_refusals import headers_for_browsers

PATHS = frozenset({"/healthz", "/readyz"})
READY_SECONDS = 2.0
"""Time for which one look at the dependencies answers all who ask."""
_PATIENCE_SECONDS = 5.0
_HEAD_BYTES = 8_192


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes


ALIVE = Reply(200, b'{"status": "ok"}')


class Probes:
    """The probes of one process. Used on one event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "readyz")
        self._look = asyncio.Lock()
        self._ready = Reply(503, b"")
        self._fresh_until = 0.0

    async def reply(self, path: str) -> Reply:
        """Return the reply to one of PATHS."""
        if path == "/healthz":
            return ALIVE
        loop = asyncio.get_running_loop()
        async with self._look:
            if loop.time() >= self._fresh_until:
                body, ready = await loop.run_in_executor(self._thread, health.report)
                self._ready = Reply(200 if ready else 503, json.dumps(body).encode())
                self._fresh_until = loop.time() + READY_SECONDS
            return self._ready

    async def answer(self, scope: Scope, send: Send) -> None:
        """Answer a probe on the public port."""
        if scope["method"] not in ("GET", "HEAD"):
            reply = Reply(405, b"")
        else:
            reply = await self.reply(scope["path"])
        body = b"" if scope["method"] == "HEAD" else reply.body
        headers = [(name.lower().encode(), value.encode()) for name, value in _headers(reply)]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def serve(self) -> asyncio.Server | None:
        """Listen at AVA_HEALTH_ADDRESS; without an address do nothing. All processes of the API listen there."""
        if settings.HEALTH_ADDRESS is None:
            return None
        host, port = settings.HEALTH_ADDRESS
        return await asyncio.start_server(self._serve_one, host, port, reuse_port=True, limit=_HEAD_BYTES)

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            words = head.split(b" ", 2)
            path = words[1].decode("latin-1") if len(words) == 3 else ""
            reply = await self.reply(path) if path in PATHS else Reply(404, b"")
            lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in _headers(reply)]
            writer.write("\r\n".join([*lines, "", ""]).encode() + (b"" if words[0] == b"HEAD" else reply.body))
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await writer.drain()
        writer.close()


def _headers(reply: Reply) -> list[tuple[str, str]]:
    return [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(reply.body))),
        *headers_for_browsers().items(),
    ]
