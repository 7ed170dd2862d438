"""Random histories of usage, reversals and closings: the invoices equal a naive recomputation to the last digit."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import ROUND_HALF_EVEN, Decimal

import pytest

from backend.billing.models import CreditUse, Invoice, InvoiceLine, UsageEvent
from backend.tenancy.models import Tenant
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast

CENT = Decimal("0.01")


@pytest.mark.parametrize(("seed", "zone"), [(1, "UTC"), (2, "Asia/Tokyo"), (3, "America/New_York")])
def test_all_invoices_together_are_the_ledger_rated_once(acme: Cast, seed: int, zone: str) -> None:
    dice = random.Random(seed)
    account(acme, time_zone=zone)
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 1, 1))
    start, known = utc(2026, 1, 2), []
    for day in range(0, 150, 10):
        now = start + timedelta(days=day)
        for _ in range(dice.randrange(1, 5)):
            at = start + timedelta(seconds=dice.randrange((day + 1) * 86_400))
            known.append(use(acme, at, f"{dice.randrange(1, 10**7)}e-4", meter="media_seconds"))
        if dice.random() < 0.6:
            row = dice.choice(known)
            use(acme, row.occurred_at, -row.quantity, meter="media_seconds")
        for _ in range(dice.randrange(3)):
            close(acme, now)

    close(acme, utc(2026, 9, 5))

    with acme.scope():
        lines = list(InvoiceLine.objects.all())
        invoices = list(Invoice.objects.all())
        rows = list(UsageEvent.objects.all())
        assert sum(line.exact_amount for line in lines) == sum(row.price_amount for row in rows)
        for period in {line.usage_start for line in lines}:
            end = min((i.period_end for i in invoices if i.period_start == period), default=None)
            if end is None:
                continue
            of_month = sum(row.price_amount for row in rows if period <= row.occurred_at < end)
            billed = sum(line.amount for line in lines if line.usage_start == period)
            assert billed == Decimal(of_month).quantize(CENT, rounding=ROUND_HALF_EVEN)
        # What one invoice gives back as credit, another one uses or the tenant still has.
        used = sum(use.amount for use in CreditUse.objects.all())
        assert sum(invoice.credited for invoice in invoices if invoice.credited > 0) == used
        assert [invoice.sequence for invoice in sorted(invoices, key=lambda row: row.sequence or 0)] == list(
            range(1, len(invoices) + 1)
        )
