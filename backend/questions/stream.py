"""The server-sent events of a question: progress, the best answer so far, the search's nodes, the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from rest_framework.utils.encoders import JSONEncoder

from backend.questions.bodies.nodes import NodeSerializer
from backend.questions.bodies.questions import PartialEventSerializer, ProgressEventSerializer, QuestionSerializer
from backend.questions.models import OPEN, Question
from backend.questions.queries import questions
from backend.questions.waiting import POLL_SECONDS, PollClock
from backend.tenancy.context import tenant_scope

HEARTBEAT_SECONDS = 15.0
LONGEST_STREAM_SECONDS = 15 * 60.0
"""Duration after which a stream ends by itself. The client connects again and gets the present state first."""


def events(*, tenant_id: UUID, question_id: UUID, clock: PollClock | None = None) -> Iterator[bytes]:
    """Yield server-sent events: `progress` and `partial` whenever they change, then every `node`, then `answer`.

    A comment goes out when nothing else does, so that proxies keep the connection. A question that is deleted
    meanwhile ends the stream without an answer.
    """
    clock = clock or PollClock()
    began = last_sent = clock.now()
    progress = partial = b""
    while clock.now() - began < LONGEST_STREAM_SECONDS:
        look = _look(tenant_id, question_id)
        if look is None:
            return
        if look.ending:
            yield from look.ending
            return
        if look.progress != progress:
            yield look.progress
        if look.partial != partial and look.partial:
            yield look.partial
        if (look.progress, look.partial) != (progress, partial):
            progress, partial, last_sent = look.progress, look.partial, clock.now()
        elif clock.now() - last_sent >= HEARTBEAT_SECONDS:
            last_sent = clock.now()
            yield b": keep-alive\n\n"
        clock.sleep(POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class _Look:
    """The state of a question in one short transaction, as events. ending: empty while the question is open."""

    progress: bytes = b""
    partial: bytes = b""
    ending: tuple[bytes, ...] = ()


def _look(tenant_id: UUID, question_id: UUID) -> _Look | None:
    with tenant_scope(tenant_id):
        question: Question | None = questions.questions().filter(id=question_id).first()
        if question is None:
            return None
        is_open = question.status in OPEN
        if is_open:
            # Four looks a second per client: only what the two events show is read.
            progress = questions.progress_of([question_id]).get(question_id)
            view = questions.QuestionView(question, (), (), progress=progress)
        else:
            view = questions.view_of(question, trace=True)
    if not is_open:
        nodes = [_event("node", NodeSerializer(node).data) for node in view.nodes or ()]
        answer = _event("answer", QuestionSerializer(replace(view, nodes=None)).data)
        return _Look(ending=(*nodes, answer))
    partial = view.partial_answer
    return _Look(
        progress=_event("progress", ProgressEventSerializer(view).data),
        partial=_event("partial", PartialEventSerializer({"id": question.id, **partial}).data) if partial else b"",
    )


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, cls=JSONEncoder, separators=(',', ':'))}\n\n".encode()
