"""Serves Django under ASGI: requests run on a bounded pool of threads, open replies wait on the event loop.

A server-sent-event stream lasts up to 15 minutes and a request with `Prefer: wait` up to a minute. With a thread for
each of them, a few dozen would take the API down for all tenants. Here a view returns at once and leaves in its
response what it waits for (backend.api.server.awaiting). The event loop waits for a notice of the database, and only a
look at the subject takes a thread, for a few milliseconds.

Django's own ASGI handler keeps a thread and a database connection per request for as long as its reply is open, and
bounds neither. So Django runs as the WSGI application that it is, on threads that keep their connections.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.urls import get_resolver

from backend.api.changes import Changes
from backend.api.limits import rate_limits
from backend.api.limits.address_limits import AddressRefused, RefusedAddresses, hashes_a_password
from backend.api.limits.key_tenants import KeyTenants
from backend.api.middleware import HEADER
from backend.api.monitoring import chores
from backend.api.problems import CONTENT_TYPE, Problem, problem_of
from backend.api.server.asgi_requests import (
    BodyTooSlow,
    Receive,
    Scope,
    Send,
    address_of,
    disconnected,
    environ_of,
    key_digest_of,
    read_body,
)
from backend.api.server.awaiting import HEARTBEAT_SECONDS, KEEP_ALIVE, Awaited, EventStream, Hearing, mark
from backend.api.server.body_budget import AddressHasTooMany, BodyBudget, ProcessHasTooMany
from backend.api.server.connections import allow_connections
from backend.api.server.early_refusals import refuse
from backend.api.server.fair_threads import Callers, FairThreads, TooManyRequests
from backend.api.server.open_callers import OpenCallers
from backend.api.server.open_replies import RENEW_SECONDS, OpenReply
from backend.api.server.probes import PATHS, Probes
from backend.observability import exposition, log_context, tracing
from backend.observability.middleware import fields_of

logger = logging.getLogger(__name__)

LOOK_SECONDS, IDLE_LOOK_SECONDS = 5.0, 20.0
"""Shortest and longest time between two looks at a subject without a notice. The progress within a stage changes
without one; each look that finds nothing new doubles the time."""
LOOKS_PER_SECOND = 10
"""Looks without a notice that one process takes: with many open replies the time between two looks grows."""
GATHER_SECONDS = 0.25
"""Time for which the changes of a tenant are gathered for one look."""

PASSWORDS = "passwords"
"""Name under which forms with a password count, whoever sends them: a hash takes a core for 0.2 s, so a process
computes one at a time."""

Result = TypeVar("Result")


class Server:
    """The ASGI application of one API process."""

    def __init__(self, django: WSGIHandler) -> None:
        self._django = django
        self._threads = FairThreads(settings.API_THREADS, settings.REQUESTS_PER_CALLER, {PASSWORDS: 1})
        self._bodies = BodyBudget(settings.BODY_BYTES, settings.BODY_BYTES_PER_ADDRESS)
        self._tenants = KeyTenants()
        self._refused = RefusedAddresses()
        self._probes = Probes()
        self._changes = Changes()
        self._callers = OpenCallers()
        self._closing = asyncio.Event()
        self._followed = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._respond(scope, receive, send)

    # --- the process ----------------------------------------------------------------------------------------------

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        keep_what_is_loaded()
        tracing.start("ava-api")
        exposition.serve()
        allow_connections()
        probing = await self._probes.serve()
        work = (self._changes.listen(), self._callers.watch(), chores.repeat())
        background = [asyncio.create_task(one) for one in work]
        self._end_open_replies_at(signal.SIGTERM)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in background:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        if probing is not None:
            probing.close()
        self._threads.shutdown()
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
        if scope["path"] in PATHS:
            await self._probes.answer(scope, send)
            return
        address, digest = address_of(scope), key_digest_of(scope)
        callers = self._tenants.callers(address, digest)
        at_work = (*callers, PASSWORDS) if hashes_a_password(scope["method"], scope["path"]) else callers
        try:
            self._refused.check(address)
            with self._threads.admitted(callers), self._bodies.body(address) as held:
                body = await read_body(scope, receive, held)
                if body is None:
                    return
                response = await self._run(partial(self._ask_django, environ_of(scope, body)), at_work)
                self._refused.learn(address, response)
                self._tenants.learn(digest, getattr(response, "caller", None))
                awaited: Awaited | None = getattr(response, "awaited", None)
                if awaited is None:
                    with log_context.bound(**fields_of(response)):
                        await self._send_and_close(response, receive, send, callers)
                    return
            # A reply that waits has a count of its own (backend.api.server.open_replies).
            with log_context.bound(**fields_of(response)), _logged():
                if await self._until_left(self._reply_later(response, awaited, send, callers), receive, response):
                    await _end(scope, send, response)
        except (AddressRefused, BodyTooSlow, TooManyRequests, AddressHasTooMany, ProcessHasTooMany) as error:
            await refuse(scope, send, _refusal(error))

    async def _until_left(self, replying: Coroutine[Any, Any, None], receive: Receive, response: Any) -> bool:
        """Reply until the reply is complete or the client has left. Returns whether its caller has ended before."""
        with self._callers.of(getattr(response, "caller", None)) as ended:
            reply = asyncio.create_task(replying)
            others = [asyncio.create_task(disconnected(receive)), asyncio.create_task(ended.wait())]
            try:
                await asyncio.wait({reply, *others}, return_when=asyncio.FIRST_COMPLETED)
                if reply.done():
                    reply.result()
                return ended.is_set() and not reply.done()
            finally:
                for other in others:
                    other.cancel()
                reply.cancel()
                with suppress(asyncio.CancelledError):
                    await reply

    async def _send_and_close(self, response: Any, receive: Receive, send: Send, callers: Callers) -> None:
        try:
            sending = self._send(response, send, callers)
            await (self._until_left(sending, receive, response) if response.streaming else sending)
        finally:
            await asyncio.shield(self._run(response.close, callers))

    async def _reply_later(self, response: Any, awaited: Awaited, send: Send, callers: Callers) -> None:
        reply: OpenReply = response.reply
        try:
            if isinstance(response, EventStream):
                await send(_head(response))
                async for chunk in self._follow(awaited, reply, callers, keep_alive=KEEP_ALIVE):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
                return
            failure: Exception | None = None
            try:
                async for _ in self._follow(awaited, reply, callers):
                    continue
            except Exception as error:  # noqa: BLE001 - answered with its problem, as what a view raises
                failure = error
            await self._run(partial(_present, awaited, response, failure), callers)
            await self._send(response, send, callers)
        finally:
            await asyncio.shield(self._run(partial(_close, reply, response), callers))

    async def _follow(
        self, awaited: Awaited, reply: OpenReply, callers: Callers, *, keep_alive: bytes = b""
    ) -> AsyncIterator[bytes]:
        """Yield what is new of a subject until it is over, its time is up or the process stops."""
        now = asyncio.get_running_loop().time
        sent_at = renewed_at = look_at = now()
        ends_at, pause = now() + awaited.seconds, LOOK_SECONDS
        hear = awaited.hear if isinstance(awaited, Hearing) else None
        with self._changes.of(awaited.subject, hear) as changed, self._counted():
            while True:
                if hear and changed.is_set():
                    await asyncio.sleep(GATHER_SECONDS)
                if changed.is_set() or self._closing.is_set() or now() >= min(look_at, ends_at):
                    changed.clear()
                    chunk = await self._run(awaited.look, callers)
                    pause = LOOK_SECONDS if chunk else min(1.5 * pause, IDLE_LOOK_SECONDS)
                    look_at = now() + self._spread(pause)
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
                    await self._run(reply.renew, callers)
                wake_at = min(look_at, ends_at, renewed_at + RENEW_SECONDS)
                if keep_alive:
                    wake_at = min(wake_at, sent_at + HEARTBEAT_SECONDS)
                await self._either(changed, max(0.0, wake_at - now()))

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count an open reply until the end of the block."""
        self._followed += 1
        try:
            yield
        finally:
            self._followed -= 1

    def _spread(self, seconds: float) -> float:
        """Return the time until the next look without a notice: replies that were opened together look apart."""
        return max(seconds, self._followed / LOOKS_PER_SECOND) * random.uniform(0.75, 1.25)

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

    async def _send(self, response: Any, send: Send, callers: Callers) -> None:
        await send(_head(response))
        if not response.streaming:
            await send({"type": "http.response.body", "body": response.content})
            return
        chunks: Iterator[bytes] = iter(response)
        while (chunk := await self._run(partial(next, chunks, None), callers)) is not None:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _run(self, work: Callable[[], Result], callers: Callers) -> Result:
        return await self._threads.run(partial(_within, log_context.current(), work), callers)


def keep_what_is_loaded() -> None:
    """Load the routes, and take what is loaded out of the sight of the garbage collector.

    It is never freed. To look through its 290,000 objects for cycles stops all requests of the process for 0.2 s.
    """
    _ = get_resolver().url_patterns
    gc.collect()
    gc.freeze()


def _refusal(error: Exception) -> Problem:
    """Return the problem of a request that no thread has seen."""
    wait = {"Retry-After": "1"}
    if isinstance(error, AddressRefused):
        return rate_limits.refusal(settings.ADDRESS_RATE_PER_MINUTE, error.wait_s)
    if isinstance(error, BodyTooSlow):
        return Problem(408, "body_too_slow", "The body of the request did not come in time.")
    if isinstance(error, TooManyRequests):
        detail = f"{settings.REQUESTS_PER_CALLER} requests of this caller are under way; wait for their replies."
        return Problem(429, "too_many_requests", detail, headers=wait)
    if isinstance(error, AddressHasTooMany):
        detail = "The bodies of your address's requests that are under way are too large together; wait for replies."
        return Problem(429, "too_many_requests", detail, headers=wait)
    return Problem(503, "unavailable", "The service has no room for a body of this size at the moment.", headers=wait)


def _close(reply: OpenReply, response: Any) -> None:
    reply.close()
    response.close()


async def _end(scope: Scope, send: Send, response: Any) -> None:
    """End an open reply whose caller has ended: a stream ends, a reply that was held back is refused."""
    if isinstance(response, EventStream):
        await send({"type": "http.response.body", "body": b""})
    else:
        problem = Problem(401, "invalid_api_key", "The API key is not valid.")
        await refuse(scope, send, problem, request_id=response.headers.get(HEADER, ""))


@contextmanager
def _logged() -> Iterator[None]:
    """Write how an open reply ended, with the fields of its request: the server above knows nothing of them."""
    began = time.monotonic()
    try:
        yield
    except Exception:
        logger.exception("an open reply broke off")
        raise
    logger.info("an open reply ended", extra={"ms": round((time.monotonic() - began) * 1000)})


def _within(fields: Mapping[str, str], work: Callable[[], Result]) -> Result:
    """Do work on a thread with the log fields of the request that it is for."""
    with log_context.bound(**fields):
        return work()


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
