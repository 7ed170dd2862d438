"""Price books, plans, invoices and credit in the console: appended with a preview, and shown with their parts."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.billing.models import Invoice, Plan, PlanVersion, Price, PriceBook
from backend.billing.rates import rates_at
from backend.console.money_pages import last_month
from backend.staff.models import StaffEvent
from tests.conftest import Cast
from tests.console.furnished import unpaid_invoice
from tests.console.test_overview import book


def price_form(**values: Any) -> dict[str, Any]:
    start = timezone.now() + timedelta(hours=2)
    return {
        "book": "", "meter": "questions", "model": "", "variant": "",
        "unit_amount": "0.03", "effective_from_0": f"{start:%Y-%m-%d}", "effective_from_1": f"{start:%H:%M:%S}",
        "note": "", **values,
    }  # fmt: skip


@pytest.fixture
def usd_book(database: None) -> PriceBook:
    found = PriceBook.objects.filter(kind="price", currency="USD", tenant_id=None).first()
    assert found is not None
    return found


def test_a_preview_shows_what_last_month_would_have_cost_and_writes_nothing(
    staff_as: Any, acme: Cast, usd_book: PriceBook
) -> None:
    start, _ = last_month(timezone.now())
    at = start + timedelta(days=3)
    rate = rates_at(timezone.now(), acme.tenant_id).rate("price", "questions", "")
    book(acme, at, "0", str(rate.unit_amount * 1000), quantity=Decimal(1000), price_id=rate.price_id)
    prices = Price.objects.count()
    form = price_form(book=str(usd_book.id), unit_amount=str(rate.unit_amount * 2))
    page = staff_as("finance").post("/console/billing/price/preview/", form).content.decode()

    assert "Last month would have cost" in page
    assert f"{rate.unit_amount * 1000:.2f} USD" in page
    assert f"{rate.unit_amount * 2000:.2f} USD" in page
    assert "Acme" in page
    assert 'name="unit_amount"' in page
    assert Price.objects.count() == prices


def test_a_preview_of_a_wrong_price_says_what_is_wrong(staff_as: Any, usd_book: PriceBook) -> None:
    past = price_form(book=str(usd_book.id), effective_from_0="2020-01-01")
    page = staff_as("finance").post("/console/billing/price/preview/", past).content.decode()

    assert "cannot take effect in the past" in page or "must take effect after it" in page


def test_a_version_of_a_plan_is_appended(staff_as: Any, usd_book: PriceBook) -> None:
    start = timezone.now() + timedelta(hours=1)
    form = {
        "code": "studio", "name": "Studio", "price_book": usd_book.code, "effective_from": f"{start:%Y-%m-%d %H:%M:%S}",
        "minimum_amount": "50", "trial_days": "14", "allowances": "media_seconds any 36000\nquestions ava:low 5",
        "tiers": "questions any graduated 0 0.02\nquestions any graduated 1000 0.01", "limits": "questions 10000",
        "note": "first",
    }  # fmt: skip
    client = staff_as("finance")
    wrong = client.post("/console/billing/plan/append/", {**form, "limits": "wishes 3"})
    made = client.post("/console/billing/plan/append/", form)

    assert wrong.status_code == 400
    assert "Line 1 cannot be read: wishes 3" in wrong.content.decode()
    assert made.status_code == 302
    version = PlanVersion.objects.get(plan__code="studio")
    assert (version.version, version.minimum_amount, version.trial_days) == (1, Decimal(50), 14)
    assert version.author == "finance@example.org"
    assert {(row.meter, row.variant, row.quantity) for row in version.allowances.all()} == {
        ("media_seconds", "", Decimal(36000)), ("questions", "ava:low", Decimal(5)),
    }  # fmt: skip
    assert [row.unit_amount for row in version.tiers.order_by("from_quantity")] == [Decimal("0.02"), Decimal("0.01")]
    assert StaffEvent.objects.filter(action="plan.appended", email="finance@example.org").count() == 1
    page = client.get(made.headers["Location"]).content.decode()
    assert "Version 1" in page
    filled = client.get("/console/billing/plan/append/?plan=studio").content.decode()
    assert "questions any graduated 1000 0.01" in filled


@pytest.mark.parametrize("path", ["price/preview/", "plan/append/", "price/add/"])
def test_support_appends_nothing(staff_as: Any, usd_book: PriceBook, path: str) -> None:
    plans = Plan.objects.count()
    reply = staff_as("support").post(f"/console/billing/{path}", price_form(book=str(usd_book.id)))

    assert reply.status_code == 403
    assert Plan.objects.count() == plans


def test_the_month_before_january_is_december() -> None:
    from datetime import UTC, datetime

    start, end = last_month(datetime(2028, 1, 31, 5, tzinfo=UTC))
    assert (start, end) == (datetime(2027, 12, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC))


def test_the_lists_of_money_open(staff: Client, acme: Cast) -> None:
    for path in ("invoice/", "creditgrant/", "plan/", "price/", "pricebook/"):
        assert staff.get(f"/console/billing/{path}").status_code == 200, path


@pytest.mark.parametrize(("verb", "state"), [("mark_paid", "paid"), ("void", "void")])
def test_an_invoice_is_downloaded_and_settled_for_a_reason(
    staff_as: Any, acme: Cast, globex: Cast, verb: str, state: str
) -> None:
    invoice, other = unpaid_invoice(acme), unpaid_invoice(globex)
    finance, page = staff_as("finance"), f"/console/billing/invoice/{invoice}/"
    pdf, table = finance.get(f"{page}pdf/"), finance.get(f"{page}csv/")
    assert (pdf.content[:5], table.content[:7]) == (b"%PDF-", b"number,")
    assert re.findall(r'<button name="verb" value="(\w+)">', finance.get(f"{page}change/").content.decode()) == [
        "mark_paid", "void",
    ]  # fmt: skip
    reason = "Ticket 4711, as the bank says"

    for client, why, status in ((finance, "short", 302), (staff_as("support"), reason, 403), (finance, reason, 302)):
        assert client.post(f"{page}act/", {"verb": verb, "reason": why}).status_code == status
        with acme.scope():
            assert Invoice.objects.get(id=invoice).state == (state if (client, why) == (finance, reason) else "final")

    assert 'name="verb"' not in finance.get(f"{page}change/").content.decode()
    with globex.scope():
        assert Invoice.objects.get(id=other).state == "final"
    with acme.scope():
        done = AuditEvent.objects.filter(action=f"invoice.{verb}")
        assert list(done.values_list("object_id", "reason")) == [(encode("ivc", invoice), reason)]
