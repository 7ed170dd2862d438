"""Rates usage of the past again after a back-dated price: each row is taken back, and booked at the new price.

The rows of the past keep their amounts. Both new rows lie at the time of the work, so that the terms of that time
apply to the difference; of a closed month it is a late line of the next invoice.
"""

from __future__ import annotations

from backend.billing.models import RERATING, Price, UsageEvent
from backend.billing.rates import rates_at
from backend.billing.services.rows import insert_once, reversal_of

BATCH = 500


def rerate(price: Price, *, reason: str) -> int:
    """Book the entered tenant's usage again to which a price applies and which another price valued.

    Only billable rows that no other row takes back. Safe to repeat: a row is booked once at a price. Returns the number
    of rows that were booked again. Runs in the caller's transaction.
    """
    rows = UsageEvent.objects.filter(
        meter=price.meter, billable=True, reverses_id=None, occurred_at__gte=price.effective_from
    ).exclude(price_id=price.id)
    if price.effective_to is not None:
        rows = rows.filter(occurred_at__lt=price.effective_to)
    booked: list[UsageEvent] = []
    for row in rows.order_by("id").iterator(chunk_size=BATCH):
        rate = rates_at(row.occurred_at)
        value = rate.value("price", row.meter, row.model, row.quantity, row.variant)
        if value.price_id != price.id or UsageEvent.objects.filter(reverses_id=row.id).exists():
            continue
        turned = reversal_of(row, source_type=RERATING, source_id=f"{row.id}:{price.id}", reason=reason)
        again = reversal_of(turned, source_type=RERATING, source_id=f"{row.id}:{price.id}:again", reason=reason)
        again.reverses_id = None
        again.price_id, again.price_version = value.price_id, value.version
        again.price_amount, again.price_currency = value.amount, value.currency
        booked += [turned, again]
    insert_once(booked)
    return len(booked) // 2
