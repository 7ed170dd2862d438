"""Grades the answers of a comparison with the judge, one answer and one transaction at a time.

A killed run loses at most the grade it was about to write: the next run goes on with the first answer without one.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import count

from django.utils import timezone

from backend.billing.rates import rates_at
from backend.jobs.services import JobFailed, Lease
from backend.questions.models import Grade
from backend.questions.services import comparison_outcomes, grading
from backend.questions.services.comparison_outcomes import BUDGET_PASSED
from backend.questions.services.grading import Ungraded
from gpu_workers.engine.answering.budget import Allowance, BudgetSpent, Canceled, Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Budget
from gpu_workers.engine.answering.ending.verify import STAGE, judge_answer
from gpu_workers.engine.models.roles import AnswerModels, Meter, ModelRefused
from gpu_workers.tasks.answer_question import budget_of
from gpu_workers.tasks.failures import failing_job
from gpu_workers.tasks.models import answer_models
from gpu_workers.tasks.shared_budget import allowance_for
from workers.runner import FollowUp, Work

TRIES = 2
"""Requests for one verdict: a reply that cannot be read is requested once more."""


def handle(work: Work) -> FollowUp | None:
    with failing_job(work, message="the models do not answer"):
        models = answer_models()
    comparison_id = work.lease.subject_id
    for done in count():
        work.progress(STAGE, done, 0)
        work.require_lease()
        with work.checkpoint():
            ungraded = grading.next_ungraded(comparison_id) if grading.is_grading(comparison_id) else None
            if ungraded is None:
                comparison_outcomes.finish_grading(comparison_id)
                work.complete()
                return None
            known = grading.same_answer_graded(ungraded)
            rates = rates_at(timezone.now())
            passed = grading.charge_passed(comparison_id)
            allowance = allowance_for(ungraded.question_id)
        meter = work.meter()
        if passed:
            work.commit(partial(_store, work, ungraded, "", BUDGET_PASSED, meter))
            return None
        calls = _gate(work, models, meter, budget_of({}, rates, [models.reasoner.name], effort="low"), allowance)
        spent = ""
        try:
            with failing_job(work, message="the answers could not be graded"):
                grade = known if known is not None else _judged(ungraded, calls)
        except BudgetSpent as halt:
            grade, spent = "", halt.code
        except Canceled:
            work.require_lease()
            raise
        work.commit(partial(_store, work, ungraded, grade, spent, meter))
        if spent:
            return None
    return None


def _store(work: Work, ungraded: Ungraded, grade: str, spent: str, meter: Meter) -> None:
    """Write a grade. spent: why the answers that are left stay without one, "" while the grading goes on."""
    if meter.calls or not spent:
        grading.store_judgement(question_id=ungraded.question_id, grade=grade, calls=work.bill(meter))
    if spent:
        comparison_outcomes.finish_grading(work.lease.subject_id, detail=spent)
        work.complete()


def _gate(work: Work, models: AnswerModels, meter: Meter, budget: Budget, allowance: Allowance) -> Calls:
    """Return the gate of the calls for one answer. allowance: what the tenant's month leaves, read before the answer,
    because other work of the tenant consumes the same month."""
    spending = Spending(budget, meter, clock=time.monotonic, should_stop=work.should_stop, allowance=lambda: allowance)
    return Calls(models, spending=spending, meter=meter, in_flight=1)


def _judged(ungraded: Ungraded, calls: Calls) -> str:
    """Return the judge's grade of one answer, "" if the judge declined or could not be understood. Raises Halt,
    ModelError."""
    try:
        for _ in range(TRIES):
            right = judge_answer(calls, question=ungraded.question, truth=ungraded.truth, given=ungraded.given)
            if right is not None:
                return Grade.RIGHT if right else Grade.WRONG
    except ModelRefused:
        return ""
    return ""


def failed(lease: Lease, error: JobFailed) -> None:
    """End the comparison without the grades that are missing: the answers and the other grades stay."""
    comparison_outcomes.finish_grading(lease.subject_id, detail="grading_failed")
