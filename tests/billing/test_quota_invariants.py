"""The invariants of quotas hold after any history, and each is found when it is broken."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from django.db import connection
from uuid6 import uuid7

from backend.api import public_ids
from backend.billing.invariants import load, registry
from backend.billing.models import QuotaMonth, Reservation, Reserved
from backend.billing.services.limits import quotas
from backend.billing.services.limits.quotas import Amounts, Hold
from backend.questions.models import Question
from backend.questions.services import questions
from tests.conftest import Cast
from tests.questions.world import answer, ask

NAMES = ["open_reservations_have_open_work", "quota_counters_equal_the_ledger"]


def broken(cast: Cast) -> list[str]:
    load()
    return [outcome.name for outcome in registry.check_all(NAMES, tenants=[cast.tenant_id]) if outcome.violations]


@pytest.mark.parametrize("seed", [1, 2])
def test_counter_and_reservations_are_the_ledger_after_any_history(acme: Cast, seed: int) -> None:
    chance = random.Random(seed)
    answered = opened = 0
    for _ in range(8):
        question_id, video_id = ask(acme)
        end = chance.choice(["answered", "failed", "canceled", "open", "retried"])
        with acme.scope():
            if end in ("answered", "retried"):
                if end == "retried":
                    questions.fail_question(question_id=question_id, code="x", message="x")
            elif end == "failed":
                questions.fail_question(question_id=question_id, code="x", message="x")
            elif end == "canceled":
                questions.cancel_question(question_id=question_id)
        if end == "retried":
            path = f"/v1/questions/{public_ids.encode('qst', question_id)}/retry"
            assert acme.client.post(path).status_code == 202
        if end in ("answered", "retried"):
            with acme.scope():
                begun = questions.begin(question_id=question_id)
                assert begun is not None
                questions.store_answer(question=begun, answer=answer(video_id))
            answered += 1
        opened += end == "open"

    with acme.scope():
        use = quotas.use_of()
        held = Reservation.objects.filter(settled_at=None).count()
    total = answered + opened
    assert (held, use.held.open_jobs) == (opened, opened)
    assert use.total("questions") == total
    assert use.total("charge") == Decimal("0.02") * total
    assert use.held == Amounts(open_jobs=Decimal(opened))
    assert broken(acme) == []


def test_a_counter_that_drifted_is_found(acme: Cast) -> None:
    ask(acme)
    assert broken(acme) == []
    with acme.scope():
        QuotaMonth.objects.filter(api_key_id=None).update(questions=2)
    assert broken(acme) == ["quota_counters_equal_the_ledger"]


def test_a_reservation_that_outlives_its_work_is_found(acme: Cast) -> None:
    ask(acme)
    with acme.scope():
        quotas.reserve([Hold(Reserved.QUESTIONS, "question", uuid7(), Decimal(1))])
    assert broken(acme) == ["open_reservations_have_open_work"]
    with acme.scope(), connection.cursor() as cursor:
        cursor.execute("UPDATE billing_reservation SET settled_at = now()")
    assert broken(acme) == []
    with acme.scope():
        assert Question.objects.count() == 1
