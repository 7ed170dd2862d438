"""Webhook events about the monthly budget: most of a limit is used, or all of it."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid5

from backend.api import public_ids
from backend.billing.models import TenantBudget
from backend.billing.rates import plain
from backend.billing.services.budgets import monthly_budget
from backend.webhooks.payloads import timestamp
from backend.webhooks.services import emit

THRESHOLD_PERCENT = 80


def report_budget() -> None:
    """Emit `usage.threshold_reached` and `budget.exceeded` for each limit that the tenant has come to.

    Call this in a transaction that has changed what is used. Each event is emitted once per month and amount of the
    limit. A tenant without a limit costs one look-up.
    """
    row = TenantBudget.objects.first()
    if row is None:
        return
    budget = monthly_budget()
    amounts: dict[str, tuple[Decimal | int | None, Decimal | int]] = {
        "max_tokens": (budget.limits.max_tokens, budget.used.tokens),
        "max_seconds": (budget.limits.max_seconds, budget.used.seconds),
        "max_cost": (budget.limits.max_cost, budget.used.cost),
    }
    for name, (amount, used) in amounts.items():
        if amount is None or used * 100 < amount * THRESHOLD_PERCENT:
            continue
        data = {
            "id": public_ids.encode("bud", row.id),
            "object": "budget",
            "limit": name,
            "amount": plain(Decimal(amount)),
            "used": plain(Decimal(used)),
            "percent": int(used * 100 / amount) if amount else 100,
            "start_at": timestamp(budget.start_at),
            "end_at": timestamp(budget.end_at),
        }
        # The id of a change, so that the same change is emitted once.
        change = f"{budget.start_at:%Y-%m}:{name}:{plain(Decimal(amount))}"
        emit(type="usage.threshold_reached", resource_id=uuid5(row.id, change), data=data)
        if used >= amount:
            emit(type="budget.exceeded", resource_id=uuid5(row.id, change), data=data)
