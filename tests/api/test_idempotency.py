"""The same keyed POST twice has one effect and one answer."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from backend.api.idempotency import forget_old_replies
from backend.api.models import IdempotencyRecord
from backend.api.problems import Problem
from backend.api.public_ids import encode
from backend.jobs.models import Job, JobKind
from backend.library.models import Collection
from backend.library.services import collections
from backend.questions.models import Question
from tests.conftest import Cast
from tests.ekg.recorded import record


def create(cast: Cast, name: str, key: str = "k-1") -> Any:
    return cast.client.post("/v1/collections", {"name": name}, HTTP_IDEMPOTENCY_KEY=key)


def names(cast: Cast) -> list[str]:
    with cast.scope():
        return sorted(Collection.objects.values_list("name", flat=True))


def test_a_replay_gives_the_stored_answer_and_does_nothing(acme: Cast) -> None:
    first, second = create(acme, "Park"), create(acme, "Park")

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second.headers["Location"] == first.headers["Location"]
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert names(acme) == ["Park"]


def test_another_payload_under_the_key_is_refused(acme: Cast) -> None:
    create(acme, "Park")

    response = create(acme, "Forest")

    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert names(acme) == ["Park"]


def test_the_order_of_fields_is_not_another_payload(acme: Cast) -> None:
    bodies = (b'{"name": "Park", "profile": "city"}', b'{"profile":"city","name":"Park"}')

    answers = [
        acme.client.post("/v1/collections", body, content_type="application/json", HTTP_IDEMPOTENCY_KEY="k")
        for body in bodies
    ]

    assert answers[0].json() == answers[1].json()


def test_keys_belong_to_a_tenant(acme: Cast, globex: Cast) -> None:
    create(acme, "Park")

    assert create(globex, "Forest").status_code == 201
    assert (names(acme), names(globex)) == (["Park"], ["Forest"])


def test_a_refusal_is_replayed_and_its_work_undone(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def half(**_: Any) -> None:
        calls.append(1)
        Collection.objects.create(tenant_id=acme.tenant_id, name="half")
        raise Problem(403, "too_many", "No more.")

    monkeypatch.setattr(collections, "create_collection", half)

    first, second = create(acme, "Park"), create(acme, "Park")

    assert first.status_code == second.status_code == 403
    assert second.headers["Idempotency-Replayed"] == "true"
    assert second.headers["Content-Type"] == "application/problem+json"
    assert (len(calls), names(acme)) == (1, [])


@pytest.mark.parametrize("status", [400, 409, 429, 500, 503])
def test_what_a_retry_may_change_is_not_stored(acme: Cast, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    def busy(**_: Any) -> None:
        raise Problem(status, "busy", "Try again.")

    with monkeypatch.context() as patched:
        patched.setattr(collections, "create_collection", busy)
        assert create(acme, "Park").status_code == status
    with acme.scope():
        assert IdempotencyRecord.objects.count() == 0
    assert create(acme, "Park").status_code == 201


def test_after_a_day_the_key_is_free(acme: Cast) -> None:
    create(acme, "Park")
    with acme.scope():
        IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))

    assert create(acme, "Forest").status_code == 201
    assert names(acme) == ["Forest", "Park"]


def test_outdated_records_are_forgotten_when_new_ones_come(acme: Cast, globex: Cast) -> None:
    for cast in (acme, globex):
        create(cast, "Park", "old")
        with cast.scope():
            IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    create(acme, "Forest", "new")

    with acme.scope():
        assert [record.key for record in IdempotencyRecord.objects.all()] == ["new"]
    with globex.scope():
        assert IdempotencyRecord.objects.count() == 1


def test_a_sealed_reply_lies_nowhere_after_a_day_though_its_tenant_sends_nothing_more(acme: Cast, globex: Cast) -> None:
    for cast, age in ((acme, 25), (globex, 23)):
        body = {"name": "k", "scopes": ["videos:read"]}
        made = cast.client.post("/v1/api-keys", body, headers={"Idempotency-Key": "once"})
        assert made.status_code == 201
        with cast.scope():
            IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=age))
            assert "sealed" in IdempotencyRecord.objects.get().response

    assert forget_old_replies() == 1
    with acme.scope():
        assert not IdempotencyRecord.objects.exists()
    with globex.scope():
        assert IdempotencyRecord.objects.exists()


@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "ä"])
def test_a_malformed_key_is_refused(acme: Cast, key: str) -> None:
    response = create(acme, "Park", key)

    assert (response.status_code, response.json()["code"]) == (400, "invalid_idempotency_key")
    assert names(acme) == []


def test_a_second_request_during_the_first_is_told_so(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, finish = threading.Event(), threading.Event()
    make = collections.create_collection

    def slow(**arguments: Any) -> Collection:
        inside.set()
        assert finish.wait(20)
        return make(**arguments)

    monkeypatch.setattr(collections, "create_collection", slow)
    answers: list[Any] = []

    def first() -> None:
        try:
            answers.append(create(acme, "Park"))
        finally:
            connections.close_all()

    thread = threading.Thread(target=first)
    thread.start()
    assert inside.wait(20)
    second = create(acme, "Park")
    finish.set()
    thread.join(20)

    assert (second.status_code, second.json()["code"]) == (409, "idempotency_in_progress")
    assert second.headers["Retry-After"] == "1"
    assert answers[0].status_code == 201
    assert create(acme, "Park").json() == answers[0].json()
    assert names(acme) == ["Park"]


def test_one_key_fifty_times_at_once_makes_one_question(acme: Cast) -> None:
    video_id = record(acme).video_id
    body = {"question": "Who?", "video_ids": [encode("vid", video_id)]}
    together = threading.Barrier(50)

    def ask(_: int) -> Any:
        try:
            together.wait(60)
            return acme.client.post("/v1/questions", body, HTTP_IDEMPOTENCY_KEY="once")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(50) as threads:
        replies = list(threads.map(ask, range(50)))
    last = acme.client.post("/v1/questions", body, HTTP_IDEMPOTENCY_KEY="once")

    with acme.scope():
        assert Question.objects.count() == 1
        assert Job.objects.filter(kind=JobKind.ANSWER_QUESTION).count() == 1
    assert {reply.status_code for reply in [*replies, last]} <= {202, 409}
    made = {reply.json()["id"] for reply in [*replies, last] if reply.status_code == 202}
    assert made == {last.json()["id"]}
    assert {reply.json()["code"] for reply in replies if reply.status_code == 409} <= {"idempotency_in_progress"}
