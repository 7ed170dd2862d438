"""The coupons of a month discount the usage of the month, whichever invoice it is on."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from uuid6 import uuid7

from backend.billing.models import Coupon, CreditGrant, Invoice, InvoiceLine
from backend.billing.services.credit.coupons import redeem_coupon
from backend.billing.services.invoicing.invoices import void
from backend.tenancy.models import Tenant
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast

MARCH = utc(2026, 3, 10)
AFTER_MARCH, AFTER_APRIL, AFTER_MAY = utc(2026, 4, 3, 1), utc(2026, 5, 3, 1), utc(2026, 6, 3, 1)


@pytest.fixture(autouse=True)
def _since_march(acme: Cast) -> None:
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 3, 1))


def coupon(cast: Cast, at: datetime, *, zone: str = "UTC", **values: object) -> str:
    row = Coupon.objects.using("staff").create(code=f"C-{uuid7().hex[-8:].upper()}", author="tests", **values)
    with cast.scope():
        redeem_coupon(code=row.code, author="tests", time_zone=zone, at=at)
    return str(row.code)


def documents(cast: Cast) -> list[tuple[Decimal, Decimal, list[tuple[str, Decimal, bool, datetime | None]]]]:
    with cast.scope():
        return [
            (
                invoice.discount,
                invoice.total,
                [
                    (line.kind, line.amount, line.late, line.usage_start)
                    for line in InvoiceLine.objects.filter(invoice_id=invoice.id).order_by("ordinal")
                ],
            )
            for invoice in Invoice.objects.exclude(state__in=["draft", "void"]).order_by("period_start")
        ]


def test_usage_that_was_discounted_as_a_whole_gives_nothing_back(acme: Cast) -> None:
    coupon(acme, MARCH, percent=Decimal(100))
    use(acme, MARCH, 10)
    close(acme, AFTER_MARCH)
    use(acme, MARCH, -8)

    close(acme, AFTER_APRIL)

    start = utc(2026, 3, 1)
    assert documents(acme) == [
        (Decimal("-0.2"), 0, [("usage", Decimal("0.2"), False, start), ("coupon", Decimal("-0.2"), False, start)]),
        (Decimal("0.16"), 0, [("usage", Decimal("-0.16"), True, start), ("coupon", Decimal("0.16"), True, start)]),
    ]
    with acme.scope():
        assert not CreditGrant.objects.exists()


def test_a_void_month_keeps_its_coupon_when_its_usage_comes_late(acme: Cast) -> None:
    coupon(acme, MARCH, percent=Decimal(50))
    use(acme, MARCH, 10)
    (first,) = close(acme, AFTER_MARCH)
    with acme.scope():
        void(first)
    use(acme, utc(2026, 4, 10), 10)

    close(acme, AFTER_APRIL)

    march, april = utc(2026, 3, 1), utc(2026, 4, 1)
    assert documents(acme) == [
        (
            Decimal("-0.1"), Decimal("0.3"),
            [
                ("usage", Decimal("0.2"), False, april),
                ("usage", Decimal("0.2"), True, march),
                ("coupon", Decimal("-0.1"), True, march),
            ],
        )
    ]  # fmt: skip


def test_an_amount_is_taken_off_once_a_month(acme: Cast) -> None:
    coupon(acme, MARCH, amount=Decimal(1), currency="USD", months=2)
    use(acme, MARCH, 30)
    close(acme, AFTER_MARCH)
    use(acme, MARCH, 40)
    use(acme, utc(2026, 4, 10), 10)
    close(acme, AFTER_APRIL)
    use(acme, utc(2026, 5, 10), 10)

    close(acme, AFTER_MAY)

    # 0.60 of 1 in March, and the rest of it for the late usage; 0.20 in April; nothing in May.
    assert [(discount, total) for discount, total, _ in documents(acme)] == [
        (Decimal("-0.6"), 0), (Decimal("-0.6"), Decimal("0.4")), (0, Decimal("0.2")),
    ]  # fmt: skip


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"])
def test_a_coupon_keeps_its_number_of_months_when_the_time_zone_changes(acme: Cast, zone: str) -> None:
    coupon(acme, MARCH, percent=50, months=2)
    account(acme, time_zone="UTC", currency="USD")
    for month in (3, 4, 5):
        use(acme, utc(2026, month, 10), 10)
    close(acme, AFTER_MARCH)
    account(acme, time_zone=zone, currency="USD")
    for after in (utc(2026, 5, 4), utc(2026, 6, 4)):
        close(acme, after)

    assert [discount for discount, _, _ in documents(acme)] == [Decimal("-0.1"), Decimal("-0.1"), 0]


def test_a_coupon_that_is_redeemed_after_a_change_of_the_time_zone_begins_with_the_current_month(acme: Cast) -> None:
    zone = "America/New_York"
    account(acme, time_zone="UTC", currency="USD")
    use(acme, MARCH, 10)
    close(acme, AFTER_MARCH)
    account(acme, time_zone=zone, currency="USD")
    coupon(acme, utc(2026, 4, 10), zone=zone, percent=50, months=1)
    for month in (4, 5):
        use(acme, utc(2026, month, 10), 10)
    for after in (utc(2026, 5, 4), utc(2026, 6, 4)):
        close(acme, after)

    assert [discount for discount, _, _ in documents(acme)] == [0, Decimal("-0.1"), 0]
