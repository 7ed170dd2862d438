"""What open questions and searches hold of the tenant's quotas: one unit each, and the charge of the price book."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from backend.billing.models import QUESTION, SEARCH, Reserved
from backend.billing.rates import rates_at
from backend.billing.services.limits.quotas import Hold
from backend.billing.services.limits.quotes import question_charge, search_charge
from backend.questions.models import Question
from backend.webhooks.thresholds import hold_work


def hold_questions(questions: Sequence[Question], *, api_key_id: UUID | None, again: bool = False) -> None:
    """Reserve questions that are accepted, all or none; the last step of the transaction.

    Questions that staff asked hold nothing of the tenant's quotas. again: whether they are retried.
    Raises Refused: budget_exhausted, plan_exhausted (402), too_many_open_jobs (429).
    """
    rates = rates_at(timezone.now())
    charges: dict[tuple[str, str], Decimal] = {}
    holds = []
    for question in questions:
        if question.asked_by_operator:
            continue
        variant = (question.method, question.effort)
        if variant not in charges:
            charges[variant] = question_charge(rates, method=question.method, effort=question.effort)
        holds.append(Hold(Reserved.QUESTIONS, QUESTION, question.id, Decimal(1), charges[variant], rates.currency))
    hold_work(holds, api_key_id=api_key_id, again=again)


def hold_search(search_id: UUID, *, api_key_id: UUID | None, again: bool = False) -> None:
    """Reserve a search that is accepted; the last step of the transaction. Raises Refused as hold_questions()."""
    rates = rates_at(timezone.now())
    hold = Hold(Reserved.SEARCHES, SEARCH, search_id, Decimal(1), search_charge(rates), rates.currency)
    hold_work([hold], api_key_id=api_key_id, again=again)
