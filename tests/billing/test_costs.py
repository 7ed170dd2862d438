"""What a day cost: attributed device time against paid machine hours, with the cost of failed calls apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, transaction
from django.utils import timezone
from uuid6 import uuid7

from backend.billing import queries
from backend.billing.invariants import load, registry
from backend.billing.models import FAILED_CALLS, CostDay, MachineDay, ModelCall, ModelRate, UsageEvent
from backend.billing.services.limits import budgets
from backend.billing.services.machines.device_time import append_rate, device_rates_at, forget_device_rates
from backend.billing.services.machines.reconciliation import Attributed, costs_of, reconcile_day
from backend.billing.services.usage import ledger
from gpu_workers.engine.models import roles
from gpu_workers.engine.models.device_rates import DeviceRate
from tests.billing.questions import record_question
from tests.conftest import Cast

DEVICE_SECOND = Decimal("0.000222222222")
DAY = date(2026, 3, 1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GOOD = roles.ModelCall("answer", "qwen", wall_ms=4_000, prompt_tokens=100, completion_tokens=10, device_ms=1_000.5)
CUT = roles.ModelCall("answer", "qwen", wall_ms=9_000, prompt_tokens=50, items=0, ok=False, device_ms=500.25)


@pytest.fixture
def costs() -> Iterator[None]:
    """Forget the rates that the test appends."""
    yield
    forget_device_rates()


def decimals(*amounts: int | str) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, amounts))


def record(question: UUID, *calls: roles.ModelCall, at: datetime = NOON, **more: Any) -> None:
    ledger.record_model_calls(
        source_type="question", source_id=question, calls=calls, question_id=question, occurred_at=at, **more
    )


def test_failed_calls_are_ours_and_cost_once(acme: Any) -> None:
    question, now = uuid7(), timezone.now()
    with acme.scope():
        cost = ledger.record_model_calls(
            source_type="question", source_id=question, calls=(GOOD, CUT), question_id=question, occurred_at=now
        )
        again = ledger.record_model_calls(
            source_type="question", source_id=question, calls=(GOOD, CUT), question_id=question, occurred_at=now
        )
        rows = {
            (row.source_type, row.meter): (row.quantity, row.billable, row.reason)
            for row in UsageEvent.objects.filter(question_id=question)
        }
        assert rows == {
            ("question", "input_tokens"): (100, True, ""),
            ("question", "output_tokens"): (10, True, ""),
            ("question", "device_seconds"): (Decimal("1.0005"), True, ""),
            (FAILED_CALLS, "input_tokens"): (50, False, "failed_call"),
            (FAILED_CALLS, "device_seconds"): (Decimal("0.50025"), False, "failed_call"),
        }
        # The cost of the answer is that of the calls that made it; all that the question cost includes the waste.
        assert cost.amount == again.amount == (DEVICE_SECOND * Decimal("1.0005")).quantize(Decimal("1e-10"))
        waste = (DEVICE_SECOND * Decimal("0.50025")).quantize(Decimal("1e-10"))
        assert queries.cost_of_question(question).amount == cost.amount + waste
        assert queries.question_mismatches(question) == []
        assert queries.mismatches() == []
        assert ModelCall.objects.filter(source_id=question).count() == 2
        # The failed call spends nothing of the customer's month; an attempt that was thrown away does.
        ledger.record_wasted_calls(calls=(GOOD,), question_id=question, reason="worker_lost")
        used = budgets.monthly_budget().used
        assert (used.tokens, used.seconds, used.cost) == (220, Decimal("2.001"), 2 * cost.amount)


def test_the_check_finds_a_failed_call_that_was_not_booked(acme: Any) -> None:
    question = uuid7()
    with acme.scope():
        record(question, GOOD, at=timezone.now())
        ModelCall.objects.create(
            tenant_id=acme.tenant_id, source_type="question", source_id=question, ordinal=1, stage="answer",
            model="qwen", wall_ms=9, device_ms=Decimal("3.5"), prompt_tokens=7, ok=False,
        )  # fmt: skip
        found = {(one.meter, one.billed, one.metered) for one in queries.question_mismatches(question)}
    assert found == {("input_tokens", 100, 107), ("device_seconds", Decimal("1.0005"), Decimal("1.0040"))}


def test_rates_hold_from_their_moment_on_and_are_never_free(acme: Any, costs: None) -> None:
    first, second = DeviceRate(100, 10, 1_000), DeviceRate(50, 5, 500, 4_000, 2_000)
    append_rate("qwen", first, author="alice", note="measured", using="staff", effective_from=NOON)
    append_rate("qwen", second, author="alice", note="measured", using="staff", effective_from=NOON + timedelta(days=1))
    assert device_rates_at(NOON - timedelta(seconds=1)).rates == {}
    assert device_rates_at(NOON).rates == {"qwen": first}
    assert device_rates_at(NOON + timedelta(days=2)).rates == {"qwen": second}
    with pytest.raises(ValueError, match="no token"):
        append_rate("qwen", DeviceRate(0, 1, 0), author="alice", note="", using="staff")
    with pytest.raises(DatabaseError), transaction.atomic():
        ModelRate.objects.create(model="x", fresh_us=1, cached_us=1, output_us=1, effective_from=NOON, author="web")
    with pytest.raises(DatabaseError), transaction.atomic(using="staff"):
        ModelRate.objects.using("staff").filter(model="qwen").update(fresh_us=1)


def test_a_day_is_paid_attributed_and_overhead(acme: Cast, globex: Cast, costs: None) -> None:
    video, question = uuid7(), uuid7()
    with acme.scope():
        ledger.record_model_calls(
            source_type="observe",
            source_id=uuid7(),
            calls=[roles.ModelCall("description", "qwen", wall_ms=1, device_ms=1_800_000.0)],
            video_id=video,
            occurred_at=NOON,
        )
        ledger.record_media_seconds(segment_id=uuid7(), video_id=video, seconds=7_200, occurred_at=NOON)
    with globex.scope():
        record(question, roles.ModelCall("answer", "qwen", wall_ms=1, device_ms=900_000.0))
        record_question(question_id=question, api_key_id=None, occurred_at=NOON)
        # Another day.
        record(uuid4(), GOOD, at=NOON + timedelta(days=1))
    out = StringIO()
    call_command("machine_hours", day=str(DAY), machine="g6", devices="2", hours="1", usd_per_hour="3", stdout=out)
    row = reconcile_day(DAY)
    assert (row.paid_seconds, row.attributed_seconds, row.overhead_seconds) == decimals(7_200, 2_700, 4_500)
    assert row.utilisation == Decimal("0.375")
    # 2,700 s x 0.000222222222
    assert (row.paid_usd, row.attributed_usd, row.overhead_usd) == decimals(3, "0.5999999994", "2.4000000006")
    # Two thirds of the attributed amount are the two hours of video, one third is the question: 2 USD and 1 USD.
    assert (row.usd_per_video_hour, row.usd_per_question) == decimals(1, 1)
    assert (row.video_hours, row.questions, row.hosted_usd, row.waste_usd) == decimals(2, 1, 0, 0)
    # A day may be reconciled again: two machines were there, not one.
    call_command("machine_hours", day=str(DAY), machine="g6", devices="2", hours="2", usd_per_hour="3", stdout=out)
    call_command("reconcile_costs", day=str(DAY), stdout=out)
    line = json.loads(out.getvalue().splitlines()[-1])
    assert (line["day"], line["paid_usd"], line["utilisation"]) == ("2026-03-01", "6", "0.1875")
    assert CostDay.objects.count() == 1


def test_a_day_without_machines_video_or_questions_divides_by_nothing() -> None:
    row = costs_of(DAY, Attributed(), paid_seconds=Decimal(0), paid_usd=Decimal(0))
    assert (row.utilisation, row.usd_per_video_hour, row.usd_per_question) == (None, None, None)
    hosted = Attributed(hosted_usd=Decimal(5), answer_hosted_usd=Decimal(5), questions=Decimal(4))
    row = costs_of(DAY, hosted, paid_seconds=Decimal(0), paid_usd=Decimal(0))
    assert (row.usd_per_question, row.overhead_usd, row.attributed_usd) == decimals("1.25", 0, 0)


def test_more_attributed_than_paid_is_a_violation(acme: Cast, costs: None) -> None:
    def violations() -> list[str]:
        load()
        return [line for one in registry.check_all(["attributed_within_paid"]) for line in one.violations]

    with acme.scope():
        record(uuid7(), roles.ModelCall("answer", "qwen", wall_ms=1, device_ms=3_600_000.0))
    MachineDay.objects.using("staff").create(
        day=DAY, machine="g6", hours=Decimal(1), usd_per_hour=Decimal(1), author="alice"
    )
    reconcile_day(DAY)
    assert violations() == []
    MachineDay.objects.using("staff").filter(day=DAY).update(hours=Decimal("0.5"))
    with pytest.raises(CommandError, match="2026-03-01"):
        call_command("reconcile_costs", day=str(DAY), stdout=StringIO())
    assert violations() == ["2026-03-01: 3600.000000 s attributed of 1800.000000 s of device time that was paid"]


@pytest.mark.parametrize(
    "text",
    [
        "day,machine,devices,hours\n2026-03-01,g6,1,24\n",
        "day,machine,devices,hours,usd_per_hour\n2026-03-01,g6,1,x,1\n",
    ],
)
def test_a_file_that_is_not_understood_enters_nothing(acme: Cast, costs: None, tmp_path: Path, text: str) -> None:
    file = tmp_path / "hours.csv"
    file.write_text(text)
    with pytest.raises(CommandError):
        call_command("machine_hours", csv=str(file), stdout=StringIO())
    assert not MachineDay.objects.exists()


def test_a_file_of_hours_is_entered_as_a_whole(acme: Cast, costs: None, tmp_path: Path) -> None:
    file = tmp_path / "hours.csv"
    file.write_text("day,machine,devices,hours,usd_per_hour\n2026-03-01,g6,1,24,0.8\n2026-03-02,p5,8,48,55.04\n")
    call_command("machine_hours", csv=str(file), author="alice", stdout=StringIO())
    rows = MachineDay.objects.order_by("day").values_list(
        "day", "machine", "devices", "hours", "usd_per_hour", "author"
    )
    assert list(rows) == [
        (date(2026, 3, 1), "g6", 1, Decimal(24), Decimal("0.8"), "alice"),
        (date(2026, 3, 2), "p5", 8, Decimal(48), Decimal("55.04"), "alice"),
    ]
