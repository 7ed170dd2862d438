"""A question that staff ask again: nobody is charged for it, and no limit of the tenant holds it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db.models import Sum

from backend.billing.models import Reservation, UsageEvent, UsageMonth
from backend.billing.services.limits import own_budgets
from backend.billing.services.limits.budgets import Limits
from backend.questions.models import Question
from backend.questions.services import questions
from backend.questions.services.again import ask_again
from backend.questions.services.control import retry_question
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.factories import set_limits
from tests.questions.world import ask, finish


def asked_again(acme: Cast) -> tuple[Any, Any]:
    """The copy of an answered question of acme: its id, and the id of its video."""
    original, video_id = ask(acme)
    finish(acme, original, video_id)
    with acme.scope():
        return ask_again(question_id=original, method="vector", effort="low").id, video_id


def charged(acme: Cast, question_id: Any) -> tuple[Decimal, Decimal, set[tuple[bool, str]]]:
    """The charge that a question shows, the charge of its ledger rows, and why they are not billed."""
    with acme.scope():
        rows = UsageEvent.objects.filter(question_id=question_id)
        booked = rows.aggregate(sum=Sum("price_amount", default=Decimal(0)))["sum"]
        reasons = set(rows.values_list("billable", "reason"))
        return Question.objects.get(id=question_id).charge_amount, booked, reasons


def test_an_answer_that_staff_asked_for_shows_no_charge(acme: Cast) -> None:
    copy, video_id = asked_again(acme)
    with acme.scope():
        before = UsageMonth.objects.get()
    finish(acme, copy, video_id)

    assert charged(acme, copy) == (Decimal(0), Decimal(0), {(False, "asked_by_operator")})
    with acme.scope():
        after = UsageMonth.objects.get()
        assert UsageEvent.objects.filter(question_id=copy, meter="output_tokens").exists()
    assert (after.tokens, after.cost) == (before.tokens, before.cost)
    assert settled_violations(acme) == {}


def test_a_retry_of_it_is_not_charged_either(acme: Cast) -> None:
    copy, video_id = asked_again(acme)
    with acme.scope():
        questions.fail_question(question_id=copy, code="answer_failed", message="no answer")
    with acme.scope():
        retry_question(question_id=copy)
    finish(acme, copy, video_id)

    shown, booked, reasons = charged(acme, copy)
    assert (shown, booked) == (Decimal(0), Decimal(0))
    assert {billable for billable, _ in reasons} == {False}
    assert settled_violations(acme) == {}


def test_it_uses_none_of_the_tenants_limits(acme: Cast) -> None:
    original, video_id = ask(acme)
    finish(acme, original, video_id)
    with acme.scope():
        own_budgets.set_budget(api_key_id=None, limits={"questions": 1, "open_jobs": 0})
        set_limits(Limits(max_tokens=1))
        copy = ask_again(question_id=original, method="vector", effort="low").id
        assert not Reservation.objects.filter(source_id=copy).exists()
    with acme.scope():
        questions.fail_question(question_id=copy, code="answer_failed", message="no answer")
    with acme.scope():
        retry_question(question_id=copy)
        assert not Reservation.objects.filter(source_id=copy).exists()

    assert finish(acme, copy, video_id).status == "succeeded"
    assert settled_violations(acme) == {}
