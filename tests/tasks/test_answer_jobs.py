"""Questions answered in this process over an index on the real stack: what is stored, billed and reported."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from backend.api.public_ids import decode, encode
from backend.billing import queries as ledger
from backend.billing.models import ModelCall, UsageEvent
from backend.ekg.models import Event, Frame
from backend.jobs.breakers import breakers
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Video
from backend.library.storage import ObjectMissing, ObjectStorage
from backend.questions.models import Candidate, Evidence, Node, Question, QuestionPace
from backend.questions.stream import QuestionEvents
from backend.webhooks.models import WebhookEvent
from gpu_workers.tasks import answer_question
from tests.conftest import Cast
from tests.factories import make_video
from tests.running import run_job
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import GREEN, STORIES, colour_of
from tests.tasks.kept_index import KeptIndex
from tests.tasks.world import ring_again, run_due, run_past_deadlines

# One process for both files, because the models are loaded once.
pytestmark = pytest.mark.slow

CHOICES = ["a boat", "a tennis ball", "a cat"]
DOWN = Fault(503, "overloaded", "away", {"Retry-After": "0"})
WRONG_KEY = Fault(401, "invalid_api_key", "no such key")


@pytest.fixture
def video_id(kept_index: KeptIndex, vlm: ScriptedOpenAIServer) -> UUID:
    """Index red, then green with the dogs; the cost of the index does not count for the questions."""
    vlm.requests.clear()
    return kept_index.video_id


def ask(cast: Cast, video_id: UUID, **fields: Any) -> UUID:
    body = {"question": "What do the dogs chase?", "choices": CHOICES, "video_ids": [encode("vid", video_id)], **fields}
    response = cast.client.post("/v1/questions", body)
    assert response.status_code == 202, response.content
    return decode("qst", response.json()["id"])


def saying(choose: Callable[[ScriptedRequest], str | list[str]]) -> Callable[[ScriptedRequest], Reply]:
    """Return a reasoner that cites the event of the dogs and returns no odds, so that votes decide. choose: the letter
    of each sample, or of all samples."""

    def script(request: ScriptedRequest) -> Reply:
        if judged(request):
            return Reply("no", prompt_tokens=0, completion_tokens=0)
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


def judged(request: ScriptedRequest) -> bool:
    """Whether the request asks for the judgement of one choice and not for an answer."""
    return "Proposed answer: " in request.user


def keep_pictures_late(acme: Cast, video_id: UUID, monkeypatch: pytest.MonkeyPatch) -> tuple[str, bytes, str]:
    """Answer a question, then let a worker that stood still keep its evidence, of which it has the thumbnail alone.

    Returns the key of the answer's picture, its bytes before that, and the key that the late worker stored.
    """
    attempts: list[tuple[Any, ...]] = []
    keep = answer_question._keep_evidence

    def kept(*arguments: Any) -> dict[UUID, str]:
        attempts.append(arguments)
        return keep(*arguments)

    monkeypatch.setattr(answer_question, "_keep_evidence", kept)
    ask(acme, video_id)
    run_due()
    with acme.scope():
        key = Evidence.objects.get().frame_key
        source = Video.objects.get(id=video_id).object_key
    shown = ObjectStorage().get(key)

    ObjectStorage().put(source, b"damaged", content_type="video/mp4")
    work, *answered = attempts[0]
    # Its heartbeat has not found that the lease is lost.
    held = {"state": "running", "lease_token": work.lease.token, "lease_until": timezone.now() + timedelta(minutes=1)}
    with acme.scope():
        Job.objects.filter(id=work.lease.job_id).update(**held)
    # A heartbeat that came just after the job's end has found it.
    work.lost.clear()
    (late,) = keep(work, *answered).values()
    return key, shown, late


def test_an_answer_is_stored_with_all_that_led_to_it(
    acme: Cast, globex: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = saying(lambda request: "B")
    question_id = ask(acme, video_id)
    run_due()

    # If the reasoner returns no odds for one choice, the others are not judged. Two samples that agree decide a vote
    # of three.
    assert [(judged(request), request.n) for request in llm.requests] == [(True, 1), (False, 2)]
    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.finish_reason) == ("succeeded", "answered")
        assert (question.answer, question.choice) == ("a tennis ball", 1)
        assert question.model_names["reasoner"] == llm.model
        # The next answer of this kind knows how long this one took from each of its stages on.
        paces = {pace.stage: pace for pace in QuestionPace.objects.filter(method="ava", effort="medium")}
        assert {pace.model for pace in paces.values()} == {llm.model}
        assert {"", "retrieval", "search"} <= paces.keys()
        assert paces[""].left_ms >= paces["retrieval"].left_ms >= paces["search"].left_ms > 0
        dogs = Event.objects.get(summary__startswith=STORIES[GREEN])
        nodes = list(Node.objects.order_by("ordinal"))
        # Choices of one or two words that have no judgement are left to the votes.
        assert [(node.path, node.action) for node in nodes] == [("", "root"), ("SA", "SA")]
        _, answered = nodes
        assert str(dogs.id) in {event["event_id"] for event in answered.events if event["number"]}
        candidates = Candidate.objects.filter(node=answered).order_by("ordinal")
        assert [(c.answer, c.choice, c.agreement) for c in candidates] == [("a tennis ball", 1, 1.0)] * 2

        (evidence,) = Evidence.objects.all()
        assert (evidence.event_id, evidence.start_ms, evidence.end_ms) == (dogs.id, 6_000, 12_000)
        assert 6_000 <= evidence.frame_ms < 12_000
        assert evidence.quote in dogs.summary
        frame = Frame.objects.get(event_id=dogs.id, ms=evidence.frame_ms)
        assert evidence.frame_key.startswith(f"t/{acme.tenant_id}/v/{frame.video_id}/q/{question_id}/{frame.id}-")
        assert colour_of(ObjectStorage().get(evidence.frame_key)) == GREEN

        calls = list(ModelCall.objects.filter(source_type="question", source_id=question_id))
        told = [(c.prompt_tokens, c.cached_tokens, c.completion_tokens) for c in calls if c.model == llm.model]
        assert sorted(told) == [(0, 0, 0), (100, 30, 200)]
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
    shown = acme.client.get(path).json()
    assert (shown["choice"], shown["models"]["unmeasured"]) == (1, "")
    assert globex.client.get(path).status_code == 404


def test_nodes_and_progress_of_a_search_of_three_levels_are_streamed_before_the_answer(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    question_id = ask(acme, video_id, effort="paper", check="off")
    stream = QuestionEvents(tenant_id=acme.tenant_id, question_id=question_id)
    looking, looks = threading.Lock(), [b""]

    def look() -> None:
        """See what a client of the stream sees while the reasoner is asked."""
        with looking:
            looks.append(stream.look())
            connections.close_all()

    answered = saying(lambda request: ["A", "B", "C"][len(llm.requests) % 3])

    def script(request: ScriptedRequest) -> Reply:
        look()
        return answered(request) if STORIES[GREEN] in request.user else Reply("{}")

    llm.script = script
    run_due()
    look()

    *before, last = looks
    streamed = events_of(b"".join(before))
    assert {name for name, _ in streamed} == {"progress", "partial", "node"}
    assert {data["depth"] for name, data in streamed if name == "node"} >= {0, 1, 2}
    search = [data["progress"] for name, data in streamed if name == "progress" and data["stage"] == "search"]
    done = [each["done"] for each in search]
    assert len(done) >= 3
    assert done == sorted(set(done))
    assert all("events between" in each["detail"] or each["detail"] == "other words" for each in search)
    assert events_of(last)[-1][0] == "answer"


def events_of(stream: bytes) -> list[tuple[str, Any]]:
    """Return names and data of server-sent events."""
    found = re.findall(r"^event: (\w+)\ndata: (.*)$", stream.decode(), re.MULTILINE)
    return [(name, json.loads(data)) for name, data in found]


def test_an_answer_from_a_part_of_the_index_says_that_indexing_is_under_way(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = saying(lambda request: "B")
    with acme.scope():
        Video.objects.filter(id=video_id).update(status="indexing")
        until_ms = Video.objects.get(id=video_id).indexed_until_ms
        make_video(title="Gate", indexed_until_ms=0)
    question_id = ask(acme, video_id)
    with acme.scope():
        ids = [encode("vid", id) for id in Video.objects.values_list("id", flat=True)]
    both = ask(acme, video_id, video_ids=ids)
    run_due()

    first = acme.client.get(f"/v1/questions/{encode('qst', question_id)}").json()["notes"][0]
    assert first == f"Indexing is under way: the first 0:00:{until_ms // 1_000:02} were read."
    assert '"Gate"' in acme.client.get(f"/v1/questions/{encode('qst', both)}").json()["notes"][0]


def test_an_answer_of_a_reasoner_that_nobody_measured_says_so(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm, "model", "another-llm")
    monkeypatch.setenv("REASONER_MODEL", llm.model)
    llm.script = saying(lambda request: "B")
    question_id = ask(acme, video_id)
    run_due()

    assert not [request for request in llm.requests if judged(request)], "no weights: the votes decide"
    shown = acme.client.get(f"/v1/questions/{encode('qst', question_id)}").json()
    assert (shown["choice"], shown["models"]["reasoner"]) == (1, "another-llm")
    assert shown["models"]["unmeasured"] == (
        "limits of reasoner another-llm; support of choices by another-llm with all-MiniLM-L6-v2: votes decide"
    )


def test_a_question_waits_for_a_reasoner_that_its_server_does_not_list_yet(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REASONER_MODEL", "larger-llm")
    llm.script = saying(lambda request: "B")
    question_id = ask(acme, video_id)
    with acme.scope():
        job = Job.objects.get(subject_id=question_id)
    run_job(job.id, acme.tenant_id, worker="test:0")
    with acme.scope():
        job.refresh_from_db()
    assert (job.state, job.error_code) == (JobState.QUEUED, "model_misconfigured")

    monkeypatch.setenv("REASONER_MODEL", llm.model)
    run_due()
    shown = acme.client.get(f"/v1/questions/{encode('qst', question_id)}").json()
    assert shown["status"] == "succeeded"


def test_a_budget_of_two_calls_ends_with_the_best_answer_so_far(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    # The judgement has no odds and the first two samples differ, so a third is requested and not granted.
    llm.script = saying(lambda request: ["B", "C"])
    question_id = ask(acme, video_id, budget={"max_calls": 2})
    run_due()

    assert [judged(request) for request in llm.requests] == [True, False]
    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.finish_reason) == ("succeeded", "budget")
        assert question.choice in (1, 2)
        assert ModelCall.objects.filter(source_id=question_id, model=llm.model).count() == 2
        assert ledger.question_mismatches(question_id) == []


def test_without_the_budget_the_tie_is_broken(acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer) -> None:
    """The third sample decides if choices are only numbers. Otherwise the events' support of each choice decides, which
    no vote can change here: then one sample is requested for its words."""
    llm.script = saying(lambda request: ["B", "C"] if request.n == 2 else ["C"])
    told = ["a carpenter builds wooden boats", STORIES[GREEN], "divers explore coral reefs"]
    for choices, choice, samples in ((["3", "5", "7"], 2, [2, 1]), (told, 1, [1])):
        llm.requests.clear()
        question_id = ask(acme, video_id, choices=choices)
        run_due()

        assert [request.n for request in llm.requests[: len(samples)]] == samples
        with acme.scope():
            question = Question.objects.get(id=question_id)
            assert (question.finish_reason, question.choice) == ("answered", choice)
            weighed = Node.objects.filter(question_id=question.id, action="CS").first()
            assert (weighed is None) == (choices is not told)
    with acme.scope():
        assert weighed is not None
        assert weighed.events, "those that speak for the choice are stored with it"
        shares = Candidate.objects.filter(node=weighed).order_by("ordinal")
        assert [(c.answer, c.choice) for c in shares] == [(text, n) for n, text in enumerate(told)]
        assert sum(c.agreement for c in shares) == pytest.approx(1.0)
        assert weighed.score == max(c.score for c in shares) == shares[1].score


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
        assert [event.type for event in WebhookEvent.objects.filter(resource_id=question_id)] == ["question.canceled"]


def test_what_a_question_consumed_before_its_cancellation_is_recorded_and_not_billed(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    answering = saying(lambda request: "B")

    def canceled_meanwhile(request: ScriptedRequest) -> Reply:
        if judged(request):
            return answering(request)
        # Before any heartbeat: the worker learns of the cancellation when it commits.
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


@pytest.mark.long
def test_a_reasoner_that_stays_away_fails_the_question_at_its_deadline_and_not_before(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = DOWN
    question_id = ask(acme, video_id)
    run_due(rounds=8)

    with acme.scope():
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert (job.state, job.attempt, job.outages, job.dependency) == (JobState.QUEUED, 0, 8, "reasoner")
        assert Question.objects.get().status == "running"
        assert job.deadline_at - job.created_at == pytest.approx(timedelta(hours=1), abs=timedelta(minutes=1))
    # 8 attempts with 5 tries each, for a judgement and for an answer.
    assert len(llm.requests) == 80

    run_past_deadlines(acme)
    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.error_code) == ("failed", "deadline_exceeded")
        job.refresh_from_db()
        assert (job.state, job.error_code) == (JobState.DEAD, "deadline_exceeded")
        assert ledger.cost_of_question(question_id).price == 0
        assert not UsageEvent.objects.filter(question_id=question_id, meter="output_tokens").exists()
        assert ledger.mismatches() == []
        assert not Node.objects.exists()
        told = WebhookEvent.objects.filter(resource_id=question_id)
        assert [event.type for event in told] == ["question.failed"]
        assert json.loads(told[0].body)["data"]["error"]["code"] == "deadline_exceeded"


def test_operators_read_what_the_reasoner_answered_and_customers_do_not(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script = WRONG_KEY
    question_id = encode("qst", ask(acme, video_id))
    run_due(rounds=1)

    (breaker,) = [row for row in breakers() if row.dependency == "reasoner"]
    queue = StringIO()
    call_command("queue", stdout=queue)
    for shown in (breaker.error_message, queue.getvalue(), caplog.text):
        assert f"{llm.model}: HTTP 401" in shown
        assert llm.url not in shown
    with acme.scope():
        question = Question.objects.get()
        assert (question.error_code, question.error_message) == ("", "")

    run_past_deadlines(acme)
    shown = "".join(
        acme.client.get(f"/v1/questions/{question_id}{page}").content.decode() for page in ("", "/tree", "/calls")
    )
    with acme.scope():
        shown += "".join(WebhookEvent.objects.values_list("body", flat=True))
    assert "deadline_exceeded" in shown
    assert "HTTP 401" not in shown


@pytest.mark.long
@pytest.mark.parametrize(("fault", "requests"), [(DOWN, 10), (WRONG_KEY, 2)], ids=["away", "wrong key"])
def test_a_reasoner_that_comes_back_answers_and_what_failed_is_not_billed(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, fault: Fault, requests: int
) -> None:
    """requests: those of one attempt, for a judgement and for an answer. Six attempts are more than a job has."""
    answering = saying(lambda request: "B")
    llm.script = lambda request: fault if request.index < 6 * requests else answering(request)
    question_id = ask(acme, video_id)
    run_due()

    with acme.scope():
        assert (Question.objects.get().status, Question.objects.get().choice) == ("succeeded", 1)
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        assert (job.state, job.attempt, job.outages) == (JobState.SUCCEEDED, 1, 6)
        assert ledger.question_mismatches(question_id) == []
        assert ledger.cost_of_question(question_id).price == Decimal("0.02")
        assert [e.type for e in WebhookEvent.objects.filter(resource_id=question_id)] == ["question.completed"]
        assert {row.dependency: row.state for row in breakers()} == {"reasoner": "closed"}


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
    assert [judged(request) for request in llm.requests] == [True, False]

    def stored() -> list[Any]:
        with acme.scope():
            models = (Question, Node, Candidate, Evidence, ModelCall, UsageEvent, WebhookEvent)
            return [sorted(map(repr, model.objects.values())) for model in models]

    before = stored()
    run_job(job_id, acme.tenant_id, worker="late")
    ring_again(acme)
    assert job_id in run_due(times=2)
    assert stored() == before
    assert len(llm.requests) == 2
    with acme.scope():
        assert Question.objects.get(id=question_id).choice == 1


def test_a_late_attempt_leaves_the_pictures_of_an_answer_alone(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm.script = saying(lambda request: "B")
    key, shown, late = keep_pictures_late(acme, video_id, monkeypatch)

    assert ObjectStorage().get(late) != shown
    assert ObjectStorage().get(key) == shown


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
        assert Question.objects.get().answer == ""


def wants(request: ScriptedRequest, field: str) -> bool:
    """Whether the requested answer has this field."""
    return field in (request.schema or {}).get("properties", {})


def test_an_inspection_looks_at_full_frames_of_the_retrieved_moments_and_its_finding_is_the_evidence(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, vlm: ScriptedOpenAIServer
) -> None:
    told: list[Any] = []

    def reason(request: ScriptedRequest) -> Any:
        if wants(request, "looks"):
            # Far more than was retrieved: the inspection is cut to the video's two events.
            look = {"start_ms": 6_000, "end_ms": 10_000_000, "what_to_find": "what is chased", "fps": 0.2}
            return {"looks": [{**look, "resolution": "high"}]}
        if wants(request, "confidence"):
            told.append(request.user)
            return {
                "reasoning": "Finding 1 shows the ball.", "answer": "B", "evidence": [1], "sufficient": True,
                "confidence": 0.9, "missing": [],
            }  # fmt: skip
        # One vote each, with reasons that share no word.
        votes = [("B", "dogs lawn ball"), ("C", "cat roof moon"), ("A", "boat sea wind")]
        texts = [{"reasoning": why, "answer": letter, "evidence": []} for letter, why in votes]
        return Reply(texts[: request.n] if request.n > 1 else texts[2:])

    def look(request: ScriptedRequest) -> Any:
        told.append(acme.client.get(f"/v1/questions/{encode('qst', question_id)}").json())
        assert wants(request, "findings")
        assert {colour_of(jpeg) for jpeg in request.images} == {GREEN}
        found = {"statement": "a ball rolls", "start_ms": 6_000, "end_ms": 9_000, "frames": [1], "bearing": "supports"}
        return {"findings": [found]}

    llm.script, vlm.script = reason, look
    question_id = ask(acme, video_id, check="inspect")
    run_due()

    (request,) = vlm.requests
    during, reflected = told
    assert during["partial_answer"]["path"] == "SA"
    assert (during["partial_answer"]["level"], during["answer"]) == (1, "")
    assert "1. 00:06-00:09 a ball rolls" in reflected
    with acme.scope():
        thumbnails = [ObjectStorage().get(frame.thumbnail_key) for frame in Frame.objects.all()]
        assert not set(request.images) & set(thumbnails)
        question = Question.objects.get()
        assert (question.status, question.choice, question.check_mode) == ("succeeded", 1, "inspect")
        assert question.claims == [{"text": "a tennis ball", "status": "supported", "evidence": [0]}]
        node = Node.objects.get(action="IN")
        assert (node.path, node.answer, node.error_code) == ("IN", "a tennis ball", "")
        (seen,) = node.seen
        assert seen.startswith("00:06-00:09 a ball rolls (supports: ")
        evidence = Evidence.objects.get()
        assert 6_000 <= evidence.frame_ms < 12_000
        assert evidence.confidence is not None
        assert 0 < evidence.confidence <= 1
        stages = set(ModelCall.objects.filter(source_id=question_id).values_list("stage", flat=True))
        assert {"plan", "observe", "reflect"} <= stages
        assert ledger.question_mismatches(question_id) == []


@pytest.mark.long
def test_a_question_that_asks_for_no_check_gets_none(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, vlm: ScriptedOpenAIServer
) -> None:
    llm.script = saying(lambda request: (["B", "C", "A"] * 3)[: request.n])
    ask(acme, video_id, check="off", effort="high")
    run_due()

    with acme.scope():
        assert set(Node.objects.values_list("action", flat=True)).isdisjoint({"CA", "IN"})
        assert Question.objects.get().status == "succeeded"


def test_a_batch_is_answered_question_by_question_and_reported_once(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = saying(lambda request: "B")
    questions = [
        {"question": words, "choices": CHOICES, "external_id": str(n)}
        for n, words in enumerate(["What do the dogs chase?", "What do the two dogs follow?"])
    ]
    body = {"questions": questions, "video_ids": [encode("vid", video_id)]}
    batch = acme.client.post("/v1/question-batches", body).json()
    alone = ask(acme, video_id)
    order = run_due()

    done = acme.client.get(f"/v1/question-batches/{batch['id']}").json()
    assert (done["status"], done["counts"]["succeeded"], done["finish_reasons"]) == ("completed", 2, {"answered": 2})
    results = acme.client.get(f"/v1/question-batches/{batch['id']}/results")
    lines = [json.loads(line) for line in b"".join(results.streaming_content).splitlines()]
    assert [(line["external_id"], line["choice"]) for line in lines] == [("0", 1), ("1", 1)]
    assert Decimal(done["charge"]["amount"]) == sum(Decimal(line["charge"]["amount"]) for line in lines) > 0
    assert done["usage"]["calls"] == sum(line["usage"]["calls"] for line in lines)
    with acme.scope():
        told = WebhookEvent.objects.filter(type="question_batch.completed")
        assert [event.resource_id for event in told] == [decode("bat", batch["id"])]
        first = Job.objects.get(id=order[0])
    assert first.subject_id == alone, "somebody waits for the one that was asked alone"
