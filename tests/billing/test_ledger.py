"""The usage ledger: exact amounts, once per piece of work, in agreement with the model calls behind it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection
from hypothesis import given
from hypothesis import strategies as st
from uuid6 import uuid7

from backend.billing import queries
from backend.billing.models import ModelCall, Price, PriceBook, UsageEvent, UsageMeter
from backend.billing.rates import Cost, NoRate, Rates, money, rates_at
from backend.billing.services.usage import ledger
from gpu_workers.engine.models import roles
from tests.billing.questions import record_question

CALLS = (
    roles.ModelCall("answer", "qwen", wall_ms=1_500, prompt_tokens=1_000, cached_tokens=600, completion_tokens=50),
    roles.ModelCall("answer", "qwen", wall_ms=250, prompt_tokens=10, cached_tokens=16, completion_tokens=5),
    roles.ModelCall("embedding", "minilm", wall_ms=7),
)
DEVICE_SECOND = Decimal("0.000222222222")


def usage_of(question_id: UUID) -> dict[tuple[str, str], Decimal]:
    rows = UsageEvent.objects.filter(question_id=question_id)
    return {(row.meter, row.stage): row.quantity for row in rows}


def record(question_id: UUID, calls: tuple[roles.ModelCall, ...] = CALLS, **more: Any) -> Cost:
    return ledger.record_model_calls(
        source_type="question", source_id=question_id, calls=calls, question_id=question_id, **more
    )


def test_it_values_each_meter_stage_and_model_exactly(acme: Any) -> None:
    question = uuid7()
    with acme.scope():
        cost = record(question)

        assert usage_of(question) == {
            ("input_tokens", "answer"): Decimal(400),
            # No more tokens can be cached than were sent.
            ("cached_tokens", "answer"): Decimal(610),
            ("output_tokens", "answer"): Decimal(55),
            ("device_seconds", "answer"): Decimal("1.75"),
            ("device_seconds", "embedding"): Decimal("0.007"),
        }
        expected = money(DEVICE_SECOND * Decimal("1.75")) + money(DEVICE_SECOND * Decimal("0.007"))
        assert cost == Cost(amount=expected, price=Decimal(0))
        assert expected == Decimal("0.0003888889") + Decimal("0.0000015556")
        assert ModelCall.objects.count() == 3


def test_device_time_is_never_silently_free(acme: Any) -> None:
    with acme.scope():
        assert record(uuid7(), (roles.ModelCall("summary", "unheard of", wall_ms=1),)).amount > 0


def test_the_second_recording_of_a_source_bills_nothing_even_if_its_calls_differ(acme: Any) -> None:
    question = uuid7()
    with acme.scope():
        first = record(question)
    with acme.scope():
        again = record(question, (*CALLS, roles.ModelCall("check", "qwen", wall_ms=9_000)))

        assert again == first
        assert ModelCall.objects.count() == 3
        assert UsageEvent.objects.count() == 5
        assert queries.question_mismatches(question) == []


def test_the_unit_amount_is_that_of_the_moment_and_of_the_model(acme: Any) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    rows = [("gpt", 1, "2.5", now, now + timedelta(days=1)), ("gpt", 2, "9", now + timedelta(days=1), None)]
    book = PriceBook.objects.get(kind="cost")
    ids = [
        Price.objects.using("staff")
        .create(
            book=book, meter="output_tokens", model=model, unit_amount=Decimal(amount), version=version,
            effective_from=start, effective_to=end, back_dated=True, author="tests",
        )
        .pk
        for model, version, amount, start, end in rows
    ]  # fmt: skip
    try:
        rates = rates_at(now + timedelta(hours=1))
    finally:
        Price.objects.using("owner").filter(pk__in=ids).delete()

    assert rates.unit("cost", "output_tokens", "gpt") == Decimal("2.5")
    assert rates.unit("cost", "output_tokens", "other") == 0


def test_a_meter_without_a_rate_is_an_error_not_a_zero() -> None:
    with pytest.raises(NoRate, match="device_seconds"):
        Rates.of({}).value("cost", "device_seconds", "", Decimal(1))


def test_media_and_questions_are_priced_once(acme: Any) -> None:
    segment, video, question = uuid7(), uuid7(), uuid7()
    with acme.scope():
        for _ in range(2):
            media = ledger.record_media_seconds(segment_id=segment, video_id=video, seconds=Decimal("29.5"))
            asked = record_question(question_id=question, api_key_id=acme.key_id)

        assert media.price == Decimal("0.02065")
        assert asked.price == Decimal("0.02")
        assert UsageEvent.objects.count() == 2
        assert queries.cost_of_video(video).price == Decimal("0.02065")


def test_a_reversal_takes_back_the_charge_once_and_leaves_both_rows(acme: Any) -> None:
    question = uuid7()
    with acme.scope():
        record_question(question_id=question, api_key_id=acme.key_id)
        for _ in range(2):
            assert ledger.reverse_question(question_id=question, reason="failed").price == Decimal("-0.02")

        assert [row.quantity for row in UsageEvent.objects.order_by("id")] == [Decimal(1), Decimal(-1)]
        assert queries.cost_of_question(question).price == 0
        assert ledger.reverse_question(question_id=uuid7(), reason="failed") == Cost()


def test_wasted_work_costs_and_is_not_priced(acme: Any) -> None:
    question = uuid7()
    with acme.scope():
        for _ in range(2):
            ledger.record_wasted_calls(calls=CALLS, question_id=question, reason="worker_lost")

        rows = list(UsageEvent.objects.filter(meter=UsageMeter.DEVICE_SECONDS, stage="answer"))
        assert [(row.billable, row.reason, row.price_amount) for row in rows] == [(False, "worker_lost", 0)] * 2
        assert queries.cost_of_question(question).amount == 2 * Decimal("0.0003904445")
        assert queries.mismatches() == []


def test_the_invariant_names_the_meter_that_drifted(acme: Any) -> None:
    question = uuid7()
    with acme.scope():
        record(question)
        UsageEvent.objects.create(
            tenant_id=acme.tenant_id, meter="output_tokens", quantity=1, occurred_at=datetime.now(UTC),
            source_type="question", source_id=str(question), stage="elsewhere",
        )  # fmt: skip
    found = queries.question_mismatches(question, using="console")

    assert [(row.tenant_id, row.meter, row.billed, row.metered) for row in found] == [
        (acme.tenant_id, "output_tokens", Decimal(56), Decimal(55))
    ]


@pytest.mark.parametrize("statement", ["UPDATE billing_usageevent SET quantity = 0", "DELETE FROM billing_usageevent"])
def test_the_ledger_cannot_be_rewritten(acme: Any, statement: str) -> None:
    with acme.scope():
        record(uuid7())
    with pytest.raises(DatabaseError, match="permission denied"), acme.scope(), connection.cursor() as cursor:
        cursor.execute(statement)
    with acme.scope():
        assert UsageEvent.objects.count() == 5


@given(st.lists(st.decimals(min_value=0, max_value=10**6, places=12), max_size=20))
def test_rounding_stays_within_half_a_unit_per_row(amounts: list[Decimal]) -> None:
    exact, rounded = sum(amounts, Decimal(0)), sum(map(money, amounts), Decimal(0))

    assert abs(exact - rounded) <= len(amounts) * Decimal("0.00000000005")


def test_device_seconds_are_the_share_of_the_server_and_not_the_wait(acme: Any) -> None:
    question = uuid7()
    calls = (
        roles.ModelCall("answer", "qwen", wall_ms=4_000, device_ms=1_000),
        roles.ModelCall("answer", "qwen", wall_ms=250),
    )
    with acme.scope():
        record(question, calls)
        used = UsageEvent.objects.get(source_id=str(question), meter="device_seconds")
        assert used.quantity == Decimal("1.25")
        assert queries.mismatches() == []
