"""Which outcomes are charged: an answer is, and nothing else; and a question is not begun without a budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from backend.billing.models import UsageEvent
from backend.billing.services.limits.budgets import Limits
from backend.billing.services.usage import ledger
from backend.questions.models import Question
from backend.questions.services import batches, control, questions
from gpu_workers.engine.models import roles
from tests.conftest import Cast
from tests.factories import make_video, set_limits


@pytest.mark.parametrize(
    ("status", "reason", "detail", "answer", "choice", "charged"),
    [
        ("succeeded", "answered", "", "red", None, True),
        ("succeeded", "answered", "", "", 0, True),
        ("succeeded", "insufficient_evidence", "abstained", "", None, False),
        ("succeeded", "insufficient_evidence", "no_events", "", None, False),
        ("succeeded", "insufficient_evidence", "outside_video", "", None, False),
        ("succeeded", "insufficient_evidence", "unsupported", "It is on the table.", None, False),
        ("succeeded", "insufficient_evidence", "no_consensus", "", None, False),
        ("succeeded", "insufficient_evidence", "unreadable", "", None, False),
        ("succeeded", "insufficient_evidence", "contradicted", "", None, False),
        ("succeeded", "budget", "max_calls", "red", None, True),
        ("succeeded", "budget", "max_calls", "", 0, True),
        ("succeeded", "budget", "max_calls", "", None, False),
        ("succeeded", "refused", "model_refused", "I cannot say.", None, False),
        ("failed", "error", "model_unavailable", "", None, False),
        ("canceled", "canceled", "", "", None, False),
        ("canceled", "budget", "max_calls", "", None, False),
    ],
)
def test_an_answer_is_charged_and_nothing_else(
    status: str, reason: str, detail: str, answer: str, choice: int | None, charged: bool
) -> None:
    row = Question(status=status, finish_reason=reason, finish_detail=detail, answer=answer, choice=choice)
    assert row.has_answer is charged


def net(acme: Cast) -> Decimal:
    with acme.scope():
        return sum((row.price_amount for row in UsageEvent.objects.filter(meter="questions")), Decimal(0))


def test_a_batch_that_ends_by_budget_begins_no_more_questions_and_charges_none_of_them(acme: Cast) -> None:
    with acme.scope():
        video = make_video(status="ready", indexed_until_ms=30_000)
        batch = batches.create_batch(
            questions=[{"text": f"Who is {n}?", "video_ids": [video.id]} for n in range(10)], api_key_id=acme.key_id
        )
        ids = list(Question.objects.order_by("batch_position").values_list("id", flat=True))
        set_limits(Limits(max_tokens=100))
    assert net(acme) == Decimal("0.2")

    begun = []
    for id in ids:
        with acme.scope():
            row = questions.begin(question_id=id)
            if row is None:
                continue
            begun.append(id)
            # The first answer takes all that is left.
            call = roles.ModelCall("answer", "qwen", wall_ms=1, prompt_tokens=90, completion_tokens=10)
            ledger.record_model_calls(source_type="question", source_id=id, calls=[call], question_id=id)
            Question.objects.filter(id=id).update(status="succeeded", finish_reason="answered", answer="red")

    assert begun == ids[:1]
    assert net(acme) == Decimal("0.02")
    with acme.scope():
        rest = Question.objects.exclude(id=ids[0])
        assert set(rest.values_list("status", "finish_reason", "finish_detail", "charge_amount")) == {
            ("canceled", "budget", "tenant_max_tokens", Decimal(0))
        }
        set_limits(Limits())
        # They can be asked again, and are charged once then.
        assert control.retry_batch(batch_id=batch.id) == 9
    assert net(acme) == Decimal("0.2")


def test_every_row_of_a_question_names_its_method_effort_and_price(acme: Cast) -> None:
    with acme.scope():
        video = make_video(status="ready", indexed_until_ms=30_000)
        row = questions.create_question(
            text="Who?", video_ids=[video.id], effort="low", method="ava", api_key_id=acme.key_id
        )
        charge = UsageEvent.objects.get(question_id=row.id)
        assert (charge.method, charge.effort, charge.variant, charge.api_key_id) == (
            "ava", "low", "ava:low", acme.key_id,
        )  # fmt: skip
        assert (charge.price_amount, charge.price_version) == (Decimal("0.01"), 1)
        assert charge.price_id is not None
        assert (row.charge.amount, row.charge.price_version) == (Decimal("0.01"), 1)

        questions.cancel_question(question_id=row.id)
        back: Any = UsageEvent.objects.get(reverses_id=charge.id)
        assert (back.price_amount, back.price_id, back.variant, back.reason) == (
            Decimal("-0.01"), charge.price_id, "ava:low", "canceled",
        )  # fmt: skip
        assert Question.objects.get(id=row.id).charge.amount == 0
