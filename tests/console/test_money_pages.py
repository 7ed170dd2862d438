"""Price books, plans, invoices and credit in the console: appended with a preview, and shown with their parts."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.billing.models import (
    ExportState,
    InvariantResult,
    Invoice,
    Plan,
    PlanVersion,
    Price,
    PriceBook,
    UsageMeter,
)
from backend.billing.rates import rates_at
from backend.billing.services.invoicing.invoices import mark_paid
from backend.console.money.money_pages import last_month
from backend.staff.models import StaffEvent
from tests.conftest import Cast
from tests.console.furnished import unpaid_invoice
from tests.console.test_overview import book, rebuild
from tests.isolation.test_catalog import superuser


def price_form(**values: Any) -> dict[str, Any]:
    start = timezone.now() + timedelta(hours=2)
    return {
        "book": "", "meter": "questions", "model": "", "variant": "",
        "unit_amount": "0.03", "effective_from_0": f"{start:%Y-%m-%d}", "effective_from_1": f"{start:%H:%M:%S}",
        "note": "Agreed with sales", **values,
    }  # fmt: skip


@pytest.fixture
def usd_book(database: None) -> PriceBook:
    found = PriceBook.objects.filter(kind="price", currency="USD", tenant_id=None).first()
    assert found is not None
    return found


def test_a_preview_shows_what_last_month_would_have_cost_and_writes_nothing(
    staff_as: Any, acme: Cast, usd_book: PriceBook
) -> None:
    month = last_month(timezone.now())
    at = datetime(month.year, month.month, 3, tzinfo=UTC)
    rate = rates_at(timezone.now(), acme.tenant_id).rate("price", "questions", "")
    book(acme, at, "0", str(rate.unit_amount * 1000), quantity=Decimal(1000), price_id=rate.price_id)
    rebuild(acme)
    prices = Price.objects.count()
    form = price_form(book=str(usd_book.id), unit_amount=str(rate.unit_amount * 2))
    page = staff_as("finance").post("/console/billing/price/preview/", form).content.decode()

    assert "Last month would have cost" in page
    assert f"${rate.unit_amount * 1000:.2f}" in page
    assert f"${rate.unit_amount * 2000:.2f}" in page
    assert "Acme" in page
    assert 'name="unit_amount"' in page
    assert Price.objects.count() == prices


def test_a_preview_of_a_wrong_price_says_what_is_wrong(staff_as: Any, usd_book: PriceBook) -> None:
    past = price_form(book=str(usd_book.id), effective_from_0="2020-01-01")
    page = staff_as("finance").post("/console/billing/price/preview/", past).content.decode()

    assert "cannot take effect in the past" in page or "must take effect after it" in page


def test_a_price_without_a_reason_is_not_appended(staff_as: Any, usd_book: PriceBook) -> None:
    prices = Price.objects.count()
    for note, said in (("", "This field is required"), ("short", "at least 10 characters")):
        reply = staff_as("finance").post("/console/billing/price/add/", price_form(book=str(usd_book.id), note=note))
        assert reply.status_code == 200
        assert said in reply.content.decode()
    assert Price.objects.count() == prices


def test_a_plan_in_euros_is_made_in_the_console_from_its_book_on(staff_as: Any, acme: Cast) -> None:
    client, code = staff_as("finance"), f"euro-{acme.slug[-10:]}"
    made = client.post("/console/billing/pricebook/create/", {"code": code, "currency": "EUR", "note": "short"})
    assert made.status_code == 400, "the note is too short"
    form = {"code": code, "currency": "EUR", "tenant": "", "note": "The market of the euro"}
    unknown = client.post("/console/billing/pricebook/create/", {**form, "tenant": "nobody"})
    assert "There is no tenant nobody." in unknown.content.decode()
    made = client.post("/console/billing/pricebook/create/", form)
    again = client.post("/console/billing/pricebook/create/", form)

    book = PriceBook.objects.using("staff").get(code=code)
    assert made.headers["Location"] == f"/console/billing/pricebook/{book.id}/change/"
    assert (again.status_code, f"There is a price book {code}." in again.content.decode()) == (400, True)
    assert (book.currency, book.tenant_id, book.author) == ("EUR", None, "finance@example.org")
    event = StaffEvent.objects.get(action="pricebook.created")
    assert event.details == {"book": f"{code} (EUR)", "tenant": "", "reason": "The market of the euro"}
    for meter in UsageMeter.values:
        price = price_form(book=str(book.id), meter=meter, unit_amount="0.03" if meter == "questions" else "0")
        assert client.post("/console/billing/price/add/", price).status_code == 302
    start = timezone.now() + timedelta(hours=3)
    plan = {
        "code": code, "name": "Euro", "price_book": code, "effective_from": f"{start:%Y-%m-%d %H:%M:%S}",
        "minimum_amount": "0", "trial_days": "0", "note": "The market of the euro",
    }  # fmt: skip
    early = client.post(
        "/console/billing/plan/append/", {**plan, "effective_from": f"{timezone.now():%Y-%m-%d %H:%M:%S}"}
    )
    assert "has no price for" in early.content.decode(), "the prices are not in force yet"
    assert client.post("/console/billing/plan/append/", plan).status_code == 302

    assert PlanVersion.objects.get(plan__code=code).price_book_id == book.id


def test_a_tenant_gets_a_book_of_its_own(staff_as: Any, acme: Cast) -> None:
    form = {"code": acme.slug, "currency": "USD", "tenant": acme.slug, "note": "Agreed with sales"}
    assert staff_as("support").post("/console/billing/pricebook/create/", form).status_code == 403
    assert staff_as("finance").post("/console/billing/pricebook/create/", form).status_code == 302

    assert PriceBook.objects.using("staff").get(code=acme.slug).tenant_id == acme.tenant_id


def test_a_version_of_a_plan_is_appended(staff_as: Any, usd_book: PriceBook) -> None:
    start = timezone.now() + timedelta(hours=1)
    form = {
        "code": "studio", "name": "Studio", "price_book": usd_book.code, "effective_from": f"{start:%Y-%m-%d %H:%M:%S}",
        "minimum_amount": "50", "trial_days": "14", "allowances": "media_seconds any 36000\nquestions ava:low 5",
        "tiers": "questions any graduated 0 0.02\nquestions any graduated 1000 0.01", "limits": "questions 10000",
        "note": "The first version",
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


def plan_form(book: str, **values: str) -> dict[str, str]:
    start = timezone.now() + timedelta(hours=1)
    return {
        "code": "standard", "name": "", "price_book": book, "effective_from": f"{start:%Y-%m-%d %H:%M:%S}",
        "minimum_amount": "12.5", "trial_days": "0", "allowances": "questions any 900", "tiers": "", "limits": "",
        "note": "What the market asks", **values,
    }  # fmt: skip


def test_a_preview_of_a_plan_shows_what_its_tenants_would_have_paid_and_writes_nothing(
    staff_as: Any, acme: Cast, usd_book: PriceBook
) -> None:
    month = last_month(timezone.now())
    at = datetime(month.year, month.month, 3, tzinfo=UTC)
    rate = rates_at(timezone.now(), acme.tenant_id).rate("price", "questions", "")
    book(acme, at, "0", str(rate.unit_amount * 1000), quantity=Decimal(1000), price_id=rate.price_id)
    rebuild(acme)
    versions, client = PlanVersion.objects.count(), staff_as("finance")
    form = plan_form(usd_book.code)
    page = client.post("/console/billing/plan/preview/", form).content.decode()

    assert "Last month would have cost" in page
    line = re.sub(r"<[^>]+>|\s+", " ", page[page.index("Acme") :].split("</tr>")[0]).split()
    paid = f"{rate.unit_amount * 1000:.2f}"
    assert line == ["Acme", f"${paid}", f"${paid}", "$12.50", f"−${Decimal(paid) - Decimal('12.5'):.2f}"]
    assert PlanVersion.objects.count() == versions
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    assert {name: sent[name] for name in form} == form
    assert client.get("/console/billing/plan/preview/").headers["Location"] == "/console/billing/plan/append/"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"limits": "wishes 3"}, "Line 1 cannot be read: wishes 3"),
        ({"price_book": "nowhere"}, "There is no price book nowhere for every tenant."),
        ({"effective_from": "2020-01-01 00:00:00"}, "cannot begin in the past"),
        ({"tiers": "questions any graduated 10 0.01"}, "the first tier begins at 0"),
    ],
)
def test_a_preview_of_a_wrong_version_says_what_is_wrong(
    staff_as: Any, usd_book: PriceBook, wrong: dict[str, str], said: str
) -> None:
    reply = staff_as("finance").post("/console/billing/plan/preview/", plan_form(usd_book.code, **wrong))

    assert (reply.status_code, said in reply.content.decode()) == (400, True)


@pytest.mark.parametrize("path", ["price/preview/", "plan/append/", "plan/preview/", "price/add/"])
def test_support_appends_nothing(staff_as: Any, usd_book: PriceBook, path: str) -> None:
    plans = Plan.objects.count()
    reply = staff_as("support").post(f"/console/billing/{path}", price_form(book=str(usd_book.id)))

    assert reply.status_code == 403
    assert Plan.objects.count() == plans


def test_the_month_before_january_is_december() -> None:
    assert last_month(datetime(2028, 1, 31, 5, tzinfo=UTC)) == date(2027, 12, 1)


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
        "mark_paid", "void", "credit_note",
    ]  # fmt: skip
    reason = "Ticket 4711, as the bank says"

    for client, why, status in ((finance, "short", 302), (staff_as("support"), reason, 403), (finance, reason, 302)):
        assert client.post(f"{page}act/", {"verb": verb, "reason": why}).status_code == status
        with acme.scope():
            assert Invoice.objects.get(id=invoice).state == (state if (client, why) == (finance, reason) else "final")

    left = ["credit_note"] if state == "paid" else []
    assert re.findall(r'name="verb" value="(\w+)">', finance.get(f"{page}change/").content.decode()) == left
    with globex.scope():
        assert Invoice.objects.get(id=other).state == "final"
    with acme.scope():
        done = AuditEvent.objects.filter(action=f"invoice.{verb}")
        assert list(done.values_list("object_id", "reason")) == [(encode("ivc", invoice), reason)]


def test_the_list_of_overdue_invoices_shows_unpaid_ones_after_their_day(
    staff_as: Any, acme: Cast, globex: Cast
) -> None:
    due, paid = unpaid_invoice(acme), unpaid_invoice(globex)
    client = staff_as("finance")

    def listed() -> set[str]:
        page = client.get("/console/billing/invoice/?overdue=yes").content.decode()
        return {str(id) for id in (due, paid) if f"/{id}/change/" in page}

    assert listed() == set()
    past = timezone.now() - timedelta(days=1)
    with superuser() as server:
        server.execute("UPDATE billing_invoice SET due_at = %s WHERE id = ANY(%s)", [past, [due, paid]])
    with globex.scope():
        mark_paid(paid)
    assert listed() == {str(due)}


def test_an_invoice_is_corrected_by_credit_notes_that_never_exceed_it(staff_as: Any, acme: Cast, globex: Cast) -> None:
    invoice = unpaid_invoice(acme)
    finance, page = staff_as("finance"), f"/console/billing/invoice/{invoice}/"
    with acme.scope():
        whole = Invoice.objects.get(id=invoice).subtotal
    assert whole > 2

    def corrected(client: Client, **fields: str) -> Any:
        fields = {f"credit_note-{name}": value for name, value in fields.items()}
        return client.post(f"{page}act/", {"verb": "credit_note", "reason": "Outage of Sunday", **fields})

    first = corrected(finance, net="1.25")
    assert first.status_code == 302
    second = corrected(finance)
    for reply in (first, second):
        assert reply.headers["Location"] != f"{page}change/", "the page of the note opens"
    shown = finance.get(first.headers["Location"]).content.decode()
    assert "CN-000001" in shown
    assert "Outage of Sunday (finance@example.org)" in shown
    assert 'name="verb"' not in shown, "a credit note is not corrected"
    with acme.scope():
        notes = list(Invoice.objects.filter(corrects_id=invoice).order_by("number"))
        assert [(note.number, note.subtotal) for note in notes] == [
            ("CN-000001", Decimal("-1.25")), ("CN-000002", Decimal("1.25") - whole),
        ]  # fmt: skip
        assert Invoice.objects.get(id=invoice).state == "paid", "nothing is left to pay"
        done = AuditEvent.objects.filter(action="invoice.credit_note").order_by("id")
        assert list(done.values_list("object_id", "reason")) == [(encode("ivc", invoice), "Outage of Sunday")] * 2
        assert done[0].details == {"number": "CN-000001", "net": "1.25", "currency": "USD"}
    for note in notes:
        at = f"/console/billing/invoice/{note.id}/"
        assert finance.get(f"{at}pdf/").content.startswith(b"%PDF-")
        assert note.number in finance.get(f"{at}csv/").content.decode()
        assert note.number in finance.get(f"{page}change/").content.decode()
    assert (
        "Nothing of this invoice is left to correct."
        in finance.get(corrected(finance).headers["Location"]).content.decode()
    )
    with globex.scope():
        assert Invoice.objects.count() == 0


@pytest.mark.parametrize(
    ("net", "said"),
    [
        ("0", "must be positive"), ("1.255", "in steps of 0.01"), ("9999", "at most"), ("-1", "greater than or equal"),
        ("NaN", "Enter a number"), ("Infinity", "Enter a number"), ("1e400", "no more than"), ("ten", "Enter a number"),
    ],
)  # fmt: skip
def test_a_credit_note_of_a_wrong_amount_is_refused_in_words(staff_as: Any, acme: Cast, net: str, said: str) -> None:
    invoice = unpaid_invoice(acme)
    finance, page = staff_as("finance"), f"/console/billing/invoice/{invoice}/"
    form = {"verb": "credit_note", "reason": "Outage of Sunday", "credit_note-net": net}
    reply = finance.post(f"{page}act/", form)

    assert reply.headers["Location"] == f"{page}change/"
    assert said in finance.get(f"{page}change/").content.decode()
    with acme.scope():
        assert Invoice.objects.filter(kind="credit_note").count() == 0


def test_only_finance_and_operators_correct_an_invoice_and_for_a_reason(staff_as: Any, acme: Cast) -> None:
    page = f"/console/billing/invoice/{unpaid_invoice(acme)}/"
    asked = {"verb": "credit_note", "credit_note-net": "1"}

    assert staff_as("support").post(f"{page}act/", {**asked, "reason": "Outage of Sunday"}).status_code == 403
    finance = staff_as("finance")
    finance.post(f"{page}act/", {**asked, "reason": "short"})
    assert "State a reason of at least" in finance.get(f"{page}change/").content.decode()
    with acme.scope():
        assert Invoice.objects.filter(kind="credit_note").count() == 0
        assert AuditEvent.objects.filter(action="invoice.credit_note").count() == 0


def test_the_checks_of_money_and_what_an_export_was_refused_for_are_shown(staff_as: Any, acme: Cast) -> None:
    now = timezone.now()
    InvariantResult.objects.using("dispatch").create(
        name="rollups_equal_the_ledger", checked_at=now, violations=2, examples=["2026-03-01T12 questions: 3, not 4"]
    )
    InvariantResult.objects.using("dispatch").create(
        name="unrated_models", checked_at=now, violations=1, examples=["qwen-served"]
    )
    with acme.scope():
        state = ExportState.objects.create(
            tenant_id=acme.tenant_id, sink="stripe", subject="usage", failures=3, last_error="No such customer",
            skipped=17,
        )  # fmt: skip
    finance, support = staff_as("finance"), staff_as("support")
    pages = {
        "invariantresult": ("rollups_equal_the_ledger", "2026-03-01T12 questions: 3, not 4"),
        "exportstate": (str(state.id), "No such customer"),
    }
    for name, (row, words) in pages.items():
        listed = finance.get(f"/console/billing/{name}/").content.decode()
        detail = finance.get(f"/console/billing/{name}/{row}/change/")
        assert row in listed, name
        assert words in detail.content.decode(), name
        assert support.get(f"/console/billing/{name}/").status_code == 403, name
    assert "No such customer" in finance.get("/console/billing/exportstate/").content.decode()
    export = finance.get(f"/console/billing/exportstate/{state.id}/change/").content.decode()
    assert "billable rows too old for the system" in export.lower()
    assert "17" in export
    kinds = {"rollups_equal_the_ledger": "invariant, checked every night", "unrated_models": "finding of a sweep"}
    for name, kind in kinds.items():
        shown = finance.get(f"/console/billing/invariantresult/{name}/change/").content.decode()
        assert [words for words in kinds.values() if words in shown] == [kind]
    listed = finance.get("/console/billing/invariantresult/").content.decode()
    assert all(kind in listed for kind in kinds.values())
