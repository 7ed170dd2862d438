"""The mail that a tenant gets when its use comes to 50, 80 or 100 % of a limit, when a limit is suspended, and about
its invoices.

It goes to the tenant's notice address, to the address of its billing account, and to members with the roles that the
tenant has chosen.
"""

from __future__ import annotations

import json
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage

from backend.billing.models import InvoiceKind
from backend.billing.services.invoicing.invoice_reports import InvoiceReport
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.webhooks.models import WebhookEvent
from backend.webhooks.recipients import recipients

_SUSPENDED = "budget.suspended"
REPORTS = ("usage.threshold_reached", "budget.exceeded", _SUSPENDED, *InvoiceReport)
MAIL_ATTEMPTS = 20
_TEXT = """The limit {limit} of {amount} is used to {percent} %: {used} are booked or reserved by open work.

The month began at {start_at} and ends at {end_at}. Work that the limit leaves no room for is refused.
See what counts against each limit: GET /v1/limits
"""
_OF_SUSPENDED = """The limit of charge of {amount} {currency} is suspended from {suspended_at} on,
because your plan charges in {plan_currency}. Until you set the limit again in {plan_currency}, no limit of yours
holds for the charge.

Set it again: PUT /v1/budgets
"""
_OF_INVOICE = """{number} over {total} {currency} is final. {due} {currency} remain to be paid.

Fetch it as a PDF or as CSV: GET /v1/invoices/{id}
"""
_OVERDUE = """{number} of {total} {currency} was to be paid by {due_at}. {due} {currency} remain to be paid.

Fetch it as a PDF, which says how to pay: GET /v1/invoices/{id}/pdf
If you have paid in the meantime, you need do nothing.
"""


def queue_mail(event: WebhookEvent | None) -> None:
    """Queue the mail of a report, once. None: the report was made before."""
    if event is None or not settings.EMAIL_HOST or not recipients(billed=True):
        return
    enqueue(kind=JobKind.SEND_NOTICE, subject_id=event.id, dedupe_key=f"notice:{event.id}", max_attempts=MAIL_ATTEMPTS)


def report_mail(event_id: UUID) -> EmailMessage | None:
    """Return the mail of a report; None if there is no such report, or nobody is to know."""
    event = WebhookEvent.objects.filter(id=event_id, type__in=REPORTS).first()
    to = recipients(billed=True)
    if event is None or not to:
        return None
    data = json.loads(event.body)["data"]
    if event.type == InvoiceReport.OVERDUE:
        return to.mail(subject=f"Invoice {data['number']} is overdue", body=_OVERDUE.format(**data))
    if event.type == InvoiceReport.FINALIZED:
        kind = "Credit note" if data["kind"] == InvoiceKind.CREDIT_NOTE else "Invoice"
        return to.mail(subject=f"{kind} {data['number']}", body=_OF_INVOICE.format(**data))
    if event.type == _SUSPENDED:
        subject = f"Your limit of charge of {data['amount']} {data['currency']} is suspended"
        return to.mail(subject=subject, body=_OF_SUSPENDED.format(**data))
    subject = f"{data['limit']}: {data['percent']} % of the limit are used"
    return to.mail(subject=subject, body=_TEXT.format(**data))
