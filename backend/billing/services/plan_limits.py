"""The operator's ceilings: the limits of the tenant's plan. A tenant cannot lift them; its budget holds next to them.

Media minutes, questions, charge and tokens are those of a calendar month (UTC). Stored bytes and open jobs hold at any
moment. The settings give the limits of plans that have no rows.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.conf import settings

from backend.tenancy import plans
from backend.tenancy.refusals import Refused

CHARGE = "charge"
MEDIA_MINUTES = "media_minutes"
OPEN_JOBS = "open_jobs"
QUESTIONS = "questions"
STORED_BYTES = "stored_bytes"
TOKENS = "tokens"


class PlanExhausted(Refused):
    """A limit of the tenant's plan is used up."""


def plan_limits() -> dict[str, Decimal]:
    """Return the limits of the tenant's plan by their names. A name that is missing has no limit."""
    defaults = {
        MEDIA_MINUTES: plans.limit_of(settings.MEDIA_MINUTES_PER_PLAN),
        STORED_BYTES: plans.limit_of(settings.STORAGE_BYTES_PER_PLAN),
        TOKENS: plans.limit_of(settings.TOKENS_PER_PLAN),
    }
    return {name: Decimal(str(limit)) for name, limit in defaults.items() if limit is not None}


def require_tokens_left(used: int, end: datetime) -> None:
    """Check that the plan has tokens left. used: tokens of the month. Raises PlanExhausted (402 `plan_exhausted`)."""
    limit = plan_limits().get(TOKENS)
    if limit is not None and used >= limit:
        raise exhausted(f"{limit:.0f} tokens", end)


def exhausted(amount: str, end: datetime) -> PlanExhausted:
    """Return the refusal of work that a limit of the plan leaves no room for. end: of the month."""
    return PlanExhausted(
        "plan_exhausted",
        f"The {amount} of your plan for this month is used up or reserved. Wait until {end:%Y-%m-%d}, or change the "
        "plan.",
        status=402,
    )
