"""A month becomes an invoice: once, whole, numbered without gaps, and usage that comes late goes to the next."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import Sum

from backend.billing.models import (
    BillingPeriod,
    Invoice,
    InvoiceLine,
    InvoiceNumber,
    InvoiceSeries,
    InvoiceState,
    UsageEvent,
)
from backend.billing.services.invoicing import closing
from backend.billing.services.invoicing.billing_lock import lock_billing
from backend.billing.services.invoicing.invoices import credit_note, mark_paid, void
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast, make_tenant

FEBRUARY = utc(2026, 2, 10)
MARCH = utc(2026, 3, 10)
IN_MARCH, AFTER_MARCH, AFTER_APRIL = utc(2026, 3, 20), utc(2026, 4, 3, 1), utc(2026, 5, 3, 1)


@pytest.fixture(autouse=True)
def _since_march(acme: Cast) -> None:
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))


def invoices(cast: Cast) -> list[Invoice]:
    with cast.scope():
        return list(Invoice.objects.order_by("kind", "period_start", "created_at"))


def lines(cast: Cast, invoice: Invoice) -> list[tuple[object, ...]]:
    with cast.scope():
        rows = InvoiceLine.objects.filter(invoice_id=invoice.id).order_by("ordinal")
        return [(row.kind, row.meter, row.quantity, row.exact_amount, row.amount, row.late) for row in rows]


def test_a_month_is_a_draft_during_the_grace_and_final_after_it(acme: Cast) -> None:
    use(acme, MARCH, 3)
    use(acme, MARCH, "100.5", meter="media_seconds")
    use(acme, utc(2026, 4, 1), 7)
    use(acme, MARCH, 5, billable=False)

    assert close(acme, IN_MARCH) == []
    assert invoices(acme) == []
    assert close(acme, utc(2026, 4, 2)) == []
    (draft,) = invoices(acme)
    assert (draft.state, draft.number, draft.sequence) == ("draft", "", None)
    use(acme, MARCH, 1)

    assert close(acme, AFTER_MARCH) == [draft.id]

    (final,) = invoices(acme)
    assert (final.state, final.period_start, final.period_end) == ("final", utc(2026, 3, 1), utc(2026, 4, 1))
    # Four questions at 0.02, and 100.5 s at 0.0007 = 0.07035, which is rounded to the cent on its line.
    assert lines(acme, final) == [
        ("usage", "media_seconds", Decimal("100.5"), Decimal("0.07035"), Decimal("0.07"), False),
        ("usage", "questions", Decimal(4), Decimal("0.08"), Decimal("0.08"), False),
    ]
    assert [final.subtotal, final.tax, final.total, final.due] == [
        Decimal(text) for text in ("0.15", "0", "0.15", "0.15")
    ]


def test_a_draft_follows_the_ledger_with_every_sweep(acme: Cast) -> None:
    close(acme, utc(2026, 4, 1, 1))
    assert invoices(acme) == []
    use(acme, MARCH, 3)
    close(acme, utc(2026, 4, 1, 2))
    (draft,) = invoices(acme)
    assert (draft.state, draft.total) == ("draft", Decimal("0.06"))
    use(acme, MARCH, 1)

    assert close(acme, utc(2026, 4, 1, 3)) == []

    assert [(row.id, row.state, row.total) for row in invoices(acme)] == [(draft.id, "draft", Decimal("0.08"))]
    use(acme, MARCH, -4)
    close(acme, utc(2026, 4, 1, 4))
    assert invoices(acme) == []


def test_closing_again_changes_nothing(acme: Cast) -> None:
    use(acme, MARCH, 3)
    close(acme, AFTER_MARCH)
    before = [(row.number, row.total, row.issued_at) for row in invoices(acme)]

    assert close(acme, AFTER_MARCH) == []
    assert close(acme, AFTER_MARCH) == []

    assert [(row.number, row.total, row.issued_at) for row in invoices(acme)] == before
    with acme.scope():
        assert InvoiceLine.objects.count() == 1


@pytest.mark.parametrize("step", ["write_drafts", "settle", "finalise", "next_number"])
def test_a_closing_that_is_killed_goes_on_where_it_stood(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    use(acme, MARCH, 3)
    close(acme, utc(2026, 4, 2))
    with monkeypatch.context() as patch:
        whole = getattr(closing, step)

        def killed(*args: object, **kwargs: object) -> object:
            whole(*args, **kwargs)
            raise KeyboardInterrupt

        patch.setattr(closing, step, killed)
        with pytest.raises(KeyboardInterrupt):
            close(acme, AFTER_MARCH)
    with acme.scope():
        assert BillingPeriod.objects.filter(closed_at=None).count() == 1
        assert [row.state for row in Invoice.objects.all()] == ["draft"]
    given = InvoiceNumber.objects.count()

    close(acme, AFTER_MARCH)

    (invoice,) = invoices(acme)
    assert (invoice.state, invoice.total) == ("final", Decimal("0.06"))
    assert InvoiceNumber.objects.count() == given + 1


def test_late_and_reversed_usage_goes_to_the_next_invoice_marked_late(acme: Cast) -> None:
    use(acme, MARCH, 3)
    close(acme, AFTER_MARCH)
    use(acme, utc(2026, 4, 15), 10)
    use(acme, utc(2026, 3, 31, 23), 2)
    use(acme, MARCH, -1)

    close(acme, AFTER_APRIL)

    march, april = invoices(acme)
    assert lines(acme, march) == [("usage", "questions", Decimal(3), Decimal("0.06"), Decimal("0.06"), False)]
    assert lines(acme, april) == [
        ("usage", "questions", Decimal(10), Decimal("0.2"), Decimal("0.2"), False),
        ("usage", "questions", Decimal(1), Decimal("0.02"), Decimal("0.02"), True),
    ]
    with acme.scope():
        late = InvoiceLine.objects.get(late=True)
        assert late.usage_start == utc(2026, 3, 1)
        exact = InvoiceLine.objects.filter(kind="usage").aggregate(sum=Sum("exact_amount"))["sum"]
        assert exact == UsageEvent.objects.aggregate(sum=Sum("price_amount"))["sum"]


def test_more_reversals_than_usage_make_credit_which_pays_the_next_invoice(acme: Cast) -> None:
    use(acme, MARCH, 10)
    close(acme, AFTER_MARCH)
    use(acme, MARCH, -8)
    close(acme, AFTER_APRIL)
    use(acme, utc(2026, 5, 5), 10)

    close(acme, utc(2026, 6, 3, 1))

    march, april, may = invoices(acme)
    assert (march.total, march.state) == (Decimal("0.2"), "final")
    assert (april.total, april.credited, april.due, april.state) == (
        Decimal("-0.16"),
        Decimal("-0.16"),
        Decimal(0),
        "paid",
    )
    assert (may.total, may.credited, may.due) == (Decimal("0.2"), Decimal("0.16"), Decimal("0.04"))


def test_a_month_without_usage_is_closed_without_an_invoice(acme: Cast) -> None:
    close(acme, AFTER_APRIL)

    assert invoices(acme) == []
    with acme.scope():
        assert BillingPeriod.objects.filter(closed_at__isnull=False).count() == 2


def test_months_follow_the_tenants_time_zone_and_tax(acme: Cast) -> None:
    account(acme, time_zone="Asia/Tokyo", tax_rate=Decimal("0.1"), country="JP", legal_name="Acme KK")
    use(acme, utc(2026, 3, 31, 14, 59, 59), 100)
    use(acme, utc(2026, 3, 31, 15), 1)

    close(acme, AFTER_MARCH)

    final = invoices(acme)[-1]
    assert (final.period_start, final.period_end) == (utc(2026, 2, 28, 15), utc(2026, 3, 31, 15))
    assert (final.subtotal, final.tax, final.total) == (Decimal(2), Decimal("0.2"), Decimal("2.2"))
    assert final.buyer["legal_name"] == "Acme KK"


def _closed_in_vain(cast: Cast) -> None:
    with tenant_scope(cast.tenant_id):
        lock_billing()
        for at in (utc(2026, 4, 1), AFTER_MARCH):
            assert closing._step(at) is not None
        raise ZeroDivisionError


def test_twenty_closings_at_once_leave_no_gap_in_the_numbers(database: None) -> None:
    casts = [make_tenant(f"closing-{n}") for n in range(20)]
    for cast in casts:
        with cast.scope():
            Tenant.objects.filter(id=cast.tenant_id).update(created_at=utc(2026, 3, 1))
        use(cast, MARCH, 1)
    start = InvoiceSeries.objects.filter(kind="invoice").values_list("last", flat=True).first() or 0
    ready = threading.Barrier(len(casts))

    def run(n: int, cast: Cast) -> None:
        try:
            ready.wait()
            if n % 4 == 0:
                # A closing that fails after it took its number gives the number back.
                with pytest.raises(ZeroDivisionError):
                    _closed_in_vain(cast)
            close(cast, AFTER_MARCH)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(casts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    sequences: list[int] = []
    for cast in casts:
        sequences += [invoice.sequence or 0 for invoice in invoices(cast)]
    assert sorted(sequences) == list(range(start + 1, start + 21))
    assert InvoiceSeries.objects.get(kind="invoice").last == start + 20


def test_a_void_invoice_keeps_its_number_and_its_usage_goes_on(acme: Cast) -> None:
    use(acme, MARCH, 3)
    (first,) = close(acme, AFTER_MARCH)
    with acme.scope():
        void(first, reissue=True)

    (second,) = close(acme, AFTER_MARCH)

    old, new = invoices(acme)
    assert (old.id, old.state, new.id, new.state) == (first, "void", second, "final")
    assert (new.sequence or 0) - (old.sequence or 0) == 1
    assert new.total == old.total == Decimal("0.06")
    with acme.scope():
        void(second)
    close(acme, AFTER_APRIL)
    assert lines(acme, invoices(acme)[-1])[0][-1] is True, "marked late on the next invoice"


def test_a_paid_invoice_is_corrected_by_a_credit_note_and_not_voided(acme: Cast) -> None:
    account(acme, tax_rate=Decimal("0.19"), country="DE")
    use(acme, MARCH, 50)
    (id,) = close(acme, AFTER_MARCH)
    with acme.scope():
        mark_paid(id)
    with pytest.raises(Refused) as refused, acme.scope():
        void(id)
    assert refused.value.code == "invoice_not_final"

    with acme.scope():
        note = credit_note(id, net=Decimal("0.40"), reason="Outage of 10 March", author="finance@example.org")

    assert (note.number[:3], note.subtotal, note.tax, note.total) == (
        "CN-",
        Decimal("-0.40"),
        Decimal("-0.08"),
        Decimal("-0.48"),
    )
    with pytest.raises(Refused) as too_much, acme.scope():
        credit_note(id, net=Decimal("0.61"), reason="More", author="finance@example.org")
    assert too_much.value.code == "invalid_credit"
    use(acme, utc(2026, 4, 10), 50)
    close(acme, AFTER_APRIL)
    april = invoices(acme)[-1]
    assert (april.total, april.credited, april.due) == (Decimal("1.19"), Decimal("0.48"), Decimal("0.71"))


def test_the_database_refuses_to_change_what_is_final(acme: Cast) -> None:
    use(acme, MARCH, 3)
    (id,) = close(acme, AFTER_MARCH)
    changes: list[Callable[[], object]] = [
        lambda: Invoice.objects.filter(id=id).update(total=1),
        lambda: Invoice.objects.filter(id=id).update(number="INV-0"),
        lambda: Invoice.objects.filter(id=id).update(state=InvoiceState.DRAFT, sequence=None),
        lambda: Invoice.objects.filter(id=id).delete(),
        lambda: InvoiceLine.objects.filter(invoice_id=id).update(amount=1),
        lambda: InvoiceLine.objects.filter(invoice_id=id).delete(),
        lambda: InvoiceLine.objects.create(
            tenant_id=acme.tenant_id, invoice_id=id, ordinal=9, kind="usage", quantity=1, amount=1
        ),
    ]
    for change in changes:
        with pytest.raises(Exception, match="final"), acme.scope():
            change()

    (final,) = invoices(acme)
    assert (final.total, final.state) == (Decimal("0.06"), "final")
