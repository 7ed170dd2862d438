"""The language of a question: given by the caller, or found when it is answered."""

from __future__ import annotations

from typing import Any

import pytest

from backend.questions.models import Question
from gpu_workers.engine.answering.understood import Understood
from tests.questions.test_api import post
from tests.questions.test_checks_and_claims import read
from tests.questions.world import ask, finish


@pytest.mark.parametrize(("given", "stored"), [("de", "de"), ("AR", "ar"), ("", "")])
def test_a_question_keeps_the_language_that_is_given(acme: Any, given: str, stored: str) -> None:
    _, video_id = ask(acme)

    body = post(acme, video_id, language=given).json()

    assert body["language"] == stored
    assert acme.client.get(f"/v1/questions/{body['id']}").json()["language"] == stored


@pytest.mark.parametrize("code", ["xx", "deu", "german", "e", "de-DE", "' OR 1=1"])
def test_an_unknown_language_is_refused_with_what_to_do(acme: Any, code: str) -> None:
    _, video_id = ask(acme)

    reply = post(acme, video_id, language=code)

    assert reply.status_code == 400
    [error] = reply.json()["errors"]
    assert error["pointer"] == "/language"
    assert "ISO 639-1" in error["detail"] or "8 characters" in error["detail"]
    with acme.scope():
        assert Question.objects.count() == 1


def test_the_language_that_was_found_is_shown_with_the_answer(acme: Any) -> None:
    question_id, video_id = ask(acme, text="Welches Auto?")
    assert read(acme, question_id)["language"] == ""

    finish(acme, question_id, video_id, understood=Understood(language="de").record())

    assert read(acme, question_id)["language"] == "de"


def test_the_given_language_stays(acme: Any) -> None:
    question_id, video_id = ask(acme, text="Which car?", language="de")

    finish(acme, question_id, video_id, understood=Understood(language="de").record())

    assert read(acme, question_id)["language"] == "de"
