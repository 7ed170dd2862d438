"""A follow-up question as the worker hands it to the engine, and the rows that it stores."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import encode
from gpu_workers.engine.answering.contract import QuestionInput, Turn
from gpu_workers.tasks import answer_question as task
from tests.conftest import Cast
from tests.factories import make_video
from tests.questions.world import answer
from tests.tasks.world import run_due

pytestmark = pytest.mark.slow


def test_the_engine_is_given_the_turns_before_and_its_wording_is_kept(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    with acme.scope():
        video_id = UUID(str(make_video(indexed_until_ms=30_000).id))
    given: list[QuestionInput] = []

    def engine(question: QuestionInput, *_: Any, **__: Any) -> Any:
        given.append(question)
        return answer(
            video_id, text=f"answer {len(given)}", citations=(), standalone="spelt out" * bool(question.history)
        )

    monkeypatch.setattr(task, "answer_question", engine)
    session = acme.client.post("/v1/sessions", {"video_ids": [encode("vid", video_id)]}).json()["id"]
    shown = []
    for text in ("Who comes in?", "What does he do?", "And then?"):
        asked = acme.client.post("/v1/questions", {"question": text, "session_id": session})
        run_due()
        shown.append(acme.client.get(asked.headers["Location"]).json())
    alone = acme.client.post("/v1/questions", {"question": "And then?", "video_ids": [encode("vid", video_id)]})
    run_due()

    assert [question.history for question in given] == [
        (),
        (Turn("Who comes in?", "answer 1"),),
        (Turn("Who comes in?", "answer 1"), Turn("What does he do?", "answer 2")),
        (),
    ]
    assert [question.question for question in given] == ["Who comes in?", "What does he do?", "And then?", "And then?"]
    assert [(body["turn"], body["standalone_question"]) for body in shown] == [
        (1, None), (2, "spelt out"), (3, "spelt out"),
    ]  # fmt: skip
    assert acme.client.get(alone.headers["Location"]).json()["session_id"] is None
