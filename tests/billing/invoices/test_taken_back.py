"""A charge is taken back under the terms of its own month: what was free gives nothing back, what was paid does."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import pytest
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.invariants import load, registry
from backend.billing.models import CreditGrant, Invoice, InvoiceLine, QuotaMonth, UsageEvent, UsageMeter
from backend.billing.services.credit.credits import credit_media, restore_media
from backend.billing.services.usage import ledger
from backend.billing.services.usage.corrections import correct, reverse
from backend.billing.services.usage.rollups import rebuild_stale
from backend.billing.services.usage.rows import Line, Source, write
from backend.tenancy.models import Tenant
from tests.billing.invoices.ledger import close, subscribed, utc
from tests.billing.questions import record_question
from tests.conftest import Cast

MARCH, APRIL = utc(2026, 3, 1), utc(2026, 4, 1)
AFTER_MARCH, AFTER_APRIL = utc(2026, 4, 3, 1), utc(2026, 5, 3, 1)


@pytest.fixture(autouse=True)
def _since_march(acme: Cast) -> None:
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=MARCH)


def ask(cast: Cast, count: int, at: datetime) -> list[UUID]:
    ids = [uuid7() for _ in range(count)]
    with cast.scope():
        for id in ids:
            record_question(question_id=id, api_key_id=cast.key_id, occurred_at=at)
    return ids


def documents(cast: Cast) -> list[tuple[Decimal, list[tuple[str, Decimal, Decimal, bool]]]]:
    with cast.scope():
        return [
            (
                invoice.total,
                [
                    (line.kind, line.quantity, line.amount, line.late)
                    for line in InvoiceLine.objects.filter(invoice_id=invoice.id).order_by("ordinal")
                ],
            )
            for invoice in Invoice.objects.exclude(state="draft").order_by("period_start")
        ]


def test_questions_that_were_paid_are_given_back_though_the_next_month_is_free(acme: Cast) -> None:
    subscribed(acme, MARCH, questions=100)
    asked = ask(acme, 150, utc(2026, 3, 31, 23))
    close(acme, AFTER_MARCH)
    before = timezone.now()
    with acme.scope():
        ledger.reverse_questions(question_ids=asked[:30], reason="failed")
    ask(acme, 40, utc(2026, 4, 15))

    close(acme, AFTER_APRIL)

    march, april = documents(acme)
    assert march == (Decimal(1), [("usage", 150, 3, False), ("allowance", -100, -2, False)])
    assert april == (
        Decimal("-0.6"),
        [
            ("usage", 40, Decimal("0.8"), False),
            ("allowance", -40, Decimal("-0.8"), False),
            ("usage", -30, Decimal("-0.6"), True),
        ],
    )
    with acme.scope():
        reversals = UsageEvent.objects.filter(reverses_id__isnull=False)
        assert {row.occurred_at for row in reversals} == {utc(2026, 3, 31, 23)}
        assert min(row.recorded_at for row in reversals) >= before
        counted = QuotaMonth.objects.filter(api_key_id=None).order_by("month").values_list("month", "questions")
        assert [(month.month, questions) for month, questions in counted] == [(3, 120), (4, 40)]


def test_media_of_a_trial_that_fails_after_it_gives_no_credit(acme: Cast) -> None:
    subscribed(acme, MARCH, trial_until=APRIL)
    segment, video = uuid7(), uuid7()
    with acme.scope():
        ledger.record_media_seconds(
            segment_id=segment, video_id=video, seconds=360_000, occurred_at=utc(2026, 3, 20)
        )  # fmt: skip
    close(acme, AFTER_MARCH)

    with acme.scope():
        credited = credit_media(video_id=video, segment_ids=[segment], reason="gpu_lost", round=0)
    close(acme, AFTER_APRIL)

    assert credited.price == -252
    with acme.scope():
        assert [(row.total, row.credited) for row in Invoice.objects.order_by("period_start")] == [(0, 0), (0, 0)]
        assert not CreditGrant.objects.exists()


def test_media_that_is_credited_and_restored_changes_no_invoice(acme: Cast) -> None:
    segment, video = uuid7(), uuid7()
    with acme.scope():
        ledger.record_media_seconds(segment_id=segment, video_id=video, seconds=100, occurred_at=utc(2026, 3, 20))
    close(acme, AFTER_MARCH)
    for round in range(2):
        with acme.scope():
            credit_media(video_id=video, segment_ids=[segment], reason="gpu_lost", round=round)
            restore_media(video_id=video, segment_ids=[segment], round=round)

    close(acme, AFTER_APRIL)

    assert documents(acme) == [(Decimal("0.07"), [("usage", 100, Decimal("0.07"), False)])]


def test_corrections_of_a_closed_month_are_late_lines_of_the_next(acme: Cast) -> None:
    subscribed(acme, MARCH, questions=10)
    with acme.scope():
        for name, quantity in (("wrong", 30), ("twice", 5)):
            line = Line(UsageMeter.QUESTIONS, Decimal(quantity))
            write(Source("question", name), [line], utc(2026, 3, 10))
        wrong, twice = UsageEvent.objects.order_by("-quantity")
    close(acme, AFTER_MARCH)

    with acme.scope():
        correct(event_id=wrong.id, quantity=Decimal(12), reason="counted twice")
        reverse(event_id=twice.id, reason="counted twice")
    close(acme, AFTER_APRIL)

    # 35 less 10 are paid in March, and 12 less 10 are right.
    assert [total for total, _ in documents(acme)] == [Decimal("0.5"), Decimal("-0.46")]


def test_a_late_line_of_usage_that_was_taken_back_as_a_whole_shows_its_price(acme: Cast) -> None:
    asked = ask(acme, 10, utc(2026, 3, 10))
    close(acme, AFTER_MARCH)
    with acme.scope():
        ledger.reverse_questions(question_ids=asked, reason="failed")

    close(acme, AFTER_APRIL)

    with acme.scope():
        (line,) = InvoiceLine.objects.filter(late=True)
        assert (line.quantity, line.amount, line.price_version, line.unit_amount) == (
            -10, Decimal("-0.2"), 1, Decimal("0.02"),
        )  # fmt: skip


def test_the_invariants_hold_after_reversals_of_another_month(acme: Cast) -> None:
    load()
    now = timezone.now()
    last = now.replace(day=1) - now.resolution
    asked, segment, video = ask(acme, 3, last), uuid7(), uuid7()
    with acme.scope():
        ledger.record_media_seconds(segment_id=segment, video_id=video, seconds=100, occurred_at=last)
    rebuild_stale(acme.tenant_id)
    with acme.scope():
        ledger.reverse_questions(question_ids=asked[:2], reason="failed")
        credit_media(video_id=video, segment_ids=[segment], reason="gpu_lost", round=0)
    rebuild_stale(acme.tenant_id)

    outcomes = registry.check_all(tenants=[acme.tenant_id])

    assert [one for one in outcomes if one.violations] == []
