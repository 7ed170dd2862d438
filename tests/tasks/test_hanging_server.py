"""A question whose model server hangs: nothing is overspent, its reservation is kept, and it is settled once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from backend.api.public_ids import decode, encode
from backend.billing.models import FAILED_CALLS, Budget, OpenSpending, Reservation, UsageEvent
from backend.billing.services.limits import budgets, quotas
from backend.billing.services.limits.budgets import Limits
from backend.jobs.models import Job, JobKind, JobState
from backend.questions.models import Question
from gpu_workers.tasks import models
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.factories import set_limits
from tests.scripted_openai import Fault, ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.kept_index import KeptIndex
from tests.tasks.test_answer_jobs import CHOICES, ask, saying
from tests.tasks.world import ring_again, run_due, run_past_deadlines

pytestmark = pytest.mark.slow

PRICE = Decimal("0.02")
MEDIA = Decimal("0.0084")
"""Charge of the recording's twelve seconds, in the same month."""


@pytest.fixture
def video_id(kept_index: KeptIndex, vlm: ScriptedOpenAIServer) -> UUID:
    return kept_index.video_id


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, video_id: UUID) -> Iterator[pytest.MonkeyPatch]:
    """Give a model call one second, so that a call of a hanging server ends; the test ends this by undo()."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODEL_TIMEOUT_S", "1")
        models.answer_models.cache_clear()
        yield patch
    models.answer_models.cache_clear()


def held() -> list[tuple[Decimal, bool]]:
    """Return the charge that each reservation of a question still holds or has drawn, and whether it is settled."""
    rows = Reservation.objects.filter(source_type="question").order_by("id")
    return [(row.charge, row.settled_at is not None) for row in rows]


def charges() -> list[Decimal]:
    rows = UsageEvent.objects.filter(meter="questions").order_by("id")
    return list(rows.values_list("price_amount", flat=True))


def test_a_hanging_call_overspends_nothing_and_its_question_is_settled_once(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, impatient: pytest.MonkeyPatch
) -> None:
    with acme.scope():
        # Room for this question alone. With a limit of model time the question notes what it spends.
        Budget.objects.create(tenant_id=acme.tenant_id, charge=MEDIA + PRICE)
        set_limits(Limits(max_seconds=Decimal(1_000)))
    meanwhile: list[Any] = []

    def hang(request: ScriptedRequest) -> Fault:
        if not meanwhile:
            body = {"question": "And the cats?", "choices": CHOICES, "video_ids": [encode("vid", video_id)]}
            try:
                meanwhile.append(acme.client.post("/v1/questions", body, format="json"))
                with acme.scope():
                    meanwhile.append((held(), quotas.use_of().total("charge")))
            finally:
                connections.close_all()
        return Fault(hang=threading.Event())

    llm.script = hang
    question_id = ask(acme, video_id)
    run_due(rounds=2)

    refused, (during, used) = meanwhile
    assert (refused.status_code, refused.json()["code"]) == (402, "budget_exhausted")
    assert (during, used) == ([(PRICE, False)], MEDIA + PRICE)
    with acme.scope():
        # The server has not answered: the job waits for it, and what it may charge stays held.
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert (job.state, job.dependency) == (JobState.QUEUED, "reasoner")
        assert held() == [(PRICE, False)]
        assert quotas.use_of().total("charge") == MEDIA + PRICE
        assert charges() == [PRICE]
        # The wait is our waste: it spends none of the customer's time, and is no part of the answer.
        assert budgets.monthly_budget().used.seconds == 0
        wasted = UsageEvent.objects.filter(question_id=question_id, billable=False)
        assert wasted.filter(model=llm.model, meter="input_tokens").exists()
        assert not wasted.exclude(price_amount=0).exists()

    impatient.undo()
    models.answer_models.cache_clear()
    llm.script = saying(lambda request: "B")
    with acme.scope():
        set_limits(Limits())
    run_due()
    ring_again(acme)
    run_due(times=2)

    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.choice, question.charge_amount) == ("succeeded", 1, PRICE)
        assert held() == [(PRICE, True)]
        assert charges() == [PRICE]
        assert quotas.use_of().total("charge") == MEDIA + PRICE
        assert not OpenSpending.objects.exists()
    assert settled_violations(acme) == {}


def test_a_question_whose_server_never_answers_gives_everything_back_once(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, impatient: pytest.MonkeyPatch
) -> None:
    with acme.scope():
        Budget.objects.create(tenant_id=acme.tenant_id, charge=MEDIA + PRICE)
    llm.script = lambda request: Fault(hang=threading.Event())
    ask(acme, video_id)
    run_past_deadlines(acme)
    ring_again(acme)
    run_due(rounds=4)

    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.charge_amount) == ("failed", 0)
        assert held() == [(PRICE, True)]
        assert charges() == [PRICE, -PRICE]
        assert quotas.use_of().total("charge") == MEDIA
        assert not UsageEvent.objects.filter(source_type=FAILED_CALLS).exclude(billable=False).exists()
    # The budget has room again.
    body = {"question": "And now?", "choices": CHOICES, "video_ids": [encode("vid", video_id)]}
    again = acme.client.post("/v1/questions", body, format="json")
    assert again.status_code == 202
    acme.client.post(f"/v1/questions/{again.json()['id']}/cancel")
    with acme.scope():
        assert Question.objects.get(id=decode("qst", again.json()["id"])).status == "canceled"
    assert settled_violations(acme) == {}
