"""Invoices that nobody pays in time: who gets a reminder, when and how often; also events of payments and voids."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from backend.billing.models import Invoice
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.invoicing.invoices import credit_note, mark_paid, void
from backend.billing.services.invoicing.overdue import remind
from backend.jobs.models import Job, JobKind
from backend.tenancy.models import Tenant
from backend.webhooks.budget_mail import report_mail
from backend.webhooks.models import WebhookEvent
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser
from tests.webhooks.test_schemas import errors

MARCH, AFTER = utc(2026, 3, 10), utc(2026, 4, 3, 1)
HOUR, WEEK = timedelta(hours=1), timedelta(days=7)


@pytest.fixture
def invoice(acme: Cast) -> UUID:
    """A final invoice of 3 USD, which is not due for another hour by the clock of PostgreSQL."""
    account(acme, country="DE", email="billing@acme.example")
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)
    due(id, HOUR)
    return id


def due(id: UUID, after: timedelta) -> None:
    """Move an invoice in time: it is due that long after now, by the clock of PostgreSQL.

    No role of the service may do this to a final invoice.
    """
    with superuser() as server:
        moved = server.execute("UPDATE billing_invoice SET due_at = now() + %s WHERE id = %s", [after, id])
    assert moved.rowcount == 1


def events(cast: Cast, type: str) -> list[dict[str, Any]]:
    with cast.scope():
        found = list(WebhookEvent.objects.filter(type=type).order_by("id"))
    for event in found:
        assert list(errors(event)) == [], type
    return [json.loads(event.body) for event in found]


def test_an_overdue_invoice_is_reported_on_its_date_and_after_one_and_two_weeks(
    acme: Cast, globex: Cast, invoice: UUID
) -> None:
    told = []
    with override_settings(EMAIL_HOST="127.0.0.1"):
        for late in (-HOUR, HOUR, 2 * HOUR, WEEK - HOUR, WEEK + HOUR, 2 * WEEK - HOUR, 2 * WEEK + HOUR, 20 * WEEK):
            due(invoice, -late)
            told.append(remind(acme.tenant_id))

    assert told == [0, 1, 0, 0, 1, 0, 1, 0]
    found = events(acme, "invoice.overdue")
    assert [event["sequence"] for event in found] == [1, 2, 3]
    assert {(event["data"]["state"], event["data"]["due"], event["data"]["total"]) for event in found} == {
        ("final", "3", "3")
    }
    with acme.scope():
        number = Invoice.objects.get().number
        ids = WebhookEvent.objects.filter(type="invoice.overdue").order_by("id").values_list("id", flat=True)
        mailed = Job.objects.filter(kind=JobKind.SEND_NOTICE, subject_id__in=ids).order_by("id")
        mails = [report_mail(job.subject_id) for job in mailed]
    assert [(mail.subject, mail.to) for mail in mails if mail] == [
        (f"Invoice {number} is overdue", ["billing@acme.example"])
    ] * 3
    assert mails[0] is not None
    assert "3 USD remain to be paid" in mails[0].body
    assert events(globex, "invoice.overdue") == []


def test_of_reminders_that_were_missed_the_last_alone_is_sent(acme: Cast, invoice: UUID) -> None:
    due(invoice, -2 * WEEK - HOUR)

    assert [remind(acme.tenant_id), remind(acme.tenant_id)] == [1, 0]
    assert [event["sequence"] for event in events(acme, "invoice.overdue")] == [3]


def test_no_reminder_follows_when_old_events_are_gone(acme: Cast, invoice: UUID) -> None:
    due(invoice, -HOUR)
    remind(acme.tenant_id)
    with acme.scope():
        WebhookEvent.objects.filter(type="invoice.overdue").delete()

    assert remind(acme.tenant_id) == 0
    assert events(acme, "invoice.overdue") == []


@pytest.mark.parametrize("settled", ["paid", "void"])
def test_an_invoice_that_is_paid_or_void_is_not_overdue(acme: Cast, invoice: UUID, settled: str) -> None:
    due(invoice, -HOUR)
    with acme.scope():
        (mark_paid if settled == "paid" else void)(invoice)

    assert remind(acme.tenant_id) == 0
    assert events(acme, "invoice.overdue") == []


def test_a_payment_is_reported_once(acme: Cast, invoice: UUID) -> None:
    for _ in range(2):
        with acme.scope():
            mark_paid(invoice)

    (event,) = events(acme, "invoice.paid")
    assert (event["data"]["state"], event["data"]["paid"], event["data"]["due"]) == ("paid", "3", "0")
    assert event["data"]["paid_at"] is not None
    assert events(acme, "invoice.voided") == []


def test_a_voiding_is_reported_once(acme: Cast, invoice: UUID) -> None:
    for _ in range(2):
        with acme.scope():
            void(invoice)

    (event,) = events(acme, "invoice.voided")
    assert (event["data"]["state"], event["data"]["due"]) == ("void", "0")
    assert events(acme, "invoice.paid") == []


def test_a_credit_note_over_the_whole_amount_is_reported_as_a_payment_of_nothing(acme: Cast, invoice: UUID) -> None:
    with acme.scope():
        credit_note(invoice, net=Decimal(1), reason="An outage", author="finance@example.org")
    assert events(acme, "invoice.paid") == []

    with acme.scope():
        credit_note(invoice, net=None, reason="An outage", author="finance@example.org")

    (event,) = events(acme, "invoice.paid")
    assert (event["data"]["kind"], event["data"]["paid"]) == ("invoice", "0")


def test_an_invoice_that_credit_pays_is_reported_as_paid_when_it_is_final(acme: Cast) -> None:
    account(acme, country="DE")
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
        grant_credit(amount=Decimal(5), currency="USD", reason="Goodwill", author="finance@example.org")
    use(acme, MARCH, 150)
    close(acme, AFTER)

    assert [event["data"]["paid"] for event in events(acme, "invoice.paid")] == ["0"]
