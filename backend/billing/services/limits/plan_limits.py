"""The operator's ceilings: the limits of the tenant's plan. A tenant cannot lift them; its budget holds next to them.

Media minutes, questions, charge and tokens are those of a calendar month (UTC). Stored bytes and open jobs hold at any
moment, free work and retries within an hour. The settings give the defaults of limits that the plan does not name.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.db import connection
from django.utils import timezone

from backend.billing.services.limits.crossings import Limited, LimitReached, refused_work
from backend.tenancy.context import current_tenant_id

CHARGE = "charge"
FREE_WORK = "free_work"
MEDIA_MINUTES = "media_minutes"
OPEN_JOBS = "open_jobs"
QUESTIONS = "questions"
RETRIES = "retries"
STORED_BYTES = "stored_bytes"
TOKENS = "tokens"
VIDEOS = "videos"

PLAN, TENANT, KEY = "plan", "tenant", "api_key"
"""Who sets a limit: the operator for the plan, the tenant for itself, the tenant for one of its keys."""


class PlanExhausted(LimitReached):
    """A limit of the tenant's plan is used up."""


# Subscriptions leave no gap: the earliest one that has not ended is in force, or begins in this transaction.
_LIMITS = """
SELECT t.plan, l.name, l.amount FROM tenancy_tenant t
LEFT JOIN billing_planlimit l ON l.plan_version_id = (
    SELECT s.plan_version_id FROM billing_subscription s
    WHERE s.tenant_id = %(tenant)s AND (s.effective_to IS NULL OR s.effective_to > now())
    ORDER BY s.effective_from LIMIT 1)
WHERE t.id = %(tenant)s
"""


def plan_limits() -> dict[str, Decimal]:
    """Return the limits of the tenant's plan by their names. A name that is missing has no limit.

    A limit of the plan's version goes before the default that the settings give to the plan of that name.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LIMITS, {"tenant": current_tenant_id()})
        rows = cursor.fetchall()
    plan = rows[0][0]
    defaults = {
        FREE_WORK: settings.FREE_WORK_PER_HOUR,
        MEDIA_MINUTES: settings.MEDIA_MINUTES_PER_PLAN.get(plan),
        RETRIES: settings.RETRIES_PER_HOUR,
        STORED_BYTES: settings.STORAGE_BYTES_PER_PLAN.get(plan),
        TOKENS: settings.TOKENS_PER_PLAN.get(plan),
    }
    limits = {name: Decimal(str(limit)) for name, limit in defaults.items() if limit is not None}
    return limits | {name: amount for _, name, amount in rows if name is not None}


def require_tokens_left(used: int, end: datetime) -> None:
    """Check that the plan has tokens left. used: tokens of the month. Raises PlanExhausted (402 `plan_exhausted`)."""
    limits = plan_limits()
    if TOKENS in limits and used >= limits[TOKENS]:
        refused = exhausted(f"{limits[TOKENS]:.0f} tokens", end)
        plan = Limited(PLAN, current_tenant_id(), limits)
        refused.crossing = refused_work(plan, TOKENS, Decimal(used), at=timezone.now())
        raise refused


def exhausted(amount: str, end: datetime) -> PlanExhausted:
    """Return the refusal of work that a limit of the plan leaves no room for. end: of the month."""
    return PlanExhausted(
        "plan_exhausted",
        f"The {amount} of your plan for this month is used up or reserved. Wait until {end:%Y-%m-%d}, or change the "
        "plan.",
        status=402,
    )
