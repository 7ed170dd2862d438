"""Reminders of invoices that nobody paid in time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from backend.billing.models import Invoice, InvoiceKind, InvoiceState
from backend.billing.services.invoicing.billing_lock import lock_billing
from backend.billing.services.invoicing.invoice_reports import InvoiceReport, report
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import TenantMoving

REMIND_AFTER = (timedelta(0), timedelta(days=7), timedelta(days=14))
"""Times after the due date of an invoice at which its tenant is reminded, once each."""


def remind(tenant_id: UUID) -> int:
    """Report each overdue invoice of a tenant that has come to its next reminder. Returns their number.

    One transaction, by the clock of PostgreSQL. If several reminders are missed, the last of them alone is reported.
    """
    try:
        with tenant_scope(tenant_id):
            if not _overdue().exists():
                return 0
            # Whoever pays or voids an invoice holds the same lock.
            lock_billing()
            return sum(_remind(invoice) for invoice in _overdue())
    except TenantMoving:
        # The other cell reminds the tenant.
        return 0


def _overdue() -> QuerySet[Invoice]:
    """Return the unpaid invoices of which a reminder may be left to send, with the moment as `at`."""
    rows = Invoice.objects.filter(kind=InvoiceKind.INVOICE, state=InvoiceState.FINAL, due_at__lte=Now())
    left: QuerySet[Invoice] = rows.filter(reminders__lt=len(REMIND_AFTER)).annotate(at=Now()).order_by("due_at")
    return left


def _remind(invoice: Any) -> bool:
    reached = sum(invoice.due_at + wait <= invoice.at for wait in REMIND_AFTER)
    if reached <= invoice.reminders:
        return False
    invoice.reminders = reached
    invoice.save(update_fields=["reminders"])
    report(InvoiceReport.OVERDUE, invoice)
    return True
