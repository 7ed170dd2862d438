"""Questions answered in this process over an index on the real stack: what is stored, billed and told."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from backend.api.public_ids import decode, encode
from backend.billing import queries as ledger
from backend.billing.models import ModelCall, UsageEvent
from backend.ekg.models import Event
from backend.jobs.models import Job, JobKind, JobState
from backend.library.storage import ObjectMissing, ObjectStorage
from backend.questions.models import Candidate, Evidence, Node, Question
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest
from tests.workers.eyes import GREEN, STORIES, colour_of
from tests.workers.world import TWELVE_SECONDS, indexed_video, ring_again, run_due
from workers.runner import run_job

# One process for both files: the models are loaded once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("worker-jobs")]

CHOICES = ["a boat", "a tennis ball", "a cat"]
DOWN = Fault(503, "overloaded", "away", {"Retry-After": "0"})


@pytest.fixture
def video_id(acme: Cast, vlm: ScriptedOpenAIServer) -> UUID:
    """Red, then green with the dogs; what the index cost is not the questions'."""
    video_id = indexed_video(acme, TWELVE_SECONDS)
    vlm.requests.clear()
    return video_id


def ask(cast: Cast, video_id: UUID, **fields: Any) -> UUID:
    body = {"question": "What do the dogs chase?", "choices": CHOICES, "video_ids": [encode("vid", video_id)], **fields}
    response = cast.client.post("/v1/questions", body)
    assert response.status_code == 202, response.content
    return decode("qst", response.json()["id"])


def saying(choose: Callable[[ScriptedRequest], str | list[str]]) -> Callable[[ScriptedRequest], Reply]:
    """A reasoner that cites the event of the dogs. choose: the letter of each sample, or of all."""

    def script(request: ScriptedRequest) -> Reply:
        found = re.search(rf"E(\d+) [^\n]*{re.escape(STORIES[GREEN])}", request.user)
        assert found is not None, "the event that holds the answer was not shown"
        chosen = choose(request)
        letters = chosen if isinstance(chosen, list) else [chosen] * request.n
        number = int(found[1])
        texts = [
            {"reasoning": f"E{number} shows two dogs chasing a tennis ball.", "answer": letter, "evidence": [number]}
            for letter in letters
        ]
        return Reply(texts, prompt_tokens=100, cached_tokens=30, completion_tokens=200)

    return script


def test_an_answer_is_stored_with_all_that_led_to_it(
    acme: Cast, globex: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = saying(lambda request: "B")
    question_id = ask(acme, video_id)
    run_due()

    # Two samples that agree decide a vote of three.
    (request,) = llm.requests
    assert request.n == 2
    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.finish_reason) == ("succeeded", "answered")
        assert (question.answer, question.choice) == ("a tennis ball", 1)
        assert question.model_names["reasoner"] == llm.model
        dogs = Event.objects.get(summary__startswith=STORIES[GREEN])
        root, answered = Node.objects.order_by("ordinal")
        assert (root.path, root.action, answered.path, answered.action) == ("", "root", "SA", "SA")
        assert str(dogs.id) in {event["event_id"] for event in answered.events if event["number"]}
        candidates = Candidate.objects.filter(node=answered).order_by("ordinal")
        assert [(c.answer, c.choice, c.agreement) for c in candidates] == [("a tennis ball", 1, 1.0)] * 2

        (evidence,) = Evidence.objects.all()
        assert (evidence.event_id, evidence.start_ms, evidence.end_ms) == (dogs.id, 6_000, 12_000)
        assert 6_000 <= evidence.frame_ms < 12_000
        assert evidence.quote in dogs.summary
        assert evidence.frame_key == f"t/{acme.tenant_id}/q/{question_id}/000.jpg"
        assert colour_of(ObjectStorage().get(evidence.frame_key)) == GREEN

        calls = list(ModelCall.objects.filter(source_type="question", source_id=question_id))
        told = [(c.prompt_tokens, c.cached_tokens, c.completion_tokens) for c in calls if c.model == llm.model]
        assert told == [(100, 30, 200)]
        assert question.usage["calls"] == len(calls)
        assert question.usage["prompt_tokens"] == sum(call.prompt_tokens for call in calls)
        assert (question.usage["cached_tokens"], question.usage["completion_tokens"]) == (30, 200)
        assert ledger.question_mismatches(question_id) == []
        total = ledger.cost_of_question(question_id)
        assert (total.amount, total.price) == (question.cost_amount, Decimal("0.02"))

        event = WebhookEvent.objects.get(resource_id=question_id)
        body = json.loads(event.body)["data"]
        assert (event.type, body["status"], body["answer"]) == ("question.completed", "succeeded", "a tennis ball")
    path = f"/v1/questions/{encode('qst', question_id)}"
    assert acme.client.get(path).json()["choice"] == 1
    assert globex.client.get(path).status_code == 404


def test_a_budget_of_one_call_ends_with_the_best_answer_so_far(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    # The first two samples differ, so a third is wanted and not granted.
    llm.script = saying(lambda request: ["B", "C"])
    question_id = ask(acme, video_id, budget={"max_calls": 1})
    run_due()

    assert len(llm.requests) == 1
    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.finish_reason) == ("succeeded", "budget")
        assert question.choice in (1, 2)
        assert ModelCall.objects.filter(source_id=question_id, model=llm.model).count() == 1
        assert ledger.question_mismatches(question_id) == []


def test_without_the_budget_the_tie_is_broken(acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer) -> None:
    llm.script = saying(lambda request: ["B", "C"] if request.n == 2 else ["C"])
    ask(acme, video_id)
    run_due()

    assert [request.n for request in llm.requests[:2]] == [2, 1]
    with acme.scope():
        question = Question.objects.get()
        assert (question.finish_reason, question.choice) == ("answered", 2)


def test_a_question_canceled_while_queued_reaches_no_model_and_costs_nothing(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = saying(lambda request: "B")
    question_id = ask(acme, video_id)
    assert acme.client.post(f"/v1/questions/{encode('qst', question_id)}/cancel").status_code == 200
    run_due()

    assert llm.requests == []
    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.answer, question.choice) == ("canceled", "", None)
        assert Job.objects.get(kind=JobKind.ANSWER_QUESTION).state == JobState.CANCELED
        assert not Node.objects.exists()
        total = ledger.cost_of_question(question_id)
        assert (total.amount, total.price) == (Decimal(0), Decimal(0))
        assert not WebhookEvent.objects.filter(resource_id=question_id).exists()


def test_what_a_question_consumed_before_its_cancellation_is_recorded_and_not_billed(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    answering = saying(lambda request: "B")

    def canceled_meanwhile(request: ScriptedRequest) -> Reply:
        # Sooner than any heartbeat: the worker learns of it when it commits.
        assert acme.client.post(f"/v1/questions/{encode('qst', question_id)}/cancel").status_code == 200
        return answering(request)

    llm.script = canceled_meanwhile
    question_id = ask(acme, video_id)
    run_due()

    with acme.scope():
        assert Question.objects.get().status == "canceled"
        assert Job.objects.get(kind=JobKind.ANSWER_QUESTION).state == JobState.CANCELED
        wasted = UsageEvent.objects.get(question_id=question_id, meter="output_tokens")
        assert (wasted.quantity, wasted.price_amount, wasted.billable) == (200, 0, False)
        assert ledger.cost_of_question(question_id).price == 0


def test_a_reasoner_that_stays_away_fails_the_question_after_its_attempts(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = DOWN
    question_id = ask(acme, video_id)
    run_due()

    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.error_code) == ("failed", "model_unavailable")
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert (job.state, job.attempt, job.error_code) == (JobState.DEAD, 5, "model_unavailable")
        assert ledger.cost_of_question(question_id).price == 0
        assert not UsageEvent.objects.filter(question_id=question_id, meter="output_tokens").exists()
        assert ledger.mismatches() == []
        assert not Node.objects.exists()
        told = WebhookEvent.objects.filter(resource_id=question_id)
        assert [event.type for event in told] == ["question.failed"]
        assert json.loads(told[0].body)["data"]["error"]["code"] == "model_unavailable"
    # 5 attempts of the job with 5 tries each.
    assert len(llm.requests) == 25


def test_a_reasoner_that_comes_back_answers_and_what_failed_is_not_billed(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    answering = saying(lambda request: "B")
    llm.script = lambda request: DOWN if request.index < 5 else answering(request)
    question_id = ask(acme, video_id)
    run_due()

    with acme.scope():
        assert (Question.objects.get().status, Question.objects.get().choice) == ("succeeded", 1)
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert (job.state, job.attempt) == (JobState.SUCCEEDED, 2)
        assert ledger.question_mismatches(question_id) == []
        assert ledger.cost_of_question(question_id).price == Decimal("0.02")
        assert [e.type for e in WebhookEvent.objects.filter(resource_id=question_id)] == ["question.completed"]


def test_one_job_run_by_two_workers_and_once_more_answers_once(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = saying(lambda request: "B")
    question_id = ask(acme, video_id)
    with acme.scope():
        job_id = Job.objects.get(kind=JobKind.ANSWER_QUESTION).id
    both = threading.Barrier(2)

    def work(name: str) -> None:
        both.wait()
        try:
            run_job(job_id, acme.tenant_id, worker=name)
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(llm.requests) == 1

    def stored() -> list[Any]:
        with acme.scope():
            models = (Question, Node, Candidate, Evidence, ModelCall, UsageEvent, WebhookEvent)
            return [sorted(map(repr, model.objects.values())) for model in models]

    before = stored()
    run_job(job_id, acme.tenant_id, worker="late")
    ring_again(acme)
    assert job_id in run_due(times=2)
    assert stored() == before
    assert len(llm.requests) == 1
    with acme.scope():
        assert Question.objects.get(id=question_id).choice == 1


def test_a_purged_video_takes_the_copied_frames_with_it(acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer) -> None:
    llm.script = saying(lambda request: "B")
    ask(acme, video_id)
    run_due()
    with acme.scope():
        key = Evidence.objects.get().frame_key
    assert ObjectStorage().head(key).size_bytes > 0

    assert acme.client.delete(f"/v1/videos/{encode('vid', video_id)}").status_code == 202
    run_due()

    with pytest.raises(ObjectMissing):
        ObjectStorage().head(key)
    with acme.scope():
        assert not Evidence.objects.exists()
        assert Question.objects.get().answer == "a tennis ball"
