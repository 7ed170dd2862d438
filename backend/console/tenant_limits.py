"""The limits of a tenant as its page shows them: read in the tenant, by the services that hold work to them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import F

from backend.billing.models import Budget, PlanLimit
from backend.billing.services.limits.plan_limits import plan_limits
from backend.billing.services.limits.quotas import limited_by
from backend.library.services.limits import lines_of, use_by_name
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import ApiKey

MOST_BUDGETS = 50


@dataclass(frozen=True, slots=True)
class LimitLine:
    """What counts against a limit. used: with what open work reserves. limit: None without a limit. whose: the name of
    the key that it limits, "" for the tenant as a whole."""

    name: str
    used: Decimal
    reserved: Decimal
    limit: Decimal | None
    whose: str = ""

    @property
    def percent(self) -> float | None:
        if self.limit is None:
            return None
        return float(min(Decimal(100), 100 * self.used / self.limit)) if self.limit else 100.0

    @property
    def full(self) -> bool:
        return self.percent is not None and self.percent >= 80


def of_plan(tenant_id: UUID) -> list[LimitLine]:
    """Return what a tenant uses of everything that its plan can limit, in the order of the plan's names."""
    with tenant_scope(tenant_id):
        use, limits = use_by_name(), plan_limits()
    return [
        LimitLine(name, use[name][0] + use[name][1], use[name][1], limits.get(name)) for name in PlanLimit.Name.values
    ]


def of_budgets(tenant_id: UUID) -> list[LimitLine]:
    """Return the limits of the first MOST_BUDGETS budgets that a tenant has set: its own, then those of its keys."""
    with tenant_scope(tenant_id):
        budgets = list(Budget.objects.order_by(F("api_key_id").asc(nulls_first=True))[:MOST_BUDGETS])
        keys = ApiKey.objects.filter(id__in=[budget.api_key_id for budget in budgets])
        whose = defaultdict[UUID | None, str](str, {key.id: key.name or key.hint for key in keys})
        return [
            LimitLine(limit.name, limit.used + limit.reserved, limit.reserved, limit.amount, whose[budget.api_key_id])
            for budget in sorted(
                limited_by(budgets), key=lambda row: (row.api_key_id is not None, whose[row.api_key_id])
            )
            for limit in lines_of(budget)
        ]
