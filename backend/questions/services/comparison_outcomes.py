"""Outcomes of comparisons: settled question by question, stopped, canceled. Each runs in the caller's transaction.

A comparison's row is locked after the jobs and the rows of its questions, so an outcome, a cancellation and a stop
never wait for each other in a circle.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from backend.billing.services.usage import ledger
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue, request_cancel
from backend.questions import payloads
from backend.questions.models import (
    OPEN,
    Comparison,
    ComparisonItem,
    ComparisonStatus,
    Grader,
    Grading,
    LeftOut,
    Question,
)
from backend.questions.queries.comparisons import counts_of, lost_videos, spent_on
from backend.questions.services.cancellation import cancel_open
from backend.questions.services.grading import grade_question, next_ungraded
from backend.tenancy.refusals import Refused
from backend.webhooks.services import emit

BUDGET_PASSED = "comparison_budget"
"""finish_detail of a comparison, and of its canceled questions, whose settled charge passed max_total_charge."""


def grade_key(comparison_id: UUID) -> str:
    """Return the dedupe key of the job that grades a comparison's answers."""
    return f"grade:{comparison_id}"


def obstacle(question: Question) -> str:
    """Return why a question of a comparison must not be asked any more: a finish_detail, "" if it may be asked."""
    if Comparison.objects.filter(id=question.comparison_id).exclude(finish_detail="").exists():
        return BUDGET_PASSED
    return LeftOut.VIDEO_DELETED if lost_videos(question) else ""


def _locked() -> QuerySet[Comparison]:
    """Return comparisons whose rows are locked when read.

    The lock leaves the key alone: a question that is written twice in a transaction has its foreign key checked, and
    two such transactions with shares of the key could not both take a full lock.
    """
    rows: QuerySet[Comparison] = Comparison.objects.select_for_update(no_key=True)
    return rows


def settle_question(question: Question) -> None:
    """Grade an outcome as far as no judge is needed, and note it in the comparison. The caller has written it before.

    An item whose videos were deleted before all of its arms were answered is left out of every arm's figures.
    """
    if question.comparison_id is None:
        return
    grade_question(question)
    if lost_videos(question):
        ComparisonItem.objects.filter(id=question.comparison_item_id).update(left_out=LeftOut.VIDEO_DELETED)
    settle(question.comparison_id)


def settle(comparison_id: UUID, *, canceled: bool = False) -> None:
    """Add up the settled charge; stop a comparison that passed its budget, end one without open questions.

    Every transaction that gives a question of the comparison its outcome calls this after writing the outcome. The lock
    on the comparison's row lets only one transaction be the last, as in batches.settle().
    """
    running = _locked().filter(id=comparison_id, status=ComparisonStatus.RUNNING)
    comparison: Comparison | None = running.first()
    if comparison is None:
        return
    comparison.spent = spent_on(comparison_id)
    comparison.save(update_fields=["spent"])
    limit = comparison.max_total_charge
    if Question.objects.filter(comparison_id=comparison_id, status__in=OPEN).exists():
        if limit is not None and comparison.spent > limit and not comparison.finish_detail:
            comparison.finish_detail = BUDGET_PASSED
            comparison.save(update_fields=["finish_detail"])
            # In a transaction of its own: this one holds a question, and may not wait for the jobs of others.
            enqueue(
                kind=JobKind.STOP_COMPARISON, subject_id=comparison_id, dedupe_key=f"stop-comparison:{comparison_id}"
            )
    elif not canceled and comparison.grading == Grading.JUDGE and next_ungraded(comparison_id):
        comparison.status = ComparisonStatus.GRADING
        comparison.save(update_fields=["status"])
        enqueue(kind=JobKind.GRADE_COMPARISON, subject_id=comparison_id, dedupe_key=grade_key(comparison_id))
    else:
        _finish(comparison, ComparisonStatus.CANCELED if canceled else ComparisonStatus.COMPLETED)


def _finish(comparison: Comparison, status: ComparisonStatus) -> None:
    """End a comparison, whose row is locked, and emit its webhook event."""
    comparison.status = status
    comparison.completed_at = timezone.now()
    comparison.save(update_fields=["status", "finish_detail", "completed_at"])
    if status == ComparisonStatus.COMPLETED or _judged(comparison.id):
        ledger.charge_comparison(comparison_id=comparison.id, api_key_id=comparison.api_key_id)
    data = payloads.comparison_data(comparison, counts_of([comparison.id])[comparison.id])
    emit(type="comparison.completed", resource_id=comparison.id, data=data)


def _judged(comparison_id: UUID) -> bool:
    """Whether the judge has read an answer of a comparison."""
    return Question.objects.filter(comparison_id=comparison_id, graded_by=Grader.JUDGE).exists()


def finish_grading(comparison_id: UUID, *, detail: str = "") -> bool:
    """End a comparison whose answers are graded. Returns False if it was canceled meanwhile.

    detail: why some answers have no grade, such as grading_failed.
    """
    grading = _locked().filter(id=comparison_id, status=ComparisonStatus.GRADING)
    comparison: Comparison | None = grading.first()
    if comparison is None:
        return False
    comparison.finish_detail = comparison.finish_detail or detail
    _finish(comparison, ComparisonStatus.COMPLETED)
    return True


def stop(*, comparison_id: UUID) -> None:
    """Cancel the open questions of a comparison that passed its budget."""
    comparison: Comparison | None = Comparison.objects.filter(id=comparison_id).first()
    if comparison is None or comparison.finish_detail != BUDGET_PASSED:
        return
    if cancel_open(Question.objects.filter(comparison_id=comparison_id), detail=BUDGET_PASSED):
        settle(comparison_id)


def cancel_comparison(*, comparison_id: UUID) -> bool:
    """Cancel the open questions of a comparison, or its grading. Returns whether it was not over yet."""
    canceled = cancel_open(Question.objects.filter(comparison_id=comparison_id))
    if canceled:
        settle(comparison_id, canceled=True)
        return True
    # The job before the comparison, as a worker locks them.
    request_cancel(dedupe_key=grade_key(comparison_id))
    grading = _locked().filter(id=comparison_id, status=ComparisonStatus.GRADING)
    comparison: Comparison | None = grading.first()
    if comparison is None:
        return False
    _finish(comparison, ComparisonStatus.CANCELED)
    return True


def refused_if_over(comparison: Comparison) -> None:
    """Raise Refused comparison_over (409) for a comparison that ended by itself."""
    if comparison.status != ComparisonStatus.CANCELED:
        raise Refused("comparison_over", "Every question of the comparison has its outcome already.")
