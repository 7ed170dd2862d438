"""A scan by a worker: verdicts are stored as batches end, and the next question pays for none of them."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest

from backend.api.public_ids import decode, encode
from backend.ekg.models import Event, EventVerdicts
from backend.questions.models import Question
from gpu_workers.tasks import models
from tests.conftest import Cast
from tests.engine.answering.world import reading
from tests.questions.comparing import post
from tests.scripted_openai import Reply, ScriptedOpenAIServer, ScriptedRequest, odds
from tests.tasks.eyes import GREEN, STORIES
from tests.tasks.world import TWELVE_SECONDS, indexed_video, run_due

pytestmark = pytest.mark.slow

JUDGED = "Is this an instance of"
JUDGED_LISTS = "Of which of these events"
VERDICTS = '{"true": [1], "false": [2]}'


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
        assert (question.understood["route"], question.understood["statement"]) == ("scan", "animals play a game")
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


def test_the_price_of_a_scan_is_known_before_it_is_paid(
    acme: Cast,
    globex: Cast,
    vlm: ScriptedOpenAIServer,
    llm: ScriptedOpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)
    # A reasoner that reads the question by a call and judges lists of events.
    monkeypatch.setenv("REASONER_MODEL", "another-llm")
    models.answer_models.cache_clear()
    models.check_models()
    asked = "How many times do animals play a game?"
    read = reading(asked, route="scan", shape="count", statement="animals play a game")
    llm.script = lambda request: Reply(json.dumps(read) if JUDGED_LISTS not in request.user else VERDICTS)
    llm.requests.clear()
    body = {"question": asked, "video_ids": [encode("vid", video_id)]}
    foreseen = acme.client.post("/v1/questions:estimate", body, format="json").json()
    assert (foreseen["route"], foreseen["certain"], foreseen["charge"]["expected"]) == (None, False, "0.02")
    assert llm.requests == []
    with acme.scope():
        assert not EventVerdicts.objects.exists()

    question_id = ask(acme, video_id)
    run_due()
    (judging,) = [request for request in llm.requests if JUDGED_LISTS in request.user]
    assert foreseen["scan"]["calls"] == 1
    assert "animals play a game" in judging.user
    with acme.scope():
        assert Question.objects.get(id=question_id).understood["chosen_by"] == "model"
    unknown = {**body, "video_ids": [encode("vid", UUID(int=7))]}
    foreign, missing = (globex.client.post("/v1/questions:estimate", each, format="json") for each in (body, unknown))
    assert foreign.status_code == missing.status_code == 400
    assert foreign.json()["errors"] == missing.json()["errors"]
