"""Free work: how much begun work may end without a charge within an hour.

A customer may end work that has begun, and pays nothing for it, within a share: what ended free within the last hour
may be worth as much by list price as what was charged within that hour, and the plan's `free_work` more. What ends
beyond the share is charged. So at most half of the model work beyond `free_work` an hour is unpaid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import connection
from django.utils import timezone

from backend.billing.charges import Charge
from backend.billing.services.limits.plan_limits import FREE_WORK, plan_limits
from backend.tenancy.context import current_tenant_id

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Ending:
    """Begun work that ends without an answer. charge: its list price."""

    source_id: UUID
    charge: Charge


@dataclass(frozen=True, slots=True)
class LastHour:
    """List prices of what was charged and of what ended free, in one currency, within the last hour."""

    charged: Decimal
    free: Decimal


_LAST_HOUR = """
SELECT coalesce(sum(charge) FILTER (WHERE ended = 'charged'), 0), coalesce(sum(charge) FILTER (WHERE ended = 'free'), 0)
FROM billing_reservation
WHERE tenant_id = %(tenant)s AND ended IN ('charged', 'free') AND settled_at > %(since)s AND currency = %(currency)s
"""


def last_hour(currency: str, *, at: datetime | None = None) -> LastHour:
    """Return what questions and searches of the tenant came to in the hour before a moment, now by default."""
    since = (at or timezone.now()) - HOUR
    with connection.cursor() as cursor:
        cursor.execute(_LAST_HOUR, {"tenant": current_tenant_id(), "since": since, "currency": currency})
        return LastHour(*cursor.fetchone())


def free_endings(endings: Sequence[Ending]) -> set[UUID]:
    """Return the ids of the endings that are free; the others are charged. The caller settles both in its transaction.

    Endings of one tenant are judged one after another. The lock comes after those of jobs, questions and searches, and
    before those of batches and comparisons.
    """
    if not endings:
        return set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"free_work:{current_tenant_id()}"])
    share = plan_limits()[FREE_WORK]
    hours: dict[str, LastHour] = {}
    free = set()
    for ending in endings:
        amount, currency = ending.charge.amount, ending.charge.currency
        hour = hours.get(currency) or last_hour(currency)
        if hour.free + amount <= hour.charged + share:
            free.add(ending.source_id)
            hours[currency] = LastHour(hour.charged, hour.free + amount)
        else:
            hours[currency] = LastHour(hour.charged + amount, hour.free)
    return free
