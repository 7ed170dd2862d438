"""The budgets that a tenant sets for itself and for its API keys; services.quotas holds work to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from backend.billing.models import Budget
from backend.billing.rates import currency_at
from backend.billing.services.limits.plan_limits import (
    CHARGE,
    MEDIA_MINUTES,
    OPEN_JOBS,
    QUESTIONS,
    RETRIES,
    STORED_BYTES,
)
from backend.billing.services.limits.quotas import Use, suspended, whole_use_of
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import ApiKey
from backend.tenancy.months import month_of
from backend.tenancy.refusals import invalid

NAMES = (CHARGE, MEDIA_MINUTES, QUESTIONS, OPEN_JOBS, RETRIES, STORED_BYTES)
"""Limits that a budget can have."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One budget and what counts against it in the month from start_at up to end_at. use: in the budget's currency.

    charge_holds: whether the tenant is charged in the budget's currency, so that its limit of charge holds.
    """

    budget: Budget
    use: Use
    charge_holds: bool
    start_at: datetime
    end_at: datetime

    def left(self, name: str) -> Decimal | None:
        """Return what may still be accepted, never below zero; None without a limit that holds."""
        limit = getattr(self.budget, name)
        if name == CHARGE and not self.charge_holds:
            return None
        return None if limit is None else max(Decimal(0), Decimal(limit) - self.use.total(name))


def standing_of(budget: Budget) -> Standing:
    """Return a budget with what counts against it now."""
    now = timezone.now()
    use = whole_use_of(budget.api_key_id, at=now, currency=budget.currency)
    return Standing(budget, use, not suspended([budget], at=now), *month_of(now))


def set_budget(*, api_key_id: UUID | None, limits: Mapping[str, Decimal | int | None]) -> Budget:
    """Replace the limits of the tenant, or of one of its keys. A name of NAMES that is left out has no limit.

    A limit of charge is in the currency in which the tenant is charged now. Work that is open already goes on. Raises
    Refused `not_found` (400) for a key that the tenant does not have.
    """
    if api_key_id is not None and not ApiKey.objects.filter(id=api_key_id).exists():
        raise invalid(pointer="/api_key_id", code="not_found", detail="There is no such API key.")
    row = Budget(
        tenant_id=current_tenant_id(),
        api_key_id=api_key_id,
        currency=currency_at(timezone.now()),
        **{name: limits.get(name) for name in NAMES},
    )
    Budget.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["tenant", "api_key_id"],
        update_fields=[*NAMES, "currency", "updated_at"],
    )
    stored: Budget = Budget.objects.get(api_key_id=api_key_id)
    return stored


def delete_budget(budget: Budget) -> None:
    """Delete a budget: its limits hold no longer."""
    Budget.objects.filter(id=budget.id).delete()
