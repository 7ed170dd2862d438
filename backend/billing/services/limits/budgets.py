"""The monthly budget: what all questions and searches of a tenant may consume in one calendar month (UTC).

The used amounts are those of the month's ledger rows and of attempts that have not been recorded yet. Cost is the cost
of running the calls by the cost book: a question's own max_cost is in the same measure, and the flat price of a
question does not grow while it runs. An attempt counts whatever its end: answered, canceled, expired or tried again.
Failed calls, attempts that an outage ended, and what staff ask, are ours and do not count. Neither does indexing, which
an upload requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from backend.billing.models import OpenSpending, TenantBudget
from backend.billing.rates import Rates, plain, quantity
from backend.billing.services.limits.plan_limits import TOKENS, PlanExhausted, plan_limits, require_tokens_left
from backend.billing.services.usage.ledger import device_ms, lines_of
from backend.tenancy.context import current_tenant_id
from backend.tenancy.months import month_of
from backend.tenancy.refusals import Refused

if TYPE_CHECKING:
    from gpu_workers.engine.models import roles


class MonthlyBudgetExhausted(Refused):
    """One of the tenant's monthly limits is used up."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per month; None is no limit. max_tokens: prompt and completion. max_seconds: of model time."""

    max_tokens: int | None = None
    max_seconds: Decimal | None = None
    max_cost: Decimal | None = None

    @property
    def any(self) -> bool:
        return not (self.max_tokens is None and self.max_seconds is None and self.max_cost is None)


@dataclass(frozen=True, slots=True)
class Consumed:
    """Consumed amounts. seconds: of model time. cost: in the ledger's currency."""

    tokens: int = 0
    seconds: Decimal = Decimal(0)
    cost: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class MonthlyBudget:
    """A tenant's limits and the amounts used from start_at up to end_at."""

    limits: Limits
    used: Consumed
    start_at: datetime
    end_at: datetime

    @property
    def left(self) -> Limits:
        """Return the amounts that may still be consumed, never below zero; None without a limit."""
        limits, used = self.limits, self.used
        return Limits(
            None if limits.max_tokens is None else max(0, limits.max_tokens - used.tokens),
            None if limits.max_seconds is None else max(Decimal(0), limits.max_seconds - used.seconds),
            None if limits.max_cost is None else max(Decimal(0), limits.max_cost - used.cost),
        )

    @property
    def exhausted(self) -> str:
        """Return the name of the first limit that is used up, "" if there is none."""
        left = self.left
        amounts = {"max_tokens": left.max_tokens, "max_seconds": left.max_seconds, "max_cost": left.max_cost}
        return next((name for name, amount in amounts.items() if amount is not None and amount <= 0), "")


def limits() -> Limits:
    """Return the tenant's limits; a tenant without a row has none."""
    row = TenantBudget.objects.first()
    return Limits() if row is None else Limits(row.max_tokens, row.max_seconds, row.max_cost)


def set_own_limits(*, max_tokens: int | None, max_seconds: Decimal | None) -> None:
    """Replace the limits that a tenant sets itself, None for no limit. The operator's limit of cost stays.

    Running questions obey the new limits from their next model call on.
    """
    _set(max_tokens=max_tokens, max_seconds=max_seconds)


def set_cost_ceiling(max_cost: Decimal | None) -> None:
    """Set the operator's limit of the tenant's monthly cost, None for no limit. The tenant's own limits stay."""
    _set(max_cost=max_cost)


def _set(**amounts: int | Decimal | None) -> None:
    """Write the given limits and no other, so that two who write different ones at once both count."""
    row = TenantBudget(tenant_id=current_tenant_id(), **amounts)
    TenantBudget.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["tenant"], update_fields=[*amounts, "updated_at"]
    )


# Both in one statement: an answer that is stored moves from one to the other and must not be missed in between.
_USED = """
SELECT coalesce(done.tokens, 0) + open.tokens, coalesce(done.seconds, 0) + open.seconds,
    coalesce(done.cost, 0) + open.cost
FROM (
    SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(seconds), 0) AS seconds, coalesce(sum(cost), 0) AS cost
    FROM billing_openspending
    WHERE tenant_id = %(tenant)s AND question_id IS DISTINCT FROM %(without)s AND updated_at >= %(start)s
) open LEFT JOIN billing_usagemonth done ON done.tenant_id = %(tenant)s AND done.month = %(month)s
"""


def monthly_budget(*, without: UUID | None = None, at: datetime | None = None) -> MonthlyBudget:
    """Return the tenant's limits with the used amounts. without: an open question whose consumption is not counted.

    For an open question (without is given) nothing is summed up if the tenant has no limit: used is zero then.
    """
    start, end = month_of(at or timezone.now())
    budget_limits = limits()
    if without is not None and not budget_limits.any:
        return MonthlyBudget(budget_limits, Consumed(), start, end)
    return MonthlyBudget(budget_limits, _used(start, without), start, end)


def _used(start: datetime, without: UUID | None) -> Consumed:
    with connection.cursor() as cursor:
        # What this transaction has written itself is added to the month now, and otherwise when it commits.
        cursor.execute("SET CONSTRAINTS billing_month IMMEDIATE")
        cursor.execute(
            _USED, {"tenant": current_tenant_id(), "month": start.date(), "start": start, "without": without}
        )
        tokens, seconds, cost = cursor.fetchone()
    return Consumed(int(tokens), seconds, cost)


def require_left() -> None:
    """Check that the month's budget and the plan's tokens are not used up. Raises MonthlyBudgetExhausted (402
    `budget_exhausted`) and PlanExhausted (402 `plan_exhausted`, also at the operator's limit of cost)."""
    if not (limits().any or TOKENS in plan_limits()):
        return
    budget = monthly_budget()
    require_tokens_left(budget.used.tokens, budget.end_at)
    name, until = budget.exhausted, f"{budget.end_at:%Y-%m-%d}"
    if name == "max_cost":
        # Costs are the operator's: a customer sees neither them nor the limit that staff set.
        raise PlanExhausted(
            "plan_exhausted",
            f"What your account may consume in a month is used up. Wait until {until}, or ask us for more.",
            status=402,
        )
    if name:
        amounts = {
            "max_tokens": f"{budget.limits.max_tokens} tokens",
            "max_seconds": f"{plain(budget.limits.max_seconds or 0)} s of model time",
        }
        raise MonthlyBudgetExhausted(
            "budget_exhausted",
            f"The budget's {name} of {amounts[name]} a month is used up. Wait until {until}, or raise the limit.",
            status=402,
        )


def exhausted_for(question_id: UUID) -> str:
    """Return the name of a monthly limit that leaves nothing for a question, "" if it may begin."""
    return monthly_budget(without=question_id).exhausted


# --- consumption of attempts that are not recorded yet ----------------------------------------------------------------


def consumed_by(calls: Sequence[roles.ModelCall], rates: Rates) -> Consumed:
    """Return the consumption of the successful calls as the ledger will count and value it."""
    calls = [call for call in calls if call.ok]
    return Consumed(
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in calls),
        seconds=quantity(sum(map(device_ms, calls), Decimal(0)) / 1000),
        cost=sum(
            (rates.value("cost", line.meter, line.model, line.quantity).amount for line in lines_of(calls)), Decimal(0)
        ),
    )


def note_spending(*, question_id: UUID, consumed: Consumed) -> None:
    """Store what an open question has consumed so far; replaces the earlier amounts.

    Call this only under the lease of the question's job, so that nothing is stored for a question that is over.
    """
    row = OpenSpending(
        tenant_id=current_tenant_id(),
        question_id=question_id,
        tokens=consumed.tokens,
        seconds=consumed.seconds,
        cost=consumed.cost,
    )
    OpenSpending.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["tenant", "question_id"],
        update_fields=["tokens", "seconds", "cost", "updated_at"],
    )


def forget_spending(question_ids: Sequence[UUID]) -> None:
    """Delete the amounts of questions whose attempts are recorded: the ledger holds their consumption now.

    A canceled question keeps its amounts until its worker has stopped and recorded them. Those that a killed worker
    left of an earlier month are deleted, too.
    """
    earlier = Q(updated_at__lt=month_of(timezone.now())[0])
    OpenSpending.objects.filter(earlier | Q(question_id__in=question_ids)).delete()
