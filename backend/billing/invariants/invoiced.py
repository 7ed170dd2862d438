"""The usage lines of closed months are the ledger's rows of these months."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import combinations
from typing import Any

from django.db import connection
from django.utils import timezone

from backend.billing.invariants.registry import invariant
from backend.billing.models import BillingPeriod
from backend.billing.rates import plain
from backend.tenancy.context import current_tenant_id

CHECKED_PERIODS = 2
"""Closed periods that are checked: the last ones. Later invoices correct older ones, whose usage was checked before."""
OVERLAP = timedelta(minutes=10)
"""Longest time between a row's recorded_at and its commit: an invoice may or may not have seen such a row."""
MOST_UNCERTAIN = 10
"""Rows of one line that an invoice may or may not have seen, up to which each combination is tried."""

# Until when all that was recorded is invoiced: a numbered document takes the changes of all earlier months, too.
_UNTIL = """
SELECT max(n.given_at) FILTER (WHERE i.state <> 'void'), max(i.voided_at) FROM billing_invoice i
LEFT JOIN billing_invoicenumber n ON n.invoice_id = i.id AND n.kind = i.kind
WHERE i.tenant_id = %(tenant)s AND i.kind = 'invoice' AND i.period_start >= %(start)s
"""
_LINES = """
WITH billed AS (
    SELECT i.currency, l.meter, l.variant, l.price_id, sum(l.exact_amount) AS amount
    FROM billing_invoiceline l JOIN billing_invoice i ON i.tenant_id = l.tenant_id AND i.id = l.invoice_id
    WHERE l.tenant_id = %(tenant)s AND l.usage_start = %(start)s AND l.kind = 'usage' AND i.kind = 'invoice'
      AND i.state IN ('final', 'paid')
    GROUP BY 1, 2, 3, 4
), ledger AS (
    SELECT price_currency AS currency, meter, variant, price_id,
        sum(price_amount) FILTER (WHERE recorded_at <= %(certain)s) AS amount,
        array_agg(price_amount) FILTER (WHERE recorded_at > %(certain)s AND recorded_at <= %(until)s) AS uncertain
    FROM billing_usageevent
    WHERE tenant_id = %(tenant)s AND occurred_at >= %(start)s AND occurred_at < %(end)s AND billable
    GROUP BY 1, 2, 3, 4
)
SELECT currency, meter, variant, coalesce(billed.amount, 0), coalesce(ledger.amount, 0),
    coalesce(ledger.uncertain, ARRAY[]::numeric[])
FROM billed FULL JOIN ledger USING (currency, meter, variant, price_id) ORDER BY 1, 2, 3
"""


@invariant("invoices_equal_the_ledger")
def invoices_equal_the_ledger() -> list[str]:
    """The usage lines of a closed month, late ones included, are the ledger's rows that were recorded before the last
    document. Rows recorded after it are lines of the next invoice."""
    periods = BillingPeriod.objects.filter(closed_at__isnull=False).order_by("-start_at")[:CHECKED_PERIODS]
    return [words for period in reversed(periods) for words in _differences(period)]


def _differences(period: BillingPeriod) -> list[str]:
    tenant: dict[str, Any] = {"tenant": current_tenant_id(), "start": period.start_at}
    with connection.cursor() as cursor:
        cursor.execute(_UNTIL, tenant)
        until, voided_at = cursor.fetchone()
        until = until or _closed_at(period)
        # What a void document held goes to the next one.
        if until is None or (voided_at is not None and voided_at > until):
            return []
        moments = {"end": period.end_at, "certain": until - OVERLAP, "until": until + OVERLAP}
        cursor.execute(_LINES, {**tenant, **moments})
        rows = cursor.fetchall()
    return [
        f"{period.start_at:%Y-%m-%d} {meter} {variant or 'any'}: invoiced {plain(billed)} {currency}, and the ledger "
        f"has {plain(ledger)}"
        for currency, meter, variant, billed, ledger, uncertain in rows
        if not _agrees(billed - ledger, uncertain)
    ]


def _closed_at(period: BillingPeriod) -> datetime | None:
    """Return when a period without a document was closed, None if that lies ahead of the clock."""
    closed_at: datetime | None = period.closed_at
    return closed_at if closed_at is not None and closed_at <= timezone.now() else None


def _agrees(difference: Decimal, uncertain: Sequence[Decimal]) -> bool:
    """Whether some of the rows that an invoice may have seen make up a difference."""
    if not difference:
        return True
    if len(uncertain) > MOST_UNCERTAIN:
        return True
    return any(
        sum(some, Decimal(0)) == difference
        for count in range(1, len(uncertain) + 1)
        for some in combinations(uncertain, count)
    )
