"""Waiting for a question: the short looks behind `Prefer: wait` and the server-sent events of /stream."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rest_framework.utils.encoders import JSONEncoder

from backend.questions.bodies.questions import represent, represent_node
from backend.questions.models import Question
from backend.questions.queries import questions as queries
from backend.tenancy.context import tenant_scope

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
# A stream ends by itself after this long; the client connects again and gets the present state first.
LONGEST_STREAM_SECONDS = 15 * 60.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Time for those who wait; tests hold it still."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def wait_for_outcome(*, tenant_id: UUID, question_id: UUID, seconds: float, clock: Clock | None = None) -> bool:
    """Look until the question has an outcome or the time is over; no transaction stays open in between."""

    def over() -> bool:
        with tenant_scope(tenant_id):
            return queries.questions().filter(id=question_id, status__in=queries.TERMINAL).exists()

    return wait_until(over, seconds=seconds, clock=clock)


def wait_until(
    over: Callable[[], bool], *, seconds: float, clock: Clock | None = None, every: float = POLL_SECONDS
) -> bool:
    """Look, each time in a transaction of its own, until it is over or the time is. Returns what the last look saw."""
    clock = clock or Clock()
    deadline = clock.now() + seconds
    while True:
        found = over()
        left = deadline - clock.now()
        if found or left <= 0:
            return found
        clock.sleep(min(every, left))


def events(*, tenant_id: UUID, question_id: UUID, clock: Clock | None = None) -> Iterator[bytes]:
    """Server-sent events: `progress` and `partial` (the best answer so far) whenever they change, then each `node` of
    the search, then `answer`, and the end.

    A comment goes out when nothing else does, so that proxies keep the connection. A question deleted meanwhile ends
    the stream without an answer.
    """
    clock = clock or Clock()
    began = heard = clock.now()
    last: tuple[Any, ...] | None = None
    best: bytes = b""
    while clock.now() - began < LONGEST_STREAM_SECONDS:
        look = _look(tenant_id, question_id)
        if look is None:
            return
        if look.over:
            yield from look.ending
            return
        if look.state != last or look.partial != best:
            if look.state != last:
                yield look.progress
            if look.partial != best and look.partial:
                yield look.partial
            last, best, heard = look.state, look.partial, clock.now()
        elif clock.now() - heard >= HEARTBEAT_SECONDS:
            heard = clock.now()
            yield b": keep-alive\n\n"
        clock.sleep(POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class _Look:
    """What one short transaction saw, already in wire form."""

    state: tuple[Any, ...]
    progress: bytes
    partial: bytes = b""
    ending: tuple[bytes, ...] = ()

    @property
    def over(self) -> bool:
        return bool(self.ending)


def _look(tenant_id: UUID, question_id: UUID) -> _Look | None:
    with tenant_scope(tenant_id):
        question: Question | None = queries.questions().filter(id=question_id).first()
        if question is None:
            return None
        over = question.status in queries.TERMINAL
        view = queries.view_of(question, trace=over)
        body = represent(view)
    ending: tuple[bytes, ...] = ()
    if over:
        nodes = [_event("node", represent_node(node, candidates)) for node, candidates in view.nodes or ()]
        ending = (*nodes, _event("answer", {name: value for name, value in body.items() if name != "trace"}))
    brief = {name: body[name] for name in ("id", "status", "stage", "progress")}
    state = (question.status, question.stage, json.dumps(body["progress"]))
    partial = _event("partial", {"id": body["id"], **body["partial_answer"]}) if body["partial_answer"] else b""
    return _Look(state=state, progress=_event("progress", brief), partial=partial, ending=ending)


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, cls=JSONEncoder, separators=(',', ':'))}\n\n".encode()
