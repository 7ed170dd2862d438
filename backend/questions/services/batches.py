"""Writes of question batches: many questions asked in one request and canceled together.

Each question is answered by itself, after the questions that a customer waits for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.billing.services.limits import budgets
from backend.jobs.deadlines import MANY_QUESTIONS
from backend.jobs.models import JobKind, JobRank
from backend.jobs.services import enqueue_many
from backend.library.models import Video
from backend.questions import payloads
from backend.questions.models import OPEN, BatchStatus, Question, QuestionBatch, QuestionVideo
from backend.questions.queries.batches import counts_of
from backend.questions.queries.questions import job_key
from backend.questions.queries.scopes import ScopeWish, require_indexed, resolve_many
from backend.questions.services.cancellation import cancel_open
from backend.questions.services.charging import charge_all
from backend.questions.services.drafts import new_question, scope_rows
from backend.questions.services.holds import hold_questions
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused, invalid
from backend.webhooks.services import emit

MAX_QUESTIONS = 1_000
# Maximum of questions times videos: each pair is a row.
MAX_SCOPE_ROWS = 100_000
# No customer waits for one of a thousand answers, so questions asked alone go first.
PRIORITY = 0


class BatchRefused(Exception):
    """A batch that was not written, because some of its questions are refused. refusals: by the question's position."""

    def __init__(self, refusals: Mapping[int, Refused]) -> None:
        super().__init__(f"{len(refusals)} questions cannot be asked")
        self.refusals = dict(sorted(refusals.items()))


def create_batch(
    *,
    questions: Sequence[Mapping[str, Any]],
    external_id: str = "",
    metadata: Mapping[str, str] | None = None,
    api_key_id: UUID | None = None,
    rank: JobRank = JobRank.NORMAL,
    deadline_at: datetime | None = None,
) -> QuestionBatch:
    """Create a batch with its questions, their scopes, charges and jobs, in a fixed number of statements.

    questions: arguments of questions.create_question(), in the batch's order. rank, deadline_at: of their jobs. Raises
    BatchRefused if a question is refused, Refused batch_too_wide when questions times videos are more than
    MAX_SCOPE_ROWS, MonthlyBudgetExhausted, and as hold_questions().
    """
    rows, scopes = _checked(questions)
    if sum(len(videos) for videos in scopes) > MAX_SCOPE_ROWS:
        detail = f"The questions of a batch span at most {MAX_SCOPE_ROWS} videos, each counted once per question."
        raise invalid(pointer="/questions", code="batch_too_wide", detail=detail)
    budgets.require_left()
    batch: QuestionBatch = QuestionBatch.objects.create(
        tenant_id=current_tenant_id(), total=len(rows), external_id=external_id, metadata=dict(metadata or {})
    )
    for position, row in enumerate(rows):
        row.batch, row.batch_position = batch, position
        row.own_deadline = deadline_at is not None
    collections = {
        row.id: fields["collection_id"]
        for row, fields in zip(rows, questions, strict=True)
        if fields.get("collection_id") is not None
    }
    charge_all(rows, api_key_id=api_key_id, collections=collections)
    Question.objects.bulk_create(rows)
    pairs = zip(rows, scopes, strict=True)
    QuestionVideo.objects.bulk_create([entry for row, videos in pairs for entry in scope_rows(row, videos)])
    enqueue_many(
        kind=JobKind.ANSWER_QUESTION,
        subjects={job_key(row.id): row.id for row in rows},
        priority=PRIORITY,
        deadline=MANY_QUESTIONS,
        deadline_at=deadline_at,
        rank=rank,
    )
    hold_questions(rows, api_key_id=api_key_id)
    return batch


def _checked(questions: Sequence[Mapping[str, Any]]) -> tuple[list[Question], list[list[Video]]]:
    """Return the unsaved questions and the videos of each. Raises BatchRefused."""
    refusals: dict[int, Refused] = {}
    rows: list[Question] = []
    wishes = [ScopeWish(frozenset(fields.get("video_ids", ())), fields.get("collection_id")) for fields in questions]
    for position, fields in enumerate(questions):
        arguments = {name: value for name, value in fields.items() if name not in ("video_ids", "collection_id")}
        try:
            rows.append(new_question(**arguments))
        except Refused as refused:
            refusals[position] = refused
    scopes: list[list[Video]] = []
    resolved = resolve_many(wishes)
    for position, wish in enumerate(wishes):
        videos = resolved[wish]
        if isinstance(videos, Refused):
            refusals.setdefault(position, videos)
            continue
        scopes.append(videos)
        try:
            require_indexed(videos, start_ms=questions[position].get("start_ms"))
        except Refused as refused:
            refusals.setdefault(position, refused)
    if refusals:
        raise BatchRefused(refusals)
    return rows, scopes


def cancel_batch(*, batch_id: UUID) -> bool:
    """Cancel the questions of a batch that have no outcome. Returns whether there were any.

    Locks jobs, then questions, then the batch, as an outcome does.
    """
    if not cancel_open(Question.objects.filter(batch_id=batch_id)):
        return False
    settle(batch_id, canceled=True)
    return True


def settle(batch_id: UUID, *, canceled: bool = False) -> None:
    """End a batch without open questions and emit its webhook event; a batch with open questions goes on.

    Every transaction that gives a question of the batch its outcome calls this after writing the outcome. The lock on
    the batch's row lets only one transaction be the last: the next one reads after the outcome before it is committed.
    """
    running = QuestionBatch.objects.select_for_update().filter(id=batch_id, status=BatchStatus.RUNNING)
    batch: QuestionBatch | None = running.first()
    if batch is None or Question.objects.filter(batch_id=batch_id, status__in=OPEN).exists():
        return
    batch.status = BatchStatus.CANCELED if canceled else BatchStatus.COMPLETED
    batch.completed_at = timezone.now()
    batch.save(update_fields=["status", "completed_at"])
    data = payloads.batch_data(batch, counts_of([batch_id])[batch_id])
    emit(type="question_batch.completed", resource_id=batch_id, data=data, sequence=batch.retries + 1)
