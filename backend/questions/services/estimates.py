"""What a question will be charged and how long it will take, from the tenant's questions of its method and effort."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from backend.billing.rates import rates_at
from backend.billing.services.estimates import RECENT, Estimate, Span, estimate
from backend.billing.services.quotes import question_charge
from backend.questions.models import Question, QuestionStatus

ASSUMED_MS: dict[str, Span] = {
    "low": Span(Decimal(3_000), Decimal(15_000), Decimal(60_000)),
    "medium": Span(Decimal(10_000), Decimal(60_000), Decimal(240_000)),
    "high": Span(Decimal(30_000), Decimal(180_000), Decimal(900_000)),
    "paper": Span(Decimal(60_000), Decimal(300_000), Decimal(1_800_000)),
}
"""Assumed durations by effort, for a tenant without a history."""


@dataclass(frozen=True, slots=True)
class QuestionEstimate:
    """charge: 0 at its low end, because a question without an answer is not charged. duration: in milliseconds."""

    charge: Span
    currency: str
    duration: Estimate


def estimate_question(*, method: str, effort: str) -> QuestionEstimate:
    """Return the estimate of one question. Raises NoRate if the price book has no price for it."""
    rates = rates_at(timezone.now())
    price = question_charge(rates, method=method, effort=effort)
    answered = Question.objects.filter(status=QuestionStatus.SUCCEEDED, method=method, effort=effort)
    latest = answered.exclude(completed_at=None).order_by("-completed_at").values_list("timings", flat=True)[:RECENT]
    history = [Decimal(timings["total_ms"]) for timings in reversed(list(latest)) if timings.get("total_ms")]
    return QuestionEstimate(
        Span(Decimal(0), price, price), rates.currency, estimate(history, assumed=ASSUMED_MS[effort])
    )
