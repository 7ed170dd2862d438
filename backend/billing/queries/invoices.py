"""Reads of invoices, their lines, and credit."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from backend.billing.models import CreditGrant, Invoice, InvoiceLine


def invoices(*, state: str = "", kind: str = "") -> QuerySet[Invoice]:
    """Return the entered tenant's documents. state, kind: only these; "" restricts nothing."""
    rows: QuerySet[Invoice] = Invoice.objects.all()
    if state:
        rows = rows.filter(state=state)
    return rows.filter(kind=kind) if kind else rows


def lines_of(invoice_id: UUID) -> QuerySet[InvoiceLine]:
    """Return the lines of a document, in the order in which they are printed."""
    rows: QuerySet[InvoiceLine] = InvoiceLine.objects.filter(invoice_id=invoice_id).order_by("ordinal")
    return rows


def corrected_by(note: Invoice) -> Invoice | None:
    """Return the invoice that a credit note corrects; None for an invoice."""
    found: Invoice | None = Invoice.objects.filter(id=note.corrects_id).first() if note.corrects_id else None
    return found


def grants() -> QuerySet[CreditGrant]:
    """Return the credit that was granted to the entered tenant."""
    rows: QuerySet[CreditGrant] = CreditGrant.objects.all()
    return rows
