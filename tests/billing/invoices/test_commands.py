"""The commands about invoices, and the sweep that closes months."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from backend.billing.models import Invoice, LegalEntity
from backend.jobs.models import JobKind
from backend.staff.models import StaffEvent
from backend.tenancy.models import Tenant
from tests.billing.invoices.ledger import use, utc
from tests.conftest import Cast


def printed(*arguments: str, **options: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def test_months_are_closed_by_the_command_once(acme: Cast, globex: Cast) -> None:
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 9, 1))
    use(acme, utc(2026, 9, 10), 3)

    assert printed("close_month", acme.slug) == "invoices that became final: 1\n"
    assert printed("close_month") == "invoices that became final: 0\n"

    with acme.scope():
        assert Invoice.objects.count() == 1


def test_the_seller_is_set_by_the_command_and_stands_on_the_next_invoice(acme: Cast) -> None:
    try:
        assert "legal_name: Example GmbH" in printed(
            "legal_entity", legal_name="Example GmbH", address="Weg 1\\n10115 Berlin", author="finance@example.org",
            reason="We are a company of our own now",
        )  # fmt: skip
        event = StaffEvent.objects.get(action="legal_entity.changed")
        assert (event.email, event.details["legal_name"]) == ("finance@example.org", "Example GmbH")
        for missing in ({"reason": "We moved to Berlin"}, {"author": "finance@example.org", "reason": "short"}):
            with pytest.raises(CommandError):
                printed("legal_entity", legal_name="Nobody", **missing)
        assert "legal_name: Example GmbH" in printed("legal_entity")
        with acme.scope():
            Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 9, 1))
        use(acme, utc(2026, 9, 10), 3)
        printed("close_month", acme.slug)

        with acme.scope():
            seller = Invoice.objects.get().seller
        assert (seller["legal_name"], seller["address"]) == ("Example GmbH", "Weg 1\n10115 Berlin")
    finally:
        LegalEntity.objects.using("owner").update(legal_name="AVA Cloud", address="")


def test_the_sweeps_have_handlers() -> None:
    from importlib import import_module

    from backend.jobs.sweeps import SWEEPS
    from workers.runner import HANDLERS

    for kind in (JobKind.CLOSE_MONTHS, JobKind.EXPORT_BILLING, JobKind.REMIND_OVERDUE):
        assert kind in SWEEPS
        assert callable(import_module(HANDLERS[kind]).handle)
