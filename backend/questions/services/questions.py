"""Writes of questions: asked, begun, answered, failed, canceled. Each runs in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from django.db.models import Case, F, When
from django.db.models.functions import Now
from django.utils import timezone

from backend.billing.models import QUESTION
from backend.billing.rates import Cost
from backend.billing.services.limits import budgets
from backend.billing.services.usage import ledger
from backend.jobs.models import JobKind, JobRank
from backend.jobs.services import enqueue, request_cancel
from backend.library.models import VideoStatus
from backend.questions import payloads
from backend.questions.models import OPEN, Question, QuestionStatus, QuestionVideo
from backend.questions.queries.questions import job_key
from backend.questions.queries.scopes import ScopeWish, present, require_indexed
from backend.questions.queries.sessions import present_scope
from backend.questions.services import batches, comparison_outcomes, sessions
from backend.questions.services.charging import charge_all, reason_free, settle_charge
from backend.questions.services.consumption import timings_of, usage_of
from backend.questions.services.drafts import new_question, scope_rows
from backend.questions.services.holds import hold_questions
from backend.questions.services.records import (
    claims_of,
    composition_of,
    forget_nodes,
    write_answer_rows,
    write_new_nodes,
)
from backend.webhooks.services import emit
from backend.webhooks.thresholds import report_budget

if TYPE_CHECKING:
    from gpu_workers.engine.answering.contract import Answer, NodeRecord, PartialAnswer
    from gpu_workers.engine.models.roles import ModelCall

# A customer waits for a question asked alone; nobody waits for an index job.
PRIORITY = 10
_MOST_DETAIL = 200
_EVENT_OF = {
    QuestionStatus.SUCCEEDED: "question.completed",
    QuestionStatus.FAILED: "question.failed",
    QuestionStatus.CANCELED: "question.canceled",
}
"""Type of the webhook event that reports an outcome."""


def create_question(
    *,
    video_ids: Sequence[UUID] = (),
    collection_id: UUID | None = None,
    session_id: UUID | None = None,
    api_key_id: UUID | None = None,
    rank: JobRank = JobRank.NORMAL,
    deadline_at: datetime | None = None,
    asked_by_operator: bool = False,
    **fields: Any,
) -> Question:
    """Create a question with its scope, charge and job.

    Scope: videos, or a collection with the videos it has now; start_ms and end_ms narrow each of them. A video that is
    still being indexed is in scope with the part that is indexed when work begins. In a session a question without
    videos or collection has the session's scope, and its own start_ms and end_ms replace the session's. rank,
    deadline_at: of its job (backend.jobs.services.enqueue). asked_by_operator: staff ask, so the question is free and
    passes the tenant's limits. fields: arguments of new_question(). Raises Refused as new_question(),
    scopes.resolve(), require_indexed(), sessions.next_turn(), present_scope() and hold_questions() do, and
    MonthlyBudgetExhausted.
    """
    wish = ScopeWish(frozenset(video_ids), collection_id)
    next_turn = sessions.next_turn(session_id) if session_id is not None else None
    if next_turn is not None and wish == ScopeWish():
        scope = present_scope(next_turn.session)
        wish = scope.wish
        for name, limit in (("start_ms", scope.start_ms), ("end_ms", scope.end_ms)):
            fields[name] = fields.get(name) if fields.get(name) is not None else limit
    question = new_question(**fields)
    question.asked_by_operator = asked_by_operator
    question.own_deadline = deadline_at is not None
    if next_turn is not None:
        question.session, question.turn = next_turn.session, next_turn.turn
    videos = present(wish)
    require_indexed(videos, start_ms=question.start_ms)
    if not asked_by_operator:
        budgets.require_left()
    collections = {} if wish.collection_id is None else {question.id: wish.collection_id}
    charge_all([question], api_key_id=api_key_id, collections=collections)
    question.save(force_insert=True)
    QuestionVideo.objects.bulk_create(scope_rows(question, videos))
    enqueue(
        kind=JobKind.ANSWER_QUESTION,
        subject_id=question.id,
        dedupe_key=job_key(question.id),
        priority=PRIORITY,
        rank=rank,
        deadline_at=deadline_at,
    )
    hold_questions([question], api_key_id=api_key_id)
    return question


def begin(*, question_id: UUID, reasoner: str = "") -> Question | None:
    """Mark a question as running and pin the index version and extent of each video that its answer will read.

    A later attempt pins again, since the first may have been made long ago. A video that is being deleted is pinned at
    no extent. A question of a comparison keeps the pins that the comparison made, and is canceled if the comparison was
    stopped or lost a video of the question. A question whose tenant has nothing left of its budget is canceled with the
    finish reason `budget`, and is not charged. reasoner: name of the model that will answer. Returns None when the
    question is gone or over.
    """
    question = _open_question(question_id)
    if question is None:
        return None
    detail = comparison_outcomes.obstacle(question) if question.comparison_id is not None else ""
    if detail:
        _cancel(question, detail=detail)
        return None
    exhausted = "" if question.asked_by_operator else budgets.exhausted_for(question_id)
    if exhausted:
        _cancel(question, reason="budget", detail=f"tenant_{exhausted}")
        return None
    forget_nodes([question.id])
    question.status = QuestionStatus.RUNNING
    question.started_at = question.started_at or timezone.now()
    question.partial, question.stage = {}, ""
    question.model_names = {"reasoner": reasoner} if reasoner else {}
    question.save(update_fields=["status", "started_at", "partial", "stage", "model_names"])
    Question.objects.filter(id=question_id).update(stage_at=Now())
    budgets.forget_spending([question_id])
    if question.comparison_id is not None:
        return question
    scope = list(QuestionVideo.objects.filter(question_id=question_id).select_related("video"))
    for row in scope:
        row.index_version = row.video.active_index_version
        row.indexed_until_ms = 0 if row.video.status == VideoStatus.DELETING else row.video.indexed_until_ms
    QuestionVideo.objects.bulk_update(scope, ["index_version", "indexed_until_ms"])
    return question


def _open_question(question_id: UUID) -> Question | None:
    """Lock and return a question that has no outcome; None if there is none."""
    question: Question | None = Question.objects.select_for_update().filter(id=question_id, status__in=OPEN).first()
    return question


def set_progress(*, question_id: UUID, stage: str, detail: str = "") -> None:
    """Name the stage of a running question, and what it works on. The question's job holds how much of it is done.

    Streams of the question are notified also where both stay as they are: the trigger is that of the column stage.
    """
    began = Case(When(stage=stage, then=F("stage_at")), default=Now())
    Question.objects.filter(id=question_id, status=QuestionStatus.RUNNING).update(
        stage=stage, stage_at=began, stage_detail=detail[:_MOST_DETAIL]
    )


def set_partial(*, question_id: UUID, partial: PartialAnswer) -> None:
    """Store the best answer so far of a running question, for clients that watch it (services.shown)."""
    stored = {
        "text": partial.text,
        "choice": partial.choice,
        "score": round(partial.score, 4),
        "path": partial.path,
        "level": partial.level,
    }
    Question.objects.filter(id=question_id, status=QuestionStatus.RUNNING).update(partial=stored)


def add_nodes(*, question: Question, nodes: Sequence[NodeRecord]) -> None:
    """Store the nodes of a running question's search that are new, for clients that watch it. nodes: all so far."""
    if Question.objects.select_for_update().filter(id=question.id, status=QuestionStatus.RUNNING).exists():
        write_new_nodes(question, nodes)


def store_answer(
    *,
    question: Question,
    answer: Answer,
    model_names: Mapping[str, str] | None = None,
    frame_keys: Mapping[UUID, str] | None = None,
) -> Question:
    """Write the engine's answer: nodes, candidates, evidence, usage, cost, timings, status, and the webhook event.

    model_names: role -> model. frame_keys: frame id -> object key of the copy made for this question; a citation
    without a copy shows the index's own thumbnail. A question that is over already (canceled, or answered by another
    attempt) keeps its outcome, and the consumption of this attempt is recorded as not billable. Returns the stored row.
    """
    row: Question = Question.objects.select_for_update().get(id=question.id)
    if row.status not in OPEN:
        record_wasted(question_id=row.id, calls=answer.usage.calls, reason=f"already_{row.status}")
        return row
    now = timezone.now()
    row.started_at = row.started_at or now
    cost = ledger.record_model_calls(
        source_type=QUESTION,
        # A retry is work of its own: what an attempt before it consumed stands as recorded.
        source_id=uuid5(row.id, f"retry {row.retries}") if row.retries else row.id,
        calls=answer.usage.calls,
        attribution=ledger.attribution_of_question(row.id),
        billable=not row.asked_by_operator,
        reason=reason_free(row),
    )
    write_answer_rows(question=row, answer=answer, frame_keys=frame_keys or {})
    row.status = _status_of(answer)
    row.stage = ""
    row.answer = answer.text
    row.language = row.language or str(answer.understood.get("language", ""))
    row.choice = answer.choice
    row.confidence = answer.confidence
    row.notes = list(answer.notes)
    row.finish_reason = answer.finish_reason
    row.finish_detail = answer.detail[:64]
    if row.answer:
        row.claims, row.composition = claims_of(answer), composition_of(answer)
    row.usage = usage_of(answer.usage.calls)
    row.cost_amount = cost.amount
    row.cost_currency = cost.currency
    row.model_names = dict(model_names or {})
    row.method_version = answer.method_version
    row.prompts = answer.prompts
    row.settings = dict(answer.settings)
    row.signals = dict(answer.signals)
    row.degraded = list(answer.degraded)
    row.standalone = answer.standalone
    row.understood = dict(answer.understood)
    row.completed_at = now
    row.timings = timings_of(row, answer)
    if row.status == QuestionStatus.FAILED:
        row.error_code = answer.detail or "engine_error"
        row.error_message = "The question could not be answered."
    settle_charge(row)
    row.save()
    budgets.forget_spending([row.id])
    _settle(row)
    return row


def fail_question(*, question_id: UUID, code: str, message: str, calls: Sequence[ModelCall] = ()) -> Question | None:
    """End a question that cannot be answered: reverse its charge, record its consumption, emit its webhook event.

    calls: the model calls of the failed attempt. Returns None when the question is gone or over already.
    """
    row = _open_question(question_id)
    if row is None:
        return None
    record_wasted(question_id=row.id, calls=calls, reason=code)
    row.status, row.stage, row.finish_reason = QuestionStatus.FAILED, "", "error"
    row.error_code, row.error_message = code, message
    row.completed_at = timezone.now()
    forget_nodes([row.id])
    settle_charge(row)
    row.save()
    _settle(row)
    return row


def cancel_question(*, question_id: UUID, detail: str = "") -> Question | None:
    """Cancel a queued or running question and ask its job to stop. Returns None when the question has an outcome.

    detail: finish_detail of the question.
    """
    if not Question.objects.filter(id=question_id, status__in=OPEN).exists():
        return None
    # The job before the question, as a worker locks them, or the two would wait for each other.
    request_cancel(dedupe_key=job_key(question_id))
    row = _open_question(question_id)
    if row is not None:
        _cancel(row, detail=detail)
    return row


def _cancel(row: Question, *, reason: str = "canceled", detail: str = "") -> None:
    """Write the outcome of a locked question that is canceled."""
    row.status, row.stage, row.finish_reason, row.finish_detail = QuestionStatus.CANCELED, "", reason, detail
    forget_nodes([row.id])
    row.completed_at = timezone.now()
    settle_charge(row)
    row.save()
    _settle(row)


def record_wasted(*, question_id: UUID, calls: Sequence[ModelCall], reason: str) -> Cost:
    """Record the consumption of an attempt without an outcome: attributed to the question, never billed.

    It counts in the tenant's budgets, unless staff asked the question or an outage ended the attempt.
    """
    if not calls:
        return Cost()
    budgets.forget_spending([question_id])
    cost = ledger.record_wasted_calls(
        calls=calls,
        reason=ledger.free_reason_of_question(question_id) or reason,
        attribution=ledger.attribution_of_question(question_id),
    )
    report_budget()
    return cost


def _settle(question: Question) -> None:
    """Do what follows from an outcome: emit the webhook event, settle the group."""
    kind = _EVENT_OF[QuestionStatus(question.status)]
    emit(type=kind, resource_id=question.id, data=payloads.question_data(question), sequence=question.retries + 1)
    if question.batch_id is not None:
        batches.settle(question.batch_id)
    comparison_outcomes.settle_question(question)
    report_budget()


def _status_of(answer: Answer) -> QuestionStatus:
    if answer.finish_reason == "error":
        return QuestionStatus.FAILED
    return QuestionStatus.CANCELED if answer.finish_reason == "canceled" else QuestionStatus.SUCCEEDED
