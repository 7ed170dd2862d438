"""Deleted questions, searches, batches, sessions and comparisons leave nothing; a deleted video takes text along."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import psycopg.sql
import pytest
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Retention, Tombstone
from backend.library.services.deletion_ledger import Deleted, entries
from backend.library.storage import ObjectStorage, evidence_key
from backend.questions.models import Comparison, Question, Search, SearchVideo
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser
from tests.questions.world import ask, finish
from tests.running import run_job

SECRET = "zebra crossing at noon"
"""Words that stand nowhere else."""


def tables_with(words: str) -> list[str]:
    """Return the tables in which a row has these words in any column, seen past row-level security."""
    found = []
    with superuser() as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
        for (table,) in tables:
            query = psycopg.sql.SQL("SELECT 1 FROM {} t WHERE t::text LIKE %s LIMIT 1")
            if connection.execute(query.format(psycopg.sql.Identifier(table)), [f"%{words}%"]).fetchone():
                found.append(table)
    return found


def answered(cast: Cast, **fields: Any) -> tuple[UUID, UUID]:
    """Ask a question and store an answer that has the secret wherever an answer has words."""
    question_id, video_id = ask(cast, **fields)
    finish(
        cast, question_id, video_id, text=SECRET, standalone=SECRET, notes=(SECRET,), understood={"statement": SECRET}
    )
    with cast.scope():
        for table, column in (("node", "note"), ("candidate", "reasoning"), ("evidence", "quote")):
            _write(table, column)
    return question_id, video_id


def _write(table: str, column: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE questions_{table} SET {column} = %s", [SECRET])


def run(cast: Cast, kind: JobKind) -> None:
    with cast.scope():
        (job,) = Job.objects.filter(kind=kind, state=JobState.QUEUED)
    run_job(job.id, cast.tenant_id, worker="test")


def ledger_of(cast: Cast) -> list[tuple[Deleted, tuple[UUID, ...]]]:
    return [(entry.kind, entry.ids) for entry in entries() if entry.tenant_id == cast.tenant_id]


def announced(cast: Cast, question_id: UUID) -> list[dict[str, Any]]:
    """Return the data of the webhook events of a question."""
    with cast.scope():
        bodies = WebhookEvent.objects.filter(resource_id=question_id).values_list("body", flat=True)
        return [json.loads(body)["data"] for body in bodies]


def test_a_deleted_question_leaves_no_word_and_no_picture(acme: Cast) -> None:
    question_id, video_id = answered(acme)
    picture = evidence_key(acme.tenant_id, video_id, question_id, uuid7(), b"a picture")
    ObjectStorage().put(picture, b"jpeg", content_type="image/jpeg")
    assert set(tables_with(SECRET)) >= {"questions_question", "questions_candidate", "webhooks_webhookevent"}
    assert {shown["confidence"] is None for shown in announced(acme, question_id)} == {False}
    path = f"/v1/questions/{encode('qst', question_id)}"

    assert acme.client.delete(path).status_code == 204

    assert acme.client.get(path).status_code == acme.client.delete(path).status_code == 404
    assert tables_with(SECRET) == []
    run(acme, JobKind.ERASE_PICTURES)
    assert list(ObjectStorage().list_keys(f"t/{acme.tenant_id}/")) == []
    assert ledger_of(acme) == [(Deleted.QUESTION, (question_id,))]
    with acme.scope():
        assert Tombstone.objects.get().subject_id == question_id, "a late worker's picture is still swept"
        assert UsageEvent.objects.filter(question_id=question_id).exists(), "what it cost stays"
    emptied = {"answer": "", "choice": None, "confidence": None}
    assert [{name: shown[name] for name in emptied} for shown in announced(acme, question_id)] == [emptied]


def test_the_stored_reply_of_a_deleted_question_is_gone(acme: Cast) -> None:
    with acme.scope():
        from tests.factories import make_video

        video_id = make_video(indexed_until_ms=30_000).id
    body = {"question": SECRET, "video_ids": [encode("vid", video_id)]}
    asked = acme.client.post("/v1/questions", body, HTTP_IDEMPOTENCY_KEY="once")
    assert set(tables_with(SECRET)) == {"api_idempotencyrecord", "questions_question"}
    assert acme.client.delete(f"/v1/questions/{asked.json()['id']}").status_code == 204
    assert tables_with(SECRET) == []


def test_an_open_question_that_is_deleted_is_canceled_and_costs_nothing(acme: Cast) -> None:
    question_id, _ = ask(acme)
    assert acme.client.delete(f"/v1/questions/{encode('qst', question_id)}").status_code == 204
    with acme.scope():
        assert Job.objects.get(kind=JobKind.ANSWER_QUESTION).state == JobState.CANCELED
        assert sum(event.price_amount for event in UsageEvent.objects.all()) == 0


def test_a_batch_and_a_session_take_their_questions_along(acme: Cast) -> None:
    first, video_id = answered(acme)
    with acme.scope():
        Question.objects.filter(id=first).update(text="kept")
    scope = {"video_ids": [encode("vid", video_id)]}
    session = acme.client.post("/v1/sessions", scope).json()["id"]
    followed = acme.client.post("/v1/questions", {"question": "Who?", "session_id": session}).json()["id"]
    batch = acme.client.post("/v1/question-batches", {"questions": [{"question": "Where?", **scope}] * 2}).json()["id"]

    assert acme.client.delete(f"/v1/sessions/{session}").status_code == 204
    assert acme.client.get(f"/v1/questions/{followed}").status_code == 404
    assert acme.client.delete(f"/v1/question-batches/{batch}").status_code == 204
    assert acme.client.get(f"/v1/question-batches/{batch}").status_code == 404

    with acme.scope():
        assert [question.id for question in Question.objects.all()] == [first]
    assert [kind for kind, _ in ledger_of(acme)] == [Deleted.SESSION, Deleted.BATCH]


def test_a_batch_ends_when_its_last_open_question_is_deleted(acme: Cast) -> None:
    _, video_id = ask(acme)
    body = {"questions": [{"question": "Where?", "video_ids": [encode("vid", video_id)]}]}
    batch = acme.client.post("/v1/question-batches", body).json()["id"]
    (question,) = acme.client.get("/v1/questions", {"batch_id": batch}).json()["data"]
    acme.client.delete(f"/v1/questions/{question['id']}")
    assert acme.client.get(f"/v1/question-batches/{batch}").json()["status"] == "completed"


def test_a_search_is_deleted_with_its_results(acme: Cast) -> None:
    with acme.scope():
        settings = {"mode": "hybrid", "views": {}, "fusion": "borda", "limit": 16}
        search = Search.objects.create(tenant_id=acme.tenant_id, text=SECRET, settings=settings)
    path = f"/v1/searches/{encode('sea', search.id)}"
    assert acme.client.delete(path).status_code == 204
    assert acme.client.get(path).status_code == 404
    assert tables_with(SECRET) == []


def test_a_comparison_is_deleted_once_it_is_over_and_its_questions_only_with_it(acme: Cast) -> None:
    question_id, _ = answered(acme)
    arms = [{"method": name, "effort": "low", "check": "auto", "label": name} for name in ("ava", "vector")]
    with acme.scope():
        comparison = Comparison.objects.create(tenant_id=acme.tenant_id, arms=arms, total=1)
        Question.objects.filter(id=question_id).update(comparison=comparison)
    path = f"/v1/comparisons/{encode('cmp', comparison.id)}"
    alone = acme.client.delete(f"/v1/questions/{encode('qst', question_id)}")
    assert (alone.status_code, alone.json()["code"]) == (409, "question_of_comparison")
    running = acme.client.delete(path)
    assert (running.status_code, running.json()["code"]) == (409, "comparison_running")
    with acme.scope():
        Comparison.objects.update(status="completed")
    assert acme.client.delete(path).status_code == 204
    assert tables_with(SECRET) == []


@pytest.mark.parametrize("wish", ["redact", "remove"])
def test_a_deleted_video_takes_along_every_word_that_was_read_from_it(acme: Cast, wish: str) -> None:
    question_id, video_id = answered(acme)
    other, _ = ask(acme)
    with acme.scope():
        Retention.objects.create(tenant_id=acme.tenant_id, derived_text=wish)
        search = Search.objects.create(
            tenant_id=acme.tenant_id, status="succeeded", results=[{"video_id": str(video_id), "summary": SECRET}]
        )
        SearchVideo.objects.create(tenant_id=acme.tenant_id, search=search, video_id=video_id)

    assert acme.client.delete(f"/v1/videos/{encode('vid', video_id)}").status_code == 202
    run(acme, JobKind.PURGE_VIDEO)

    assert tables_with(SECRET) == []
    shown = acme.client.get(f"/v1/questions/{encode('qst', question_id)}", {"include": "trace"})
    if wish == "remove":
        assert shown.status_code == 404
    else:
        body = shown.json()
        assert (body["status"], body["answer"], body["claims"]) == ("succeeded", "", [])
        assert (body["finish_detail"], body["question"]) == ("video_deleted", "Which car?")
        assert body["charge"]["amount"] != "0"
    with acme.scope():
        assert Question.objects.get(id=other).status == "queued", "a question of another video goes on"
    assert ledger_of(acme) == [(Deleted.VIDEO, (video_id,))]


def test_a_deletion_that_the_ledger_does_not_have_does_not_happen(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    from backend.library.storage import StorageAway

    def away(storage: ObjectStorage, key: str, body: bytes, *, content_type: str) -> None:
        raise StorageAway("ConnectTimeoutError")

    question_id, _ = answered(acme)
    monkeypatch.setattr(ObjectStorage, "put", away)
    refused = acme.client.delete(f"/v1/questions/{encode('qst', question_id)}")
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    with acme.scope():
        assert Question.objects.get(id=question_id).answer == SECRET
