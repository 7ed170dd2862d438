"""The server-sent events of a question: progress, the best answer so far, the search's nodes, the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from backend.api.server.event_streams import event
from backend.questions.bodies.nodes import NodeSerializer
from backend.questions.bodies.questions import PartialEventSerializer, ProgressEventSerializer, QuestionSerializer
from backend.questions.models import OPEN, Question
from backend.questions.queries import questions
from backend.questions.services.shown import mark_shown
from backend.tenancy.context import tenant_scope

LONGEST_STREAM_SECONDS = 15 * 60.0
"""Duration after which a stream ends by itself. The client connects again and gets the present state first."""


class QuestionEvents:
    """The events of a question (an Awaited): `progress` and `partial` whenever they change, then every `node`, then
    `answer`. A question that is deleted meanwhile is over without an answer.
    """

    seconds = LONGEST_STREAM_SECONDS

    def __init__(self, *, tenant_id: UUID, question_id: UUID) -> None:
        self.subject, self.over = question_id, False
        self._tenant_id = tenant_id
        self._shown = _Look()

    def look(self) -> bytes:
        """Return the events that are new since the last look."""
        look = _look(self._tenant_id, self.subject)
        if look is None or look.ending:
            self.over = True
            return b"" if look is None else b"".join(look.ending)
        # The estimate alone is no news.
        new = [look.progress] if look.progress_news != self._shown.progress_news else []
        if look.partial != self._shown.partial:
            new.append(look.partial)
        self._shown = look
        return b"".join(new)


@dataclass(frozen=True, slots=True)
class _Look:
    """The state of a question in one short transaction, as events. ending: empty while the question is open.

    progress_news: the event `progress` without the estimate of the time left.
    """

    progress: bytes = b""
    progress_news: bytes = b""
    partial: bytes = b""
    ending: tuple[bytes, ...] = ()


def _look(tenant_id: UUID, question_id: UUID) -> _Look | None:
    with tenant_scope(tenant_id):
        question: Question | None = questions.questions().filter(id=question_id).first()
        if question is None:
            return None
        is_open = question.status in OPEN
        if is_open:
            # Many looks per client: only what the two events show is read.
            mark_shown([question])
            progress = questions.progress_of([question]).get(question_id)
            view = questions.QuestionView(question, (), (), progress=progress)
            timeless = replace(view, progress=replace(progress, seconds_left=None) if progress else None)
        else:
            view = questions.view_of(question, trace=True)
            nodes = [event("node", NodeSerializer(node).data) for node in view.nodes or ()]
            # The body reads when the cited events were filmed.
            answer = event("answer", QuestionSerializer(replace(view, nodes=None)).data)
            return _Look(ending=(*nodes, answer))
    partial = view.partial_answer
    return _Look(
        progress=event("progress", ProgressEventSerializer(view).data),
        progress_news=event("progress", ProgressEventSerializer(timeless).data),
        partial=event("partial", PartialEventSerializer({"id": question.id, **partial}).data) if partial else b"",
    )
