"""Every limit that holds for a caller, with what counts against it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from backend.billing.services.budgets import monthly_budget
from backend.billing.services.plan_limits import STORED_BYTES, TOKENS
from backend.billing.services.quotas import limits_on, use_of
from backend.library.services.storage_quota import storage_use


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit. scope: plan, tenant or api_key. used: booked or stored; reserved: of open work on top of it."""

    name: str
    scope: str
    amount: Decimal
    used: Decimal
    reserved: Decimal = Decimal(0)

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.amount - self.used - self.reserved)


def limits_of(api_key_id: UUID | None) -> list[Limit]:
    """Return the limits of the plan, of the tenant's budget and of the key's budget, in this order."""
    now = timezone.now()
    found = []
    for limited in limits_on(api_key_id):
        use = use_of(limited.api_key_id, at=now)
        for name, amount in sorted(limited.limits.items()):
            if name == STORED_BYTES:
                storage = storage_use()
                found.append(Limit(name, limited.scope, amount, Decimal(storage.stored), Decimal(storage.reserved)))
            elif name == TOKENS:
                tokens = monthly_budget(at=now).used.tokens
                found.append(Limit(name, limited.scope, amount, Decimal(tokens)))
            else:
                found.append(Limit(name, limited.scope, amount, use.booked.of(name), use.held.of(name)))
    return found
