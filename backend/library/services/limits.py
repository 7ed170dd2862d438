"""Every limit that holds for a caller, with what counts against it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from backend.billing.rates import rates_at
from backend.billing.services.limits.budgets import monthly_budget
from backend.billing.services.limits.crossings import Limited
from backend.billing.services.limits.free_work import last_hour
from backend.billing.services.limits.own_budgets import NAMES
from backend.billing.services.limits.plan_limits import FREE_WORK, STORED_BYTES, TOKENS, VIDEOS
from backend.billing.services.limits.quotas import Amounts, limits_on, use_of, whole_use_of
from backend.library.queries import video_count

LIMITED = (*NAMES, FREE_WORK, TOKENS, VIDEOS)
"""Everything that can be limited."""


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
    return [limit for limited in limits_on(api_key_id) for limit in lines_of(limited)]


def lines_of(limited: Limited) -> list[Limit]:
    """Return one set of limits by their names, with what counts against each."""
    use = use_by_name(limited.api_key_id, names=limited.limits)
    return [Limit(name, limited.scope, amount, *use[name]) for name, amount in sorted(limited.limits.items())]


def use_by_name(
    api_key_id: UUID | None = None, *, names: Collection[str] = LIMITED
) -> dict[str, tuple[Decimal, Decimal]]:
    """Return what is used and what is reserved of each of the names: by the tenant, or by one key.

    Tokens and videos are those of the tenant.
    """
    now = timezone.now()
    use = (whole_use_of if STORED_BYTES in names else use_of)(api_key_id, at=now)
    measured = {field.name for field in fields(Amounts)}
    found = {name: (use.booked.of(name), use.held.of(name)) for name in names if name in measured}
    if FREE_WORK in names:
        hour = last_hour(rates_at(now).currency, at=now)
        # What is charged makes room for as much that is free.
        found[FREE_WORK] = max(Decimal(0), hour.free - hour.charged), Decimal(0)
    if VIDEOS in names:
        found[VIDEOS] = Decimal(video_count()), Decimal(0)
    if TOKENS in names:
        found[TOKENS] = Decimal(monthly_budget(at=now).used.tokens), Decimal(0)
    return found
