"""Writes of sessions: questions asked one after another about one scope, which may refer to earlier answers.

A session's row is locked while a question joins it, so that two questions at once cannot both be its next turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.questions.models import OPEN, Question, Session
from backend.questions.queries.scopes import ScopeWish, present
from backend.questions.services.drafts import check_span
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused, invalid


@dataclass(frozen=True, slots=True)
class NextTurn:
    """The turn of a question that is being asked, and its session, whose row is locked. turn: from 1."""

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
    """Create a session about this scope, of which nothing needs to be indexed yet.

    Raises Refused: invalid_span, and as scopes.present() does.
    """
    check_span(start_ms, end_ms)
    present(ScopeWish(frozenset(video_ids), collection_id))
    scope: dict[str, Any] = {"start_ms": start_ms, "end_ms": end_ms}
    if collection_id is not None:
        scope["collection_id"] = str(collection_id)
    else:
        scope["video_ids"] = [str(id) for id in sorted(set(video_ids))]
    session: Session = Session.objects.create(
        tenant_id=current_tenant_id(), scope=scope, external_id=external_id, metadata=dict(metadata or {})
    )
    return session


def next_turn(session_id: UUID) -> NextTurn:
    """Lock a session for the question that is asked next in it.

    Raises Refused: unknown_session, or session_busy (409) while an earlier question of the session has no outcome.
    """
    session: Session | None = Session.objects.select_for_update().filter(id=session_id).first()
    if session is None:
        raise invalid(pointer="/session_id", code="unknown_session", detail="There is no such session.")
    last: Question | None = Question.objects.filter(session_id=session_id).order_by("-turn").first()
    if last is not None and last.status in OPEN:
        raise Refused(
            "session_busy", "An earlier question of the session is still open. Wait for its outcome or cancel it."
        )
    return NextTurn(session, 1 if last is None or last.turn is None else last.turn + 1)
