"""What stands of a charge after it was rated again or corrected is what a failure takes back, once."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.models import UsageEvent
from backend.billing.services.credit import credits
from backend.billing.services.usage import corrections, ledger, rerating
from backend.billing.services.usage.rerating import rerate
from backend.billing.services.usage.rows import insert_once, reversal_of
from backend.questions.models import Question
from backend.questions.services import questions
from tests.billing.test_prices import append, asked, first_prices, new, standard
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.questions.world import ask, finish

D = Decimal
pytestmark = pytest.mark.usefixtures(first_prices.__name__)


def dearer(amount: str = "0.03", *, meter: str = "questions") -> Any:
    """A price that took effect an hour ago."""
    return append(new(standard(), amount, meter=meter, start=timezone.now() - timedelta(hours=1)), back_dated=True)


def rated_again(cast: Cast, amount: str = "0.03", *, meter: str = "questions") -> int:
    price = dearer(amount, meter=meter)
    with cast.scope():
        return rerate(price, reason="agreed on Monday")


def shown(cast: Cast, question_id: UUID) -> tuple[Decimal, int | None]:
    with cast.scope():
        row = Question.objects.get(id=question_id)
        return row.charge_amount, row.price_version


def net(cast: Cast, **of: Any) -> tuple[Decimal, Decimal]:
    """Quantity and charge of the ledger's rows together."""
    with cast.scope():
        sums = UsageEvent.objects.filter(**of).aggregate(quantity=Sum("quantity"), price=Sum("price_amount"))
        return sums["quantity"], sums["price"]


def fail(cast: Cast, question_id: UUID) -> None:
    with cast.scope():
        questions.fail_question(question_id=question_id, code="answer_failed", message="no answer")


def test_a_question_that_was_rated_again_and_fails_is_free(acme: Cast) -> None:
    question_id, _ = ask(acme)
    assert rated_again(acme) == 1
    assert shown(acme, question_id) == (D("0.03"), 2)
    fail(acme, question_id)

    assert net(acme, question_id=question_id) == (D(0), D(0))
    assert shown(acme, question_id) == (D(0), None)
    assert settled_violations(acme) == {}


def test_an_answered_question_shows_the_price_that_it_was_rated_by_again(acme: Cast, globex: Cast) -> None:
    question_id, video_id = ask(acme)
    theirs, _ = ask(globex)
    finish(acme, question_id, video_id)
    assert rated_again(acme) == 1

    assert shown(acme, question_id) == (D("0.03"), 2)
    assert shown(globex, theirs) == (D("0.02"), 1)
    assert settled_violations(acme) == settled_violations(globex) == {}


def test_a_question_whose_charge_was_corrected_and_fails_is_free(acme: Cast) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        row = UsageEvent.objects.get(question_id=question_id)
        corrections.correct(event_id=row.id, quantity=D(2), reason="asked twice")
    assert shown(acme, question_id) == (D("0.04"), 1)
    fail(acme, question_id)

    assert net(acme, question_id=question_id) == (D(0), D(0))
    assert settled_violations(acme) == {}


def test_a_charge_that_staff_took_back_is_not_taken_back_again(acme: Cast) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        corrections.reverse(event_id=UsageEvent.objects.get(question_id=question_id).id, reason="outage")
    assert shown(acme, question_id) == (D(0), None)
    fail(acme, question_id)

    assert net(acme, question_id=question_id) == (D(0), D(0))
    assert settled_violations(acme) == {}


def segment(cast: Cast) -> tuple[UUID, UUID]:
    """A segment of 60 s that is charged: the ids of its video and of itself."""
    video_id, segment_id = uuid7(), uuid7()
    with cast.scope():
        ledger.record_media_seconds(segment_id=segment_id, video_id=video_id, seconds=60)
    return video_id, segment_id


def test_media_that_was_rated_again_is_credited_and_restored_at_the_new_price(acme: Cast) -> None:
    video_id, segment_id = segment(acme)
    before = net(acme, video_id=video_id)
    rated_again(acme, "0.01", meter="media_seconds")
    with acme.scope():
        credit = credits.credit_media(video_id=video_id, segment_ids=[segment_id], reason="worker_lost", round=0)
    assert (credit.price, net(acme, video_id=video_id)) == (D("-0.6"), (D(0), D(0)))
    with acme.scope():
        credits.restore_media(video_id=video_id, segment_ids=[segment_id], round=1)
    assert before[1] != D("0.6")
    assert net(acme, video_id=video_id) == (D(60), D("0.6"))
    with acme.scope():
        row = UsageEvent.objects.get(source_type="segment_restored")
        corrections.correct(event_id=row.id, quantity=D(30), reason="half of it was black")
        credits.credit_media(video_id=video_id, segment_ids=[segment_id], reason="worker_lost", round=2)
    assert net(acme, video_id=video_id) == (D(0), D(0))
    assert settled_violations(acme) == {}


def test_media_that_staff_took_back_is_neither_credited_nor_restored(acme: Cast) -> None:
    video_id, segment_id = segment(acme)
    with acme.scope():
        corrections.reverse(event_id=UsageEvent.objects.get(video_id=video_id).id, reason="black pictures")
        credits.credit_media(video_id=video_id, segment_ids=[segment_id], reason="worker_lost", round=0)
        credits.restore_media(video_id=video_id, segment_ids=[segment_id], round=1)
        assert UsageEvent.objects.filter(video_id=video_id).count() == 2
    assert settled_violations(acme) == {}


def test_no_row_is_taken_back_twice_whatever_takes_it_back(acme: Cast) -> None:
    with acme.scope():
        row = UsageEvent.objects.get(source_id=str(asked(1, timezone.now())))
        for source_type in ("correction", "question_reversal"):
            turned = reversal_of(row, source_type=source_type, source_id=str(row.id), reason="outage")
            insert_once([turned])
        assert UsageEvent.objects.filter(reverses_id=row.id).count() == 1


def test_a_batch_is_rated_again_in_the_same_number_of_statements(acme: Cast, globex: Cast) -> None:
    start = timezone.now() - timedelta(minutes=30)
    for cast, number in ((acme, 2), (globex, 40)):
        with cast.scope():
            for n in range(number):
                asked(1, start + timedelta(seconds=n))
    price = dearer()

    def statements(cast: Cast, number: int) -> int:
        with cast.scope(), CaptureQueriesContext(connection) as queries:
            assert rerate(price, reason="agreed on Monday") == number
        return len(queries)

    assert statements(acme, 2) == statements(globex, 40)


def test_rows_of_several_batches_are_each_rated_again_once(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerating, "BATCH", 3)
    asked_ids = [ask(acme)[0] for _ in range(7)]
    price = dearer()
    for number in (7, 0):
        with acme.scope():
            assert rerate(price, reason="agreed on Monday") == number

    assert {shown(acme, id) for id in asked_ids} == {(D("0.03"), 2)}
    assert net(acme, meter="questions") == (D(7), D("0.21"))
    assert settled_violations(acme) == {}
