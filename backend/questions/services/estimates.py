"""What a question will be charged and how long it will take, from the tenant's questions of its method and effort; and
what its scan will take, from the events of its scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.billing.rates import rates_at
from backend.billing.services.limits.estimates import RECENT, Estimate, Span, estimate
from backend.billing.services.limits.quotes import question_charge
from backend.questions.models import Question, QuestionStatus
from backend.questions.queries.scopes import ScopeWish
from backend.questions.services.drafts import check_route
from backend.questions.services.scan_estimates import RouteEstimate, estimate_route

ASSUMED_MS: dict[str, Span] = {
    "low": Span(Decimal(3_000), Decimal(15_000), Decimal(60_000)),
    "medium": Span(Decimal(10_000), Decimal(60_000), Decimal(240_000)),
    "high": Span(Decimal(30_000), Decimal(180_000), Decimal(900_000)),
    "paper": Span(Decimal(60_000), Decimal(300_000), Decimal(1_800_000)),
}
"""Assumed durations by effort, for a tenant without a history."""


@dataclass(frozen=True, slots=True)
class QuestionEstimate:
    """charge: 0 at its low end, because a question without an answer is not charged. duration: in milliseconds.
    routed: None without a scope."""

    charge: Span
    currency: str
    duration: Estimate
    routed: RouteEstimate | None = None


def estimate_question(
    *,
    method: str,
    effort: str,
    route: str = "auto",
    video_ids: Sequence[UUID] = (),
    collection_id: UUID | None = None,
    **fields: Any,
) -> QuestionEstimate:
    """Return the estimate of one question, which need not be written yet. fields: further ones of estimate_route().

    Raises NoRate if the price book has no price for it, and Refused as estimate_route() does.
    """
    check_route(method, route)
    routed = None
    if video_ids or collection_id is not None:
        wish = ScopeWish(frozenset(video_ids), collection_id)
        routed = estimate_route(wish, method=method, effort=effort, route=route, **fields)
    rates = rates_at(timezone.now())
    price = question_charge(rates, method=method, effort=effort)
    answered = Question.objects.filter(status=QuestionStatus.SUCCEEDED, method=method, effort=effort)
    latest = answered.exclude(completed_at=None).order_by("-completed_at").values_list("timings", flat=True)[:RECENT]
    history = [Decimal(timings["total_ms"]) for timings in reversed(list(latest)) if timings.get("total_ms")]
    return QuestionEstimate(
        Span(Decimal(0), price, price), rates.currency, estimate(history, assumed=ASSUMED_MS[effort]), routed
    )
