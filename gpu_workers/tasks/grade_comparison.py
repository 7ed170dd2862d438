"""Grades the answers of a comparison with the judge, one answer and one transaction at a time.

A killed run loses at most the grade it was about to write: the next run goes on with the first answer without one.
"""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.billing.rates import Rates, rates_at
from backend.jobs.services import JobFailed, Lease
from backend.questions.models import Grade
from backend.questions.services import comparisons, grading
from backend.questions.services.grading import Ungraded
from backend.tenancy.context import tenant_scope
from backend.tenancy.secrets import cache_salt
from gpu_workers.engine.answering.budget import BudgetSpent, Canceled, Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.grading import STAGE, judge_answer
from gpu_workers.engine.models.roles import AnswerModels, Meter, ModelRefused
from gpu_workers.tasks.answer_question import budget_of
from gpu_workers.tasks.failures import failing_job
from gpu_workers.tasks.models import answer_models
from gpu_workers.tasks.shared_budget import allowance_for
from workers.runner import FollowUp, Work

TRIES = 2
"""Requests for one verdict: a reply that cannot be read is requested once more."""


def handle(work: Work) -> FollowUp | None:
    with failing_job(work, Meter(), message="the models do not answer"):
        models = answer_models()
    comparison_id = work.lease.subject_id
    done = 0
    while True:
        work.require_lease()
        with work.checkpoint():
            ungraded = grading.next_ungraded(comparison_id) if grading.is_grading(comparison_id) else None
            if ungraded is None:
                comparisons.finish_grading(comparison_id)
                work.complete()
                return None
            left = grading.cost_left(comparison_id)
            rates = rates_at(timezone.now())
            known = grading.same_answer_graded(ungraded)
        meter = Meter(cache_salt(work.lease.tenant_id))
        if known:
            grade = known
        else:
            try:
                grade = _judged(work, ungraded, models, meter, left=left, rates=rates)
            except BudgetSpent as spent:
                _end_early(work, comparison_id, ungraded, meter, detail=_detail(spent))
                return None
        with work.checkpoint():
            grading.store_judgement(question_id=ungraded.question_id, grade=grade, calls=meter.calls)
        done += 1
        work.progress(STAGE, done, 0)


def _judged(
    work: Work, ungraded: Ungraded, models: AnswerModels, meter: Meter, *, left: Decimal | None, rates: Rates
) -> str:
    """Return the judge's grade of one answer, "" if the judge declined or could not be understood. Raises BudgetSpent,
    LeaseLost, and JobFailed if the reasoner does not answer."""
    with tenant_scope(work.lease.tenant_id):
        # Other work of the tenant consumes the same month's budget, so it is read again for each answer.
        allowance = allowance_for(ungraded.question_id)
    limits: dict[str, Any] = {} if left is None else {"max_cost": left}
    budget = budget_of(limits, rates, [models.reasoner.name])
    spending = Spending(budget, meter, clock=time.monotonic, should_stop=work.should_stop, allowance=lambda: allowance)
    calls = Calls(models, spending=spending, meter=meter, in_flight=1)
    with failing_job(work, meter, message="the answers could not be graded"):
        try:
            for _ in range(TRIES):
                right = judge_answer(calls, question=ungraded.question, truth=ungraded.truth, given=ungraded.given)
                if right is not None:
                    return Grade.RIGHT if right else Grade.WRONG
        except ModelRefused:
            return ""
        except Canceled:
            with tenant_scope(work.lease.tenant_id):
                grading.record_unused(calls=meter.calls, reason="stopped")
            work.require_lease()
    return ""


def _end_early(work: Work, comparison_id: UUID, ungraded: Ungraded, meter: Meter, *, detail: str) -> None:
    """End the grading because a budget is used up: the answers that are left stay without a grade."""
    with work.checkpoint():
        if meter.calls:
            grading.store_judgement(question_id=ungraded.question_id, grade="", calls=meter.calls)
        comparisons.finish_grading(comparison_id, detail=detail)
        work.complete()


def _detail(spent: BudgetSpent) -> str:
    return "comparison_budget" if spent.code == "max_cost" else spent.code


def failed(lease: Lease, error: JobFailed) -> None:
    """End the comparison without the grades that are missing: the answers and the other grades stay."""
    comparisons.finish_grading(lease.subject_id, detail="grading_failed")
