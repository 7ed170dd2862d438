"""How a question is checked, what its answer claims, and what is known of it while the search runs."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from backend.api.server.awaiting import PollClock, follow
from backend.questions import stream
from backend.questions.models import Question
from backend.questions.services import questions
from gpu_workers.engine.answering.contract import CheckMode, CitationRecord, ClaimRecord, NodeRecord, PartialAnswer
from tests.questions.test_api import post, qst, streamed
from tests.questions.world import EVENT, ask, finish

LEFT = PartialAnswer("left", 0, 0.43333, "SA", 1)
RIGHT = PartialAnswer("right", 1, 0.9, "RQ/SA", 2)


def running(cast: Any) -> Any:
    """(question id, video id) of a question that a worker has begun."""
    question_id, video_id = ask(cast)
    with cast.scope():
        assert questions.begin(question_id=question_id)
    return question_id, video_id


def set_partial(cast: Any, question_id: Any, partial: PartialAnswer) -> None:
    with cast.scope():
        questions.set_partial(question_id=question_id, partial=partial)


def read(cast: Any, question_id: Any, query: str = "") -> Any:
    return cast.client.get(f"/v1/questions/{qst(question_id)}{query}").json()


@pytest.mark.parametrize("mode", get_args(CheckMode))
def test_a_question_keeps_how_it_is_to_be_checked(acme: Any, mode: str) -> None:
    _, video_id = ask(acme)

    body = post(acme, video_id, check=mode).json()

    assert body["check"] == mode
    assert acme.client.get(f"/v1/questions/{body['id']}").json()["check"] == mode


def test_without_a_word_the_effort_decides(acme: Any) -> None:
    question_id, video_id = ask(acme)

    assert post(acme, video_id).json()["check"] == "auto"
    with acme.scope():
        assert Question.objects.get(id=question_id).check_mode == "auto"


def test_an_unknown_check_is_refused(acme: Any) -> None:
    _, video_id = ask(acme)

    reply = post(acme, video_id, check="twice")

    assert reply.status_code == 400
    assert reply.json()["errors"][0]["pointer"] == "/check"
    with acme.scope():
        assert Question.objects.count() == 1


def test_claims_are_stored_with_the_evidence_they_rest_on(acme: Any) -> None:
    question_id, video_id = ask(acme)
    cited = CitationRecord(video_id, EVENT, 0, 3_000, None, None, "A red car parks.", "supported", (0,), 0.625)
    stated = (ClaimRecord("A red car parks.", "supported", (0,)), ClaimRecord("It leaves.", "unverified", ()))
    finish(acme, question_id, video_id, citations=(cited,), claims=stated)

    body = read(acme, question_id)

    assert body["claims"] == [
        {"text": "A red car parks.", "status": "supported", "evidence": [0]},
        {"text": "It leaves.", "status": "unverified", "evidence": []},
    ]
    assert [(item["status"], item["confidence"]) for item in body["evidence"]] == [("supported", 0.625)]


def test_what_an_inspection_saw_is_in_the_trace(acme: Any) -> None:
    question_id, video_id = ask(acme)
    seen = ("00:03-00:06 the car is red",)
    finish(acme, question_id, video_id, nodes=(NodeRecord("", 0, "root"), NodeRecord("IN", 1, "IN", seen=seen)))

    trace = read(acme, question_id, "?include=trace")["trace"]

    assert [(node["action"], node["seen"]) for node in trace] == [("root", []), ("IN", list(seen))]


# --- the best answer so far ------------------------------------------------------------------------------------------


def test_the_best_answer_so_far_is_shown_until_there_is_an_outcome(acme: Any, globex: Any) -> None:
    question_id, video_id = running(acme)
    assert read(acme, question_id)["partial_answer"] is None

    set_partial(acme, question_id, LEFT)

    assert read(acme, question_id)["partial_answer"] == {
        "text": "left", "choice": 0, "score": 0.4333, "path": "SA", "level": 1,
    }  # fmt: skip
    assert read(acme, question_id)["answer"] == ""
    assert globex.client.get(f"/v1/questions/{qst(question_id)}").status_code == 404

    finish(acme, question_id, video_id)
    assert (read(acme, question_id)["partial_answer"], read(acme, question_id)["answer"]) == (None, "a red car")
    with acme.scope():
        assert Question.objects.get(id=question_id).partial == {}


def test_what_comes_too_late_changes_nothing(acme: Any) -> None:
    question_id, video_id = running(acme)
    finish(acme, question_id, video_id)

    set_partial(acme, question_id, LEFT)

    with acme.scope():
        assert Question.objects.get(id=question_id).partial == {}


def test_another_tenant_cannot_set_it(acme: Any, globex: Any) -> None:
    question_id, _ = running(acme)

    set_partial(globex, question_id, LEFT)

    with acme.scope():
        assert Question.objects.get(id=question_id).partial == {}


def test_a_new_attempt_begins_without_the_last_one_s_answer(acme: Any) -> None:
    question_id, _ = running(acme)
    set_partial(acme, question_id, LEFT)

    with acme.scope():
        questions.begin(question_id=question_id)

    assert read(acme, question_id)["partial_answer"] is None


def test_a_canceled_question_shows_no_partial_answer_that_was_not_shown_before(acme: Any) -> None:
    question_id, _ = running(acme)
    set_partial(acme, question_id, LEFT)

    assert acme.client.post(f"/v1/questions/{qst(question_id)}/cancel").json()["partial_answer"] is None


def test_a_stream_shows_each_better_answer_once(acme: Any) -> None:
    question_id, video_id = running(acme)
    steps = iter(
        [
            lambda: set_partial(acme, question_id, LEFT),
            lambda: None,
            lambda: set_partial(acme, question_id, RIGHT),
            lambda: set_partial(acme, question_id, RIGHT),
            lambda: finish(acme, question_id, video_id),
        ]
    )
    clock = PollClock(sleep=lambda _: next(steps)() and None)

    received = streamed(follow(stream.QuestionEvents(tenant_id=acme.tenant_id, question_id=question_id), clock))

    assert [name for name, _ in received] == ["progress", "partial", "partial", "node", "node", "answer"]
    assert received[1][1] == {
        "id": qst(question_id), "text": "left", "choice": 0, "score": 0.4333, "path": "SA", "level": 1,
    }  # fmt: skip
    assert (received[2][1]["text"], received[2][1]["level"]) == ("right", 2)
    assert received[-1][1]["partial_answer"] is None


def test_a_stream_opened_late_begins_with_the_present_state(acme: Any) -> None:
    question_id, video_id = running(acme)
    set_partial(acme, question_id, LEFT)
    clock = PollClock(sleep=lambda _: finish(acme, question_id, video_id) and None)

    received = streamed(follow(stream.QuestionEvents(tenant_id=acme.tenant_id, question_id=question_id), clock))

    assert [name for name, _ in received] == ["progress", "partial", "node", "node", "answer"]
