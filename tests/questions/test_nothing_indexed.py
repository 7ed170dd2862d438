"""A question while nothing of its scope is indexed yet: refused with 409, never charged, on every route that asks."""

from __future__ import annotations

from typing import Any

import pytest

from backend.api.public_ids import encode
from backend.billing.models import Reservation, UsageEvent
from backend.jobs.models import Job
from backend.library.models import Collection
from backend.questions.models import Comparison, Question, QuestionBatch, Search
from tests.conftest import Cast
from tests.factories import make_video

ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "question": ("/v1/questions", {"question": "Who?"}),
    "choices": ("/v1/questions", {"question": "Who?", "choices": ["a man", "a woman"]}),
    "route": ("/v1/questions", {"question": "How many people?", "route": "objects"}),
    "batch": ("/v1/question-batches", {"questions": [{"question": "Who?"}, {"question": "What?"}]}),
    "search": ("/v1/search", {"query": "a man"}),
    "comparison": (
        "/v1/comparisons",
        {"questions": [{"question": "Who?"}], "arms": [{"method": "ava"}, {"method": "uniform"}]},
    ),
    "estimate": ("/v1/questions:estimate", {"question": "Who?"}),
}
"""Requests that ask something of a scope, by name."""


def scopes(cast: Cast) -> dict[str, dict[str, Any]]:
    """Return scopes of which nothing is indexed yet, by name."""
    with cast.scope():
        collection = Collection.objects.create(tenant_id=cast.tenant_id, name="cameras").id
        made = [
            make_video(status="queued", duration_ms=None, collection_id=collection),
            make_video(status="probing", duration_ms=None, collection_id=collection),
            make_video(status="indexing", indexed_until_ms=0, collection_id=collection),
            make_video(source_type="segments", status="queued", duration_ms=None, object_key="", size_bytes=0),
        ]
    ids = [encode("vid", video.id) for video in made]
    return {
        "one": {"video_ids": [ids[2]]},
        "many": {"video_ids": ids},
        "collection": {"collection_id": encode("col", collection)},
        "stream": {"video_ids": [ids[3]]},
    }


@pytest.mark.parametrize("scope", ["one", "many", "collection", "stream"])
@pytest.mark.parametrize("asked", sorted(ASKED))
def test_nothing_is_asked_before_something_is_indexed(acme: Cast, asked: str, scope: str) -> None:
    path, body = ASKED[asked]

    reply = acme.client.post(path, {**body, **scopes(acme)[scope]})

    assert (reply.status_code, reply.json()["code"]) == (409, "nothing_indexed"), reply.content
    assert "indexed_until_ms" in reply.json()["detail"]
    with acme.scope():
        for model in (Question, QuestionBatch, Search, Comparison, UsageEvent, Reservation):
            assert not model.objects.exists(), model
        assert not Job.objects.filter(kind__in=["answer_question", "search_events"]).exists()


def test_a_session_may_begin_before_something_is_indexed_and_its_question_waits(acme: Cast) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=0)
    session = acme.client.post("/v1/sessions", {"video_ids": [encode("vid", video.id)]})
    assert session.status_code == 201, session.content
    body = {"question": "Who?", "session_id": session.json()["id"]}

    early = acme.client.post("/v1/questions", body)
    assert (early.status_code, early.json()["code"]) == (409, "nothing_indexed")
    with acme.scope():
        type(video).objects.filter(id=video.id).update(indexed_until_ms=3_000)

    assert acme.client.post("/v1/questions", body).status_code == 202


@pytest.mark.parametrize(("status", "start_ms", "expected"), [
    ("indexing", 10_000, 202), ("indexing", 30_000, 409), ("indexing", 90_000, 409), ("ready", 90_000, 202),
])  # fmt: skip
def test_a_span_that_is_not_reached_yet_waits_too(acme: Cast, status: str, start_ms: int, expected: int) -> None:
    with acme.scope():
        video = make_video(status=status, indexed_until_ms=30_000, duration_ms=120_000)
    span = {"video_ids": [encode("vid", video.id)], "start_ms": start_ms}

    assert acme.client.post("/v1/questions", {"question": "Who?", **span}).status_code == expected
    batch = {"questions": [{"question": "Who?", "start_ms": start_ms}], "video_ids": span["video_ids"]}
    assert acme.client.post("/v1/question-batches", batch).status_code == expected


def test_part_of_a_scope_is_enough(acme: Cast) -> None:
    with acme.scope():
        ids = [encode("vid", make_video(indexed_until_ms=ms).id) for ms in (0, 3_000)]
    assert acme.client.post("/v1/questions", {"question": "Who?", "video_ids": ids}).status_code == 202


def test_a_batch_with_another_fault_is_not_valid(acme: Cast) -> None:
    with acme.scope():
        ids = [encode("vid", make_video(indexed_until_ms=ms).id) for ms in (0, 3_000)]
    questions = [
        {"question": "Who?", "video_ids": ids[:1]},
        {"question": "Who?", "choices": ["a", "A"], "video_ids": ids},
    ]

    reply = acme.client.post("/v1/question-batches", {"questions": questions})

    assert reply.status_code == 400
    assert [error["code"] for error in reply.json()["errors"]] == ["nothing_indexed", "invalid_choices"]


def test_another_tenants_unindexed_video_is_as_unknown_as_any(acme: Cast, globex: Cast) -> None:
    with globex.scope():
        theirs = encode("vid", make_video(indexed_until_ms=0).id)
    for path, body in ASKED.values():
        reply = acme.client.post(path, {**body, "video_ids": [theirs]})
        assert reply.status_code == 400, reply.content
        assert "unknown_video" in {error["code"] for error in reply.json()["errors"]}
