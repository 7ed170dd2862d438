"""Cancels many questions at once: those of a batch, or of a comparison."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from backend.billing.models import Ended
from backend.billing.services.usage import ledger
from backend.jobs.services import request_cancel_many
from backend.questions.models import OPEN, Question, QuestionStatus
from backend.questions.payloads import question_data
from backend.questions.queries.questions import job_key
from backend.questions.services.charging import settle_charges
from backend.questions.services.records import forget_nodes
from backend.webhooks.services import Change, emit_many


def cancel_open(questions: QuerySet[Question], *, detail: str = "") -> list[UUID]:
    """Cancel those of the questions that have no outcome, with their jobs, and report it, in a fixed number of
    statements.

    detail: finish_detail of the canceled questions. Locks the jobs, then the questions by id, as an outcome does.
    Returns the ids of the canceled questions.
    """
    waiting = questions.filter(status__in=OPEN).order_by("id")
    request_cancel_many(dedupe_keys=[job_key(id) for id in waiting.values_list("id", flat=True)])
    rows = list(waiting.select_for_update())
    if not rows:
        return []
    ids = [row.id for row in rows]
    forget_nodes(ids)
    for row in rows:
        row.status = QuestionStatus.CANCELED
    endings = settle_charges(rows)
    charged = [id for id, ended in endings.items() if ended == Ended.CHARGED]
    back = [id for id in ids if id not in charged]
    outcome = {
        "status": QuestionStatus.CANCELED,
        "stage": "",
        "finish_reason": "canceled",
        "finish_detail": detail,
        "completed_at": timezone.now(),
    }
    Question.objects.filter(id__in=charged).update(**outcome)
    Question.objects.filter(id__in=back).update(**outcome, partial={}, charge_amount=0, price_version=None)
    ledger.reverse_questions(question_ids=back, reason=detail or QuestionStatus.CANCELED)
    canceled = Question.objects.filter(id__in=ids).order_by("id")
    emit_many(
        type="question.canceled",
        changes=[Change(row.id, question_data(row), row.retries + 1) for row in canceled],
    )
    return ids
