"""Waiting for work of the service: looking again until it has ended, or when a stream says that it has changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import httpx

from ava_cloud._events import EventReader, StreamEvent
from ava_cloud._parallel import Looks, sleep
from ava_cloud._retry import ONCE
from ava_cloud.errors import AvaError, WaitTimeout

SILENT_S = 40.0
"""A stream that says nothing for so long is held back by a proxy: the service sends something every 15 s."""


class HasId(Protocol):
    """A resource of the API."""

    id: str


W = TypeVar("W", bound=HasId)


def ended_work(work: W, look: Callable[..., Any], *, is_open: Callable[[W], bool], ends: float, **parameters: Any) -> W:
    """Return work once it is open no longer. look: its operation, with parameters. ends: of time.monotonic().

    Raises WaitTimeout and ApiError.
    """
    began, pause = time.monotonic(), 0.5
    while is_open(work):
        if time.monotonic() >= ends:
            raise WaitTimeout(work.id, ends - began)
        sleep(pause)
        pause = min(2.0, pause * 1.3)
        work = look(work.id, **parameters)
    return work


def stream_events(http: httpx.Client, path: str, *, until: str) -> Iterator[StreamEvent]:
    """Yield the events of a stream up to the first of type until, over as many connections as it takes.

    Raises ApiError.
    """
    reader = EventReader()
    while True:
        headers = {"Accept": "text/event-stream"}
        if reader.last_id:
            headers["Last-Event-ID"] = reader.last_id
        try:
            with http.stream("GET", path, headers=headers) as response:
                for line in response.iter_lines():
                    event = reader.line(line)
                    if event is not None:
                        yield event
                        if event.type == until:
                            return
        except httpx.TransportError:
            pass  # the connection was cut: the next one goes on
        sleep(1.0)


def occasions(http: httpx.Client, path: str, *, ends: float, each: bool) -> Looks:
    """Yield now, and whenever it is worth to look again, until ends (of time.monotonic()).

    path: of the stream that shows changes, and `outcome` at last; each: whether every change is an occasion. If the
    stream cannot be opened, time makes the occasions.
    """
    streams, pause = True, 1.0
    yield None
    while time.monotonic() < ends:
        heard = False
        try:
            if streams:
                reader, timeout = EventReader(), min(SILENT_S, ends - time.monotonic())
                headers = {"Accept": "text/event-stream"}
                with http.stream("GET", path, headers=headers, timeout=timeout, extensions=ONCE) as response:
                    for line in response.iter_lines():
                        heard = True
                        event = reader.line(line)
                        if event is not None and (each or event.type == "outcome"):
                            yield None
                        if time.monotonic() >= ends:
                            return
        except (httpx.TransportError, AvaError):
            streams = heard
        sleep(min(pause, max(0.0, ends - time.monotonic())))
        pause = 1.0 if streams else min(10.0, pause * 1.3)
        yield None
