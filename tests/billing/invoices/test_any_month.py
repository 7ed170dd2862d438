"""Closing any months: each line and each total equals a naive recomputation in fractions, to the last digit.

A history is drawn: a plan with prices, tiers, allowances, a minimum and a trial, in a currency and a time zone;
coupons, credit and tax; a change to another plan after months were closed; and work that is booked in time or late,
twice, for nothing, or taken back. Its months are closed in turn. The recomputation shares no code with the rating: it
counts in fractions, from what was drawn.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from uuid6 import uuid7

from backend.billing.invariants import load, registry
from backend.billing.models import (
    BillingPeriod,
    Coupon,
    CreditGrant,
    CreditUse,
    Invoice,
    InvoiceLine,
    InvoiceSeries,
    Plan,
    PlanAllowance,
    PlanTier,
    PlanVersion,
    Price,
    PriceBook,
    Subscription,
    UsageEvent,
    UsageMeter,
)
from backend.billing.services.credit.coupons import redeem_coupon
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.invoicing.closing import grace
from backend.billing.services.invoicing.periods import month_of, period_from
from backend.billing.services.usage.rows import Line, Source, insert_once, reversal_of, write
from backend.tenancy.models import Tenant
from tests.billing.invoices.drawn_months import (
    LATE_UNDER_COUPONS,
    MONTHS,
    PARTLY_INCLUDED,
    TWO_COUPONS,
    History,
    Moved,
    histories,
    moment,
)
from tests.billing.invoices.ledger import account, close, utc
from tests.billing.invoices.naive_months import Naive, Shown
from tests.conftest import Cast, make_tenant


@pytest.mark.usefixtures("database")
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(histories)
@example(PARTLY_INCLUDED)
@example(TWO_COUPONS)
@example(LATE_UNDER_COUPONS)
def test_any_months_are_closed_as_a_naive_recomputation_has_them(history: History) -> None:
    load()
    cast, ids = begun(history)
    first = InvoiceSeries.objects.filter(kind="invoice").values_list("last", flat=True).first() or 0
    naive = Naive(history, ids)
    month = month_of(utc(2026, 3, 15), history.deal.zone)
    numbers = 0
    for closing in range(MONTHS):
        if history.moved is not None and history.moved.month == closing:
            move(cast, history.moved, month.start)
        book(cast, history, closing, half=0)
        close(cast, month.end)
        book(cast, history, closing, half=1)
        now = month.end + grace()

        close(cast, now)

        expected = naive.close(closing)
        made = documents(cast, month.start)
        assert made == ([] if expected is None else [expected])
        numbers += len(made)
        before = everything(cast)
        assert close(cast, now) == []
        assert everything(cast) == before
        month = period_from(month.end, history.deal.zone)
    with cast.scope():
        sequences = sorted(Invoice.objects.values_list("sequence", flat=True))
    assert sequences == list(range(first + 1, first + 1 + numbers))
    names = [name for name in registry.INVARIANTS if name.startswith(("invoice", "credit"))]
    outcomes = [
        *registry.check_all(names, tenants=[cast.tenant_id]),
        *registry.check_all(["invoice_numbers_without_gap"]),
    ]
    assert [one for one in outcomes if one.violations] == []


def begun(history: History) -> tuple[Cast, dict[tuple[str, str, int], UUID]]:
    """Make a tenant with the history's plan, account, coupons and credit. Returns the price of each book entry too."""
    deal, cast = history.deal, make_tenant("acme")
    start = month_of(utc(2026, 3, 15), deal.zone).start
    book = PriceBook.objects.using("staff").create(kind="price", code=cast.slug, currency=deal.currency)
    ids = {}
    for (meter, variant), units in deal.units.items():
        for version, unit in enumerate(units, start=1):
            changed = start + timedelta(days=10)
            ids[meter, variant, version] = (
                Price.objects.using("staff")
                .create(
                    book=book, meter=meter, variant=variant, unit_amount=unit, version=version,
                    effective_from=start if version == 1 else changed,
                    effective_to=changed if version == 1 else None,
                    back_dated=True, author="tests",
                )
                .id
            )  # fmt: skip
    version = PlanVersion.objects.using("staff").create(
        plan=Plan.objects.using("staff").create(code=f"p-{cast.slug[-10:]}", name="Plan"), version=1, price_book=book,
        minimum_amount=deal.minimum, effective_from=start, author="tests",
    )  # fmt: skip
    for (meter, variant), quantity in deal.allowances.items():
        PlanAllowance.objects.using("staff").create(
            plan_version=version, meter=meter, variant=variant, quantity=quantity
        )
    for (meter, variant), ladder in deal.ladders.items():
        mode = "volume" if ladder.volume else "graduated"
        for step in ladder.steps:
            PlanTier.objects.using("staff").create(
                plan_version=version, meter=meter, variant=variant, mode=mode, from_quantity=step.start,
                unit_amount=step.unit,
            )  # fmt: skip
    account(cast, time_zone=deal.zone, tax_rate=history.tax, currency=deal.currency)
    coupons = [
        Coupon(code=f"{n}-{uuid7().hex[-8:].upper()}", author="tests", **asdict(one))
        for n, one in enumerate(history.discounts)
    ]
    Coupon.objects.using("staff").bulk_create(coupons)
    with cast.scope():
        Tenant.objects.filter(id=cast.tenant_id).update(created_at=start)
        created = Subscription.objects.get()
        Subscription.objects.create(
            tenant_id=cast.tenant_id, plan_version_id=version.id, author="tests",
            effective_from=start, effective_to=created.effective_from,
            trial_until=start + timedelta(days=deal.trial) if deal.trial else None,
        )  # fmt: skip
        for coupon in coupons:
            redeem_coupon(code=coupon.code, author="tests", time_zone=deal.zone, at=start)
        for currency, amount in history.grants:
            grant_credit(amount=Decimal(amount), currency=currency, reason="Goodwill", author="tests")
    return cast, ids


def move(cast: Cast, moved: Moved, start: datetime) -> None:
    """Subscribe a tenant to another plan of the same book from the begin of a month on; those before are closed."""
    with cast.scope():
        current = Subscription.objects.select_related("plan_version").get(effective_from__lt=start)
        version = PlanVersion.objects.using("staff").create(
            plan=Plan.objects.using("staff").create(code=f"m-{cast.slug[-10:]}", name="Other"), version=1,
            price_book_id=current.plan_version.price_book_id, minimum_amount=moved.minimum, effective_from=start,
            author="tests",
        )  # fmt: skip
        for (meter, variant), quantity in moved.allowances.items():
            PlanAllowance.objects.using("staff").create(
                plan_version=version, meter=meter, variant=variant, quantity=quantity
            )
        Subscription.objects.filter(id=current.id).update(effective_to=start)
        Subscription.objects.create(
            tenant_id=cast.tenant_id, plan_version_id=version.id, author="tests",
            effective_from=start, effective_to=current.effective_to,
        )  # fmt: skip


def book(cast: Cast, history: History, closing: int, *, half: int) -> None:
    """Book every other piece of work that comes before a closing, and what is taken back before it."""
    for n, work in enumerate(history.work):
        if n % 2 != half:
            continue
        at = moment(history.deal.zone, work.month, work.at)
        source = Source("question", str(n), billable=not work.free, reason="free" if work.free else "")
        line = Line(UsageMeter(work.meter), work.quantity, variant=work.variant)
        with cast.scope():
            if work.booked == closing:
                for _ in range(2 if work.twice else 1):
                    write(source, [line], at)
            if work.taken_back == closing:
                row = UsageEvent.objects.get(source_type="question", source_id=str(n))
                turned = reversal_of(row, source_type="correction", source_id=str(n), reason="outage")
                if not work.own_time:
                    turned.occurred_at = moment(history.deal.zone, closing, work.at)
                for _ in range(2 if work.twice else 1):
                    insert_once([turned])


def documents(cast: Cast, start: datetime) -> list[Shown]:
    """Return the invoices of a month as the database has them."""
    with cast.scope():
        found = []
        for row in Invoice.objects.filter(period_start=start).exclude(state="draft").order_by("currency"):
            lines = list(InvoiceLine.objects.filter(invoice_id=row.id).order_by("ordinal"))
            used = frozenset(
                (
                    month_number(line.usage_start),
                    (
                        line.kind, line.meter, line.variant, line.price_id, line.late,
                        Fraction(line.quantity), Fraction(line.exact_amount), Fraction(line.amount),
                    ),
                )
                for line in lines
                if line.kind != "coupon"
            )  # fmt: skip
            off = tuple(
                (month_number(line.usage_start), int(line.description[0]), line.late, Fraction(line.amount))
                for line in lines
                if line.kind == "coupon"
            )
            assert len(used) + len(off) == len(lines)
            amounts = map(Fraction, (row.subtotal, row.tax, row.total, row.credited))
            found.append(Shown(row.currency, used, frozenset(off), *amounts))
    return found


def month_number(start: datetime) -> int:
    return (start + timedelta(days=2)).month - 3


def everything(cast: Cast) -> list[Any]:
    """Return each row that a closing may write."""
    with cast.scope():
        tables = (Invoice, InvoiceLine, BillingPeriod, CreditGrant, CreditUse)
        rows = [list(table.objects.order_by("id").values()) for table in tables]
    return [*rows, list(InvoiceSeries.objects.order_by("entity", "kind").values())]
