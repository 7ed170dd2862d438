"""Rows of the ledger are taken back and corrected by staff who handle money, for a reason."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from backend.audit.models import AuditEvent
from backend.billing.models import UsageEvent
from backend.questions.models import Question
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.questions.world import ask, finish

REASON = "Ticket 4711, asked for once"


def charge_of(cast: Cast) -> tuple[UUID, UUID]:
    """An answered question of cast, and the row of its charge."""
    question_id, video_id = ask(cast)
    finish(cast, question_id, video_id)
    with cast.scope():
        return question_id, UsageEvent.objects.get(question_id=question_id, meter="questions").id


def act(client: Client, row: UUID, verb: str, *, reason: str = REASON, **fields: str) -> Any:
    named = {f"{verb}-{name}": value for name, value in fields.items()}
    return client.post(f"/console/billing/usageevent/{row}/act/", {"verb": verb, "reason": reason, **named})


def booked(cast: Cast, question_id: UUID) -> list[tuple[Decimal, Decimal, str]]:
    with cast.scope():
        rows = UsageEvent.objects.filter(question_id=question_id, meter="questions").order_by("id")
        return list(rows.values_list("quantity", "price_amount", "reason"))


def shown(cast: Cast, question_id: UUID) -> Decimal:
    with cast.scope():
        amount: Decimal = Question.objects.get(id=question_id).charge_amount
        return amount


def logged(cast: Cast) -> list[tuple[str, str, str, Any]]:
    with cast.scope():
        acts = AuditEvent.objects.filter(action__startswith="usageevent.").exclude(action__endswith="viewed")
        return list(acts.order_by("id").values_list("action", "object_id", "reason", "details"))


@pytest.mark.parametrize("role", ["finance", "operator"])
def test_a_charge_is_taken_back_once(staff_as: Any, acme: Cast, globex: Cast, role: str) -> None:
    (question_id, row), (theirs, _) = charge_of(acme), charge_of(globex)
    client = staff_as(role)
    assert act(client, row, "reverse", reason="short").status_code == 302
    assert shown(acme, question_id) == Decimal("0.02")

    reply = act(client, row, "reverse")
    again = client.get(act(client, row, "reverse").headers["Location"]).content.decode()

    assert booked(acme, question_id) == [(Decimal(1), Decimal("0.02"), ""), (Decimal(-1), Decimal("-0.02"), REASON)]
    assert "taken back already" in again
    # The page of the new row opens, and offers nothing to take back.
    assert str(row) in (page := client.get(reply.headers["Location"]).content.decode())
    assert 'name="verb"' not in page
    details = {"meter": "questions", "quantity": "1", "charge": "0.02", "currency": "USD"}
    assert logged(acme) == [("usageevent.reverse", str(row), REASON, details)]
    assert (shown(acme, question_id), shown(globex, theirs)) == (Decimal(0), Decimal("0.02"))
    assert settled_violations(acme) == settled_violations(globex) == {}


def test_a_quantity_is_corrected_at_the_price_of_the_row(staff_as: Any, acme: Cast) -> None:
    question_id, row = charge_of(acme)
    client = staff_as("finance")

    act(client, row, "correct_quantity", quantity="3")

    assert [(quantity, price) for quantity, price, _ in booked(acme, question_id)] == [
        (Decimal(1), Decimal("0.02")), (Decimal(-1), Decimal("-0.02")), (Decimal(3), Decimal("0.06")),
    ]  # fmt: skip
    details = {
        "meter": "questions", "quantity": "1", "charge": "0.02", "currency": "USD", "corrected_quantity": "3",
        "corrected_charge": "0.06",
    }  # fmt: skip
    assert logged(acme) == [("usageevent.correct_quantity", str(row), REASON, details)]
    assert shown(acme, question_id) == Decimal("0.06")
    assert settled_violations(acme) == {}


@pytest.mark.parametrize("quantity", ["-1", "NaN", "three", "", "1e30", "2000000000"])
def test_a_quantity_that_makes_no_sense_is_refused(staff_as: Any, acme: Cast, quantity: str) -> None:
    question_id, row = charge_of(acme)
    reply = act(staff_as("finance"), row, "correct_quantity", quantity=quantity)

    assert reply.status_code == 302
    assert len(booked(acme, question_id)) == 1
    assert logged(acme) == []


@pytest.mark.parametrize("role", ["support", "support_content"])
def test_other_roles_correct_nothing(staff_as: Any, acme: Cast, role: str) -> None:
    question_id, row = charge_of(acme)
    for verb, fields in (("reverse", {}), ("correct_quantity", {"quantity": "3"})):
        assert act(staff_as(role), row, verb, **fields).status_code == 403

    assert len(booked(acme, question_id)) == 1
    assert logged(acme) == []
