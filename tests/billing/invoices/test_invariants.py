"""Each invariant of invoices, broken on purpose past the database's own guards."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.billing.invariants import load, registry
from backend.billing.services.credit_grants import grant_credit
from backend.tenancy.models import Tenant
from tests.billing.invoices.ledger import close, use, utc
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser

BREAKS = [
    ("invoice_equals_its_lines", "UPDATE billing_invoiceline SET amount = amount + 1"),
    ("invoice_equals_its_lines", "UPDATE billing_invoice SET total = total + 1"),
    ("invoice_number_is_recorded", "UPDATE billing_invoice SET sequence = sequence + 1"),
    ("credit_is_not_overspent", "UPDATE billing_credituse SET amount = 100"),
    ("invoice_equals_credit_used", "UPDATE billing_credituse SET amount = amount - 0.01"),
    ("invoice_numbers_without_gap", "UPDATE billing_invoiceseries SET last = last + 1"),
    ("invoice_numbers_without_gap", "DELETE FROM billing_invoicenumber"),
]


@pytest.fixture
def billed(acme: Cast) -> Cast:
    load()
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
        grant_credit(amount=Decimal(1), currency="USD", reason="Goodwill", author="finance@example.org")
    use(acme, utc(2026, 3, 10), 150)
    close(acme, utc(2026, 4, 3, 1))
    return acme


def violations(name: str) -> list[str]:
    return [text for outcome in registry.check_all([name]) for text in outcome.violations]


@pytest.mark.parametrize(("name", "wound"), BREAKS)
def test_what_breaks_an_invariant_is_found(billed: Cast, name: str, wound: str) -> None:
    assert violations(name) == []

    with superuser() as server, server.transaction():
        server.execute("SET LOCAL session_replication_role = replica")
        server.execute(wound)

    assert len(violations(name)) == 1
