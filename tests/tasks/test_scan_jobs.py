"""A scan by a worker: verdicts are stored as batches end, and the next question pays for none of them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from backend.api.public_ids import decode, encode
from backend.ekg.models import Event, EventVerdicts
from backend.questions.models import Question
from tests.conftest import Cast
from tests.questions.comparing import post
from tests.scripted_openai import Reply, ScriptedOpenAIServer, ScriptedRequest, odds
from tests.tasks.eyes import GREEN, STORIES
from tests.tasks.world import TWELVE_SECONDS, indexed_video, run_due

pytestmark = pytest.mark.slow

JUDGED = "Is this an instance of"


def judge(request: ScriptedRequest) -> Reply:
    reply = odds(0.9 if STORIES[GREEN][:20] in request.user else 0.1)
    return replace(reply, prompt_tokens=100, completion_tokens=1)


def ask(cast: Cast, video_id: UUID) -> UUID:
    body = {"question": "How many times do animals play a game?", "video_ids": [encode("vid", video_id)]}
    response = cast.client.post("/v1/questions", body)
    assert response.status_code == 202, response.content
    return decode("qst", response.json()["id"])


def test_a_scan_is_paid_for_once(acme: Cast, vlm: ScriptedOpenAIServer, llm: ScriptedOpenAIServer) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)
    llm.script = judge
    llm.requests.clear()
    first = ask(acme, video_id)
    run_due()

    judged = [request for request in llm.requests if JUDGED in request.user]
    assert judged
    with acme.scope():
        dogs = Event.objects.get(summary__startswith=STORIES[GREEN])
        rows = list(EventVerdicts.objects.all())
        assert [event for row in rows for event in row.true] == [str(dogs.id)]
        question = Question.objects.get(id=first)
        assert (question.understood["route"], question.understood["predicate"]) == ("scan", "animals play a game")
        assert question.answer.startswith("About 1 time: ")
        assert question.model_names["notes"].startswith("scan: ")

    llm.requests.clear()
    second = ask(acme, video_id)
    run_due()
    assert [request for request in llm.requests if JUDGED in request.user] == []
    with acme.scope():
        assert Question.objects.get(id=second).answer == question.answer
        assert EventVerdicts.objects.count() == len(rows)


def test_every_arm_and_repeat_of_a_comparison_pays_for_its_own_scan(
    acme: Cast, vlm: ScriptedOpenAIServer, llm: ScriptedOpenAIServer
) -> None:
    """Else the first question of the comparison would pay for the others, and a repeat would judge nothing."""
    video_id = indexed_video(acme, TWELVE_SECONDS)
    llm.script = judge
    llm.requests.clear()
    ask(acme, video_id)
    run_due()
    judged = sum(JUDGED in request.user for request in llm.requests)
    assert judged

    llm.requests.clear()
    counted = {"question": "How many times do animals play a game?", "correct_answer": "Once."}
    arms = [{"method": "ava"}, {"method": "ava", "check": "off"}]
    reply = post(acme, [counted], arms=arms, video_ids=[encode("vid", video_id)], repeats=2, grading="exact")
    assert reply.status_code == 202, reply.content
    run_due(times=2)
    assert sum(JUDGED in request.user for request in llm.requests) == 4 * judged
    with acme.scope():
        calls = [question.usage["calls"] for question in Question.objects.exclude(comparison=None)]
    assert len(calls) == 4
    assert len(set(calls)) == 1
