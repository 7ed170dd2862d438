"""Writes of questions: asked, begun, answered, failed, canceled. Each runs in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils import timezone

from backend.billing.services import budgets
from backend.billing.services import ledger as billing
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue, request_cancel
from backend.library.models import Video, VideoStatus
from backend.questions.models import OPEN, Question, QuestionStatus, QuestionVideo
from backend.questions.queries import batches as batch_outcome
from backend.questions.queries.scopes import ScopeWish, resolve
from backend.questions.refusals import invalid
from backend.questions.services import sessions
from backend.questions.services.records import claims_of, write_answer_rows
from backend.tenancy.context import current_tenant_id
from backend.webhooks import payloads
from backend.webhooks.services import emit

if TYPE_CHECKING:
    from gpu_workers.engine.answering.contract import Answer, PartialAnswer
    from gpu_workers.engine.models.roles import ModelCall

MAX_CHOICES = 26
# Questions wait for people; index jobs do not.
PRIORITY = 10


def job_key(question_id: UUID) -> str:
    """The dedupe key of a question's job."""
    return f"question:{question_id}"


def create_question(
    *,
    video_ids: Sequence[UUID] = (),
    collection_id: UUID | None = None,
    session_id: UUID | None = None,
    api_key_id: UUID | None = None,
    **asked: Any,
) -> Question:
    """A question with its scope, charge and job.

    Scope: videos, or a collection with the videos it has now; start_ms and end_ms narrow each of them. A video that is
    still being indexed is in scope with what it has. In a session a question without videos or collection is about
    what the session is about, and its own start_ms and end_ms take the place of the session's. asked: as
    new_question() takes it. Raises QuestionRefused as new_question(), scopes.resolve() and sessions.next_turn() do,
    and BudgetExhausted.
    """
    wish = ScopeWish(frozenset(video_ids), collection_id)
    place = sessions.next_turn(session_id) if session_id is not None else None
    if place is not None and wish == ScopeWish():
        scope = sessions.present_scope(place.session)
        wish = scope.wish
        for name, limit in (("start_ms", scope.start_ms), ("end_ms", scope.end_ms)):
            asked[name] = asked.get(name) if asked.get(name) is not None else limit
    question = new_question(**asked)
    if place is not None:
        question.session, question.turn = place.session, place.turn
    videos = resolve(wish)
    budgets.require_left()
    question.save(force_insert=True)
    QuestionVideo.objects.bulk_create(scope_rows(question, videos))
    billing.record_question(question_id=question.id, api_key_id=api_key_id)
    enqueue(kind=JobKind.ANSWER_QUESTION, subject_id=question.id, dedupe_key=job_key(question.id), priority=PRIORITY)
    return question


def new_question(
    *,
    text: str,
    choices: Sequence[str] = (),
    start_ms: int | None = None,
    end_ms: int | None = None,
    method: str = "ava",
    effort: str = "medium",
    check: str = "auto",
    budget: Mapping[str, Any] | None = None,
    seed: int = 0,
    external_id: str = "",
    metadata: Mapping[str, str] | None = None,
) -> Question:
    """The row of a question, checked and not yet saved. Raises QuestionRefused: empty_question, invalid_choices,
    invalid_span."""
    text = text.strip()
    options = check_choices(choices)
    if not text:
        raise invalid("empty_question", "A question needs words.", "/question")
    if start_ms is not None and end_ms is not None and start_ms >= end_ms:
        raise invalid("invalid_span", "end_ms must be greater than start_ms.", "/end_ms")
    return Question(
        tenant_id=current_tenant_id(),
        text=text,
        choices=options,
        method=method,
        effort=effort,
        check_mode=check,
        start_ms=start_ms,
        end_ms=end_ms,
        budget=dict(budget or {}),
        seed=seed,
        external_id=external_id,
        metadata=dict(metadata or {}),
    )


def scope_rows(question: Question, videos: Sequence[Video]) -> list[QuestionVideo]:
    return [QuestionVideo(tenant_id=question.tenant_id, question=question, video=video) for video in videos]


def check_choices(choices: Sequence[str]) -> list[str]:
    """The choices without outer space. Raises QuestionRefused unless there are none, or 2 to 26 distinct ones."""
    options = [choice.strip() for choice in choices]
    if options and not 2 <= len(options) <= MAX_CHOICES:
        raise invalid("invalid_choices", f"Give no choices, or 2 to {MAX_CHOICES}.", "/choices")
    if not all(options):
        raise invalid("invalid_choices", "A choice needs words.", "/choices")
    if len({option.casefold() for option in options}) != len(options):
        raise invalid("invalid_choices", "Choices must differ.", "/choices")
    return options


def begin(*, question_id: UUID) -> Question | None:
    """Mark a question as running and pin the index version and extent of each video that its answer will read.

    A later attempt pins anew, since the first may have been made long ago. Nothing is read of a video that is being
    deleted. None when the question is gone or over.
    """
    question = _open_question(question_id)
    if question is None:
        return None
    question.status = QuestionStatus.RUNNING
    question.started_at = question.started_at or timezone.now()
    question.partial = {}
    question.save(update_fields=["status", "started_at", "partial"])
    budgets.forget_spending([question_id])
    scope = list(QuestionVideo.objects.filter(question_id=question_id).select_related("video"))
    for row in scope:
        row.index_version = row.video.active_index_version
        row.indexed_until_ms = 0 if row.video.status == VideoStatus.DELETING else row.video.indexed_until_ms
    QuestionVideo.objects.bulk_update(scope, ["index_version", "indexed_until_ms"])
    return question


def _open_question(question_id: UUID) -> Question | None:
    """The question's locked row while it has no outcome."""
    found: Question | None = Question.objects.select_for_update().filter(id=question_id, status__in=OPEN).first()
    return found


def set_progress(*, question_id: UUID, stage: str) -> None:
    """Name the stage a running question is in; how far it is inside the stage stands on its job."""
    Question.objects.filter(id=question_id, status=QuestionStatus.RUNNING).exclude(stage=stage).update(stage=stage)


def set_partial(*, question_id: UUID, partial: PartialAnswer) -> None:
    """Keep the best answer so far of a running question, for those who watch it."""
    told = {
        "text": partial.text,
        "choice": partial.choice,
        "score": round(partial.score, 4),
        "path": partial.path,
        "level": partial.level,
    }
    Question.objects.filter(id=question_id, status=QuestionStatus.RUNNING).update(partial=told)


def store_answer(
    *,
    question: Question,
    answer: Answer,
    model_names: Mapping[str, str] | None = None,
    frame_keys: Mapping[UUID, str] | None = None,
) -> Question:
    """Write the engine's answer: nodes, candidates, evidence, usage, cost, timings, status, and the webhook event.

    model_names: role -> model. frame_keys: frame id -> object key of the copy made for this question; a citation
    without one shows the index's own thumbnail. A question that is over already (canceled, or answered by another
    attempt) keeps its outcome; what this attempt consumed is recorded as not billable. Returns the question as stored.
    """
    row: Question = Question.objects.select_for_update().get(id=question.id)
    if row.status not in OPEN:
        record_wasted(question_id=row.id, calls=answer.usage.calls, reason=f"already_{row.status}")
        return row
    now = timezone.now()
    row.started_at = row.started_at or now
    cost = billing.record_model_calls(
        source_type=billing.QUESTION,
        source_id=row.id,
        calls=answer.usage.calls,
        question_id=row.id,
        api_key_id=billing.api_key_of_question(row.id),
    )
    write_answer_rows(question=row, answer=answer, frame_keys=frame_keys or {})
    row.status = _status_of(answer)
    row.stage = ""
    row.answer = answer.text
    row.choice = answer.choice
    row.confidence = answer.confidence
    row.claims = claims_of(answer)
    row.partial = {}
    row.finish_reason = answer.finish_reason
    row.finish_detail = answer.detail[:64]
    row.usage = usage_of(answer.usage.calls)
    row.cost_amount = cost.amount
    row.cost_currency = cost.currency
    row.model_names = dict(model_names or {})
    row.standalone = answer.standalone
    row.completed_at = now
    row.timings = _timings_of(row, answer)
    if row.status == QuestionStatus.FAILED:
        row.error_code = answer.detail or "engine_error"
        row.error_message = "The question could not be answered."
    row.save()
    _settle(row)
    return row


def fail_question(
    *, question_id: UUID, code: str, message: str, calls: Sequence[ModelCall] = (), finish_reason: str = "error"
) -> Question | None:
    """End a question that cannot be answered: its charge is taken back, its consumption recorded, customers are told.

    calls: of the attempt that failed. None when the question is gone or over already.
    """
    row = _open_question(question_id)
    if row is None:
        return None
    record_wasted(question_id=row.id, calls=calls, reason=code)
    row.status, row.stage, row.finish_reason = QuestionStatus.FAILED, "", finish_reason
    row.error_code, row.error_message = code, message
    row.completed_at = timezone.now()
    row.save()
    _settle(row)
    return row


def cancel_question(*, question_id: UUID) -> Question | None:
    """Cancel a queued or running question; its job is told to stop. None when there is nothing to cancel."""
    if not Question.objects.filter(id=question_id, status__in=OPEN).exists():
        return None
    # The job before the question, as a worker locks them, or the two would wait for each other.
    request_cancel(dedupe_key=job_key(question_id))
    row = _open_question(question_id)
    if row is None:
        return None
    row.status, row.stage, row.finish_reason = QuestionStatus.CANCELED, "", "canceled"
    row.completed_at = timezone.now()
    row.save()
    _settle(row)
    return row


def record_wasted(*, question_id: UUID, calls: Sequence[ModelCall], reason: str) -> billing.Cost:
    """Record what an attempt without an outcome consumed: attributed to the question, never billed."""
    budgets.forget_spending([question_id])
    return billing.record_wasted_calls(calls=calls, question_id=question_id, reason=reason)


def _settle(question: Question) -> None:
    """What follows from an outcome: the charge stands or is taken back, customers are told, a batch may be complete."""
    budgets.forget_spending([question.id])
    if question.status != QuestionStatus.SUCCEEDED:
        billing.reverse_question(question_id=question.id, reason=question.error_code or question.status)
    kind = {QuestionStatus.SUCCEEDED: "question.completed", QuestionStatus.FAILED: "question.failed"}.get(
        QuestionStatus(question.status)
    )
    if kind is not None:
        emit(type=kind, resource_id=question.id, data=payloads.question_data(question))
    if question.batch_id is not None:
        batch_outcome.settle(question.batch_id)


def _status_of(answer: Answer) -> QuestionStatus:
    if answer.finish_reason == "error":
        return QuestionStatus.FAILED
    return QuestionStatus.CANCELED if answer.finish_reason == "canceled" else QuestionStatus.SUCCEEDED


def usage_of(calls: Sequence[ModelCall]) -> dict[str, Any]:
    """What calls consumed, as a question or a search shows it."""
    return {
        "calls": len(calls),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "cached_tokens": sum(call.cached_tokens for call in calls),
        "completion_tokens": sum(call.completion_tokens for call in calls),
        "device_seconds": str(Decimal(sum(call.wall_ms for call in calls)) / 1000),
    }


def _timings_of(question: Question, answer: Answer) -> dict[str, int]:
    """Milliseconds. llm_ms is summed over calls that may have run side by side, so it can exceed total_ms."""
    started, completed = question.started_at or question.created_at, question.completed_at or timezone.now()
    queue_ms = round((started - question.created_at).total_seconds() * 1000)
    total_ms = round((completed - question.created_at).total_seconds() * 1000)
    stages = {f"{stage}_ms": ms for stage, ms in answer.timings.items()}
    return {
        "search_ms": max(0, total_ms - queue_ms),
        **stages,
        "queue_ms": max(0, queue_ms),
        "llm_ms": sum(call.wall_ms for call in answer.usage.calls if call.completion_tokens),
        "total_ms": max(0, total_ms),
    }
