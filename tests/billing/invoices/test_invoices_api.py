"""/v1/invoices and /v1/credits, and the documents as CSV and PDF."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pypdf
import pytest
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import Coupon, CreditGrant, Invoice
from backend.billing.services.credit.coupons import redeem_coupon
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.invoicing.invoices import void
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast

MARCH, AFTER = utc(2026, 3, 10), utc(2026, 4, 3, 1)


@pytest.fixture(autouse=True)
def _since_march(acme: Cast) -> None:
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))


def grant(cast: Cast, amount: str, **values: Any) -> CreditGrant:
    with cast.scope():
        return grant_credit(
            amount=Decimal(amount), currency="USD", reason="Goodwill", author="finance@example.org", **values
        )


def test_an_invoice_is_read_with_its_lines(acme: Cast, globex: Cast) -> None:
    account(acme, tax_rate=Decimal("0.19"), country="DE", legal_name="Acme GmbH", time_zone="Europe/Berlin")
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)
    public = encode("ivc", id)

    (listed,) = acme.client.get("/v1/invoices").json()["data"]
    shown = acme.client.get(f"/v1/invoices/{public}").json()
    (line,) = acme.client.get(f"/v1/invoices/{public}/lines").json()["data"]

    assert listed == shown
    assert (shown["id"], shown["state"], shown["total"], shown["tax"]) == (public, "final", "3.57", "0.57")
    assert (line["meter"], line["quantity"], line["unit_amount"], line["amount"]) == ("questions", "150", "0.02", "3")
    assert line["price_version"] == 1
    assert "cost" not in str(shown) + str(line)
    assert acme.client.get("/v1/invoices?state=paid").json()["data"] == []
    assert globex.client.get("/v1/invoices").json()["data"] == []
    for path in ("", "/lines", "/csv", "/pdf"):
        assert globex.client.get(f"/v1/invoices/{public}{path}").status_code == 404


def test_the_csv_adds_up_to_the_total(acme: Cast) -> None:
    account(acme, tax_rate=Decimal("0.19"), country="DE")
    use(acme, MARCH, 150)
    use(acme, MARCH, "100.5", meter="media_seconds")
    (id,) = close(acme, AFTER)

    reply = acme.client.get(f"/v1/invoices/{encode('ivc', id)}/csv")

    rows = list(csv.DictReader(io.StringIO(reply.content.decode())))
    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    assert [(row["meter"], row["amount"], row["exact_amount"]) for row in rows] == [
        ("media_seconds", "0.07", "0.07035"),
        ("questions", "3", "3"),
        ("", "0.58", "0.58"),
    ]
    with acme.scope():
        assert sum(Decimal(row["amount"]) for row in rows) == Invoice.objects.get().total


@pytest.mark.parametrize(
    ("country", "title", "amount", "rate"),
    [("DE", "Rechnung", "1.234,56 USD", "19 %"), ("FR", "Facture", "1 234,56 USD", "19 %"),
     ("US", "Invoice", "1,234.56 USD", "19 %")],
)  # fmt: skip
def test_the_pdf_is_written_in_the_buyers_language_with_embedded_fonts(
    acme: Cast, country: str, title: str, amount: str, rate: str
) -> None:
    account(acme, tax_rate=Decimal("0.19"), country=country, legal_name="Łódź & <Söhne>", city="Москва")
    use(acme, MARCH, 61_728)
    (id,) = close(acme, AFTER)

    reply = acme.client.get(f"/v1/invoices/{encode('ivc', id)}/pdf")

    document = pypdf.PdfReader(io.BytesIO(reply.content))
    text = " ".join(" ".join(page.extract_text() for page in document.pages).replace("\u202f", " ").split())
    with acme.scope():
        number = Invoice.objects.get().number
    assert reply["Content-Type"] == "application/pdf"
    as_bytes = acme.client.get(reply.wsgi_request.path, headers={"Accept": "application/octet-stream"})
    assert (as_bytes["Content-Type"], as_bytes.content[:5]) == ("application/octet-stream", b"%PDF-")
    for words in (title, amount, rate, number, "Łódź & <Söhne>", "Москва"):
        assert words in text, words
    resources: Any = document.pages[0]["/Resources"]
    fonts = [font.get_object() for font in resources["/Font"].values()]
    used = [font for font in fonts if "Noto" in font["/BaseFont"]]
    assert len(used) >= 2
    assert all("/FontFile2" in font["/FontDescriptor"].get_object() for font in used)


def test_the_oldest_credit_pays_first_and_an_expired_one_pays_nothing(acme: Cast) -> None:
    first = grant(acme, "1.00")
    second = grant(acme, "5.00", expires_at=timezone.now() + timedelta(days=1))
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)

    left = {row["id"]: row["left"] for row in acme.client.get("/v1/credits").json()["data"]}
    with acme.scope():
        invoice = Invoice.objects.get(id=id)

    assert left == {encode("cre", first.id): "0", encode("cre", second.id): "3"}
    assert (invoice.credited, invoice.due, invoice.state) == (Decimal(3), 0, "paid")
    use(acme, utc(2026, 4, 10), 100)
    (april,) = close(acme, timezone.now() + timedelta(days=2))[:1]
    with acme.scope():
        assert Invoice.objects.get(id=april).credited == 0, "the rest has expired"


def test_a_void_invoice_gives_its_credit_back(acme: Cast) -> None:
    grant(acme, "1.00")
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)
    with acme.scope():
        void(id)

    (credit,) = acme.client.get("/v1/credits").json()["data"]
    assert (credit["amount"], credit["left"]) == ("1", "1")


@pytest.mark.parametrize(("amount", "reason"), [("0", "x"), ("-1", "x"), ("0.001", "x"), ("1", " ")])
def test_a_credit_without_an_amount_or_a_reason_is_refused(acme: Cast, amount: str, reason: str) -> None:
    with pytest.raises(Refused), acme.scope():
        grant_credit(amount=Decimal(amount), currency="USD", reason=reason, author="finance@example.org")
    with acme.scope():
        assert CreditGrant.objects.count() == 0


def test_a_coupon_lowers_the_amount_before_tax_for_its_months(acme: Cast) -> None:
    account(acme, tax_rate=Decimal("0.1"), country="DE")
    coupon = {"code": "SPRING", "percent": Decimal(25), "months": 1, "author": "finance@example.org"}
    Coupon.objects.using("staff").create(**coupon)
    use(acme, MARCH, 150)
    use(acme, utc(2026, 4, 10), 150)
    with acme.scope():
        redeem_coupon(code="SPRING", author="ops", time_zone="UTC", at=MARCH)
    with pytest.raises(Refused) as again, acme.scope():
        redeem_coupon(code="SPRING", author="ops", time_zone="UTC", at=MARCH)
    assert again.value.code == "coupon_redeemed"

    close(acme, utc(2026, 5, 3, 1))

    with acme.scope():
        march, april = Invoice.objects.order_by("period_start")
    # A quarter of 3.00 off, and a tenth of 2.25 is 0.225: half to even, 0.22.
    assert (march.subtotal, march.discount, march.tax, march.total) == (
        3,
        Decimal("-0.75"),
        Decimal("0.22"),
        Decimal("2.47"),
    )
    assert (april.discount, april.total) == (0, Decimal("3.3"))
