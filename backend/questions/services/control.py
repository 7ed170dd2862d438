"""What people decide about questions and batches: pause, resume, put first, give a deadline, retry.

Each function locks the jobs before the questions, as an outcome does. backend.questions.services.questions and
.batches cancel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from backend.billing.services.limits import budgets
from backend.billing.services.usage import ledger
from backend.jobs import control
from backend.jobs.deadlines import MANY_QUESTIONS
from backend.jobs.models import Job, JobKind, JobRank
from backend.jobs.services import enqueue_many
from backend.questions.models import (
    OPEN,
    BatchStatus,
    Candidate,
    Evidence,
    Node,
    Question,
    QuestionBatch,
    QuestionStatus,
)
from backend.questions.queries.questions import job_key
from backend.questions.services.charging import charge_all
from backend.questions.services.holds import hold_questions
from backend.questions.services.questions import PRIORITY, cancel_question
from backend.tenancy.refusals import Refused

_OUTCOME = (
    "stage", "answer", "choice", "confidence", "finish_reason", "finish_detail", "partial", "understood", "claims",
    "composition", "notes", "usage", "cost_amount", "timings", "model_names", "method_version", "prompts", "settings",
    "signals", "degraded", "standalone", "error_code", "error_message", "started_at", "completed_at",
    "shown", "own_deadline",
)  # fmt: skip
"""Columns that an attempt writes; a retry begins without them."""


def pause_questions(questions: QuerySet[Question]) -> int:
    """Keep the open questions from being begun. A question that is being answered goes on. Returns their number."""
    return control.pause_jobs(_jobs(questions))


def resume_questions(questions: QuerySet[Question]) -> int:
    """Let paused questions be answered. Returns their number."""
    return control.resume_jobs(_jobs(questions))


def update_questions(
    questions: QuerySet[Question], *, rank: JobRank | None = None, deadline_at: datetime | None = None
) -> None:
    """Put the open questions before, among or after the tenant's others, and set when they fail without an answer."""
    jobs = _jobs(questions)
    if rank is not None:
        control.set_rank(jobs, rank)
    if deadline_at is not None:
        control.set_deadline(jobs, deadline_at)
        questions.filter(status__in=OPEN).update(own_deadline=True)


def retry_question(*, question_id: UUID) -> Question:
    """Ask a question again that failed or was canceled, with the same id. Only its answer is billed, once.

    A question that staff asked is not billed.

    Raises Refused: question_over, question_still_open, not_retryable, or as hold_questions(); and
    MonthlyBudgetExhausted.
    """
    question: Question = Question.objects.get(id=question_id)
    if question.status == QuestionStatus.SUCCEEDED:
        raise Refused("question_over", "The question has its answer already.")
    if question.status in OPEN:
        raise Refused("question_still_open", "The question is still open, so there is nothing to retry.")
    if question.comparison_id is not None:
        raise Refused("not_retryable", "The question of a comparison is asked once; make another comparison.")
    if question.charge_amount:
        raise Refused("not_retryable", "The question was begun and is charged; ask it as a new question.")
    later = Question.objects.filter(session_id=question.session_id, turn__gt=question.turn or 0)
    if question.session_id is not None and later.exists():
        raise Refused("not_retryable", "The session has gone on; ask the question again in it.")
    _reopen([question_id], priority=PRIORITY if question.batch_id is None else 0)
    reopened: Question = Question.objects.get(id=question_id)
    return reopened


def retry_batch(*, batch_id: UUID) -> int:
    """Ask the questions of a batch again that failed, or that the budget kept from being begun. Returns their number.

    Raises Refused: nothing_to_retry, or as hold_questions(); and MonthlyBudgetExhausted.
    """
    failed = Q(status=QuestionStatus.FAILED) | Q(status=QuestionStatus.CANCELED, finish_reason="budget")
    uncharged = Question.objects.filter(failed, batch_id=batch_id, charge_amount=0)
    ids = list(uncharged.order_by("id").values_list("id", flat=True))
    if not ids:
        raise Refused("nothing_to_retry", "No question of the batch has failed.")
    _reopen(ids, priority=0)
    return len(ids)


def revive(job: Job) -> None:
    """Run the ended job of a question again: the question is asked again. Raises Refused as retry_question()."""
    if not Question.objects.filter(id=job.subject_id).exists():
        raise Refused("not_retryable", "The question of this job is gone.")
    retry_question(question_id=job.subject_id)


def cancel(job: Job) -> None:
    """Cancel the question of an open job."""
    cancel_question(question_id=job.subject_id)


def _reopen(ids: Sequence[UUID], *, priority: int) -> None:
    if Question.objects.filter(id__in=ids, asked_by_operator=False).exists():
        budgets.require_left()
    jobs = {job_key(id): id for id in ids}
    deadline = MANY_QUESTIONS if len(ids) > 1 else None
    enqueue_many(kind=JobKind.ANSWER_QUESTION, subjects=jobs, priority=priority, deadline=deadline)
    over = Question.objects.select_for_update().filter(
        id__in=ids, status__in=[QuestionStatus.FAILED, QuestionStatus.CANCELED]
    )
    rows = list(over.order_by("id"))
    asked_by: defaultdict[UUID | None, list[Question]] = defaultdict(list)
    for row in rows:
        asked_by[ledger.attribution_of_question(row.id).api_key_id].append(row)
    _drop_attempt([row.id for row in rows])
    blank = Question()
    fresh: dict[str, Any] = {name: getattr(blank, name) for name in _OUTCOME}
    for row in rows:
        for name, value in fresh.items():
            setattr(row, name, value)
        row.status, row.retries = QuestionStatus.QUEUED, row.retries + 1
        _charge_again(row)
    # Each row once: see charging.settle_charge.
    charged = ("charge_amount", "charge_currency", "price_version")
    Question.objects.bulk_update(rows, ["status", "retries", *charged, *fresh], batch_size=100)
    batches = sorted({row.batch_id for row in rows if row.batch_id is not None})
    completed = QuestionBatch.objects.filter(id__in=batches).exclude(status=BatchStatus.RUNNING)
    completed.update(status=BatchStatus.RUNNING, completed_at=None, retries=F("retries") + 1)
    for key, mine in asked_by.items():
        hold_questions(mine, api_key_id=key, again=True)


def _charge_again(row: Question) -> None:
    """Bill the next round of a question whose charge was reversed, as its first round was billed or was not."""
    first = ledger.attribution_of_question(row.id)
    known = {} if first.collection_id is None else {row.id: first.collection_id}
    charge_all([row], api_key_id=first.api_key_id, person_id=first.person_id, collections=known)


def _drop_attempt(ids: Collection[UUID]) -> None:
    """Delete the search tree and the evidence of an attempt that failed."""
    Evidence.objects.filter(question_id__in=ids).delete()
    Candidate.objects.filter(node__question_id__in=ids).delete()
    Node.objects.filter(question_id__in=ids).delete()


def _jobs(questions: QuerySet[Question]) -> QuerySet[Job]:
    ids = questions.filter(status__in=OPEN).values_list("id", flat=True)
    jobs: QuerySet[Job] = Job.objects.filter(dedupe_key__in=[job_key(id) for id in ids])
    return jobs
