"""Budgets after a change of plan to another currency: amounts of two currencies are never added."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.models import BillingAccount, Reservation, Reserved, UsageMeter
from backend.billing.services.limits import quotas
from backend.billing.services.limits.own_budgets import set_budget
from backend.billing.services.limits.quotas import Hold
from backend.billing.services.plans import NewPlanVersion, append_plan_version, subscribe
from backend.jobs.models import Job, JobKind
from backend.questions.services import questions
from backend.webhooks.budget_mail import report_mail
from backend.webhooks.models import WebhookEvent
from backend.webhooks.thresholds import report_reached, report_suspended
from tests.billing.test_own_budgets import asked
from tests.billing.test_prices import append, book, first_prices, new
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.questions.world import answer, ask, finish
from tests.webhooks.test_schemas import errors

pytestmark = pytest.mark.usefixtures(first_prices.__name__)
D = Decimal


def change_plan(cast: Cast, *, currency: str = "JPY", limits: Any = (), at: datetime | None = None) -> None:
    """Subscribe cast to a plan whose questions cost 3 of a currency."""
    code, start = f"plan-{uuid7()}"[-30:], timezone.now()
    of = book(code, currency=currency)
    for meter in UsageMeter.values:
        append(new(of, "3" if meter == "questions" else "0", meter=meter, start=start))
    append_plan_version(NewPlanVersion(code, code, start, "x", limits=limits), using="staff")
    with cast.scope():
        subscribe(plan=code, author="x", reason="signed", at=at)


def charges(cast: Cast) -> tuple[Decimal, Decimal]:
    with cast.scope():
        use = quotas.use_of()
    return use.booked.charge, use.held.charge


def suspensions(cast: Cast) -> list[dict[str, Any]]:
    with cast.scope():
        rows = list(WebhookEvent.objects.filter(type="budget.suspended").order_by("id"))
    assert [list(errors(row)) for row in rows] == [[] for _ in rows]
    return [json.loads(row.body)["data"] for row in rows]


def test_a_limit_in_the_new_currency_counts_charges_in_that_currency_alone(acme: Cast) -> None:
    for _ in range(2):
        finish(acme, *ask(acme))
    assert charges(acme) == (D("0.04"), 0)

    change_plan(acme, limits=[("charge", D(6))])

    assert charges(acme) == (0, 0)
    finish(acme, *ask(acme))
    asked(acme)
    assert sum(charges(acme)) == 6
    with acme.scope():
        assert quotas.use_of(currency="USD").booked.charge == D("0.04")
        assert quotas.use_of().total("questions") == 4, "questions have no currency"
    with pytest.raises(quotas.LimitReached, match="charge limit of 6"):
        ask(acme)
    assert settled_violations(acme) == {}


def test_an_own_budget_in_the_old_currency_is_suspended_and_reported_once(acme: Cast, globex: Cast) -> None:
    for cast in (acme, globex):
        cast.client.put("/v1/budgets", {"charge": "100", "questions": 50}, format="json")
    asked(acme)
    with acme.scope():
        BillingAccount.objects.create(tenant_id=acme.tenant_id, email="pay@acme.example")

    with override_settings(EMAIL_HOST="mail.example.org"):
        change_plan(acme)
    with acme.scope():
        report_reached()

    (budget,) = acme.client.get("/v1/budgets").json()["data"]
    assert (budget["currency"], budget["charge_holds"], budget["left"]["charge"]) == ("USD", False, None)
    assert (budget["limits"]["charge"], budget["used"]["charge"]) == ("100", "0.02")
    assert budget["left"]["questions"] == 49
    limits = acme.client.get("/v1/limits").json()
    assert [row["name"] for row in limits["limits"] if row["scope"] == "tenant"] == ["questions"]
    (said,) = suspensions(acme)
    assert said == {
        "id": budget["id"], "object": "budget", "limit": "charge", "amount": "100", "currency": "USD",
        "plan_currency": "JPY", "suspended_at": said["suspended_at"],
    }  # fmt: skip
    with acme.scope():
        mail = report_mail(Job.objects.get(kind=JobKind.SEND_NOTICE).subject_id)
    assert mail is not None
    assert (mail.to, mail.subject) == (["pay@acme.example"], "Your limit of charge of 100 USD is suspended")
    assert "PUT /v1/budgets" in mail.body
    # Forty questions come to 120 JPY, which is neither 100 JPY nor 100 USD.
    for _ in range(40):
        asked(acme)

    again = acme.client.put("/v1/budgets", {"charge": "120"}, format="json").json()

    assert (again["currency"], again["charge_holds"], again["left"]["charge"]) == ("JPY", True, "0")
    assert suspensions(globex) == []
    (theirs,) = globex.client.get("/v1/budgets").json()["data"]
    assert (theirs["currency"], theirs["charge_holds"]) == ("USD", True)


def test_a_change_that_lies_ahead_is_announced_and_a_limit_set_since_is_reported_when_it_comes(acme: Cast) -> None:
    start = timezone.now() + timedelta(days=3)
    with acme.scope():
        set_budget(api_key_id=None, limits={"charge": D(1)})
    change_plan(acme, at=start)
    assert [row["amount"] for row in suspensions(acme)] == ["1"]
    with acme.scope():
        assert quotas.limits_on(None)[-1].limits == {"charge": 1}, "until then the limit holds"
        set_budget(api_key_id=None, limits={"charge": D(2)})
        report_reached()
    assert [row["amount"] for row in suspensions(acme)] == ["1"]
    with acme.scope():
        report_suspended(start + timedelta(hours=1))
        report_suspended(start + timedelta(hours=2))
    assert [row["amount"] for row in suspensions(acme)] == ["1", "2"]


def test_a_change_within_a_currency_suspends_nothing(acme: Cast) -> None:
    with acme.scope():
        set_budget(api_key_id=None, limits={"charge": D(1)})
    change_plan(acme, currency="USD")
    assert suspensions(acme) == []
    with acme.scope():
        assert quotas.limits_on(None)[-1].limits == {"charge": 1}


def test_a_reservation_that_grows_or_is_measured_after_the_change_holds_the_new_currency_alone(acme: Cast) -> None:
    grown, measured = uuid7(), uuid7()
    with acme.scope():
        for id in (grown, measured):
            quotas.reserve([Hold(Reserved.MEDIA_SECONDS, "video", id, D(60), D("0.5"))])
    change_plan(acme)
    with acme.scope():
        assert quotas.use_of().held.charge == 0
        Reservation.objects.update(drawn_charge=D("0.25"))
        quotas.grow(Hold(Reserved.MEDIA_SECONDS, "video", grown, D(30), D(4), "JPY"))
        quotas.correct(Hold(Reserved.MEDIA_SECONDS, "video", measured, D(90), D(9), "JPY"))
        rows = Reservation.objects.order_by("id").values_list("amount", "charge", "drawn_charge", "currency")
        assert list(rows) == [(90, 4, 0, "JPY"), (90, 9, 0, "JPY")]
        assert quotas.use_of().held.charge == 13


@pytest.mark.parametrize("seed", [1, 2])
def test_the_counters_are_the_ledger_by_currency_after_any_history(acme: Cast, seed: int) -> None:
    chance = random.Random(seed)
    expected = {"USD": D(0), "JPY": D(0)}
    open_before, currency, price = [], "USD", D("0.02")
    for step in range(8):
        if step == 4:
            change_plan(acme)
            currency, price = "JPY", D(3)
        question_id, video_id = ask(acme)
        end = chance.choice(["answered", "failed", "canceled", "open"])
        with acme.scope():
            if end == "answered":
                begun = questions.begin(question_id=question_id)
                assert begun is not None
                questions.store_answer(question=begun, answer=answer(video_id))
            elif end == "failed":
                questions.fail_question(question_id=question_id, code="x", message="x")
            elif end == "canceled":
                questions.cancel_question(question_id=question_id)
        expected[currency] += price * (end in ("answered", "open"))
        open_before += [question_id] if end == "open" and currency == "USD" else []
    # What was charged in the old currency is given back in it.
    for question_id in open_before:
        with acme.scope():
            questions.cancel_question(question_id=question_id)
        expected["USD"] -= D("0.02")
    with acme.scope():
        assert {code: quotas.use_of(currency=code).total("charge") for code in expected} == expected
    assert settled_violations(acme) == {}


def test_a_counter_in_the_wrong_currency_is_found(acme: Cast) -> None:
    finish(acme, *ask(acme))
    with acme.scope(), connection.cursor() as cursor:
        cursor.execute("UPDATE billing_quotamonth SET currency = 'JPY' WHERE api_key_id IS NULL")
    assert "quota_counters_equal_the_ledger" in settled_violations(acme)
