"""/v1/questions/{id}/feedback: one verdict per answer, shown wherever the question is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from uuid6 import uuid7

from backend.api import public_ids
from backend.questions.models import Feedback
from backend.questions.services import questions
from tests.conftest import Cast
from tests.people.cast import Browser, member_of
from tests.questions.world import ask, finish


def path(question_id: UUID) -> str:
    return f"/v1/questions/{public_ids.encode('qst', question_id)}/feedback"


@pytest.fixture
def answered(acme: Cast) -> UUID:
    question_id, video_id = ask(acme, choices=["blue", "red"])
    finish(acme, question_id, video_id)
    return question_id


def put(cast: Cast, question_id: UUID, **said: Any) -> Any:
    return cast.client.put(path(question_id), said, format="json")


def count(cast: Cast) -> int:
    with cast.scope():
        return Feedback.objects.count()


def test_feedback_is_shown_with_the_question_and_replaced_by_the_next(acme: Cast, answered: UUID) -> None:
    before = acme.client.get(path(answered).removesuffix("/feedback")).json()
    first = put(acme, answered, verdict="wrong", note="It was blue.", correct_answer="a blue car", correct_choice=0)
    second = put(acme, answered, verdict="right")

    assert before["feedback"] is None
    assert first.status_code == second.status_code == 200
    judged = {name: first.json()[name] for name in ("verdict", "note", "correct_answer", "correct_choice")}
    assert judged == {
        "verdict": "wrong", "note": "It was blue.", "correct_answer": "a blue car", "correct_choice": 0,
    }  # fmt: skip
    body = acme.client.get(path(answered).removesuffix("/feedback")).json()
    assert body["feedback"] == second.json() == acme.client.get(path(answered)).json()
    assert (body["feedback"]["verdict"], body["feedback"]["note"], body["feedback"]["correct_choice"]) == (
        "right", "", None,
    )  # fmt: skip
    assert {**body, "feedback": None} == before, "nothing else of the question changes"
    with acme.scope():
        assert Feedback.objects.get().api_key_id == acme.key_id
    assert body["feedback"]["created_at"] == first.json()["created_at"]
    assert body["feedback"]["updated_at"] > first.json()["updated_at"]


def test_feedback_shows_whose_verdict_it_is(acme: Cast, answered: UUID) -> None:
    by_key = put(acme, answered, verdict="wrong").json()["created_by"]
    membership = member_of(acme, "analyst")
    given = Browser(membership.person, acme.slug).api("PUT", path(answered), {"verdict": "right"})
    assert given.status_code == 200, given.content
    ada = public_ids.encode("per", membership.person_id)
    assert (by_key, given.json()["created_by"]) == (public_ids.encode("key", acme.key_id), ada)
    with acme.scope():
        row = Feedback.objects.get()
        assert (row.api_key_id, row.person_id) == (None, membership.person_id)

    # The verdict stays with the id when the member goes, and no name or address of the person is in it.
    removed = acme.client.delete(f"/v1/members/{public_ids.encode('mem', membership.id)}")
    assert removed.status_code == 204, removed.content
    kept = acme.client.get(path(answered))
    assert kept.json()["created_by"] == ada
    assert membership.person.email not in kept.content.decode()
    assert put(acme, answered, verdict="right").json()["created_by"] == by_key


def test_feedback_can_be_taken_back(acme: Cast, answered: UUID) -> None:
    put(acme, answered, verdict="right")

    assert acme.client.delete(path(answered)).status_code == 204
    assert count(acme) == 0
    for method in ("get", "delete"):
        reply = getattr(acme.client, method)(path(answered))
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("said", "pointer", "code"),
    [
        ({}, "/verdict", "required"),
        ({"verdict": "maybe"}, "/verdict", "invalid_choice"),
        ({"verdict": "wrong", "correct_choice": 2}, "/correct_choice", "unknown_choice"),
        ({"verdict": "wrong", "correct_choice": -1}, "/correct_choice", "min_value"),
        ({"verdict": "wrong", "note": "x" * 4_001}, "/note", "max_length"),
        ({"verdict": "wrong", "score": 3}, "/score", "unknown_field"),
    ],
)
def test_invalid_feedback_is_refused(acme: Cast, answered: UUID, said: Any, pointer: str, code: str) -> None:
    reply = put(acme, answered, **said)

    assert reply.status_code == 400
    assert [(error["pointer"], error["code"]) for error in reply.json()["errors"]] == [(pointer, code)]
    assert count(acme) == 0


def test_an_open_question_has_no_choices_to_point_at(acme: Cast) -> None:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id, choice=None)

    assert put(acme, question_id, verdict="wrong", correct_choice=0).status_code == 400
    assert put(acme, question_id, verdict="wrong", correct_answer="a bus").status_code == 200


def test_only_an_answer_can_be_judged(acme: Cast) -> None:
    waiting, failed, canceled, honest = (ask(acme) for _ in range(4))
    with acme.scope():
        questions.fail_question(question_id=failed[0], code="model_unavailable", message="No model.")
        questions.cancel_question(question_id=canceled[0])
    finish(acme, *honest, finish_reason="insufficient_evidence", text="", choice=None)
    replies = [put(acme, id, verdict="right") for id, _ in (waiting, failed, canceled)]

    assert [(reply.status_code, reply.json()["code"], reply.json()["detail"]) for reply in replies] == [
        (409, "question_open", "The question has no outcome yet. Give feedback once it has an answer."),
        (409, "question_unanswered", "The question failed, so there is no answer to judge."),
        (409, "question_unanswered", "The question was canceled, so there is no answer to judge."),
    ]
    assert count(acme) == 0
    # That the videos do not show it is an answer too, and may be wrong.
    assert put(acme, honest[0], verdict="wrong").status_code == 200


def test_questions_are_listed_by_their_feedback(acme: Cast) -> None:
    ids = []
    for verdict in ("right", "wrong", "right", None):
        question_id, video_id = ask(acme)
        finish(acme, question_id, video_id)
        ids.append(public_ids.encode("qst", question_id))
        if verdict:
            put(acme, question_id, verdict=verdict)

    def listed(verdict: str) -> list[str]:
        return [row["id"] for row in acme.client.get(f"/v1/questions?feedback={verdict}").json()["data"]]

    assert (listed("right"), listed("wrong")) == ([ids[2], ids[0]], [ids[1]])
    refused = acme.client.get("/v1/questions?feedback=maybe")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/feedback")


def test_a_foreign_question_takes_no_feedback(acme: Cast, globex: Cast) -> None:
    theirs, video_id = ask(globex)
    finish(globex, theirs, video_id)
    put(globex, theirs, verdict="right")

    for id in (theirs, uuid7()):
        replies = [put(acme, id, verdict="wrong"), acme.client.get(path(id)), acme.client.delete(path(id))]
        assert {(reply.status_code, reply.json()["code"]) for reply in replies} == {(404, "not_found")}
    assert acme.client.get("/v1/questions?feedback=right").json()["data"] == []
    with globex.scope():
        assert Feedback.objects.get().verdict == "right"
