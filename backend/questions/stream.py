"""The server-sent events of a question: progress, the best answer so far, the search's nodes, the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from backend.api.server.event_streams import event
from backend.questions.bodies.nodes import NodeSerializer
from backend.questions.bodies.questions import PartialEventSerializer, ProgressEventSerializer, QuestionSerializer
from backend.questions.models import OPEN, Node, Question
from backend.questions.queries import questions
from backend.questions.services.shown import mark_shown
from backend.tenancy.callers import acting_for, current_caller
from backend.tenancy.context import tenant_scope

QUIET_SECONDS = 10.0
"""Silence after which a stream says again what is worked on, with the time left."""
LONGEST_STREAM_SECONDS = 15 * 60.0
"""Duration after which a stream ends by itself. The client connects again and gets the present state first."""


class QuestionEvents:
    """The events of a question (an Awaited): `progress` and `partial` whenever they change, each `node` of the search
    once it is there, then `answer`. After a silence `progress` comes again. A question that is deleted meanwhile ends
    without an answer.

    after: Last-Event-ID of a client that connects again, the id of the last node that it got; "" for a new client. now:
    the time in seconds.
    """

    seconds = LONGEST_STREAM_SECONDS

    def __init__(
        self, *, tenant_id: UUID, question_id: UUID, after: str = "", now: Callable[[], float] = time.monotonic
    ) -> None:
        self.subject, self.over = question_id, False
        self._tenant_id, self._after = tenant_id, after
        self._shown = _Look()
        self._paths: list[str] = []
        self._attempt: int | None = None
        self._now, self._said_at = now, now()
        # Looks come after the request: the tokens of the answer are still for its caller.
        self._caller = current_caller()

    def look(self) -> bytes:
        """Return the events that are new since the last look."""
        with tenant_scope(self._tenant_id):
            if self._after:
                self._paths, self._after = _paths_until(self.subject, self._after), ""
            # Before the question: a partial answer among these nodes is then seen, and marked as shown.
            nodes = questions.nodes_of(self.subject, first=len(self._paths))
            question: Question | None = questions.questions().filter(id=self.subject).first()
            if question is None:
                self.over = True
                return b""
            if question.status not in OPEN:
                self.over = True
                return self._ending(question)
            return self._news(question, nodes)

    def _news(self, question: Question, nodes: Sequence[questions.NodeView]) -> bytes:
        # Many looks per client: only what the events show is read.
        mark_shown([question])
        progress = questions.progress_of([question]).get(question.id)
        if progress is not None and self._attempt not in (None, progress.attempt):
            self._paths, nodes = [], ()  # another attempt searches again
        self._attempt = progress.attempt if progress is not None else self._attempt
        view = questions.QuestionView(question, (), (), progress=progress)
        timeless = replace(view, progress=replace(progress, seconds_left=None) if progress else None)
        partial = view.partial_answer
        look = _Look(
            progress=event("progress", ProgressEventSerializer(view).data),
            progress_news=event("progress", ProgressEventSerializer(timeless).data),
            partial=event("partial", PartialEventSerializer({"id": question.id, **partial}).data) if partial else b"",
        )
        # The estimate alone is no news.
        new = [look.progress] if look.progress_news != self._shown.progress_news else []
        if look.partial != self._shown.partial:
            new.append(look.partial)
        self._shown = look
        new += self._nodes(questions.shown_nodes(question, nodes))
        if not new and self._now() - self._said_at >= QUIET_SECONDS:
            new = [look.progress]
        if new:
            self._said_at = self._now()
        return b"".join(new)

    def _ending(self, question: Question) -> bytes:
        view = questions.view_of(question, trace=True)
        nodes = view.nodes or ()
        if [node.node.path for node in nodes[: len(self._paths)]] == self._paths:
            nodes = nodes[len(self._paths) :]
        # The body reads when the cited events were filmed.
        with acting_for(self._caller):
            answer = event("answer", QuestionSerializer(replace(view, nodes=None)).data)
        return b"".join([*self._nodes(nodes), answer])

    def _nodes(self, nodes: Sequence[questions.NodeView]) -> list[bytes]:
        self._paths += [node.node.path for node in nodes]
        return [event("node", NodeSerializer(node).data, id=f"{node.node.ordinal}:{node.node.path}") for node in nodes]


def _paths_until(question_id: UUID, id: str) -> list[str]:
    """Return the paths of the nodes up to the one with this id; none if the search has no such node any more."""
    ordinal, _, path = id.partition(":")
    if not (ordinal.isascii() and ordinal.isdigit() and len(ordinal) <= 6):
        return []
    earlier = Node.objects.filter(question_id=question_id, ordinal__lte=int(ordinal)).order_by("ordinal")
    paths = list(earlier.values_list("path", flat=True))
    return paths if len(paths) == int(ordinal) + 1 and paths[-1] == path else []


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look at an open question found, as events. progress_news: the event `progress` without the estimate of the
    time left."""

    progress: bytes = b""
    progress_news: bytes = b""
    partial: bytes = b""
