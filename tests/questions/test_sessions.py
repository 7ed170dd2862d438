"""Sessions: their scope, their turns, and questions that are asked one after another."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from uuid6 import uuid7

from backend.api import public_ids
from backend.jobs.models import Job
from backend.library.models import Collection, Video, VideoStatus
from backend.questions.models import Question, QuestionVideo, Session
from backend.questions.queries.sessions import history_of
from backend.questions.services import questions
from tests.factories import make_video
from tests.questions.world import answer, finish


def vid(value: UUID) -> str:
    return public_ids.encode("vid", value)


@pytest.fixture
def video(acme: Any) -> UUID:
    with acme.scope():
        return UUID(str(make_video(indexed_until_ms=30_000).id))


def begin(cast: Any, video_id: UUID, **values: Any) -> str:
    reply = cast.client.post("/v1/sessions", {"video_ids": [vid(video_id)], **values}, format="json")
    assert reply.status_code == 201, reply.content
    return str(reply.json()["id"])


def ask(cast: Any, session: str | None, **values: Any) -> Any:
    headers = values.pop("headers", {})
    body = {"question": "Which car?", **({"session_id": session} if session else {}), **values}
    return cast.client.post("/v1/questions", body, format="json", headers=headers)


def settle(cast: Any, reply: Any, video_id: UUID, **values: Any) -> None:
    assert reply.status_code == 202, reply.content
    finish(cast, public_ids.decode("qst", reply.json()["id"]), video_id, **values)


def test_a_session_keeps_its_scope_and_charges_nothing(acme: Any, video: UUID) -> None:
    reply = acme.client.post(
        "/v1/sessions",
        {
            "video_ids": [vid(video)],
            "start_ms": 1_000,
            "end_ms": 9_000,
            "external_id": "chat-1",
            "metadata": {"a": "b"},
        },
        format="json",
    )

    body = reply.json()
    assert reply.status_code == 201
    assert reply.headers["Location"] == f"/v1/sessions/{body['id']}"
    assert {name: body[name] for name in body if name not in ("id", "created_at")} == {
        "object": "session", "video_ids": [vid(video)], "collection_id": None, "start_ms": 1_000, "end_ms": 9_000,
        "turns": 0, "external_id": "chat-1", "metadata": {"a": "b"},
    }  # fmt: skip
    assert acme.client.get(reply.headers["Location"]).json() == body
    assert acme.client.get("/v1/sessions?external_id=chat-1").json()["data"] == [body]
    assert acme.client.get("/v1/sessions?external_id=chat-2").json()["data"] == []
    assert acme.client.get("/v1/usage/events").json()["data"] == []
    with acme.scope():
        assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({}, "", "scope_required"),
        ({"video_ids": ["vid_nonsense"]}, "/video_ids/0", "invalid_id"),
        ({"video_ids": [vid(uuid7())]}, "/video_ids", "unknown_video"),
        ({"collection_id": public_ids.encode("col", uuid7())}, "/collection_id", "unknown_collection"),
        ({"video_ids": ["mine"], "start_ms": 5, "end_ms": 5}, "/end_ms", "invalid_span"),
        ({"video_ids": ["mine"], "colour": "red"}, "/colour", "unknown_field"),
    ],
)
def test_a_refused_session_says_where(acme: Any, video: UUID, body: Any, pointer: str, code: str) -> None:
    if body.get("video_ids") == ["mine"]:
        body = {**body, "video_ids": [vid(video)]}
    reply = acme.client.post("/v1/sessions", body, format="json")

    assert reply.status_code == 400
    assert [(error["pointer"], error["code"]) for error in reply.json()["errors"]] == [(pointer, code)]
    with acme.scope():
        assert not Session.objects.exists()


def test_the_same_key_begins_one_session(acme: Any, video: UUID) -> None:
    body = {"video_ids": [vid(video)]}
    ids = {
        acme.client.post("/v1/sessions", body, format="json", headers={"Idempotency-Key": "k"}).json()["id"]
        for _ in range(2)
    }
    with acme.scope():
        assert ids == {public_ids.encode("ses", Session.objects.get().id)}


def test_questions_take_turns_and_share_the_scope(acme: Any, video: UUID) -> None:
    session = begin(acme, video, start_ms=1_000, end_ms=9_000)
    first = ask(acme, session)
    settle(acme, first, video)
    second = ask(acme, session, question="And then?", end_ms=5_000)

    assert [reply.json()["turn"] for reply in (first, second)] == [1, 2]
    assert {reply.json()["session_id"] for reply in (first, second)} == {session}
    assert [(reply.json()["start_ms"], reply.json()["end_ms"]) for reply in (first, second)] == [
        (1_000, 9_000),
        (1_000, 5_000),
    ]
    assert second.json()["video_ids"] == [vid(video)]
    assert second.json()["standalone_question"] is None
    listed = acme.client.get(f"/v1/questions?session_id={session}").json()["data"]
    assert [row["id"] for row in listed] == [second.json()["id"], first.json()["id"]]
    assert acme.client.get(f"/v1/sessions/{session}").json()["turns"] == 2


def test_a_question_may_be_about_something_else_than_its_session(acme: Any, video: UUID) -> None:
    with acme.scope():
        other = make_video(indexed_until_ms=30_000).id
    reply = ask(acme, begin(acme, video, start_ms=1_000), video_ids=[vid(other)])

    assert (reply.json()["video_ids"], reply.json()["start_ms"], reply.json()["turn"]) == ([vid(other)], None, 1)


def test_a_span_that_is_empty_with_the_sessions_is_refused(acme: Any, video: UUID) -> None:
    reply = ask(acme, begin(acme, video, end_ms=9_000), start_ms=9_000)

    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (400, "invalid_span")
    with acme.scope():
        assert not Question.objects.exists()


def test_a_collection_is_resolved_anew_for_each_question(acme: Any, video: UUID) -> None:
    with acme.scope():
        collection = Collection.objects.create(tenant_id=acme.tenant_id, name="Park").id
        Video.objects.filter(id=video).update(collection_id=collection)
    made = acme.client.post("/v1/sessions", {"collection_id": public_ids.encode("col", collection)}, format="json")
    session = made.json()["id"]
    settle(acme, ask(acme, session), video)
    with acme.scope():
        later = make_video(indexed_until_ms=3_000, collection_id=collection).id

    assert ask(acme, session).json()["video_ids"] == [vid(id) for id in sorted([video, later])]


def test_videos_that_are_gone_leave_the_scope_and_the_last_one_ends_it(acme: Any, video: UUID) -> None:
    with acme.scope():
        other = make_video(indexed_until_ms=30_000).id
    session = begin(acme, video, video_ids=[vid(video), vid(other)])
    with acme.scope():
        Video.objects.filter(id=other).update(status=VideoStatus.DELETING)

    first = ask(acme, session)
    assert first.json()["video_ids"] == [vid(video)]
    settle(acme, first, video)
    with acme.scope():
        Video.objects.filter(id=video).update(status=VideoStatus.DELETING)
    gone = ask(acme, session)
    assert (gone.status_code, gone.json()["code"]) == (409, "session_scope_gone")
    assert ask(acme, None).status_code == 400


@pytest.mark.parametrize("running", [False, True])
def test_an_open_question_keeps_the_next_one_waiting(acme: Any, video: UUID, running: bool) -> None:
    session = begin(acme, video)
    first = ask(acme, session)
    if running:
        with acme.scope():
            questions.begin(question_id=public_ids.decode("qst", first.json()["id"]))
    busy = ask(acme, session, headers={"Idempotency-Key": "again"})
    elsewhere = ask(acme, begin(acme, video))

    assert (busy.status_code, busy.json()["code"]) == (409, "session_busy")
    assert (elsewhere.status_code, elsewhere.json()["turn"]) == (202, 1)
    with acme.scope():
        assert Question.objects.count() == 2
        assert Job.objects.count() == 2
    assert acme.client.post(f"/v1/questions/{first.json()['id']}/cancel").status_code == 200
    # The refusal is not kept under its key.
    later = ask(acme, session, headers={"Idempotency-Key": "again"})
    assert (later.status_code, later.json()["turn"]) == (202, 2)


def test_of_questions_asked_at_once_one_is_the_next_turn(acme: Any, video: UUID) -> None:
    session = begin(acme, video)
    together = threading.Barrier(4)
    statuses: list[int] = []

    def send() -> None:
        together.wait()
        statuses.append(ask(acme, session).status_code)
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(statuses) == [202, 409, 409, 409]
    with acme.scope():
        assert [question.turn for question in Question.objects.all()] == [1]
        assert QuestionVideo.objects.count() == 1


def test_a_foreign_session_is_as_unknown_as_one_that_never_was(acme: Any, globex: Any, video: UUID) -> None:
    with globex.scope():
        theirs = begin(globex, make_video(indexed_until_ms=30_000).id)
    replies = [ask(acme, id) for id in (theirs, public_ids.encode("ses", uuid7()))]
    bodies = [{**reply.json(), "request_id": ""} for reply in replies]

    assert [reply.status_code for reply in replies] == [400, 400]
    assert bodies[0] == bodies[1]
    assert bodies[0]["errors"][0]["code"] == "unknown_session"
    assert acme.client.get(f"/v1/questions?session_id={theirs}").json()["data"] == []
    with acme.scope():
        assert not Question.objects.exists()


def test_a_deleted_session_takes_its_questions_along_and_takes_no_more(acme: Any, video: UUID) -> None:
    session = begin(acme, video)
    asked = ask(acme, session)
    settle(acme, asked, video)

    assert acme.client.delete(f"/v1/sessions/{session}").status_code == 204
    assert acme.client.get(f"/v1/sessions/{session}").status_code == 404
    assert acme.client.delete(f"/v1/sessions/{session}").status_code == 404
    assert acme.client.get(f"/v1/questions/{asked.json()['id']}").status_code == 404
    assert ask(acme, session).json()["errors"][0]["code"] == "unknown_session"


def test_history_is_the_last_answered_turns_oldest_first(acme: Any, video: UUID) -> None:
    session = begin(acme, video)
    for n in range(9):
        reply = ask(acme, session, question=f"q{n}")
        if n == 4:
            acme.client.post(f"/v1/questions/{reply.json()['id']}/cancel")
        elif n == 6:
            settle(acme, reply, video, text="", choice=None, finish_reason="insufficient_evidence")
        else:
            settle(acme, reply, video, text=f"a{n}", finish_reason="budget" if n == 7 else "answered")
    last = ask(acme, session, question="q9")

    with acme.scope():
        question = Question.objects.get(id=public_ids.decode("qst", last.json()["id"]))
        assert history_of(question) == [(f"q{n}", f"a{n}") for n in (1, 2, 3, 5, 7, 8)]
        assert history_of(Question.objects.get(text="q0")) == []


def test_the_standalone_question_is_stored_and_shown(acme: Any, video: UUID) -> None:
    asked = ask(acme, begin(acme, video), question="And then?")
    settle(acme, asked, video, standalone="What did the red car do after it parked?")

    shown = acme.client.get(f"/v1/questions/{asked.json()['id']}").json()
    assert (shown["question"], shown["standalone_question"]) == (
        "And then?", "What did the red car do after it parked?",
    )  # fmt: skip
    assert answer(video).standalone == ""
