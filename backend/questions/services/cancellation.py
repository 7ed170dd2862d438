"""Cancels many questions at once: those of a batch, or of a comparison."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from backend.billing.services.limits import budgets, quotas
from backend.billing.services.usage import ledger
from backend.jobs.services import request_cancel_many
from backend.questions.models import OPEN, Question, QuestionStatus
from backend.questions.payloads import question_data
from backend.questions.queries.questions import job_key
from backend.webhooks.services import Change, emit_many


def cancel_open(questions: QuerySet[Question], *, detail: str = "") -> list[UUID]:
    """Cancel those of the questions that have no outcome, with their jobs, and report it, in a fixed number of
    statements.

    detail: finish_detail of the canceled questions. Locks the jobs, then the questions by id, as an outcome does.
    Returns the ids of the canceled questions.
    """
    waiting = questions.filter(status__in=OPEN).order_by("id")
    request_cancel_many(dedupe_keys=[job_key(id) for id in waiting.values_list("id", flat=True)])
    ids = list(waiting.select_for_update().values_list("id", flat=True))
    if not ids:
        return []
    Question.objects.filter(id__in=ids).update(
        status=QuestionStatus.CANCELED,
        stage="",
        partial={},
        finish_reason="canceled",
        finish_detail=detail,
        completed_at=timezone.now(),
        charge_amount=0,
        price_version=None,
    )
    budgets.forget_spending(ids)
    quotas.settle(ids)
    ledger.reverse_questions(question_ids=ids, reason=detail or QuestionStatus.CANCELED)
    canceled = Question.objects.filter(id__in=ids).order_by("id")
    emit_many(
        type="question.canceled",
        changes=[Change(row.id, question_data(row), row.retries + 1) for row in canceled],
    )
    return ids
