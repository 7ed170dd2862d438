"""Quotas and budgets as reservations: what is held, what is drawn, what is given back, and what nobody can pass."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from django.test import override_settings
from uuid6 import uuid7

from backend.api import public_ids
from backend.billing.models import Budget, Reservation, UsageEvent
from backend.billing.services.limits import quotas
from backend.billing.services.limits.quotas import Amounts
from backend.jobs.models import Job
from backend.library.models import Upload, Video
from backend.library.services.videos import delete_video
from backend.questions.models import Question, QuestionBatch
from backend.questions.services import questions
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.factories import make_video
from tests.questions.world import answer, ask, finish

ONE_HOUR = override_settings(MEDIA_MINUTES_PER_PLAN={"standard": 60.0})
UPLOAD = {"filename": "a.mp4", "size_bytes": 1_000_000, "content_type": "video/mp4"}


def budget(cast: Cast, **limits: Any) -> None:
    with cast.scope():
        Budget.objects.create(tenant_id=cast.tenant_id, **limits)


def used(cast: Cast, key: UUID | None = None) -> Amounts:
    """Return what is booked and held together."""
    with cast.scope():
        use = quotas.use_of(key)
    return Amounts(*(use.total(name) for name in ("charge", "media_minutes", "questions", "open_jobs")))


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Call act with 0 to count - 1 at the same time, each on a connection of its own."""
    ready = threading.Barrier(min(count, 20))

    def one(n: int) -> Any:
        try:
            if n < 20:
                ready.wait(60)
            return act(n)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=min(count, 20)) as pool:
        return list(pool.map(one, range(count)))


def test_fifty_questions_at_once_never_pass_a_hard_budget(acme: Cast) -> None:
    with acme.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
    # A question is charged 0.02 USD, so seven of them fit.
    budget(acme, charge=Decimal("0.15"))

    replies = at_once(50, lambda n: acme.client.post("/v1/questions", {"question": f"Car {n}?", "video_ids": [video]}))

    assert sorted(reply.status_code for reply in replies) == [202] * 7 + [402] * 43
    refused = next(reply.json() for reply in replies if reply.status_code == 402)
    assert refused["code"] == "budget_exhausted"
    assert "charge limit of 0.15" in refused["detail"]
    assert used(acme) == Amounts(Decimal("0.14"), Decimal(0), Decimal(7), Decimal(7))
    with acme.scope():
        assert (Question.objects.count(), Job.objects.count(), Reservation.objects.count()) == (7, 7, 7)
        assert UsageEvent.objects.count() == 7
    assert settled_violations(acme) == {}


@ONE_HOUR
@pytest.mark.parametrize("how", ["upload", "url"])
def test_twenty_recordings_at_once_pass_a_ceiling_of_one_hour_nowhere(acme: Cast, globex: Cast, how: str) -> None:
    six_minutes = {"duration_ms": 360_000}

    def send(n: int) -> Any:
        if how == "upload":
            return acme.client.post("/v1/uploads", {**UPLOAD, **six_minutes})
        source = {"source": {"type": "url", "url": f"https://example.org/{n}.mp4"}}
        return acme.client.post("/v1/videos", {**source, **six_minutes}, format="json")

    replies = at_once(20, send)

    accepted = 201 if how == "upload" else 202
    assert sorted(reply.status_code for reply in replies) == [accepted] * 10 + [402] * 10
    refused = next(reply.json() for reply in replies if reply.status_code == 402)
    assert (refused["code"], "media_minutes limit of 60" in refused["detail"]) == ("plan_exhausted", True)
    assert used(acme).media_minutes == 60
    with acme.scope():
        assert (Upload if how == "upload" else Video).objects.count() == 10
    assert globex.client.post("/v1/uploads", {**UPLOAD, **six_minutes}).status_code == 201


@ONE_HOUR
def test_an_upload_that_ends_and_a_video_that_is_deleted_give_their_minutes_back(acme: Cast) -> None:
    first = acme.client.post("/v1/uploads", {**UPLOAD, "duration_ms": 3_600_000}).json()["id"]
    assert acme.client.post("/v1/uploads", {**UPLOAD, "duration_ms": 1}).status_code == 402
    assert acme.client.delete(f"/v1/uploads/{first}").status_code == 204
    assert used(acme) == Amounts()
    source = {"source": {"type": "url", "url": "https://example.org/a.mp4"}, "duration_ms": 3_600_000}
    video = acme.client.post("/v1/videos", source, format="json").json()["id"]
    assert used(acme).media_minutes == 60
    with acme.scope():
        delete_video(video=Video.objects.get(id=public_ids.decode("vid", video)))
    assert used(acme) == Amounts()


def test_a_question_holds_one_unit_from_acceptance_to_its_outcome(acme: Cast) -> None:
    booked = Amounts(Decimal("0.02"), Decimal(0), Decimal(1), Decimal(0))
    question_id, video_id = ask(acme)
    assert used(acme) == used(acme, acme.key_id) == Amounts(Decimal("0.02"), Decimal(0), Decimal(1), Decimal(1))
    finish(acme, question_id, video_id)
    assert used(acme) == used(acme, acme.key_id) == booked

    for end in ("fail", "cancel"):
        question_id, _ = ask(acme)
        with acme.scope():
            if end == "fail":
                questions.fail_question(question_id=question_id, code="x", message="x")
            else:
                questions.cancel_question(question_id=question_id)
        assert used(acme) == booked, end


def test_a_batch_is_reserved_as_a_whole_or_not_at_all(acme: Cast) -> None:
    with acme.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
    budget(acme, questions=3)
    body = {"questions": [{"question": f"Car {n}?"} for n in range(4)], "video_ids": [video]}

    refused = acme.client.post("/v1/question-batches", body, format="json")

    assert (refused.status_code, refused.json()["code"]) == (402, "budget_exhausted")
    assert "questions limit of 3" in refused.json()["detail"]
    with acme.scope():
        assert not QuestionBatch.objects.exists()
        assert not Question.objects.exists()
        assert not UsageEvent.objects.exists()
    assert used(acme) == Amounts()
    body["questions"].pop()
    assert acme.client.post("/v1/question-batches", body, format="json").status_code == 202


def test_open_jobs_are_bounded_and_end_with_their_outcome(acme: Cast) -> None:
    budget(acme, open_jobs=1)
    question_id, video_id = ask(acme)
    body = {"question": "Which car?", "video_ids": [public_ids.encode("vid", video_id)]}
    refused = acme.client.post("/v1/questions", body, format="json")
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_open_jobs")
    with acme.scope():
        begun = questions.begin(question_id=question_id)
        assert begun is not None
        questions.store_answer(question=begun, answer=answer(video_id))
    assert acme.client.post("/v1/questions", body, format="json").status_code == 202


def test_the_budget_of_a_key_bounds_that_key_alone(acme: Cast) -> None:
    with acme.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
        Budget.objects.create(tenant_id=acme.tenant_id, api_key_id=acme.key_id, questions=1)
        Budget.objects.create(tenant_id=acme.tenant_id, api_key_id=uuid7(), questions=0)
    body = {"question": "Which car?", "video_ids": [video]}
    assert acme.client.post("/v1/questions", body, format="json").status_code == 202
    refused = acme.client.post("/v1/questions", body, format="json")
    assert (refused.status_code, "this API key" in refused.json()["detail"]) == (402, True)
