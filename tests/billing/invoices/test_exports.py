"""Usage and invoices reach a billing system once, through lost replies and outages, and differences are reported."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from django.utils import timezone

from backend.billing.exports.comparison import Difference, comparison_is_due, reconcile
from backend.billing.exports.lago import Lago
from backend.billing.exports.openmeter import OpenMeter
from backend.billing.exports.sinks import Client, ExportFailed, Sink
from backend.billing.exports.stripe import Stripe
from backend.billing.exports.transfer import (
    export_credit_notes,
    export_invoices,
    export_settlements,
    export_usage,
)
from backend.billing.models import ExportState, Invoice
from backend.billing.services.credit.credit_grants import grant_credit
from backend.billing.services.invoicing.invoices import credit_note, mark_paid, void
from backend.tenancy.models import Tenant
from tests.billing.invoices.billing_server import KEY, serving
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast

NOW = timezone.now()
LATER = NOW + timedelta(minutes=30)
YESTERDAY = NOW.replace(hour=12) - timedelta(days=1)
SINKS: list[Callable[[Client], Sink]] = [Stripe, Lago, OpenMeter]


def client(url: str, key: str = KEY) -> Client:
    return Client(url, key, pause=lambda _: None)


@pytest.mark.parametrize("make", SINKS)
def test_usage_is_exported_once_through_lost_replies_and_repeats(acme: Cast, make: Callable[[Client], Sink]) -> None:
    for quantity in (1, 1, 1, -1):
        use(acme, YESTERDAY, quantity)
    use(acme, YESTERDAY, "30.5", meter="media_seconds")
    use(acme, YESTERDAY, 9, billable=False)
    use(acme, YESTERDAY, 500, meter="input_tokens")
    with serving() as (url, server):
        sink = make(client(url))
        export_usage(acme.tenant_id, sink, now=NOW)
        assert server.events == {}, "rows of the last minute may not be committed yet"
        server.troubles = [503, "lost", 429] if make is not Stripe else [503, 429, "lost"]

        assert export_usage(acme.tenant_id, sink, now=LATER) == 5
        repeated = export_usage(acme.tenant_id, make(client(url)), now=LATER)

        assert repeated == 5, "the overlap is sent again"
        values = sorted((event["meter"], event["value"]) for event in server.events.values())
        assert values == [("media_seconds", "30.5"), *[("questions", "-1")], *[("questions", "1")] * 3]
        assert reconcile(acme.tenant_id, sink, now=NOW) == []


@pytest.mark.parametrize("make", SINKS)
def test_a_difference_is_reported_by_day_and_meter(acme: Cast, make: Callable[[Client], Sink]) -> None:
    use(acme, YESTERDAY, 2)
    row = use(acme, YESTERDAY, 3)
    with serving() as (url, server):
        sink = make(client(url))
        export_usage(acme.tenant_id, sink, now=LATER)
        del server.events[str(row.id)]

        found = reconcile(acme.tenant_id, sink, now=NOW)

    day = YESTERDAY.replace(hour=0, minute=0, second=0, microsecond=0)
    assert found == [Difference(day, "questions", Decimal(5), Decimal(2))]


def test_usage_that_only_the_billing_system_has_is_a_difference(acme: Cast) -> None:
    before = YESTERDAY - timedelta(days=1)
    use(acme, before, 1)
    row = use(acme, YESTERDAY, 3)
    with serving() as (url, server):
        sink = OpenMeter(client(url))
        export_usage(acme.tenant_id, sink, now=LATER)
        server.events[str(row.id)]["at"] = before.timestamp()

        found = reconcile(acme.tenant_id, sink, now=NOW)

    days = [day.replace(hour=0, minute=0, second=0, microsecond=0) for day in (before, YESTERDAY)]
    assert found == [
        Difference(days[0], "questions", Decimal(1), Decimal(4)),
        Difference(days[1], "questions", Decimal(3), Decimal(0)),
    ]


@pytest.mark.parametrize("make", SINKS)
def test_late_rows_and_reversals_of_days_long_over_are_compared_until_both_sides_agree(
    acme: Cast, make: Callable[[Client], Sink]
) -> None:
    long_ago = YESTERDAY - timedelta(days=20)
    use(acme, YESTERDAY, 1)
    with serving() as (url, server):
        sink = make(client(url))
        export_usage(acme.tenant_id, sink, now=LATER)
        assert reconcile(acme.tenant_id, sink, now=NOW) == []
        late, reversal = use(acme, long_ago, 5), use(acme, long_ago, -2)
        export_usage(acme.tenant_id, sink, now=LATER)
        lost = [server.events.pop(str(row.id)) for row in (late, reversal)]

        expected = [Difference(long_ago.replace(hour=0, minute=0, second=0, microsecond=0), "questions", Decimal(3),
                               Decimal(0))]  # fmt: skip
        # Found again each day until it is mended.
        days = [NOW + timedelta(days=number) for number in (1, 2, 3)]
        assert [reconcile(acme.tenant_id, sink, now=day) for day in days[:2]] == [expected, expected]
        server.events |= {str(row.id): event for row, event in zip((late, reversal), lost, strict=True)}
        assert reconcile(acme.tenant_id, sink, now=days[2]) == []
        asked = len(server.requests)
        assert reconcile(acme.tenant_id, sink, now=days[2] + timedelta(days=9)) == []
        assert len(server.requests) - asked <= 2, "what agreed is not asked for again"


def test_a_day_that_was_not_over_at_the_last_comparison_is_compared_after_a_pause(acme: Cast) -> None:
    row = use(acme, NOW, 4)
    with serving() as (url, server):
        sink = OpenMeter(client(url))
        export_usage(acme.tenant_id, sink, now=LATER)
        assert reconcile(acme.tenant_id, sink, now=NOW) == []
        del server.events[str(row.id)]
        found = reconcile(acme.tenant_id, sink, now=NOW + timedelta(days=5))
    assert [(one.ours, one.theirs) for one in found] == [(4, 0)]


def test_a_day_that_stripe_finds_too_old_is_not_compared(acme: Cast) -> None:
    use(acme, NOW - timedelta(days=36), 2)
    use(acme, YESTERDAY, 3)
    with serving() as (url, _):
        sink = Stripe(client(url))
        export_usage(acme.tenant_id, sink, now=LATER)
        assert reconcile(acme.tenant_id, sink, now=NOW) == []


def test_a_comparison_is_due_once_a_day_whatever_the_hour(acme: Cast) -> None:
    with serving() as (url, _):
        sink = OpenMeter(client(url))
        assert comparison_is_due(acme.tenant_id, sink, now=NOW)
        reconcile(acme.tenant_id, sink, now=NOW)
        due = [comparison_is_due(acme.tenant_id, sink, now=NOW + timedelta(hours=hours)) for hours in (1, 23, 24, 60)]
    assert due == [False, False, True, True]


def test_an_outage_moves_no_cursor_and_a_wrong_key_is_not_tried_again(acme: Cast) -> None:
    use(acme, YESTERDAY, 2)
    with serving() as (url, server):
        server.troubles = [503] * 5
        with pytest.raises(ExportFailed) as outage:
            export_usage(acme.tenant_id, OpenMeter(client(url)), now=LATER)
        with pytest.raises(ExportFailed) as refused:
            export_usage(acme.tenant_id, OpenMeter(client(url, "wrong")), now=LATER)

        assert (outage.value.retry, refused.value.retry) == (True, False)
        assert len(server.requests) == 6
        assert "wrong" not in str(refused.value)
        with acme.scope():
            state = ExportState.objects.get(subject="usage")
        assert (state.failures, state.last_error) == (2, "POST /api/v1/events: 401")
        assert export_usage(acme.tenant_id, OpenMeter(client(url)), now=LATER) == 1
    with acme.scope():
        state = ExportState.objects.get(subject="usage")
    assert (state.failures, state.last_error) == (0, "")


def test_stripe_takes_nothing_older_than_35_days(acme: Cast) -> None:
    use(acme, NOW - timedelta(days=36), 2)
    use(acme, NOW - timedelta(days=34), 3)
    with serving() as (url, server):
        assert export_usage(acme.tenant_id, Stripe(client(url)), now=LATER) == 1
        export_usage(acme.tenant_id, Stripe(client(url)), now=LATER)

        assert [event["value"] for event in server.events.values()] == ["3"]
    with acme.scope():
        assert ExportState.objects.get(subject="usage").skipped == 1


def test_what_stripe_has_forgotten_is_not_sent_again(acme: Cast) -> None:
    """An identifier is unique for 24 hours only, so an export after a longer pause leaves the overlap out."""
    use(acme, YESTERDAY, 2)
    with serving() as (url, server):
        export_usage(acme.tenant_id, Stripe(client(url)), now=LATER)
        server.events.clear()
        server.replies.clear()

        assert export_usage(acme.tenant_id, Stripe(client(url)), now=LATER + timedelta(hours=24)) == 0
        assert server.events == {}


def test_an_invoice_is_exported_once_and_adds_up(acme: Cast) -> None:
    account(acme, tax_rate=Decimal("0.19"), country="DE")
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
    use(acme, utc(2026, 3, 10), 50)
    close(acme, utc(2026, 4, 3, 1))
    with serving() as (url, server):
        server.troubles = ["lost", 503]
        assert export_invoices(acme.tenant_id, Stripe(client(url))) == 1
        assert export_invoices(acme.tenant_id, Stripe(client(url))) == 0

        (invoice,) = server.invoices.values()
        assert len(server.customers) == 1
        assert [int(item["amount"]) for item in server.items] == [100, 19]
    with acme.scope():
        ours = Invoice.objects.get()
        assert (invoice["number"], invoice["status"], invoice["currency"]) == (ours.number, "open", "usd")
        assert ours.total == Decimal("1.19")


def test_another_tenants_usage_is_not_exported(acme: Cast, globex: Cast) -> None:
    use(globex, YESTERDAY, 2)
    with serving() as (url, server):
        assert export_usage(acme.tenant_id, OpenMeter(client(url)), now=LATER) == 0
        assert server.events == {}


def test_credit_notes_reach_stripe_once_after_their_invoice(acme: Cast) -> None:
    account(acme, tax_rate=Decimal("0.19"), country="DE")
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
    use(acme, utc(2026, 3, 10), 500)
    (id,) = close(acme, utc(2026, 4, 3, 1))
    with acme.scope():
        first = credit_note(id, net=Decimal(2), reason="Outage", author="finance@example.org")
    with serving() as (url, server):
        assert export_credit_notes(acme.tenant_id, Stripe(client(url))) == 0, "its invoice is not there yet"
        export_invoices(acme.tenant_id, Stripe(client(url)))
        server.troubles = ["lost", 503]
        assert export_credit_notes(acme.tenant_id, Stripe(client(url))) == 1
        with acme.scope():
            mark_paid(id)
            second = credit_note(id, net=Decimal(3), reason="Goodwill", author="finance@example.org")
        assert export_credit_notes(acme.tenant_id, Stripe(client(url))) == 0, "Stripe does not know the payment yet"
        assert export_settlements(acme.tenant_id, Stripe(client(url))) == 1
        assert export_credit_notes(acme.tenant_id, Stripe(client(url))) == 1
        assert export_credit_notes(acme.tenant_id, Stripe(client(url))) == 0

        sent = [
            (note["metadata[number]"], note["lines[0][unit_amount]"], note.get("out_of_band_amount"))
            for note in server.credit_notes
        ]
        assert sent == [(first.number, "238", None), (second.number, "357", "357")]
        assert {note["invoice"] for note in server.credit_notes} == set(server.invoices)


@pytest.mark.parametrize("make", [Lago, OpenMeter])
def test_systems_that_make_their_own_invoices_get_no_credit_note(acme: Cast, make: Callable[[Client], Sink]) -> None:
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))
    use(acme, utc(2026, 3, 10), 500)
    (id,) = close(acme, utc(2026, 4, 3, 1))
    with acme.scope():
        credit_note(id, net=Decimal(2), reason="Outage", author="finance@example.org")
    with serving() as (url, server):
        sink = make(client(url))
        export_invoices(acme.tenant_id, sink)

        assert export_credit_notes(acme.tenant_id, sink) == 0
        assert server.credit_notes == []
        with acme.scope():
            mark_paid(id)
        assert export_settlements(acme.tenant_id, sink) == 0


def billed(cast: Cast, *quantities: int) -> list[UUID]:
    """Close the months from March on, with a number of questions in each. Returns the invoices."""
    with cast.scope():
        Tenant.objects.filter(id=cast.tenant_id).update(created_at=utc(2026, 3, 1))
    for n, quantity in enumerate(quantities):
        use(cast, utc(2026, 3 + n, 10), quantity)
    return close(cast, utc(2026, 3 + len(quantities), 3, 1))


def test_void_and_paid_invoices_are_settled_in_stripe_once(acme: Cast) -> None:
    voided, paid, still_open = billed(acme, 50, 60, 70)
    with serving() as (url, server):
        sink = Stripe(client(url))
        assert export_invoices(acme.tenant_id, sink) == 3
        assert export_settlements(acme.tenant_id, sink) == 0
        with acme.scope():
            void(voided, reissue=True)
            mark_paid(paid)
        server.troubles = ["lost", 503]
        assert export_settlements(acme.tenant_id, sink) == 2
        assert export_settlements(acme.tenant_id, sink) == 0

        states = {invoice["metadata[invoice]"]: invoice["status"] for invoice in server.invoices.values()}
        assert states == {str(voided): "void", str(paid): "paid", str(still_open): "open"}
        close(acme, utc(2026, 6, 3, 2))
        export_invoices(acme.tenant_id, sink)
        collectible = [invoice for invoice in server.invoices.values() if invoice["status"] == "open"]
        assert len(collectible) == 2, "the new invoice of March and that of May"


def test_an_invoice_that_was_settled_in_stripe_by_hand_is_settled(acme: Cast) -> None:
    (id,) = billed(acme, 50)
    with serving() as (url, server):
        export_invoices(acme.tenant_id, Stripe(client(url)))
        with acme.scope():
            mark_paid(id)
        server.invoices["in_0"]["status"] = "void"
        with pytest.raises(ExportFailed):
            export_settlements(acme.tenant_id, Stripe(client(url)))
        server.invoices["in_0"]["status"] = "paid"
        assert export_settlements(acme.tenant_id, Stripe(client(url))) == 1


def test_an_invoice_that_credit_has_paid_needs_no_payment_in_stripe(acme: Cast) -> None:
    with acme.scope():
        grant_credit(amount=Decimal(100), currency="USD", reason="Outage of Sunday", author="finance@example.org")
    billed(acme, 50)
    with serving() as (url, server):
        assert export_invoices(acme.tenant_id, Stripe(client(url))) == 1
        assert server.invoices["in_0"]["status"] == "paid"
        assert export_settlements(acme.tenant_id, Stripe(client(url))) == 0


def test_a_refused_invoice_holds_up_no_other_and_is_noted(acme: Cast) -> None:
    refused, taken = billed(acme, 60_000_000, 50)
    with serving() as (url, server):
        for _ in range(2):
            with pytest.raises(ExportFailed):
                export_invoices(acme.tenant_id, Stripe(client(url)))
        assert {one["metadata[invoice]"]: one["status"] for one in server.invoices.values()} == {
            str(refused): "draft", str(taken): "open",
        }  # fmt: skip
    with acme.scope():
        states = {
            one.subject: (one.failures, one.last_error) for one in ExportState.objects.exclude(subject="customer")
        }
    assert states == {
        f"invoice:{refused}": (2, "POST /v1/invoices/in_0/finalize: 400"), f"invoice:{taken}": (0, ""),
    }  # fmt: skip
