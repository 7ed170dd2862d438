"""Replies that take long: the protocol between a view and the server, which waits for the view without a thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from backend.api.changes import Change
from backend.api.server.open_replies import OpenReply

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
KEEP_ALIVE = b": keep-alive\n\n"
_SERVER_AWAITS = "ava.server_awaits"


@dataclass(frozen=True, slots=True)
class PollClock:
    """Time of a wait; tests hold it still."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Awaited(Protocol):
    """A subject that changes until it is over. seconds: longest time for which it is watched.

    look() runs on any thread in a transaction of its own, whenever the subject may have changed. It returns what is new
    for the client, and sets over.
    """

    subject: UUID
    seconds: float
    over: bool

    def look(self) -> bytes: ...


@runtime_checkable
class Hearing(Protocol):
    """A subject that is a tenant, and hears of each change in it.

    hear() runs on the event loop. It takes None where changes may have been missed, and returns whether to look.
    """

    def hear(self, change: Change | None) -> bool: ...


class AwaitedReply(Awaited, Protocol):
    """A reply that is held back until its subject is over. present() writes the body that is sent then."""

    def present(self, response: Any) -> None: ...


def server_awaits(request: HttpRequest) -> bool:
    """Whether the server waits itself for what a view leaves in its response. A test client does not."""
    return bool(request.META.get(_SERVER_AWAITS))


def mark(environ: dict[str, Any]) -> None:
    """Note in a WSGI environment that the server waits itself."""
    environ[_SERVER_AWAITS] = True


class EventStream(StreamingHttpResponse):
    """Server-sent events of a subject. A server that does not wait itself iterates it on a thread."""

    def __init__(self, awaited: Awaited, reply: OpenReply) -> None:
        super().__init__(_followed(awaited, reply), content_type="text/event-stream")
        self.awaited, self.reply = awaited, reply
        self.headers["Cache-Control"] = "no-store"
        # A buffering proxy would hold the events back.
        self.headers["X-Accel-Buffering"] = "no"


def hold(response: HttpResponseBase, awaited: AwaitedReply, reply: OpenReply) -> None:
    """Let the server hold this response back until its subject is over."""
    response.awaited, response.reply = awaited, reply  # type: ignore[attr-defined]


def _followed(awaited: Awaited, reply: OpenReply) -> Iterator[bytes]:
    try:
        yield from follow(awaited)
    finally:
        reply.close()


def follow(awaited: Awaited, clock: PollClock | None = None) -> Iterator[bytes]:
    """Yield what is new of a subject until it is over, on the caller's thread, where a Hearing hears nothing.

    A comment goes out when nothing else does, so that proxies keep the connection.
    """
    clock = clock or PollClock()
    began = last_sent = clock.now()
    while clock.now() - began < awaited.seconds:
        chunk = awaited.look()
        if chunk:
            last_sent = clock.now()
            yield chunk
        if awaited.over:
            return
        if clock.now() - last_sent >= HEARTBEAT_SECONDS:
            last_sent = clock.now()
            yield KEEP_ALIVE
        clock.sleep(POLL_SECONDS)
