"""What happens to a numbered invoice: it is paid, voided, or corrected by a credit note."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import F, Sum
from django.utils import timezone

from backend.billing.currencies import minor_unit, payable
from backend.billing.models import CORRECTION_LINE, BillingPeriod, Invoice, InvoiceKind, InvoiceLine, InvoiceState
from backend.billing.rates import plain
from backend.billing.services.credit.credit_grants import give_back_credit, grant_credit
from backend.billing.services.invoicing.billing_lock import lock_billing
from backend.billing.services.invoicing.closing import finalise
from backend.billing.services.invoicing.drafts import seller_of
from backend.billing.services.invoicing.invoice_reports import InvoiceReport, report
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused


def mark_paid(invoice_id: UUID) -> Invoice:
    """Record that an invoice has been paid; a paid invoice stays as it is. Raises Refused `invoice_not_final`."""
    invoice = _locked(invoice_id)
    if invoice.state == InvoiceState.FINAL:
        invoice.state, invoice.paid_at = InvoiceState.PAID, timezone.now()
        invoice.save(update_fields=["state", "paid_at"])
        report(InvoiceReport.PAID, invoice)
    elif invoice.state != InvoiceState.PAID:
        raise Refused("invoice_not_final", f"An invoice that is {invoice.state} cannot be paid.")
    return invoice


def void(invoice_id: UUID, *, reissue: bool = False) -> Invoice:
    """Void an unpaid invoice. It keeps its number, and the credit that it used is given back.

    Its usage goes to the next invoice, marked late; with reissue, to a new invoice of the same period. Raises Refused
    `invoice_not_final`, and `invoice_corrected` if a credit note names it.
    """
    invoice = _locked(invoice_id)
    if invoice.state == InvoiceState.VOID:
        return invoice
    if invoice.state != InvoiceState.FINAL or invoice.kind != InvoiceKind.INVOICE:
        raise Refused("invoice_not_final", "Only an invoice that is final and not paid can be voided.")
    if Invoice.objects.filter(corrects_id=invoice.id).exists():
        raise Refused("invoice_corrected", "A credit note corrects this invoice, so it cannot be voided.")
    give_back_credit(invoice.id)
    invoice.state, invoice.voided_at = InvoiceState.VOID, timezone.now()
    invoice.save(update_fields=["state", "voided_at"])
    report(InvoiceReport.VOIDED, invoice)
    if reissue:
        BillingPeriod.objects.filter(start_at=invoice.period_start).update(closed_at=None)
    return invoice


def credit_note(invoice_id: UUID, *, net: Decimal | None, reason: str, author: str) -> Invoice:
    """Correct an invoice by an amount before tax, in its currency. Returns the numbered credit note.

    An unpaid invoice is lowered; what was paid before becomes credit. net: positive, of the currency's minor unit; None
    for all that is left. All notes of an invoice together never exceed it. Raises Refused `invoice_not_final`,
    `invalid_credit` (400).
    """
    invoice = _locked(invoice_id)
    if invoice.kind != InvoiceKind.INVOICE or invoice.state not in (InvoiceState.FINAL, InvoiceState.PAID):
        raise Refused("invoice_not_final", "Only an invoice that is final or paid can be corrected.")
    if not reason.strip() or not author.strip():
        raise Refused("invalid_credit", "A credit note names its reason and its author.", status=400)
    earlier = Invoice.objects.filter(corrects_id=invoice.id).aggregate(
        net=Sum("subtotal", default=Decimal(0)), total=Sum("total", default=Decimal(0))
    )
    left = invoice.subtotal + invoice.discount + earlier["net"]
    if left <= 0:
        raise Refused("invalid_credit", "Nothing of this invoice is left to correct.", status=400)
    net = left if net is None else net
    if net <= 0 or payable(net, invoice.currency) != net or net > left:
        steps = f"in steps of {minor_unit(invoice.currency)}"
        raise Refused(
            "invalid_credit",
            f"The amount before tax must be positive, {steps}, and at most {plain(left)} {invoice.currency}.",
            status=400,
        )
    # The last note takes the rest of the tax, so that tax is never given back twice through rounding.
    tax = payable(net * invoice.tax_rate, invoice.currency)
    if net == left:
        tax = invoice.total + earlier["total"] - net
    note = _write_note(invoice, net, tax, reason, author)
    gross = net + tax
    lowered = min(gross, invoice.due) if invoice.state == InvoiceState.FINAL else Decimal(0)
    if gross > lowered:
        grant_credit(
            amount=gross - lowered,
            currency=invoice.currency,
            reason=reason,
            author=author,
            source=f"credit_note:{note.id}",
        )
    changes: dict[str, Any] = {"corrected": F("corrected") + lowered}
    if invoice.state == InvoiceState.FINAL and lowered == invoice.due:
        changes |= {"state": InvoiceState.PAID, "paid_at": timezone.now()}
    Invoice.objects.filter(id=invoice.id).update(**changes)
    if "paid_at" in changes:
        report(InvoiceReport.PAID, Invoice.objects.get(id=invoice.id))
    finalise(note, timezone.now())
    return note


def _write_note(invoice: Invoice, net: Decimal, tax: Decimal, reason: str, author: str) -> Invoice:
    note: Invoice = Invoice.objects.create(
        tenant_id=current_tenant_id(),
        kind=InvoiceKind.CREDIT_NOTE,
        entity=invoice.entity,
        period_start=invoice.period_start,
        period_end=invoice.period_end,
        time_zone=invoice.time_zone,
        locale=invoice.locale,
        currency=invoice.currency,
        seller=seller_of(invoice.entity),
        buyer=invoice.buyer,
        tax_rate=invoice.tax_rate,
        tax_note=invoice.tax_note,
        subtotal=-net,
        tax=-tax,
        total=-(net + tax),
        credited=-(net + tax),
        corrects_id=invoice.id,
        reason=reason,
        author=author,
    )
    InvoiceLine.objects.create(
        tenant_id=current_tenant_id(),
        invoice_id=note.id,
        ordinal=1,
        kind=CORRECTION_LINE,
        quantity=1,
        exact_amount=-net,
        amount=-net,
        usage_start=None,
        description=f"{invoice.number}: {reason}"[:300],
    )
    return note


def _locked(invoice_id: UUID) -> Invoice:
    lock_billing()
    invoice: Invoice | None = Invoice.objects.select_for_update(of=("self",)).filter(id=invoice_id).first()
    if invoice is None:
        raise Refused("not_found", "There is no such invoice.", status=404)
    return invoice
