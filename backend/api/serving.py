"""Serves Django under ASGI: requests run on a bounded pool of threads, open replies wait on the event loop.

A server-sent-event stream lasts up to 15 minutes and a request with `Prefer: wait` up to a minute. With a thread for
each of them, a few dozen would take the API down for all tenants. Here a view returns at once and leaves in its
response what it waits for (backend.api.awaiting). The event loop waits for a notice of the database, and only a look at
the subject takes a thread, for a few milliseconds.

Django's own ASGI handler keeps a thread and a database connection per request for as long as its reply is open, and
bounds neither. So Django runs as the WSGI application that it is, on threads that keep their connections.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import Any, TypeVar

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from backend.api.awaiting import HEARTBEAT_SECONDS, KEEP_ALIVE, Awaited, EventStream, mark
from backend.api.changes import Changes
from backend.api.open_replies import RENEW_SECONDS, OpenReply
from backend.api.parsers import MAX_BODY_BYTES, readable_type
from backend.api.problems import CONTENT_TYPE, problem_of
from backend.observability import exposition, tracing

logger = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
"""Longest time between two looks at a subject. The progress within a stage changes without a notice."""
BODY_SECONDS = 60.0
"""Longest time in which a client sends the body of a request."""

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Result = TypeVar("Result")


class Server:
    """The ASGI application of one API process."""

    def __init__(self, django: WSGIHandler) -> None:
        self._django = django
        self._threads = ThreadPoolExecutor(settings.API_THREADS, "api")
        # The liveness probe touches no dependency and must not stand in a queue.
        self._probe = ThreadPoolExecutor(1, "healthz")
        self._changes = Changes()
        self._closing = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._respond(scope, receive, send)

    # --- the process ----------------------------------------------------------------------------------------------

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        tracing.start("ava-api")
        exposition.serve()
        listening = asyncio.create_task(self._changes.listen())
        self._end_open_replies_at(signal.SIGTERM)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
        self._threads.shutdown(cancel_futures=True)
        tracing.flush()
        await send({"type": "lifespan.shutdown.complete"})

    def _end_open_replies_at(self, number: signal.Signals) -> None:
        """End streams and waits at once when the server is asked to stop: their clients go on elsewhere."""
        loop, earlier = asyncio.get_running_loop(), signal.getsignal(number)

        def stop(received: int, frame: Any) -> None:
            loop.call_soon_threadsafe(self._closing.set)
            if callable(earlier):
                earlier(received, frame)

        signal.signal(number, stop)

    # --- one request ----------------------------------------------------------------------------------------------

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await _body(scope, receive)
        except TimeoutError:
            head = [(b"connection", b"close"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": HTTPStatus.REQUEST_TIMEOUT, "headers": head})
            await send({"type": "http.response.body"})
            return
        if body is None:
            return
        pool = self._probe if scope["path"] == "/healthz" else self._threads
        response = await self._run(partial(self._ask_django, environ_of(scope, body)), pool)
        try:
            awaited: Awaited | None = getattr(response, "awaited", None)
            if awaited is None:
                await self._send(response, send, pool)
                return
            replying = asyncio.create_task(self._reply_later(response, awaited, send))
            left = asyncio.create_task(_disconnected(receive))
            try:
                await asyncio.wait({replying, left}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                left.cancel()
                replying.cancel()
                with suppress(asyncio.CancelledError):
                    await replying
        finally:
            await self._run(response.close, pool)

    async def _reply_later(self, response: Any, awaited: Awaited, send: Send) -> None:
        reply: OpenReply = response.reply
        try:
            if isinstance(response, EventStream):
                await send(_head(response))
                async for chunk in self._follow(awaited, reply, keep_alive=KEEP_ALIVE):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
                return
            failure: Exception | None = None
            try:
                async for _ in self._follow(awaited, reply):
                    continue
            except Exception as error:  # noqa: BLE001 - answered with its problem, as what a view raises
                failure = error
            await self._run(partial(_present, awaited, response, failure), self._threads)
            await self._send(response, send, self._threads)
        finally:
            await asyncio.shield(self._run(reply.close, self._threads))

    async def _follow(self, awaited: Awaited, reply: OpenReply, *, keep_alive: bytes = b"") -> AsyncIterator[bytes]:
        """Yield what is new of a subject until it is over, its time is up or the process stops."""
        now = asyncio.get_running_loop().time
        sent_at = renewed_at = now()
        ends_at = now() + awaited.seconds
        with self._changes.of(awaited.subject) as changed:
            while True:
                changed.clear()
                chunk = await self._run(awaited.look, self._threads)
                if chunk:
                    sent_at = now()
                    yield chunk
                if awaited.over or now() >= ends_at or self._closing.is_set():
                    return
                if keep_alive and now() - sent_at >= HEARTBEAT_SECONDS:
                    sent_at = now()
                    yield keep_alive
                if now() - renewed_at >= RENEW_SECONDS:
                    renewed_at = now()
                    await self._run(reply.renew, self._threads)
                await self._either(changed, min(LOOK_SECONDS, max(0.0, ends_at - now())))

    async def _either(self, changed: asyncio.Event, seconds: float) -> None:
        """Wait until a subject changes, the process is asked to stop, or the seconds are over."""
        waits = [asyncio.create_task(changed.wait()), asyncio.create_task(self._closing.wait())]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _ask_django(self, environ: dict[str, Any]) -> Any:
        mark(environ)
        return self._django(environ, lambda status, headers, exc_info=None: lambda data: None)

    async def _send(self, response: Any, send: Send, pool: ThreadPoolExecutor) -> None:
        await send(_head(response))
        if not response.streaming:
            await send({"type": "http.response.body", "body": response.content})
            return
        chunks: Iterator[bytes] = iter(response)
        while (chunk := await self._run(partial(next, chunks, None), pool)) is not None:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _run(self, work: Callable[[], Result], pool: ThreadPoolExecutor) -> Result:
        return await asyncio.get_running_loop().run_in_executor(pool, work)


def _present(awaited: Any, response: Any, failure: Exception | None) -> None:
    """Write the body of a held reply: the subject as it is now, or the problem that keeps it from being shown."""
    try:
        if failure is not None:
            raise failure
        awaited.present(response)
    except Exception as error:  # noqa: BLE001 - answered with its problem, as what a view raises
        problem = problem_of(error)
        response.data = problem.body(response.renderer_context["request"])
        response.status_code, response.headers["Content-Type"] = problem.status, CONTENT_TYPE
        response.content = response.rendered_content
        response.headers["Content-Length"] = str(len(response.content))


def _head(response: Any) -> dict[str, Any]:
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"set-cookie", cookie.output(header="").strip().encode()) for cookie in response.cookies.values()]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """Return the body as far as a parser accepts it, before any thread is taken; None if the client has left.

    Of a body that is too large, one byte more than the limit is kept, so that the parser refuses it. Raises
    TimeoutError if it has not come after BODY_SECONDS.
    """
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if int(announced) > MAX_BODY_BYTES:
        return b""
    body = bytearray()
    async with asyncio.timeout(BODY_SECONDS):
        while len(body) <= MAX_BODY_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if not message.get("more_body"):
                return bytes(body)
    return bytes(body[: MAX_BODY_BYTES + 1])


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


def environ_of(scope: Scope, body: bytes) -> dict[str, Any]:
    """Return the WSGI environment of an ASGI request (PEP 3333)."""
    host, port = scope.get("server") or ("localhost", 80)
    environ: dict[str, Any] = {
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
        earlier = environ.get(key) if key.startswith("HTTP_") else None
        environ[key] = f"{earlier}{separator}{value}" if earlier is not None else value
    environ["CONTENT_TYPE"] = readable_type(environ.get("CONTENT_TYPE", ""))
    return environ
