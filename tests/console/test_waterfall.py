"""The waterfall of a question's model calls: where each lies in the time of all of them."""

from __future__ import annotations

from typing import Any

from django.test import Client
from uuid6 import uuid7

from backend.billing.models import QUESTION, ModelCall
from backend.billing.services.usage import ledger
from backend.console.answers.calls import waterfall
from backend.questions.models import Question
from gpu_workers.engine.models.roles import ModelCall as Call
from tests.conftest import Cast
from tests.console.signing_in import open_content


def call(ordinal: int, start_ms: int | None, wall_ms: int, **values: Any) -> ModelCall:
    return ModelCall(ordinal=ordinal, start_ms=start_ms, wall_ms=wall_ms, **values)


def test_calls_lie_side_by_side_where_they_overlapped() -> None:
    bars = waterfall([call(0, 1_500, 500), call(1, 1_000, 1_000), call(2, 2_000, 1_000), call(3, None, 500)])

    assert [(bar.call.ordinal, bar.left, bar.width) for bar in bars] == [
        (1, 0, 50), (0, 25, 25), (2, 50, 50), (3, None, 25),
    ]  # fmt: skip
    assert waterfall([]) == []


def test_the_page_of_a_question_shows_when_each_call_began(staff: Client, acme: Cast) -> None:
    with acme.scope():
        question = Question.objects.create(tenant_id=acme.tenant_id, id=uuid7(), text="What happens?")
        calls = [Call("rank", "qwen", 1_000, start_ms=12_345), Call("answer", "qwen", 1_000, start_ms=13_345)]
        ledger.record_model_calls(source_type=QUESTION, source_id=question.id, question_id=question.id, calls=calls)
    open_content(staff, acme)
    page = staff.get(f"/console/questions/question/{question.id}/change/").content.decode()

    assert "12.3 s" in page
    assert "margin-left:50.0%;width:50.0%" in page


def test_many_calls_are_on_pages(staff: Client, acme: Cast) -> None:
    with acme.scope():
        question = Question.objects.create(tenant_id=acme.tenant_id, id=uuid7(), text="What happens?")
        calls = [Call("rank", "qwen", 10, start_ms=10 * n) for n in range(351)]
        ledger.record_model_calls(source_type=QUESTION, source_id=question.id, question_id=question.id, calls=calls)
    open_content(staff, acme)
    address = f"/console/questions/question/{question.id}/change/"
    first, last = (staff.get(address + query).content.decode() for query in ("", "?calls=8"))

    assert ("1 to 50 of 351 are shown." in first, "351 to 351 of 351 are shown." in last) == (True, True)
    assert (first.count("c-meter c-wide"), last.count("c-meter c-wide")) == (50, 1)
