"""Writes of question batches: many questions asked in one request and canceled together.

Each question is then answered by itself, behind those that somebody waits for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.billing.services import budgets
from backend.billing.services import ledger as billing
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue_many, request_cancel_many
from backend.library.models import Video
from backend.questions.models import OPEN, Question, QuestionBatch, QuestionStatus, QuestionVideo
from backend.questions.queries import batches as batch_outcome
from backend.questions.queries.scopes import ScopeWish, resolve_many
from backend.questions.refusals import QuestionRefused, invalid
from backend.questions.services.questions import job_key, new_question, scope_rows
from backend.tenancy.context import current_tenant_id

MAX_QUESTIONS = 1_000
# Questions times videos: each pair is a row.
MAX_SCOPE_ROWS = 100_000
# Nobody waits for one of a thousand answers, so questions asked alone go first.
PRIORITY = 0


class BatchRefused(Exception):
    """A batch of which nothing was written. refusals: what is wrong with a question, by its position."""

    def __init__(self, refusals: Mapping[int, QuestionRefused]) -> None:
        super().__init__(f"{len(refusals)} questions cannot be asked")
        self.refusals = dict(sorted(refusals.items()))


def create_batch(
    *,
    questions: Sequence[Mapping[str, Any]],
    external_id: str = "",
    metadata: Mapping[str, str] | None = None,
    api_key_id: UUID | None = None,
) -> QuestionBatch:
    """A batch with its questions, their scopes, charges and jobs; the number of statements does not grow with them.

    questions: arguments of services.create_question, in the batch's order. Raises BatchRefused if any of them cannot
    be asked, QuestionRefused("batch_too_wide") where questions times videos are more than MAX_SCOPE_ROWS, and
    BudgetExhausted.
    """
    rows, scopes = _checked(questions)
    if sum(len(videos) for videos in scopes) > MAX_SCOPE_ROWS:
        detail = f"The questions of a batch span at most {MAX_SCOPE_ROWS} videos, each counted once per question."
        raise invalid("batch_too_wide", detail, "/questions")
    budgets.require_left()
    batch: QuestionBatch = QuestionBatch.objects.create(
        tenant_id=current_tenant_id(), total=len(rows), external_id=external_id, metadata=dict(metadata or {})
    )
    for position, row in enumerate(rows):
        row.batch, row.batch_position = batch, position
    Question.objects.bulk_create(rows)
    pairs = zip(rows, scopes, strict=True)
    QuestionVideo.objects.bulk_create([entry for row, videos in pairs for entry in scope_rows(row, videos)])
    billing.record_questions(question_ids=[row.id for row in rows], api_key_id=api_key_id)
    enqueue_many(kind=JobKind.ANSWER_QUESTION, subjects={job_key(row.id): row.id for row in rows}, priority=PRIORITY)
    return batch


def _checked(questions: Sequence[Mapping[str, Any]]) -> tuple[list[Question], list[list[Video]]]:
    """The unsaved rows and their videos. Raises BatchRefused."""
    refusals: dict[int, QuestionRefused] = {}
    rows: list[Question] = []
    wishes = [ScopeWish(frozenset(asked.get("video_ids", ())), asked.get("collection_id")) for asked in questions]
    for position, asked in enumerate(questions):
        fields = {name: value for name, value in asked.items() if name not in ("video_ids", "collection_id")}
        try:
            rows.append(new_question(**fields))
        except QuestionRefused as refused:
            refusals[position] = refused
    scopes: list[list[Video]] = []
    found = resolve_many(wishes)
    for position, wish in enumerate(wishes):
        videos = found[wish]
        if isinstance(videos, QuestionRefused):
            refusals.setdefault(position, videos)
        else:
            scopes.append(videos)
    if refusals:
        raise BatchRefused(refusals)
    return rows, scopes


def cancel_batch(*, batch_id: UUID) -> bool:
    """Cancel the questions of a batch that have no outcome yet; the others keep theirs.

    False when there is nothing to cancel. Locks jobs, then questions, then the batch, as an outcome does.
    """
    waiting = Question.objects.filter(batch_id=batch_id, status__in=OPEN).order_by("id")
    request_cancel_many(dedupe_keys=[job_key(id) for id in waiting.values_list("id", flat=True)])
    ids = list(waiting.select_for_update().values_list("id", flat=True))
    if not ids:
        return False
    Question.objects.filter(id__in=ids).update(
        status=QuestionStatus.CANCELED, stage="", finish_reason="canceled", completed_at=timezone.now()
    )
    budgets.forget_spending(ids)
    billing.reverse_questions(question_ids=ids, reason=QuestionStatus.CANCELED)
    batch_outcome.settle(batch_id, canceled=True)
    return True
