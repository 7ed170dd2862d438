"""/v1/question-batches: all questions or none, honest counts, one completion, and no delay for those who wait."""

from __future__ import annotations

import json
import threading
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from uuid6 import uuid7

from backend.api import public_ids
from backend.billing import queries as ledger
from backend.billing.models import OpenSpending, UsageEvent
from backend.billing.services.limits import budgets
from backend.billing.services.limits.budgets import Limits
from backend.jobs.dispatching import next_jobs
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Collection
from backend.questions.api import batches as batches_api
from backend.questions.models import Question, QuestionBatch, QuestionVideo
from backend.questions.services import batches
from backend.questions.services import questions as services
from backend.webhooks.models import Delivery, WebhookEvent
from tests.conftest import Cast
from tests.factories import make_video, set_limits
from tests.questions.world import CALLS, answer, ask, finish


def vid(value: UUID) -> str:
    return public_ids.encode("vid", value)


def bat(value: UUID) -> str:
    return public_ids.encode("bat", value)


@pytest.fixture
def video(acme: Cast) -> UUID:
    with acme.scope():
        return UUID(str(make_video(indexed_until_ms=30_000).id))


def post(cast: Cast, questions: Any, *, key: str | None = None, **values: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"questions": questions, **values}
    return cast.client.post("/v1/question-batches", body, format="json", headers=headers)


def asked(cast: Cast, video_id: UUID, n: int = 3) -> tuple[UUID, list[UUID]]:
    """A batch of n questions about one video: its id, and theirs in its order."""
    with cast.scope():
        batch = batches.create_batch(
            questions=[{"text": f"Which car {n}?", "video_ids": [video_id]} for n in range(n)], api_key_id=cast.key_id
        )
        rows = Question.objects.filter(batch=batch).order_by("batch_position")
        return batch.id, list(rows.values_list("id", flat=True))


def shown(cast: Cast, batch_id: UUID) -> dict[str, Any]:
    body: dict[str, Any] = cast.client.get(f"/v1/question-batches/{bat(batch_id)}").json()
    return body


def events(cast: Cast, type: str = "question_batch.completed") -> list[dict[str, Any]]:
    with cast.scope():
        found = WebhookEvent.objects.filter(type=type).order_by("id")
        return [json.loads(event.body)["data"] for event in found]


def nothing_written(cast: Cast) -> bool:
    with cast.scope():
        models = (QuestionBatch, Question, QuestionVideo, Job, UsageEvent)
        return not any(model.objects.exists() for model in models)


# --- asking -----------------------------------------------------------------------------------------------------------


def test_a_batch_is_asked_with_its_defaults_and_what_a_question_says_itself(acme: Cast, video: UUID) -> None:
    with acme.scope():
        other = make_video(indexed_until_ms=30_000).id
    reply = post(
        acme,
        [
            {"question": " Who enters? ", "external_id": "a"},
            {"question": "Which?", "choices": ["x", "y"], "effort": "low", "video_ids": [vid(other)], "seed": 7},
            {"question": "When?", "method": "vector", "budget": {"max_calls": 2}},
        ],
        video_ids=[vid(video)],
        effort="high",
        method="uniform",
        budget={"max_tokens": 5000},
        external_id="exam-1",
        metadata={"team": "a"},
    )

    body = reply.json()
    assert reply.status_code == 202
    assert reply.headers["Location"] == f"/v1/question-batches/{body['id']}"
    assert body["counts"] == {"total": 3, "queued": 3, "running": 0, "succeeded": 0, "failed": 0, "canceled": 0}
    assert (body["status"], body["external_id"], body["metadata"]) == ("running", "exam-1", {"team": "a"})
    assert (body["finish_reasons"], body["completed_at"]) == ({}, None)
    assert body["charge"] == {"amount": "0.06", "currency": "USD", "price_version": 1}

    listed = acme.client.get(f"/v1/questions?batch_id={body['id']}").json()["data"]
    rows = [
        (row["question"], row["external_id"], row["effort"], row["method"], row["video_ids"], row["budget"])
        for row in listed
    ]
    half = {"max_tokens": 5000}
    assert rows == [
        ("Who enters?", "a", "high", "uniform", [vid(video)], half),
        ("Which?", "", "low", "uniform", [vid(other)], half),
        ("When?", "", "high", "vector", [vid(video)], {"max_calls": 2}),
    ]
    assert {row["batch_id"] for row in listed} == {body["id"]}
    assert listed[1]["seed"] == 7
    with acme.scope():
        jobs = Job.objects.filter(kind=JobKind.ANSWER_QUESTION)
        assert {job.subject_id for job in jobs} == set(Question.objects.values_list("id", flat=True))
        assert {(job.state, job.queue, job.priority) for job in jobs} == {(JobState.QUEUED, "gpu.query", 0)}
        assert all(job.due for job in jobs)
        charges = UsageEvent.objects.values_list("source_id", "price_amount", "api_key_id")
        assert {charge[1:] for charge in charges} == {(Decimal("0.02"), acme.key_id)}
        assert {charge[0] for charge in charges} == {str(job.subject_id) for job in jobs}


@pytest.mark.parametrize(
    ("third", "batch", "pointer", "code"),
    [
        ({"question": ""}, {}, "/questions/2/question", "blank"),
        ({"question": "Q?", "choices": ["one"]}, {}, "/questions/2/choices", "invalid_choices"),
        ({"question": "Q?", "choices": ["a", "A "]}, {}, "/questions/2/choices", "invalid_choices"),
        ({"question": "Q?", "colour": "red"}, {}, "/questions/2/colour", "unknown_field"),
        ({"question": "Q?", "start_ms": 9, "end_ms": 9}, {}, "/questions/2/end_ms", "invalid_span"),
        ({"question": "Q?", "budget": {"max_calls": 0}}, {}, "/questions/2/budget/max_calls", "min_value"),
        ({"question": "Q?", "video_ids": ["unknown"]}, {}, "/questions/2/video_ids", "unknown_video"),
        ({"question": "Q?", "collection_id": "unknown"}, {}, "/questions/2/collection_id", "unknown_collection"),
        ({"question": "Q?", "collection_id": "empty"}, {}, "/questions/2/collection_id", "empty_collection"),
        ({"question": "Q?", "video_ids": ["failed"]}, {}, "/questions/2", "nothing_indexed"),
        ({"question": "Q?", "video_ids": ["vid_x"]}, {}, "/questions/2/video_ids/0", "invalid_id"),
        ({"question": "Q?", "video_ids": ["mine"], "collection_id": "empty"}, {}, "/questions/2", "scope_required"),
        ("Q?", {}, "/questions/2", "invalid"),
        ({"question": "Q?"}, {"method": "guess"}, "/method", "invalid_choice"),
        ({"question": "Q?"}, {"budget": {"max_tokens": 0}}, "/budget/max_tokens", "min_value"),
        ({"question": "Q?"}, {"collection_id": "empty"}, "", "scope_required"),
    ],
)
def test_one_invalid_question_refuses_the_batch_and_says_which(
    acme: Cast, globex: Cast, video: UUID, third: Any, batch: Any, pointer: str, code: str
) -> None:
    with globex.scope():
        foreign = make_video().id
    with acme.scope():
        empty = Collection.objects.create(tenant_id=acme.tenant_id, name="empty").id
        failed = make_video(status="failed", indexed_until_ms=0).id
    names = {
        "mine": vid(video), "failed": vid(failed), "unknown": vid(foreign), "empty": public_ids.encode("col", empty),
    }  # fmt: skip

    def spelled(body: Any) -> Any:
        if not isinstance(body, dict):
            return body
        body = dict(body)
        if "video_ids" in body:
            body["video_ids"] = [names.get(name, name) for name in body["video_ids"]]
        if "collection_id" in body:
            unknown = public_ids.encode("col", uuid7())
            body["collection_id"] = unknown if body["collection_id"] == "unknown" else names[body["collection_id"]]
        return body

    good = {"question": "Who?"}
    reply = post(acme, [good, good, spelled(third)], **{"video_ids": [vid(video)], **spelled(batch)})

    assert reply.status_code == (409 if code == "nothing_indexed" else 400), reply.content
    assert [(e["pointer"], e["code"]) for e in reply.json()["errors"]][:1] == [(pointer, code)]
    assert len(reply.json()["errors"]) == 1
    assert nothing_written(acme)


def test_every_invalid_question_is_named(acme: Cast, video: UUID) -> None:
    good = {"question": "Who?", "video_ids": [vid(video)]}
    odd = {**good, "video_ids": [vid(uuid7())]}
    reply = post(acme, [{**good, "choices": ["a", "a"]}, good, odd, {"question": "Who?", "video_ids": [vid(video)]}])

    assert [(e["pointer"], e["code"]) for e in reply.json()["errors"]] == [
        ("/questions/0/choices", "invalid_choices"),
        ("/questions/2/video_ids", "unknown_video"),
    ]
    scopeless = post(acme, [good, {"question": "Where?"}])
    assert [(e["pointer"], e["code"]) for e in scopeless.json()["errors"]] == [("/questions/1", "scope_required")]
    assert nothing_written(acme)


def test_a_batch_has_1_to_1000_questions(acme: Cast, video: UUID) -> None:
    question = {"question": "Who?", "video_ids": [vid(video)]}

    assert post(acme, []).json()["errors"][0]["pointer"] == "/questions"
    assert post(acme, [question] * 1_001).json()["errors"][0]["pointer"] == "/questions"
    assert nothing_written(acme)


def test_a_batch_whose_scopes_are_too_wide_together_is_refused(
    acme: Cast, video: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_SCOPE_ROWS", 2)
    question = {"question": "Who?", "video_ids": [vid(video)]}

    reply = post(acme, [question] * 3)
    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (400, "batch_too_wide")
    assert nothing_written(acme)
    assert post(acme, [question] * 2).status_code == 202


def test_a_batch_is_not_asked_once_the_months_budget_is_used_up(acme: Cast, video: UUID) -> None:
    question = {"question": "Who?", "video_ids": [vid(video)]}
    with acme.scope():
        set_limits(Limits(max_tokens=0))
    reply = post(acme, [question])

    assert (reply.status_code, reply.json()["code"]) == (402, "budget_exhausted")
    assert nothing_written(acme)


def test_the_same_key_asks_a_batch_once(acme: Cast, video: UUID) -> None:
    question = {"question": "Who?", "video_ids": [vid(video)]}
    first, second = (post(acme, [question], key="k1") for _ in range(2))
    other = post(acme, [question, question], key="k1")

    assert (first.status_code, second.status_code, other.status_code) == (202, 202, 422)
    assert first.json()["id"] == second.json()["id"]
    with acme.scope():
        assert (QuestionBatch.objects.count(), Question.objects.count()) == (1, 1)


def test_a_thousand_questions_take_as_many_statements_as_ten(acme: Cast) -> None:
    with acme.scope():
        videos = [make_video(indexed_until_ms=30_000).id for _ in range(4)]
        collections = [Collection.objects.create(tenant_id=acme.tenant_id, name=f"c{n}").id for n in range(3)]
        for id in collections:
            make_video(collection_id=id, indexed_until_ms=30_000)

    def statements(n: int) -> int:
        scopes = [{"video_ids": [vid(id)]} for id in videos]
        scopes += [{"collection_id": public_ids.encode("col", id)} for id in collections]
        questions = [{"question": f"Which {k}?", **scopes[k % len(scopes)]} for k in range(n)]
        with CaptureQueriesContext(connection) as captured:
            reply = post(acme, questions)
        assert reply.status_code == 202, reply.content
        assert reply.json()["counts"]["queued"] == n
        return len(captured)

    ten = statements(10)
    assert statements(1_000) <= ten + 3
    assert ten <= 40


def test_canceling_a_thousand_takes_as_many_statements_as_ten(acme: Cast, video: UUID) -> None:
    def statements(n: int) -> int:
        batch_id, _ = asked(acme, video, n)
        with CaptureQueriesContext(connection) as captured:
            reply = acme.client.post(f"/v1/question-batches/{bat(batch_id)}/cancel")
        assert reply.json()["counts"]["canceled"] == n
        return len(captured)

    ten = statements(10)
    assert statements(1_000) <= ten + 3


# --- nobody waits behind a batch --------------------------------------------------------------------------------------


def test_a_question_asked_later_goes_before_a_batch(acme: Cast, video: UUID) -> None:
    _, questions = asked(acme, video, 5)
    alone, _ = ask(acme)
    following = next_jobs("gpu.query", limit=10)
    with acme.scope():
        subjects = dict(Job.objects.values_list("id", "subject_id"))

    assert [subjects[job.job_id] for job in following] == [alone, *questions]
    assert [job.priority for job in following] == [services.PRIORITY, *[batches.PRIORITY] * 5]


# --- what becomes of it -----------------------------------------------------------------------------------------------


def test_a_completed_batch_is_not_a_successful_one(acme: Cast, video: UUID) -> None:
    batch_id, (first, second, third, fourth) = asked(acme, video, 4)
    finish(acme, first, video)
    with acme.scope():
        services.fail_question(question_id=second, code="model_unavailable", message="No model.", calls=CALLS)
        services.cancel_question(question_id=third)
    running = shown(acme, batch_id)
    assert (running["status"], running["completed_at"], events(acme)) == ("running", None, [])
    assert running["counts"] == {"total": 4, "queued": 1, "running": 0, "succeeded": 1, "failed": 1, "canceled": 1}
    finish(acme, fourth, video, finish_reason="insufficient_evidence", text="", choice=None)

    done = shown(acme, batch_id)
    assert done["status"] == "completed"
    assert done["counts"] == {"total": 4, "queued": 0, "running": 0, "succeeded": 2, "failed": 1, "canceled": 1}
    reasons = {"answered": 1, "canceled": 1, "error": 1, "insufficient_evidence": 1}
    assert done["finish_reasons"] == reasons
    # Two answers of two calls each; what the failed one consumed is not an answer's usage.
    assert done["usage"] == {"calls": 4, "prompt_tokens": 1_800, "cached_tokens": 0, "completion_tokens": 160}
    # One of four has an answer.
    assert done["charge"] == {"amount": "0.02", "currency": "USD", "price_version": 1}
    assert "cost" not in done
    (event,) = events(acme)
    assert (event["id"], event["status"], event["counts"]) == (done["id"], "completed", done["counts"])
    assert (event["finish_reasons"], event["charge"]) == (reasons, done["charge"])


def test_the_last_two_questions_at_once_complete_a_batch_once(acme: Cast, video: UUID) -> None:
    """Each sees the other's question open until it may look: without the lock neither, or both, would end the batch."""
    for round_ in range(5):
        batch_id, questions = asked(acme, video, 2)
        begun = []
        for id in questions:
            with acme.scope():
                begun.append(services.begin(question_id=id))
        both = threading.Barrier(2)

        def end(question: Any, both: threading.Barrier = both) -> None:
            try:
                with acme.scope():
                    both.wait()
                    services.store_answer(question=question, answer=answer(video))
            finally:
                connections.close_all()

        threads = [threading.Thread(target=end, args=(question,)) for question in begun]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert shown(acme, batch_id)["status"] == "completed"
        assert len(events(acme)) == round_ + 1


def test_the_one_that_ends_second_waits_until_the_first_outcome_is_committed(acme: Cast, video: UUID) -> None:
    batch_id, (first, second) = asked(acme, video, 2)
    ended = threading.Event()

    def cancel_second() -> None:
        try:
            with acme.scope():
                services.cancel_question(question_id=second)
            ended.set()
        finally:
            connections.close_all()

    other = threading.Thread(target=cancel_second)
    with acme.scope():
        services.cancel_question(question_id=first)
        other.start()
        # It holds the batch's row now, so the other one cannot have looked at the batch and gone.
        assert not ended.wait(0.5)
        assert QuestionBatch.objects.get().status == "running"
    other.join()

    assert shown(acme, batch_id)["status"] == "completed"
    assert len(events(acme)) == 1


def test_canceling_a_batch_ends_what_is_open_and_keeps_what_is_done(acme: Cast, video: UUID) -> None:
    batch_id, (done, running, queued) = asked(acme, video)
    alone, _ = ask(acme)
    finish(acme, done, video)
    with acme.scope():
        services.begin(question_id=running)
        Job.objects.filter(subject_id=running).update(state=JobState.RUNNING)
        budgets.note_spending(question_id=running, consumed=budgets.Consumed(tokens=5))

    reply = acme.client.post(f"/v1/question-batches/{bat(batch_id)}/cancel")

    body = reply.json()
    assert (reply.status_code, body["status"]) == (200, "canceled")
    assert body["counts"] == {"total": 3, "queued": 0, "running": 0, "succeeded": 1, "failed": 0, "canceled": 2}
    assert [event["status"] for event in events(acme)] == ["canceled"]
    assert len(events(acme, "question.completed")) == 1
    with acme.scope():
        # Its worker has not recorded yet what it consumed.
        assert OpenSpending.objects.get().question_id == running
        states = dict(Job.objects.values_list("subject_id", "state"))
        assert (states[running], states[queued], states[alone]) == ("running", "canceled", "queued")
        assert Job.objects.get(subject_id=running).cancel_requested_at is not None
        assert Question.objects.get(id=alone).status == "queued"
        assert Question.objects.get(id=done).answer == "a red car"
        assert [ledger.cost_of_question(id).price for id in (running, queued)] == [0, 0]
        assert ledger.cost_of_question(done).price == ledger.cost_of_question(alone).price == Decimal("0.02")
        assert ledger.mismatches() == []
        late = services.store_answer(question=Question.objects.get(id=running), answer=answer(video))
        assert (late.status, late.answer) == ("canceled", "")

    again = acme.client.post(f"/v1/question-batches/{bat(batch_id)}/cancel")
    assert (again.status_code, again.json()["status"], len(events(acme))) == (200, "canceled", 1)


def test_a_completed_batch_cannot_be_canceled(acme: Cast, video: UUID) -> None:
    batch_id, (only,) = asked(acme, video, 1)
    finish(acme, only, video)

    reply = acme.client.post(f"/v1/question-batches/{bat(batch_id)}/cancel")
    assert (reply.status_code, reply.json()["code"]) == (409, "batch_over")
    assert shown(acme, batch_id)["status"] == "completed"


def test_a_batch_canceled_while_its_last_question_ends_is_one_or_the_other(acme: Cast, video: UUID) -> None:
    """A worker holds its job, then its question, then the batch; a cancellation takes them in the same order."""
    batch_id, questions = asked(acme, video, 6)
    errors: list[BaseException] = []

    def run(work: Any) -> None:
        try:
            with acme.scope():
                work()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    def end(id: UUID) -> None:
        Job.objects.select_for_update().get(subject_id=id)
        services.fail_question(question_id=id, code="model_unavailable", message="No model.")

    works = [lambda id=id: end(id) for id in questions]
    works[3:3] = [lambda: batches.cancel_batch(batch_id=batch_id) and None]
    works[1:1] = [lambda: services.cancel_question(question_id=questions[-1]) and None]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    body = shown(acme, batch_id)
    assert body["counts"]["failed"] + body["counts"]["canceled"] == 6
    assert body["status"] in ("completed", "canceled")
    assert len(events(acme)) == 1


@pytest.mark.parametrize("of_the_batch", [True, False])
def test_a_cancellation_and_an_outcome_do_not_wait_for_each_other(acme: Cast, video: UUID, of_the_batch: bool) -> None:
    batch_id, (only,) = asked(acme, video, 1)
    ended = threading.Event()
    canceled: list[Any] = []

    def cancel() -> None:
        try:
            with acme.scope():
                if of_the_batch:
                    canceled.append(batches.cancel_batch(batch_id=batch_id))
                else:
                    canceled.append(services.cancel_question(question_id=only))
            ended.set()
        finally:
            connections.close_all()

    other = threading.Thread(target=cancel)
    with acme.scope():
        Job.objects.select_for_update().get(subject_id=only)
        other.start()
        assert not ended.wait(0.5), "the job is held"
        # Had the other one taken the question first, this would be a deadlock.
        assert services.fail_question(question_id=only, code="model_unavailable", message="No model.") is not None
    other.join()

    assert not any(canceled), "there was nothing left to cancel"
    assert len(canceled) == 1
    assert (shown(acme, batch_id)["status"], len(events(acme))) == ("completed", 1)


# --- reading ----------------------------------------------------------------------------------------------------------


def test_results_are_one_line_a_question_in_batch_order(
    acme: Cast, video: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_api, "RESULTS_PAGE", 2)
    batch_id, questions = asked(acme, video, 5)
    asked(acme, video, 2)
    finish(acme, questions[3], video)

    reply = acme.client.get(f"/v1/question-batches/{bat(batch_id)}/results")
    pages = list(reply.streaming_content)

    assert reply.headers["Content-Type"] == "application/x-ndjson"
    assert [page.count(b"\n") for page in pages] == [2, 2, 1]
    lines = b"".join(pages).decode().splitlines()
    as_text = acme.client.get(f"/v1/question-batches/{bat(batch_id)}/results", headers={"Accept": "text/plain"})
    assert as_text.headers["Content-Type"] == "text/plain"
    assert b"".join(as_text.streaming_content).decode().splitlines() == lines
    bodies = [json.loads(line) for line in lines]
    assert [row["id"] for row in bodies] == [public_ids.encode("qst", id) for id in questions]
    assert [row["status"] for row in bodies] == ["queued", "queued", "queued", "succeeded", "queued"]
    assert bodies[3]["evidence"][0]["quote"] == "A red car parks."
    alone = acme.client.get(f"/v1/questions/{bodies[0]['id']}").json()
    assert bodies[0] == alone, "the same shape as everywhere"


def test_results_of_a_foreign_batch_are_refused_before_they_begin(acme: Cast, globex: Cast) -> None:
    with globex.scope():
        theirs = make_video(indexed_until_ms=30_000).id
    batch_id, _ = asked(globex, theirs)
    replies = [acme.client.get(f"/v1/question-batches/{bat(id)}/results") for id in (batch_id, uuid7())]

    assert [reply.status_code for reply in replies] == [404, 404]
    assert acme.client.get(f"/v1/questions?batch_id={bat(batch_id)}").json() == {"data": [], "next_cursor": None}


def test_the_questions_of_a_batch_are_paged_in_its_order(acme: Cast, video: UUID) -> None:
    batch_id, questions = asked(acme, video, 5)
    seen, cursor = [], ""
    while cursor is not None:
        page = acme.client.get(f"/v1/questions?batch_id={bat(batch_id)}&limit=2&cursor={cursor}").json()
        seen += [row["id"] for row in page["data"]]
        cursor = page["next_cursor"]

    assert seen == [public_ids.encode("qst", id) for id in questions]


def test_batches_are_listed_newest_first(acme: Cast, globex: Cast, video: UUID) -> None:
    (first, (only,)), (second, _) = asked(acme, video, 1), asked(acme, video, 2)
    with globex.scope():
        theirs = make_video(indexed_until_ms=30_000).id
    asked(globex, theirs)
    finish(acme, only, video)

    def listed(query: str = "") -> list[tuple[str, int]]:
        rows = acme.client.get(f"/v1/question-batches{query}").json()["data"]
        return [(row["id"], row["counts"]["total"]) for row in rows]

    assert listed() == [(bat(second), 2), (bat(first), 1)]
    assert listed("?status=completed") == [(bat(first), 1)]
    assert listed("?external_id=none") == []
    assert acme.client.get("/v1/question-batches?status=eaten").status_code == 400


def test_each_canceled_question_is_reported_once_to_each_endpoint(acme: Cast, video: UUID) -> None:
    batch_id, ids = asked(acme, video)
    finish(acme, ids[0], video)
    assert acme.client.post("/v1/webhook-endpoints", {"url": "https://example.org/hook"}).status_code == 201

    for _ in range(2):
        assert acme.client.post(f"/v1/question-batches/{bat(batch_id)}/cancel").status_code == 200

    assert [event["status"] for event in events(acme, "question.completed")] == ["succeeded"]
    assert [(event["id"], event["status"], event["finish_reason"]) for event in events(acme, "question.canceled")] == [
        (public_ids.encode("qst", id), "canceled", "canceled") for id in ids[1:]
    ]
    with acme.scope():
        sent = Delivery.objects.filter(event__type="question.canceled").values_list("event__resource_id", flat=True)
        assert sorted(sent) == sorted(ids[1:])
