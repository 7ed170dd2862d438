"""The webhook event and the mail about an invoice or a credit note that became final."""

from __future__ import annotations

from backend.api import public_ids
from backend.billing.models import Invoice
from backend.billing.rates import plain
from backend.webhooks.budget_mail import queue_mail
from backend.webhooks.payloads import timestamp
from backend.webhooks.services import emit


def report_final(invoice: Invoice) -> None:
    """Emit `invoice.finalized` once, and queue its mail, in the transaction that makes the document final."""
    data = {
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
    queue_mail(emit(type="invoice.finalized", resource_id=invoice.id, data=data))
