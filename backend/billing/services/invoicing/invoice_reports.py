"""Reports to a tenant about its invoices. backend.webhooks stands above this app, so it registers the reporter."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from backend.billing.models import Invoice


class InvoiceReport(StrEnum):
    """What happened to an invoice or a credit note, by the type of the webhook event."""

    FINALIZED = "invoice.finalized"
    PAID = "invoice.paid"
    VOIDED = "invoice.voided"
    OVERDUE = "invoice.overdue"


_reporter: Callable[[InvoiceReport, Invoice], None] = lambda what, invoice: None  # noqa: E731


def report_by(reporter: Callable[[InvoiceReport, Invoice], None]) -> None:
    """Register what reports to a tenant, in its scope and in the transaction of the change."""
    global _reporter
    _reporter = reporter


def report(what: InvoiceReport, invoice: Invoice) -> None:
    """Report a change of a document to its tenant, in the transaction of the change."""
    _reporter(what, invoice)
