"""The webhook events about invoices and credit notes, and the mails about those that became final or are overdue."""

from __future__ import annotations

from typing import Any

from backend.api import public_ids
from backend.billing.models import Invoice
from backend.billing.rates import plain
from backend.billing.services.invoicing.invoice_reports import InvoiceReport
from backend.webhooks.budget_mail import queue_mail
from backend.webhooks.payloads import timestamp
from backend.webhooks.services import emit

MAILED = (InvoiceReport.FINALIZED, InvoiceReport.OVERDUE)


def report_invoice(what: InvoiceReport, invoice: Invoice) -> None:
    """Emit the event of a change once, and queue its mail, in the transaction of the change.

    An invoice is overdue up to three times: the sequence of the event is the number of the reminder.
    """
    data: dict[str, Any] = {
        "id": public_ids.encode("ivc", invoice.id),
        "object": "invoice",
        "kind": invoice.kind,
        "number": invoice.number,
        "state": invoice.state,
        "currency": invoice.currency,
        "total": plain(invoice.total),
        "due": plain(invoice.due),
        "period_start": timestamp(invoice.period_start),
        "period_end": timestamp(invoice.period_end),
        "issued_at": timestamp(invoice.issued_at),
        "due_at": timestamp(invoice.due_at),
    }
    if what == InvoiceReport.PAID:
        data |= {"paid": plain(invoice.paid), "paid_at": timestamp(invoice.paid_at)}
    if what == InvoiceReport.VOIDED:
        data["voided_at"] = timestamp(invoice.voided_at)
    sequence = invoice.reminders if what == InvoiceReport.OVERDUE else 1
    event = emit(type=what.value, resource_id=invoice.id, data=data, sequence=sequence)
    if what in MAILED:
        queue_mail(event)
