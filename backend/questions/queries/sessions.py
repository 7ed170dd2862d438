"""Reads of sessions: their scopes, their turns and their earlier answers."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from backend.library.models import Collection, Video, VideoStatus
from backend.questions.models import Question, QuestionStatus, Session
from backend.questions.queries.scopes import ScopeWish
from backend.tenancy.refusals import Refused

REMEMBERED_TURNS = 6
"""Maximum number of earlier turns that a follow-up can refer to: more would crowd the prompt that rewrites it."""


@dataclass(frozen=True, slots=True)
class SessionScope:
    """The scope of a session: a wish that each question resolves again, and the span of every video."""

    wish: ScopeWish
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session with its scope and the number of its questions."""

    session: Session
    scope: SessionScope
    turns: int

    @property
    def video_ids(self) -> list[UUID]:
        """Return the videos of the scope as requested; empty for a collection."""
        return sorted(self.scope.wish.video_ids)


def sessions(*, external_id: str = "") -> QuerySet[Session]:
    """Return the sessions of the entered tenant, each with the number of its questions as `turns`."""
    counted = Question.objects.filter(session_id=OuterRef("id")).order_by().values("session_id")
    turns = Coalesce(Subquery(counted.annotate(n=Count("id")).values("n")), 0)
    rows: QuerySet[Session] = Session.objects.annotate(turns=turns)
    return rows.filter(external_id=external_id) if external_id else rows


def view_of(session: Session) -> SessionView:
    """Return the view of a session that sessions() returned."""
    turns: int = getattr(session, "turns")  # noqa: B009 - an annotation of sessions()
    return SessionView(session, scope_of(session), turns)


def scope_of(session: Session) -> SessionScope:
    """Return a session's scope as it was requested."""
    scope = session.scope
    collection = scope.get("collection_id")
    return SessionScope(
        ScopeWish(frozenset(UUID(id) for id in scope.get("video_ids", ())), UUID(collection) if collection else None),
        scope.get("start_ms"),
        scope.get("end_ms"),
    )


def present_scope(session: Session) -> SessionScope:
    """Return a session's scope without the videos that were deleted since. Raises Refused session_scope_gone."""
    scope = scope_of(session)
    wish = scope.wish
    if wish.collection_id is not None:
        gone = not Collection.objects.filter(id=wish.collection_id).exists()
    else:
        present = Video.objects.exclude(status=VideoStatus.DELETING).filter(id__in=wish.video_ids)
        wish = ScopeWish(frozenset(present.values_list("id", flat=True)))
        gone = not wish.video_ids
    if gone:
        raise Refused(
            "session_scope_gone",
            "Every video of the session's scope was deleted. Begin a session about videos that exist.",
        )
    return SessionScope(wish, scope.start_ms, scope.end_ms)


def history_of(question: Question) -> list[tuple[str, str]]:
    """Return the last answered turns before a question's as (question, answer), oldest first.

    The list is empty outside a session and has at most REMEMBERED_TURNS entries. A text that nothing supports is no
    answer to refer to.
    """
    if question.session_id is None or question.turn is None:
        return []
    answered = (
        Question.objects.filter(session_id=question.session_id, turn__lt=question.turn, status=QuestionStatus.SUCCEEDED)
        .exclude(answer="")
        .exclude(finish_reason="insufficient_evidence")
    )
    return list(answered.order_by("-turn").values_list("text", "answer")[:REMEMBERED_TURNS])[::-1]
