"""What an invoice and a credit note say to the person who pays and books them, printed and over HTTP."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any
from uuid import UUID

import pypdf
import pytest
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.documents.words import Words
from backend.billing.models import Invoice, LegalEntity
from backend.billing.services.accounts import set_tax
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.invoicing.invoices import credit_note, mark_paid, void
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast

MARCH, AFTER = utc(2026, 3, 10), utc(2026, 4, 3, 1)
BANK = "DE02 1203 0000 0000 2020 51"


@pytest.fixture(autouse=True)
def _since_march(acme: Cast) -> None:
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))


@pytest.fixture
def _bank(acme: Cast) -> Any:
    entities = LegalEntity.objects.using("staff").filter(is_default=True)
    entities.update(payment_details=BANK)
    yield
    entities.update(payment_details="")


def shown(cast: Cast, id: UUID) -> dict[str, Any]:
    body: dict[str, Any] = cast.client.get(f"/v1/invoices/{encode('ivc', id)}").json()
    return body


def printed(cast: Cast, id: UUID) -> str:
    """Return the words of a document's PDF, parted by single spaces."""
    reply = cast.client.get(f"/v1/invoices/{encode('ivc', id)}/pdf")
    pages = pypdf.PdfReader(io.BytesIO(reply.content)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


@pytest.mark.usefixtures("_bank")
def test_a_paid_invoice_demands_no_payment(acme: Cast) -> None:
    account(acme, country="US")
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)
    before, asks = shown(acme, id), printed(acme, id)
    assert (before["due"], before["paid"]) == ("3", "0")
    assert "Payable by May 3, 2026" in asks
    assert "Amount due 3.00 USD" in asks
    assert BANK in asks
    assert "Paid" not in asks

    with acme.scope():
        paid = mark_paid(id)

    after, says = shown(acme, id), printed(acme, id)
    assert (after["state"], after["due"], after["paid"], after["total"]) == ("paid", "0", "3", "3")
    assert paid.paid_at is not None
    assert f"Paid on {Words(paid).day(paid.paid_at)}" in says
    assert "Paid -3.00 USD" in says
    assert "Amount due 0.00 USD" in says
    assert "Payable by" not in says
    assert BANK not in says


@pytest.mark.usefixtures("_bank")
def test_a_void_invoice_demands_no_payment(acme: Cast) -> None:
    account(acme, country="US")
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)

    with acme.scope():
        void(id)

    says = printed(acme, id)
    assert (shown(acme, id)["due"], shown(acme, id)["paid"]) == ("0", "0")
    assert "Amount due 0.00 USD" in says
    assert "Payable by" not in says
    assert BANK not in says


@pytest.mark.usefixtures("_bank")
def test_an_invoice_that_credit_paid_in_part_was_paid_by_the_rest(acme: Cast) -> None:
    account(acme, country="US")
    with acme.scope():
        grant_credit(amount=Decimal(1), currency="USD", reason="Goodwill", author="finance@example.org")
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)
    with acme.scope():
        mark_paid(id)
        credit_note(id, net=Decimal("0.5"), reason="An outage", author="finance@example.org")

    body = shown(acme, id)

    assert (body["total"], body["credited"], body["corrected"], body["paid"], body["due"]) == ("3", "1", "0", "2", "0")


@pytest.mark.parametrize(
    ("note", "country", "says"),
    [
        ("reverse_charge", "DE", "Steuerschuldnerschaft des Leistungsempfängers (Reverse-Charge)"),
        ("reverse_charge", "FR", "Autoliquidation"),
        ("reverse_charge", "GB", "Reverse charge: the customer accounts for the tax"),
        ("exempt", "DE", "Steuerfreie Leistung"),
        ("Exempt under section 4 no. 8 of the German VAT act", "DE", "Exempt under section 4 no. 8"),
        ("", "DE", ""),
    ],
)
def test_the_tax_note_of_the_account_is_printed_on_its_invoices(acme: Cast, note: str, country: str, says: str) -> None:
    account(acme, country=country, tax_id="ATU12345678")
    with acme.scope():
        set_tax(Decimal(0), note)
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)
    with acme.scope():
        set_tax(Decimal("0.19"), "")

    assert acme.client.get("/v1/billing-account").json()["tax_note"] == ""
    assert shown(acme, id)["tax_note"] == note, "a final invoice keeps the note of its closing"
    text = printed(acme, id)
    assert says in text
    assert "ATU12345678" in text
    if not note:
        assert "Steuerschuldnerschaft" not in text


@pytest.mark.parametrize(
    ("rate", "note"), [("0.19", "reverse_charge"), ("0.19", "exempt"), ("0", "x" * 201), ("0", "two\nlines")]
)
def test_a_note_that_contradicts_the_rate_or_fits_no_line_is_refused(acme: Cast, rate: str, note: str) -> None:
    with pytest.raises(Refused) as refused, acme.scope():
        set_tax(Decimal(rate), note)

    assert refused.value.code == "invalid_tax_note"
    body = acme.client.get("/v1/billing-account").json()
    assert (body["tax_rate"], body["tax_note"]) == ("0", "")


def test_a_credit_note_names_the_corrected_document_and_its_buyer(acme: Cast) -> None:
    account(acme, country="DE", legal_name="Acme GmbH", city="Hamburg")
    with acme.scope():
        set_tax(Decimal(0), "reverse_charge")
    use(acme, MARCH, 150)
    (id,) = close(acme, AFTER)
    account(acme, country="DE", legal_name="Renamed AG", city="Bremen")

    with acme.scope():
        note = credit_note(id, net=Decimal(1), reason="Ein Ausfall", author="finance@example.org")
        invoice = Invoice.objects.get(id=id)

    text = printed(acme, note.id)
    assert invoice.issued_at is not None
    assert note.buyer == invoice.buyer
    assert "Acme GmbH" in text
    assert "Renamed AG" not in text
    assert shown(acme, note.id)["tax_note"] == "reverse_charge"
    assert "Steuerschuldnerschaft des Leistungsempfängers" in text
    assert f"Korrigierte Rechnung {invoice.number} vom {Words(invoice).day(invoice.issued_at)}" in text
    assert "Rechnungskorrektur" in text
    for document in (text, printed(acme, id)):
        assert "Gutschrift" not in document, "paragraph 14 UStG keeps this word for self-billing"
    assert timezone.now() >= invoice.issued_at
