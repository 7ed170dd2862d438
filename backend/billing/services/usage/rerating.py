"""Rates usage of the past again after a back-dated price: each row is taken back, and booked at the new price.

The rows of the past keep their amounts. Both new rows lie at the time of the work, so that the terms of that time
apply to the difference; of a closed month it is a late line of the next invoice.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from backend.billing.models import RERATING, Price, UsageEvent
from backend.billing.rates import RatesOverTime
from backend.billing.services.usage.rows import charged_again, replace_once, reversal_of, standing
from backend.billing.services.usage.shown_charges import lock_work, show_charges

BATCH = 500
"""Rows that are read, booked again and shown at a time."""


def rerate(price: Price, *, reason: str) -> int:
    """Book the entered tenant's usage again to which a price applies and which another price valued.

    Only billable rows that no other row takes back. Safe to repeat: a row is booked once at a price. The questions show
    their new charges. Returns the number of rows that were booked again. Runs in the caller's transaction.
    """
    rows = UsageEvent.objects.filter(meter=price.meter, billable=True, occurred_at__gte=price.effective_from)
    if price.effective_to is not None:
        rows = rows.filter(occurred_at__lt=price.effective_to)
    rows = rows.exclude(price_id=price.id).order_by("id")
    lock_work(rows)
    rates, count = RatesOverTime(price.effective_from), 0
    batch = list(standing(rows)[:BATCH])
    while batch:
        count += _rerate(batch, price, rates, reason)
        batch = list(standing(rows.filter(id__gt=batch[-1].id))[:BATCH])
    return count


def _rerate(rows: Sequence[UsageEvent], price: Price, rates: RatesOverTime, reason: str) -> int:
    pairs = []
    for row in rows:
        value = rates.at(row.occurred_at).value("price", row.meter, row.model, row.quantity, row.variant)
        if value.price_id != price.id:
            continue
        name = f"{row.id}:{price.id}"
        turned = reversal_of(row, source_type=RERATING, source_id=name, reason=reason)
        again = charged_again(turned, source_type=RERATING, source_id=f"{name}:again", reason=reason)
        again.price_id, again.price_version = value.price_id, value.version
        again.price_amount, again.price_currency = value.amount, value.currency
        pairs.append((turned, again))
    booked = replace_once(pairs)
    questions: set[UUID] = {row.question_id for row in booked if row.question_id is not None}
    show_charges(questions)
    return len(booked)
