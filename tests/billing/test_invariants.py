"""Each invariant of the money finds what is broken on purpose, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.invariants import load, registry
from backend.billing.models import InvariantResult, UsageEvent, UsageHour
from backend.billing.services import nightly
from backend.billing.services.usage import corrections, ledger, rollups
from backend.billing.services.usage.rows import reversal_of
from backend.questions.models import Question, Search
from backend.questions.queries.searches import ScoreReport
from backend.questions.services import searches
from gpu_workers.engine.models import roles
from tests.billing.questions import record_question
from tests.billing.violated import violations
from tests.factories import make_video

CALL = roles.ModelCall("answer", "qwen", wall_ms=2_000, prompt_tokens=100, completion_tokens=10)


@pytest.fixture
def sound(acme: Any) -> UsageEvent:
    """A question of acme that is charged and answered, an attempt that was wasted, and a reversed charge."""
    with acme.scope():
        question, canceled = uuid7(), uuid7()
        record_question(question_id=question, api_key_id=acme.key_id)
        ledger.record_model_calls(source_type="question", source_id=question, calls=[CALL], question_id=question)
        ledger.record_wasted_calls(calls=[CALL], reason="stopped", question_id=question)
        record_question(question_id=canceled, api_key_id=acme.key_id)
        ledger.reverse_question(question_id=canceled, reason="canceled")
        row: UsageEvent = UsageEvent.objects.get(question_id=question, meter="questions")
    rollups.rebuild_stale(acme.tenant_id)
    assert violations(acme) == {}
    return row


def added(row: UsageEvent, **changes: Any) -> UsageEvent:
    """Write a copy of a row with changes, past everything that would refuse it."""
    columns = {field.attname: getattr(row, field.attname) for field in UsageEvent._meta.fields}
    copy = UsageEvent(**{**columns, "id": uuid7(), "source_id": str(uuid7()), **changes})
    UsageEvent.objects.bulk_create([copy])
    return copy


BREAKS: list[tuple[str, Callable[[UsageEvent], Any]]] = [
    ("amounts_follow_prices", lambda row: added(row, price_amount=Decimal("0.021"))),
    ("amounts_follow_prices", lambda row: added(row, price_id=uuid7())),
    ("amounts_follow_prices", lambda row: added(row, price_version=7)),
    ("billable_rows_name_a_price", lambda row: added(row, price_id=None, price_amount=0, price_version=None)),
    ("billable_rows_name_a_price", lambda row: added(row, billable=False, reason="late")),
    (
        "billable_rows_name_a_price",
        lambda row: added(row, billable=False, reason="", price_id=None, price_amount=0, price_version=None),
    ),
    ("reversals_negate_once", lambda row: added(row, reverses_id=uuid7())),
    ("reversals_negate_once", lambda row: added(row, reverses_id=row.id)),
    ("work_is_billed_once", lambda row: added(row, source_id=row.source_id)),
    ("waste_is_never_charged", lambda row: added(row, source_type="wasted_attempt")),
]


@pytest.mark.parametrize(("name", "break_it"), BREAKS)
def test_a_wrong_row_is_found(acme: Any, globex: Any, sound: UsageEvent, name: str, break_it: Any) -> None:
    with acme.scope():
        break_it(sound)

    assert list(violations(acme)) == [name]
    assert len(violations(acme)[name]) == 1
    assert violations(globex) == {}


def test_a_reversal_must_negate_its_row_and_only_once(acme: Any, sound: UsageEvent) -> None:
    with acme.scope():
        turned = corrections.reverse(event_id=sound.id, reason="outage")
        assert (turned.quantity, turned.price_amount) == (-1, Decimal("-0.02"))
    assert violations(acme) == {}
    with acme.scope():
        again = reversal_of(sound, source_type="correction", source_id="again", reason="outage")
        UsageEvent.objects.bulk_create([again])
    assert violations(acme) == {"reversals_negate_once": [f"{sound.id}: taken back 2 times"]}


def test_usage_without_its_model_calls_is_found(acme: Any, sound: UsageEvent) -> None:
    with acme.scope():
        tokens = UsageEvent.objects.get(source_type="question", meter="output_tokens")
        added(tokens, source_id=tokens.source_id, stage="plan")
    assert list(violations(acme)) == ["ledger_equals_model_calls"]


def doubled(hours: Any) -> None:
    for row in hours:
        row.pk = uuid7()
        row.save(force_insert=True)


ROLLED: dict[str, Callable[[Any], Any]] = {
    "amount": lambda hours: hours.update(price=F("price") + 1),
    "number": lambda hours: hours.update(events=F("events") + 1),
    "dimension": lambda hours: hours.update(video_id=uuid7()),
    "missing": lambda hours: hours.delete(),
    "doubled": doubled,
}


@pytest.mark.parametrize("fault", ROLLED)
def test_a_wrong_roll_up_is_found(acme: Any, globex: Any, sound: UsageEvent, fault: str) -> None:
    with acme.scope():
        ROLLED[fault](UsageHour.objects.filter(meter="output_tokens"))
    (found,) = violations(acme)["rollups_equal_the_ledger"]
    assert "output_tokens: rolled up " in found
    assert list(violations(acme)) == ["rollups_equal_the_ledger"]
    assert violations(globex) == {}


def test_a_stale_hour_excuses_itself_and_no_other_hour(acme: Any, sound: UsageEvent) -> None:
    earlier = sound.occurred_at - timedelta(hours=5)
    with acme.scope():
        added(sound, occurred_at=earlier)
    assert violations(acme, "rollups_equal_the_ledger") == {}, "the earlier hour is marked as stale"
    with acme.scope():
        UsageHour.objects.filter(meter="output_tokens").update(price=F("price") + 1)

    (found,) = violations(acme)["rollups_equal_the_ledger"]
    assert f"{sound.occurred_at.astimezone(UTC):%Y-%m-%dT%H} output_tokens" in found


def test_a_question_that_shows_another_charge_and_one_without_an_answer_are_found(acme: Any) -> None:
    with acme.scope():
        row = Question.objects.create(tenant_id=acme.tenant_id, text="Who?", status="queued")
        record_question(question_id=row.id, api_key_id=None)
        Question.objects.filter(id=row.id).update(charge_amount="0.02")
    rollups.rebuild_stale(acme.tenant_id)
    assert violations(acme) == {}
    with acme.scope():
        Question.objects.filter(id=row.id).update(status="succeeded", finish_reason="refused")
    assert list(violations(acme)) == ["unanswered_questions_are_free"]
    for detail in ("no_consensus", "abstained", "unsupported"):
        with acme.scope():
            Question.objects.filter(id=row.id).update(finish_reason="insufficient_evidence", finish_detail=detail)
        assert list(violations(acme)) == ["unanswered_questions_are_free"], detail
    with acme.scope():
        Question.objects.filter(id=row.id).update(finish_reason="answered", charge_amount="0.03")
    assert list(violations(acme)) == ["questions_show_their_charge"]


def test_a_search_that_shows_another_charge_than_its_row_is_found(acme: Any) -> None:
    with acme.scope():
        search = searches.create_search(text="a red van", video_ids=[make_video(indexed_until_ms=30_000).id])
    with acme.scope():
        assert searches.begin(search_id=search.id) is not None
        searches.store_results(
            search_id=search.id,
            found=[],
            calls=[],
            began_at=timezone.now(),
            retrieval_ms=5,
            scores=ScoreReport(True, 0.5),
        )
        charge = Search.objects.get(id=search.id).charge_amount
    rollups.rebuild_stale(acme.tenant_id)
    assert charge > 0
    assert violations(acme) == {}
    with acme.scope():
        Search.objects.filter(id=search.id).update(charge_amount=charge * 2)
    assert list(violations(acme)) == ["searches_show_their_charge"]


def test_a_correction_books_the_work_again_at_the_price_of_the_row(acme: Any) -> None:
    with acme.scope():
        ledger.record_media_seconds(segment_id=uuid7(), video_id=uuid7(), seconds=100)
        row = UsageEvent.objects.get()
        right = corrections.correct(event_id=row.id, quantity=Decimal(40), reason="gap")
        amounts = UsageEvent.objects.order_by("id").values_list("quantity", "price_amount", "reverses_id")
        assert list(amounts) == [
            (Decimal(100), Decimal("0.07"), None),
            (Decimal(-100), Decimal("-0.07"), row.id),
            (Decimal(40), Decimal("0.028"), None),
        ]
        assert right.price_id == row.price_id
    rollups.rebuild_stale(acme.tenant_id)
    assert violations(acme) == {}


def test_the_command_prints_violations_and_fails(acme: Any, sound: UsageEvent, capsys: Any) -> None:
    call_command("check_invariants")
    assert "no violation" in capsys.readouterr().out
    with acme.scope():
        added(sound, price_amount=1)
    with pytest.raises(CommandError, match="violations: 1"):
        call_command("check_invariants", "amounts_follow_prices")
    with pytest.raises(CommandError, match="there is no invariant"):
        call_command("check_invariants", "nothing")


def test_the_nightly_check_keeps_its_results(acme: Any, sound: UsageEvent) -> None:
    with acme.scope():
        added(sound, price_amount=1)

    counts = nightly.check_and_store()
    assert counts is not None
    assert {name for name, count in counts.items() if count} == {"amounts_follow_prices"}
    results = nightly.last_results()
    assert set(results) == set(registry.INVARIANTS)
    assert results["amounts_follow_prices"][0] == 1
    stored = InvariantResult.objects.using("dispatch").get(name="amounts_follow_prices")
    assert str(acme.tenant_id) in stored.examples[0]


def test_each_invariant_has_a_test_that_breaks_it() -> None:
    load()
    files = [file.read_text() for file in Path(__file__).parent.rglob("test_*.py")]
    named = {name for name in registry.INVARIANTS if any(f'"{name}"' in text for text in files)}
    assert named == set(registry.INVARIANTS)
