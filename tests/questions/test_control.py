"""Questions under control: paused, put first, given a deadline, retried with the same id and one bill."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.billing.rates import plain
from backend.jobs import control as jobs
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed, checkpoint, claim, fail
from backend.questions.models import Node, Question, QuestionBatch, Search
from backend.questions.services import batches, questions, searches
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast
from tests.factories import make_video
from tests.questions.world import ask, finish


def path(question_id: UUID, act: str = "") -> str:
    return f"/v1/questions/{encode('qst', question_id)}" + (f"/{act}" if act else "")


def post(cast: Cast, question_id: UUID, act: str) -> Any:
    return cast.client.post(path(question_id, act))


def charges(question_id: UUID) -> list[tuple[str, str]]:
    rows = UsageEvent.objects.filter(question_id=question_id, meter="questions").order_by("id")
    return [(row.source_type, plain(row.quantity)) for row in rows]


def events() -> list[tuple[str, int]]:
    return list(WebhookEvent.objects.order_by("id").values_list("type", "sequence"))


def asked_together(cast: Cast, n: int) -> tuple[UUID, list[UUID]]:
    with cast.scope():
        video = make_video(indexed_until_ms=30_000)
        batch = batches.create_batch(
            questions=[{"text": f"Which car {i}?", "video_ids": [video.id]} for i in range(n)], external_id="b"
        )
        ids = Question.objects.filter(batch=batch).order_by("batch_position").values_list("id", flat=True)
        return UUID(str(batch.id)), list(ids)


def test_a_question_is_paused_and_resumed(acme: Cast) -> None:
    question_id, _ = ask(acme)
    body = post(acme, question_id, "pause").json()
    assert body["paused_at"] is not None
    with acme.scope():
        assert claim(Job.objects.get(kind=JobKind.ANSWER_QUESTION).id, worker="w") is None
    body = post(acme, question_id, "resume").json()
    assert (body["paused_at"], body["priority"]) == (None, "normal")
    with acme.scope():
        assert claim(Job.objects.get(kind=JobKind.ANSWER_QUESTION).id, worker="w") is not None


def test_priority_and_deadline_are_given_at_once_or_later(acme: Cast) -> None:
    question_id, video_id = ask(acme)
    at = (timezone.now() + timedelta(minutes=30)).replace(microsecond=0)
    changed = acme.client.patch(path(question_id), {"priority": "low", "deadline_at": at.isoformat()}).json()
    assert (changed["priority"], changed["deadline_at"]) == ("low", at.isoformat().replace("+00:00", "Z"))
    new = acme.client.post(
        "/v1/questions",
        {"question": "Who?", "video_ids": [encode("vid", video_id)], "priority": "high", "deadline_at": at.isoformat()},
    ).json()
    assert (new["priority"], new["deadline_at"]) == ("high", changed["deadline_at"])
    finish(acme, question_id, video_id)
    over = acme.client.patch(path(question_id), {"priority": "high"})
    assert (over.status_code, over.json()["code"]) == (409, "question_over")
    assert acme.client.get(path(question_id)).json()["priority"] is None


def test_a_failed_question_is_asked_again_and_billed_once(acme: Cast) -> None:
    question_id, video_id = ask(acme)
    assert post(acme, question_id, "retry").json()["code"] == "question_still_open"
    for _ in range(2):
        with acme.scope():
            questions.fail_question(question_id=question_id, code="model_unavailable", message="No model.")
        again = post(acme, question_id, "retry")
        assert (again.status_code, again.json()["status"], again.json()["error"]) == (202, "queued", None)
    finish(acme, question_id, video_id)

    assert post(acme, question_id, "retry").json()["code"] == "question_over"
    with acme.scope():
        assert charges(question_id) == [
            ("question", "1"), ("question_reversal", "-1"), ("question", "1"), ("question_reversal", "-1"),
            ("question", "1"),
        ]  # fmt: skip
        assert events() == [("question.failed", 1), ("question.failed", 2), ("question.completed", 3)]
        assert Job.objects.filter(kind=JobKind.ANSWER_QUESTION).count() == 1


def test_a_canceled_question_is_asked_again(acme: Cast) -> None:
    question_id, _ = ask(acme)
    post(acme, question_id, "cancel")
    assert post(acme, question_id, "pause").json()["code"] == "question_over"
    assert post(acme, question_id, "retry").json()["status"] == "queued"
    with acme.scope():
        assert Job.objects.get(kind=JobKind.ANSWER_QUESTION).state == JobState.QUEUED
        assert not Node.objects.exists()


def test_the_failed_questions_of_a_batch_are_asked_again(acme: Cast) -> None:
    batch_id, ids = asked_together(acme, 3)
    url = f"/v1/question-batches/{encode('bat', batch_id)}"
    assert acme.client.post(f"{url}/retry").json()["code"] == "nothing_to_retry"
    acme.client.post(f"{url}/pause")
    with acme.scope():
        assert Job.objects.exclude(paused_at=None).count() == 3
    acme.client.post(f"{url}/resume")
    assert acme.client.patch(url, {"priority": "high"}).status_code == 200
    with acme.scope():
        assert set(Job.objects.values_list("paused_at", "rank")) == {(None, 1)}
        for question_id in ids[:2]:
            questions.fail_question(question_id=question_id, code="model_unavailable", message="No model.")
        questions.cancel_question(question_id=ids[2])
        assert QuestionBatch.objects.get().status == "completed"
    assert acme.client.post(f"{url}/pause").json()["code"] == "batch_over"

    again = acme.client.post(f"{url}/retry").json()

    assert (again["status"], again["counts"]["queued"], again["counts"]["canceled"]) == ("running", 2, 1)
    with acme.scope():
        for question_id in ids[:2]:
            questions.fail_question(question_id=question_id, code="model_unavailable", message="No model.")
        assert [event for event in events() if event[0] == "question_batch.completed"] == [
            ("question_batch.completed", 1), ("question_batch.completed", 2),
        ]  # fmt: skip
        assert all(sum(int(n) for _, n in charges(question_id)) == 0 for question_id in ids)


def test_a_search_is_canceled_and_run_again(acme: Cast) -> None:
    with acme.scope():
        search = searches.create_search(text="a red van", video_ids=[make_video(indexed_until_ms=30_000).id])
    url = f"/v1/searches/{encode('sea', search.id)}"
    assert acme.client.post(f"{url}/retry").json()["code"] == "search_still_open"
    assert acme.client.post(f"{url}/cancel").json()["status"] == "canceled"
    assert acme.client.post(f"{url}/cancel").json()["status"] == "canceled"
    with acme.scope():
        assert Job.objects.get().state == JobState.CANCELED
    again = acme.client.post(f"{url}/retry")
    assert (again.status_code, again.json()["status"]) == (202, "queued")
    with acme.scope():
        assert Job.objects.get().state == JobState.QUEUED
        Search.objects.update(status="succeeded")
    for act in ("cancel", "retry"):
        assert acme.client.post(f"{url}/{act}").json()["code"] == "search_over"


def test_a_dead_job_of_a_question_is_replayed_with_its_question(acme: Cast) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        job = Job.objects.get(kind=JobKind.ANSWER_QUESTION)
        Job.objects.update(max_attempts=1)
        lease = claim(job.id, worker="w")
        assert lease is not None
    with checkpoint(lease):
        assert fail(lease, JobFailed("internal_error", "x", retryable=True)) == JobState.DEAD
        questions.fail_question(question_id=question_id, code="internal_error", message="x")
    with acme.scope():
        jobs.replay_dead(Job.objects.get(id=job.id))
        assert Job.objects.get(id=job.id).state == JobState.QUEUED
        assert Question.objects.get(id=question_id).status == "queued"
