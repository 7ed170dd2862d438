"""Each invariant of invoices, broken on purpose past the database's own guards."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.billing.invariants import load, registry
from backend.billing.services.credit.credit_grants import grant_credit
from backend.tenancy.models import Tenant
from tests.billing.invoices.ledger import close, use, utc
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser

BREAKS = [
    ("invoices_equal_the_ledger", "UPDATE billing_invoiceline SET exact_amount = exact_amount + 0.01"),
    ("invoices_equal_the_ledger", "UPDATE billing_invoiceline SET usage_start = usage_start - interval '1 month'"),
    ("invoices_equal_the_ledger", "DELETE FROM billing_invoiceline"),
    ("invoices_equal_the_ledger", "UPDATE billing_usageevent SET price_amount = price_amount - 0.5"),
    ("invoices_equal_the_ledger", "UPDATE billing_usageevent SET billable = false"),
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
    recorded_earlier()
    close(acme, utc(2026, 4, 3, 1))
    return acme


def recorded_earlier() -> None:
    """Let all rows be recorded so long ago that each invoice has seen them."""
    with superuser() as server, server.transaction():
        server.execute("SET LOCAL session_replication_role = replica")
        server.execute("UPDATE billing_usageevent SET recorded_at = recorded_at - interval '1 hour'")


def violations(name: str) -> list[str]:
    return [text for outcome in registry.check_all([name]) for text in outcome.violations]


@pytest.mark.parametrize(("name", "wound"), BREAKS)
def test_what_breaks_an_invariant_is_found(billed: Cast, name: str, wound: str) -> None:
    assert violations(name) == []

    with superuser() as server, server.transaction():
        server.execute("SET LOCAL session_replication_role = replica")
        server.execute(wound)

    assert len(violations(name)) == 1


def test_late_usage_is_no_violation_before_and_after_its_invoice(billed: Cast) -> None:
    name = "invoices_equal_the_ledger"
    use(billed, utc(2026, 3, 20), 7)
    use(billed, utc(2026, 3, 10), -3)
    with superuser() as server, server.transaction():
        server.execute("SET LOCAL session_replication_role = replica")
        server.execute(
            "UPDATE billing_usageevent SET recorded_at = now() + interval '1 hour' WHERE quantity IN (7, -3)"
        )
    assert violations(name) == []
    use(billed, utc(2026, 4, 5), 2)
    with superuser() as server, server.transaction():
        server.execute("SET LOCAL session_replication_role = replica")
        server.execute("UPDATE billing_usageevent SET recorded_at = now() - interval '1 hour'")
    assert len(violations(name)) == 1, "an invoice after these rows would hold them"
    close(billed, utc(2026, 5, 3, 1))
    assert violations(name) == []


def test_rows_that_were_recorded_around_the_closing_may_be_on_the_invoice_or_not(billed: Cast) -> None:
    name = "invoices_equal_the_ledger"
    use(billed, utc(2026, 3, 20), 7)
    assert violations(name) == [], "recorded within minutes of the document"
    with superuser() as server, server.transaction():
        server.execute("SET LOCAL session_replication_role = replica")
        server.execute("UPDATE billing_invoiceline SET exact_amount = exact_amount + 0.01")
    assert len(violations(name)) == 1, "no combination of these rows makes it up"
