"""The operator's limits per plan and calendar month (UTC). They hold next to the budget that a tenant sets itself."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from backend.billing.models import UsageEvent, UsageMeter
from backend.tenancy import plans
from backend.tenancy.months import month_of
from backend.tenancy.refusals import Refused


class PlanExhausted(Refused):
    """A limit of the tenant's plan is used up."""


def require_media_left(*, at: datetime | None = None) -> None:
    """Check that the plan has minutes of recordings left. Raises PlanExhausted (402 `plan_exhausted`).

    Recordings count when they are indexed, so those that wait may pass the limit.
    """
    limit = plans.limit_of(settings.MEDIA_MINUTES_PER_PLAN)
    if limit is None:
        return
    start, end = month_of(at or timezone.now())
    rows = UsageEvent.objects.filter(occurred_at__gte=start, occurred_at__lt=end, meter=UsageMeter.MEDIA_SECONDS)
    seconds: Decimal = rows.aggregate(total=Sum("quantity", default=Decimal(0)))["total"]
    if seconds >= Decimal(limit) * 60:
        raise _exhausted(f"{limit:.0f} minutes of recordings", end)


def require_tokens_left(used: int, end: datetime) -> None:
    """Check that the plan has tokens left. used: tokens of the month. Raises PlanExhausted (402 `plan_exhausted`)."""
    limit = plans.limit_of(settings.TOKENS_PER_PLAN)
    if limit is not None and used >= limit:
        raise _exhausted(f"{limit:.0f} tokens", end)


def _exhausted(amount: str, end: datetime) -> PlanExhausted:
    return PlanExhausted(
        "plan_exhausted",
        f"The {amount} of your plan for this month are used up. Wait until {end:%Y-%m-%d}, or change the plan.",
        status=402,
    )
