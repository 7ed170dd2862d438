"""The examples of docs/billing.md, to the cent: the pages are read, and the ledger is asked."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db.models import Sum

from backend.billing.models import Invoice, InvoiceLine, UsageEvent
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.usage import ledger
from backend.billing.services.usage.ledger import Asked
from backend.billing.services.usage.rows import Attribution
from backend.billing.services.usage.storage import record_storage
from backend.tenancy.models import Tenant
from gpu_workers.engine.answering.contract import TOKEN_CEILING
from gpu_workers.engine.answering.scan_price import MOST_CALLS, most_events
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast

DOCS = Path(__file__).parents[2] / "docs"


def table(page: str, heading: str) -> list[list[str]]:
    """Return the rows of the first table under a heading of a page, without its head."""
    section = (DOCS / page).read_text().split(f"## {heading}\n")[1]
    rows = []
    for line in section.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows[2:]


def number(text: str) -> Decimal:
    """Return the number that a cell ends with."""
    return Decimal(re.findall(r"[−-]?[0-9.]*[0-9]", text)[-1].replace("−", "-"))


def test_the_day_of_the_billing_page_is_charged_as_the_page_says(acme: Cast) -> None:
    day = utc(2026, 3, 10)
    caller = Attribution(api_key_id=acme.key_id)
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
        ledger.record_media_seconds(segment_id=uuid4(), video_id=uuid4(), seconds=570, stages="full", occurred_at=day)
        answered, refused = (Asked(uuid4(), "ava", effort) for effort in ("low", "medium"))
        ledger.charge_questions([answered, refused], api_key_id=acme.key_id)
        ledger.reverse_question(question_id=refused.question_id, reason="refused")
        ledger.charge_search(search_id=uuid4(), attribution=caller)
        for hour in range(24):
            record_storage(at=day + timedelta(hours=hour), stored_bytes=3_500_000_000)
        rows = UsageEvent.objects.all()
        booked = {
            name: rows.filter(**filters).aggregate(all=Sum("price_amount"))["all"]
            for name, filters in {
                "indexes": {"meter": "media_seconds"},
                "effort `low`": {"effort": "low"},
                "effort `medium`": {"effort": "medium"},
                "searches": {"meter": "searches"},
                "stores": {"meter": "storage_gb_hours"},
                "together": {},
            }.items()
        }
    written = {work: Decimal(charge) for work, *_, charge in table("billing.md", "A worked example")}
    assert len(written) == len(booked)
    for name, amount in booked.items():
        (charge,) = [charge for work, charge in written.items() if name in work]
        assert (name, amount) == (name, charge)
    section = (DOCS / "billing.md").read_text().split("## A worked example\n")[1]
    cents = re.search(r"to the cent this day is ([0-9.]+) for media", " ".join(section.split()))
    assert cents is not None
    close(acme, utc(2026, 4, 3, 1))
    with acme.scope():
        (invoice,) = Invoice.objects.all()
        lines = dict(InvoiceLine.objects.filter(invoice_id=invoice.id).values_list("meter", "amount"))
    # Questions and searches are charged at the moment they are made, which is in a later month.
    assert lines == {"media_seconds": Decimal(cents[1]), "storage_gb_hours": Decimal("0.01")}


def test_the_limits_of_the_billing_page_are_those_of_the_engine_and_of_the_settings() -> None:
    ceilings = {effort.strip("`"): [int(number.replace(",", "")) for number in numbers]
                for effort, *numbers in table("billing.md", "What a question may consume")}  # fmt: skip
    assert ceilings == {
        effort: [tokens, MOST_CALLS[effort], most_events(effort, small=False)]
        for effort, tokens in TOKEN_CEILING.items()
    }
    small = "{}, {}, {} and {}".format(*(most_events(effort, small=True) for effort in TOKEN_CEILING))
    page = " ".join((DOCS / "billing.md").read_text().split())
    at_once, seconds = settings.JOBS_PER_TENANT["gpu.index"], settings.SEGMENT_MS // 1_000
    assert f"at most {at_once:.0f} segments of about {seconds} s" in page
    assert f"fewer calls: at most {small}, of an event each" in page
    assert f"and {settings.FREE_WORK_PER_HOUR} USD more (1 unit" in page
    assert f"retry within the hour ({settings.RETRIES_PER_HOUR:,})" in page


def test_the_invoice_of_the_billing_page_adds_up_as_the_page_says(acme: Cast) -> None:
    march = utc(2026, 3, 10)
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
        grant_credit(amount=Decimal(1), currency="USD", reason="Goodwill", author="finance@example.org")
    account(acme, tax_rate=Decimal("0.19"), country="DE")
    use(acme, march, 150)
    use(acme, march, "100.5", meter="media_seconds")
    close(acme, utc(2026, 4, 3, 1))
    with acme.scope():
        invoice = Invoice.objects.get()
        lines = {
            line.meter: (line.exact_amount, line.amount) for line in InvoiceLine.objects.filter(invoice_id=invoice.id)
        }
    rows = {
        name.split(",")[0]: (exact, Decimal(amount.replace("−", "-")))
        for name, exact, amount in table("billing.md", "Worked example of an invoice")
    }
    for meter, found in lines.items():
        exact, amount = rows.pop(meter)
        assert found == (number(exact), amount)
    assert {name: amount for name, (_, amount) in rows.items()} == {
        "subtotal": invoice.subtotal, "tax": invoice.tax, "total": invoice.total, "paid by credit": -invoice.credited,
        "due": invoice.due,
    }  # fmt: skip
