"""The route of a question: asked for, stored, refused where a method has none; and what was understood, shown."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from backend.api.public_ids import encode
from backend.questions.models import Question
from gpu_workers.engine.answering.contract import RouteWish
from gpu_workers.engine.answering.understood import Understood, UnderstoodTime
from gpu_workers.engine.ekg import Span
from tests.questions.world import ask, finish


def post(cast: Any, video_id: Any, **fields: Any) -> Any:
    body = {"question": "How many cars are there?", "video_ids": [encode("vid", video_id)], **fields}
    return cast.client.post("/v1/questions", body)


def read(cast: Any, question_id: Any) -> Any:
    return cast.client.get(f"/v1/questions/{encode('qst', question_id)}").json()


@pytest.mark.parametrize("route", get_args(RouteWish))
def test_a_question_keeps_the_route_that_was_asked_for(acme: Any, route: str) -> None:
    _, video_id = ask(acme)
    body = post(acme, video_id, route=route).json()
    assert (body["route"], body["understood"]) == (route, None)
    assert acme.client.get(f"/v1/questions/{body['id']}").json()["route"] == route


def test_without_a_wish_the_words_decide(acme: Any) -> None:
    question_id, video_id = ask(acme)
    assert post(acme, video_id).json()["route"] == "auto"
    with acme.scope():
        assert Question.objects.get(id=question_id).route == "auto"


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"route": "teleport"}, "invalid_choice"), ({"route": "scan", "method": "vector"}, "route_not_applicable")],
)
def test_a_route_that_does_not_exist_or_that_a_method_lacks_is_refused(
    acme: Any, fields: dict[str, str], code: str
) -> None:
    _, video_id = ask(acme)
    reply = post(acme, video_id, **fields)
    assert reply.status_code == 400
    assert [(error["pointer"], error["code"]) for error in reply.json()["errors"]] == [("/route", code)]
    with acme.scope():
        assert Question.objects.count() == 1


def test_what_was_understood_is_stored_and_shown(acme: Any, globex: Any) -> None:
    question_id, video_id = ask(acme)
    time = UnderstoodTime("at 0:10", "0:00:10 of the video", {video_id: Span(5_000, 15_000)})
    understood = Understood(
        route="scan", chosen_by="examples", shape="count", time=time, statement="a car passes", videos=(video_id,)
    )
    finish(acme, question_id, video_id, understood=understood.record(), confidence=None)

    shown = read(acme, question_id)
    assert shown["confidence"] is None
    assert shown["understood"]["route"] == "scan"
    assert shown["understood"]["statement"] == "a car passes"
    assert shown["understood"]["videos"] == [encode("vid", video_id)]
    assert (shown["understood"]["polarity"], shown["understood"]["sure"]) == ("occurs", True)
    assert shown["understood"]["time"]["spans"] == [
        {"video_id": encode("vid", video_id), "start_ms": 5_000, "end_ms": 15_000, "start_at": None, "end_at": None}
    ]
    with acme.scope():
        assert Question.objects.get(id=question_id).understood == understood.record()
    assert globex.client.get(f"/v1/questions/{encode('qst', question_id)}").status_code == 404
