"""Drafts: documents of a period whose lines still follow the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from backend.billing.currencies import payable
from backend.billing.invoiced_usage import Billed, LineKey, discounted
from backend.billing.models import (
    COUPON_LINE,
    BillingAccount,
    BillingPeriod,
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceState,
    LegalEntity,
)
from backend.billing.services.accounts import billing_account
from backend.billing.services.credit.coupons import discounts
from backend.billing.services.invoicing.period_lines import PeriodLines, PriceRow, lines_of_period
from backend.billing.services.invoicing.periods import Period
from backend.tenancy.context import current_tenant_id

LATE_PERIODS = 13
"""Closed periods in which late usage is looked for: a year and the month before it."""
ZERO = Decimal(0)


def write_drafts(period: BillingPeriod) -> list[Invoice]:
    """Write a period's drafts again from the ledger, one for each currency that has a line. Returns them.

    The lines of earlier periods that changed since their invoices come after the period's own, marked late. The caller
    holds lock_billing().
    """
    own = lines_of_period(period)
    late = [(old, lines_of_period(old)) for old in _closed_before(period)]
    currencies = {
        currency for part in (own, *(lines for _, lines in late)) for currency, rows in part.lines.items() if rows
    }
    account, entity = billing_account(), LegalEntity.objects.get(is_default=True)
    kept = []
    for currency in sorted(currencies):
        invoice = _draft(period, currency, entity)
        parts = [(period, list(_lines(invoice, own, period, late=False)))]
        parts += [(old, list(_lines(invoice, changed, old, late=True))) for old, changed in late]
        lines = [line for _, of_period in parts for line in of_period]
        coupons = [line for month, of_period in parts if of_period for line in _coupons(invoice, month, of_period)]
        _fill(invoice, lines, coupons, account, entity)
        kept.append(invoice)
    stale = _drafts(period).exclude(currency__in=currencies)
    InvoiceLine.objects.filter(invoice_id__in=list(stale.values_list("id", flat=True))).delete()
    stale.delete()
    return kept


def _closed_before(period: BillingPeriod) -> list[BillingPeriod]:
    rows = BillingPeriod.objects.filter(start_at__lt=period.start_at, closed_at__isnull=False).order_by("-start_at")
    return sorted(rows[:LATE_PERIODS], key=lambda row: row.start_at)


def _drafts(period: BillingPeriod) -> Any:
    return Invoice.objects.filter(kind=InvoiceKind.INVOICE, state=InvoiceState.DRAFT, period_start=period.start_at)


def _draft(period: BillingPeriod, currency: str, entity: LegalEntity) -> Invoice:
    found: Invoice | None = _drafts(period).filter(currency=currency).first()
    return found or Invoice.objects.create(
        tenant_id=current_tenant_id(),
        entity=entity,
        period_start=period.start_at,
        period_end=period.end_at,
        time_zone=period.time_zone,
        currency=currency,
    )


def _lines(invoice: Invoice, parts: PeriodLines, period: BillingPeriod, *, late: bool) -> Iterable[InvoiceLine]:
    for key, billed in parts.lines.get(invoice.currency, {}).items():
        price = parts.prices.get(key.price_id, PriceRow()) if key.price_id is not None else PriceRow()
        yield _line(invoice.id, key, billed, price, period, late=late)


def _line(
    invoice_id: UUID, key: LineKey, billed: Billed, price: PriceRow, period: BillingPeriod, *, late: bool
) -> InvoiceLine:
    return InvoiceLine(
        tenant_id=current_tenant_id(),
        invoice_id=invoice_id,
        kind=key.kind,
        meter=key.meter,
        variant=key.variant,
        price_id=key.price_id,
        price_version=price.version,
        unit_amount=price.unit_amount,
        quantity=billed.quantity,
        exact_amount=billed.exact,
        amount=billed.amount,
        late=late,
        usage_start=period.start_at,
    )


def _coupons(invoice: Invoice, period: BillingPeriod, lines: list[InvoiceLine]) -> Iterable[InvoiceLine]:
    """Return what the coupons of a period take off all its usage, less what earlier invoices took off."""
    amount, before = discounted(period.start_at, invoice.currency)
    amount += sum((line.amount for line in lines), ZERO)
    span = Period(period.start_at, period.end_at, period.time_zone)
    wanted = dict(discounts(span, currency=invoice.currency, subtotal=amount))
    for code in [*wanted, *sorted(before.keys() - wanted.keys())]:
        change = wanted.get(code, ZERO) - before.get(code, ZERO)
        if change:
            yield InvoiceLine(
                tenant_id=invoice.tenant_id,
                invoice_id=invoice.id,
                kind=COUPON_LINE,
                quantity=1,
                amount=change,
                exact_amount=change,
                description=code,
                late=lines[0].late,
                usage_start=period.start_at,
            )


def _fill(
    invoice: Invoice,
    lines: list[InvoiceLine],
    coupons: list[InvoiceLine],
    account: BillingAccount,
    entity: LegalEntity,
) -> None:
    InvoiceLine.objects.filter(invoice_id=invoice.id).delete()
    for ordinal, line in enumerate([*lines, *coupons], start=1):
        line.ordinal = ordinal
    InvoiceLine.objects.bulk_create([*lines, *coupons])
    invoice.subtotal = sum((line.amount for line in lines), ZERO)
    invoice.discount = sum((line.amount for line in coupons), ZERO)
    invoice.tax_rate, invoice.tax_note = account.tax_rate, account.tax_note
    invoice.tax = payable((invoice.subtotal + invoice.discount) * account.tax_rate, invoice.currency)
    invoice.total = invoice.subtotal + invoice.discount + invoice.tax
    invoice.entity = entity
    invoice.seller, invoice.buyer = seller_of(entity), buyer_of(account)
    invoice.locale = locale_of(account.country)
    invoice.save()


def seller_of(entity: LegalEntity) -> dict[str, str]:
    """Return what a document says of its seller."""
    return {
        "legal_name": entity.legal_name,
        "address": entity.address,
        "country": entity.country,
        "tax_id": entity.tax_id,
        "payment_details": entity.payment_details,
    }


def buyer_of(account: BillingAccount) -> dict[str, str]:
    """Return what a document says of its buyer."""
    city = " ".join(part for part in (account.postal_code, account.city) if part)
    lines = (account.address_line_1, account.address_line_2, city, account.region)
    return {
        "legal_name": account.legal_name,
        "address": "\n".join(line for line in lines if line),
        "country": account.country,
        "tax_id": account.tax_id,
        "email": account.email,
    }


_LOCALES = {"DE": "de_DE", "AT": "de_AT", "CH": "de_CH", "FR": "fr_FR", "BE": "fr_BE", "US": "en_US", "GB": "en_GB"}


def locale_of(country: str) -> str:
    """Return the locale whose language and formats a document to a country has."""
    return _LOCALES.get(country, "en_GB" if country else "en_US")
