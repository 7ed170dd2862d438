"""Deletes questions, searches, batches, sessions and comparisons, each in the caller's transaction.

The caller writes the ledger of deletions.

The rows go at once, so nobody reads them any more. A worker that still answers a question finds its job canceled and
stores nothing; what it stored before lies in folders that are erased now and swept again later.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet

from backend.api.idempotency import forget_replies
from backend.api.public_ids import encode
from backend.library.services.deletions import bury
from backend.library.storage import question_prefix
from backend.questions.models import (
    Comparison,
    ComparisonStatus,
    Question,
    QuestionBatch,
    QuestionVideo,
    Search,
    Session,
)
from backend.questions.services import batches, searches
from backend.questions.services.cancellation import cancel_open
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused
from backend.webhooks.redaction import redact_events

COMPARED = (ComparisonStatus.COMPLETED, ComparisonStatus.CANCELED)
"""Statuses of a comparison that is over."""


def delete_question(*, question_id: UUID) -> None:
    """Delete a question with its answer, evidence and pictures.

    Raises Refused `question_of_comparison`.
    """
    mine = Question.objects.filter(id=question_id)
    if mine.exclude(comparison_id=None).exists():
        raise Refused("question_of_comparison", "This question belongs to a comparison; delete the comparison.")
    drop_questions(mine, grave=question_id)


def delete_comparison(*, comparison_id: UUID) -> None:
    """Delete a comparison with its items, questions and grades.

    Raises Refused `comparison_running` before its end.
    """
    if Comparison.objects.filter(id=comparison_id).exclude(status__in=COMPARED).exists():
        raise Refused("comparison_running", "The comparison is not over; cancel it first.")
    drop_comparison(comparison_id)


def drop_batch(batch_id: UUID) -> bool:
    """Delete a batch with all its questions. Returns whether there was one."""
    drop_questions(Question.objects.filter(batch_id=batch_id), grave=batch_id)
    forget_replies([encode("bat", batch_id)])
    return bool(QuestionBatch.objects.filter(id=batch_id).delete()[0])


def drop_session(session_id: UUID) -> bool:
    """Delete a session with all its questions. Returns whether there was one.

    A question that is being asked in the session meanwhile is refused, or deleted too.
    """
    Session.objects.select_for_update().filter(id=session_id).first()
    drop_questions(Question.objects.filter(session_id=session_id), grave=session_id)
    forget_replies([encode("ses", session_id)])
    return bool(Session.objects.filter(id=session_id).delete()[0])


def drop_comparison(comparison_id: UUID) -> bool:
    """Delete a comparison with all its questions; their jobs are canceled. Returns whether there was one."""
    drop_questions(Question.objects.filter(comparison_id=comparison_id), grave=comparison_id)
    forget_replies([encode("cmp", comparison_id)])
    redact_events([comparison_id])
    return bool(Comparison.objects.filter(id=comparison_id).delete()[0])


def drop_questions(questions: QuerySet[Question], *, grave: UUID) -> int:
    """Delete these questions and everything below them. Returns their number. grave: id of the sweep of their pictures.

    Open questions are canceled first, and a batch without open questions ends.
    """
    ids = list(questions.order_by("id").values_list("id", flat=True))
    if not ids:
        return 0
    scopes = QuestionVideo.objects.filter(question_id__in=ids).values_list("video_id", "question_id")
    tenant_id = current_tenant_id()
    bury(grave, [question_prefix(tenant_id, video, question) for video, question in scopes], at_once=True)
    mine = Question.objects.filter(id__in=ids)
    cancel_open(mine)
    grouped = set(mine.exclude(batch_id=None).values_list("batch_id", flat=True))
    forget_replies([encode("qst", id) for id in ids])
    redact_events(ids)
    mine.delete()
    for batch_id in sorted(grouped):
        batches.settle(batch_id)
    return len(ids)


def drop_searches(ids: Collection[UUID]) -> int:
    """Delete these searches with their results. Open searches are canceled first. Returns their number."""
    searches.cancel_open(ids)
    forget_replies([encode("sea", id) for id in ids])
    deleted, _ = Search.objects.filter(id__in=list(ids)).delete()
    return int(deleted)
