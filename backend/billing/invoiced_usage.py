"""Sums of the ledger for invoices, and what of them has been invoiced."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import connection
from django.db.models import Sum

from backend.billing.models import COUPON_LINE, Invoice, InvoiceKind, InvoiceLine, InvoiceState
from backend.tenancy.context import current_tenant_id


@dataclass(frozen=True, slots=True, order=True)
class LineKey:
    """What distinguishes the lines of one period and currency."""

    kind: str
    meter: str
    variant: str
    price_id: UUID | None


@dataclass(frozen=True, slots=True)
class Billed:
    """What lines hold. exact: the ledger's amount of a usage line. amount: in the currency's minor unit."""

    quantity: Decimal = Decimal(0)
    exact: Decimal = Decimal(0)
    amount: Decimal = Decimal(0)

    def __sub__(self, other: Billed) -> Billed:
        return Billed(self.quantity - other.quantity, self.exact - other.exact, self.amount - other.amount)


@dataclass(frozen=True, slots=True)
class LedgerSum:
    """The ledger's billable rows of one price in one span of time."""

    currency: str
    meter: str
    variant: str
    price_id: UUID | None
    price_version: int | None
    unit_amount: Decimal
    quantity: Decimal
    amount: Decimal


_SUMS = """
SELECT event.price_currency, event.meter, event.variant, event.price_id, max(event.price_version),
    coalesce(max(price.unit_amount), 0), sum(event.quantity), sum(event.price_amount)
FROM billing_usageevent event LEFT JOIN billing_price price ON price.id = event.price_id
WHERE event.tenant_id = %s AND event.occurred_at >= %s AND event.occurred_at < %s AND event.billable
GROUP BY 1, 2, 3, 4
HAVING sum(event.price_amount) <> 0 OR (sum(event.quantity) <> 0 AND event.meter = ANY(%s))
ORDER BY 1, 2, 3, 5, 4
"""
_FIRST = "SELECT min(occurred_at) FROM billing_usageevent WHERE tenant_id = %s AND billable"
SHOWN_WITHOUT_A_PRICE = [
    "media_seconds", "live_seconds", "questions", "searches", "comparisons", "storage_gb_hours", "egress_gb",
]  # fmt: skip


def ledger_sums(start: datetime, end: datetime) -> list[LedgerSum]:
    """Return the entered tenant's billable rows with start <= occurred_at < end, summed up by currency and price."""
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, [current_tenant_id(), start, end, SHOWN_WITHOUT_A_PRICE])
        return [LedgerSum(*row) for row in cursor.fetchall()]


def first_usage() -> datetime | None:
    """Return when the entered tenant first used something that is billed, None if it never did."""
    with connection.cursor() as cursor:
        cursor.execute(_FIRST, [current_tenant_id()])
        moment: datetime | None = cursor.fetchone()[0]
        return moment


def invoiced(period_start: datetime) -> dict[str, dict[LineKey, Billed]]:
    """Return what has been invoiced for the usage of the period that began at period_start, by currency.

    Void documents count for nothing. Credit notes and coupons correct money, not usage, and do not count.
    """
    documents = _numbered()
    rows = (
        InvoiceLine.objects.filter(usage_start=period_start, invoice_id__in=documents)
        .exclude(kind=COUPON_LINE)
        .values("invoice_id", "kind", "meter", "variant", "price_id")
        .annotate(quantities=Sum("quantity"), exacts=Sum("exact_amount"), amounts=Sum("amount"))
    )
    found: dict[str, dict[LineKey, Billed]] = defaultdict(dict)
    for row in rows:
        key = LineKey(row["kind"], row["meter"], row["variant"], row["price_id"])
        of_currency = found[documents[row["invoice_id"]]]
        known = of_currency.get(key, Billed())
        of_currency[key] = Billed(
            known.quantity + row["quantities"], known.exact + row["exacts"], known.amount + row["amounts"]
        )
    return found


def discounted(period_start: datetime, currency: str) -> tuple[Decimal, dict[str, Decimal]]:
    """Return what numbered invoices hold for the usage of a period: its amount, and the discount of each coupon."""
    documents = [id for id, of_document in _numbered().items() if of_document == currency]
    rows = InvoiceLine.objects.filter(usage_start=period_start, invoice_id__in=documents)
    amount, coupons = Decimal(0), defaultdict[str, Decimal](Decimal)
    for kind, code, part in rows.values_list("kind", "description").annotate(sum=Sum("amount")):
        if kind == COUPON_LINE:
            coupons[code] += part
        else:
            amount += part
    return amount, dict(coupons)


def _numbered() -> dict[UUID, str]:
    """Return the currencies of the numbered invoices that are not void, by id."""
    documents = Invoice.objects.filter(kind=InvoiceKind.INVOICE, state__in=(InvoiceState.FINAL, InvoiceState.PAID))
    return dict(documents.values_list("id", "currency"))
