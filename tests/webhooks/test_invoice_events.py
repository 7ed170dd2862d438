"""The event and the mail about a document that became final: sent once, with what the API shows."""

from __future__ import annotations

import json
from typing import Any

from django.test import override_settings

from backend.billing.models import Invoice
from backend.billing.services.invoicing import invoices
from backend.jobs.models import Job, JobKind
from backend.tenancy.models import Tenant
from backend.webhooks.budget_mail import report_mail
from backend.webhooks.models import WebhookEvent
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast
from tests.webhooks.test_schemas import errors


def events(cast: Cast) -> list[WebhookEvent]:
    with cast.scope():
        return list(WebhookEvent.objects.filter(type="invoice.finalized").order_by("id"))


def test_an_invoice_and_its_credit_note_are_reported_once_when_they_are_final(acme: Cast, globex: Cast) -> None:
    account(acme, email="billing@acme.example", currency="USD", time_zone="UTC")
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
    use(acme, utc(2026, 3, 10), 3)
    with override_settings(EMAIL_HOST="127.0.0.1"):
        close(acme, utc(2026, 4, 1, 1))
        assert events(acme) == [], "a draft is no news"
        close(acme, utc(2026, 4, 3, 1))
        close(acme, utc(2026, 4, 3, 2))
        (event,) = events(acme)
        with acme.scope():
            invoice = Invoice.objects.get(kind="invoice")
            note = invoices.credit_note(invoice.id, net=invoice.total, reason="An outage", author="x@example.org")
            mails = list(
                Job.objects.filter(kind=JobKind.SEND_NOTICE).order_by("id").values_list("subject_id", flat=True)
            )
            sent = [report_mail(id) for id in mails]
    both = events(acme)
    assert [list(errors(each)) for each in both] == [[], []]
    shown: list[dict[str, Any]] = [acme.client.get(f"/v1/invoices/{json.loads(row.body)['data']['id']}").json()
                                   for row in both]  # fmt: skip
    data = [json.loads(row.body)["data"] for row in both]
    for said, now in zip(data, shown, strict=True):
        for name in ("id", "object", "kind", "number", "currency", "total"):
            assert said[name] == now[name], name
    assert [row["kind"] for row in data] == ["invoice", "credit_note"]
    assert (data[0]["state"], data[0]["due"]) == ("final", data[0]["total"])
    assert mails == [row.id for row in both]
    assert [mail.subject for mail in sent if mail] == [f"Invoice {invoice.number}", f"Credit note {note.number}"]
    assert sent[0] is not None
    assert sent[0].to == ["billing@acme.example"]
    assert data[0]["id"] in sent[0].body
    assert events(globex) == []
    assert event.id == both[0].id
