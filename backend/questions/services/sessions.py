"""Sessions: questions asked one after another about one scope, which may refer to what was said before.

A session's row is locked while a question joins it, so that two at once cannot both be its next turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from backend.library.models import Collection, Video, VideoStatus
from backend.questions.models import OPEN, Question, QuestionStatus, Session
from backend.questions.queries.scopes import ScopeWish, resolve
from backend.questions.refusals import QuestionRefused, invalid
from backend.tenancy.context import current_tenant_id

# How far back a follow-up can refer: more would crowd the prompt that rewrites it.
REMEMBERED_TURNS = 6


@dataclass(frozen=True, slots=True)
class SessionScope:
    """What a session is about: a wish that each question resolves anew, and the span of every video."""

    wish: ScopeWish
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class NextTurn:
    """The place of a question that is being asked in its session, whose row is locked."""

    session: Session
    turn: int


def create_session(
    *,
    video_ids: Sequence[UUID] = (),
    collection_id: UUID | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
    external_id: str = "",
    metadata: Mapping[str, str] | None = None,
) -> Session:
    """A session about this scope. Raises QuestionRefused: invalid_span, and as scopes.resolve() does."""
    if start_ms is not None and end_ms is not None and start_ms >= end_ms:
        raise invalid("invalid_span", "end_ms must be greater than start_ms.", "/end_ms")
    resolve(ScopeWish(frozenset(video_ids), collection_id))
    scope: dict[str, Any] = {"start_ms": start_ms, "end_ms": end_ms}
    if collection_id is not None:
        scope["collection_id"] = str(collection_id)
    else:
        scope["video_ids"] = [str(id) for id in sorted(set(video_ids))]
    session: Session = Session.objects.create(
        tenant_id=current_tenant_id(), scope=scope, external_id=external_id, metadata=dict(metadata or {})
    )
    return session


def delete_session(*, session_id: UUID) -> None:
    """Remove a session. Its questions stay, without it; one that is being asked meanwhile is refused or stays too."""
    Session.objects.select_for_update().filter(id=session_id).first()
    Question.objects.filter(session_id=session_id).update(session=None, turn=None)
    Session.objects.filter(id=session_id).delete()


def next_turn(session_id: UUID) -> NextTurn:
    """Lock a session for the question that is asked next in it.

    Raises QuestionRefused: unknown_session, or session_busy (409) while an earlier question of it has no outcome.
    """
    session: Session | None = Session.objects.select_for_update().filter(id=session_id).first()
    if session is None:
        raise invalid("unknown_session", "There is no such session.", "/session_id")
    last: Question | None = Question.objects.filter(session_id=session_id).order_by("-turn").first()
    if last is not None and last.status in OPEN:
        raise QuestionRefused("session_busy", "An earlier question of the session is still open.")
    return NextTurn(session, 1 if last is None or last.turn is None else last.turn + 1)


def scope_of(session: Session) -> SessionScope:
    """A session's scope as it was asked for."""
    scope = session.scope
    collection = scope.get("collection_id")
    return SessionScope(
        ScopeWish(frozenset(UUID(id) for id in scope.get("video_ids", ())), UUID(collection) if collection else None),
        scope.get("start_ms"),
        scope.get("end_ms"),
    )


def present_scope(session: Session) -> SessionScope:
    """A session's scope without the videos that were deleted since. Raises QuestionRefused session_scope_gone."""
    scope = scope_of(session)
    wish = scope.wish
    if wish.collection_id is not None:
        gone = not Collection.objects.filter(id=wish.collection_id).exists()
    else:
        present = Video.objects.exclude(status=VideoStatus.DELETING).filter(id__in=wish.video_ids)
        wish = ScopeWish(frozenset(present.values_list("id", flat=True)))
        gone = not wish.video_ids
    if gone:
        raise QuestionRefused("session_scope_gone", "Nothing of what the session is about exists any more.")
    return SessionScope(wish, scope.start_ms, scope.end_ms)


def history_of(question: Question) -> list[tuple[str, str]]:
    """The last answered turns before a question's as (question, answer), oldest first; none outside a session."""
    if question.session_id is None or question.turn is None:
        return []
    answered = Question.objects.filter(
        session_id=question.session_id, turn__lt=question.turn, status=QuestionStatus.SUCCEEDED
    ).exclude(answer="")
    return list(answered.order_by("-turn").values_list("text", "answer")[:REMEMBERED_TURNS])[::-1]


def sessions(*, external_id: str = "") -> QuerySet[Session]:
    """Sessions of the entered tenant, each with the number of its questions as `turns`."""
    counted = Question.objects.filter(session_id=OuterRef("id")).order_by().values("session_id")
    turns = Coalesce(Subquery(counted.annotate(n=Count("id")).values("n")), 0)
    found: QuerySet[Session] = Session.objects.annotate(turns=turns)
    return found.filter(external_id=external_id) if external_id else found
