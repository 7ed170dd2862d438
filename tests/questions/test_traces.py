"""Search trees as JSON lines: of one question by the API, of a tenant's questions by the command."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from uuid6 import uuid7

from backend.api import public_ids
from backend.audit.models import AuditEvent
from backend.questions.models import Question
from backend.questions.services.feedback import give_feedback
from bench.evaluation.deciding import TREE_VOTE
from bench.evaluation.videos.service import service_answer
from tests.questions.world import EVENT, ask, finish


def qst(id: Any) -> str:
    return public_ids.encode("qst", id)


def trace_of(cast: Any, id: Any) -> list[dict[str, Any]]:
    response = cast.client.get(f"/v1/questions/{qst(id)}/trace")
    assert response.status_code == 200
    assert response["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.getvalue().decode().splitlines()]


def judged(cast: Any, id: Any, verdict: str) -> None:
    with cast.scope():
        give_feedback(question=Question.objects.get(id=id), verdict=verdict, note="Look again.", api_key_id=cast.key_id)


def exported(*arguments: str, to: Path) -> list[dict[str, Any]]:
    call_command("export_traces", *arguments, to=str(to), stdout=StringIO())
    return [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]


def test_a_trace_is_the_outcome_with_its_feedback_and_then_the_nodes(acme: Any) -> None:
    question_id, video_id = ask(acme, choices=["a blue car", "a red car"])
    finish(acme, question_id, video_id, signals={"head": "votes", "s": 0.7})
    judged(acme, question_id, "wrong")

    outcome, root, requery = trace_of(acme, question_id)

    body = acme.client.get(f"/v1/questions/{qst(question_id)}?include=trace").json()
    assert outcome == {
        "object": "outcome", "question_id": qst(question_id), "decided_by": "votes",
        **{name: body[name] for name in (
            "status", "question", "choices", "video_ids", "method", "effort", "method_version", "prompts", "answer",
            "choice", "finish_reason", "finish_detail", "confidence", "feedback",
        )},
    }  # fmt: skip
    assert (outcome["answer"], outcome["choice"], outcome["feedback"]["verdict"]) == ("a red car", 1, "wrong")
    assert [root, requery] == [
        {"object": "node", "question_id": qst(question_id), **node} for node in body["trace"]
    ]  # fmt: skip
    assert root["events"][0]["event_id"] == public_ids.encode("evt", EVENT)


def test_an_open_question_has_an_outcome_to_come_and_no_node(acme: Any) -> None:
    question_id, _ = ask(acme)

    (outcome,) = trace_of(acme, question_id)

    assert (outcome["status"], outcome["finish_reason"], outcome["decided_by"]) == ("queued", None, "")


def test_a_trace_that_nobody_may_see_is_one_that_never_was(acme: Any, globex: Any) -> None:
    theirs, video_id = ask(globex)
    finish(globex, theirs, video_id)

    replies = [acme.client.get(f"/v1/questions/{qst(id)}/trace") for id in (theirs, uuid7())]

    assert [reply.status_code for reply in replies] == [404, 404]
    bodies = [{**reply.json(), "request_id": "", "instance": ""} for reply in replies]
    assert bodies[0] == bodies[1]


def test_a_trace_without_an_answer_has_none_of_the_words_of_models(acme: Any) -> None:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id, text="", choice=None, finish_reason="error", citations=())

    _, root, _ = trace_of(acme, question_id)

    assert (root["answer"], root["candidates"][0]["answer"], root["candidates"][0]["reasoning"]) == (None, "", "")
    assert root["candidates"][0]["score"] == 0.7


def test_the_evaluation_reads_an_answer_of_the_service_from_body_and_trace(acme: Any) -> None:
    question_id, video_id = ask(acme, choices=["a blue car", "a red car"])
    finish(acme, question_id, video_id, signals={"head": "votes"})
    body = acme.client.get(f"/v1/questions/{qst(question_id)}").json()

    answer = service_answer(body, trace_of(acme, question_id))

    assert (answer.text, answer.choice, answer.finish_reason) == ("a red car", 1, "answered")
    assert (answer.decided, answer.head) == ("single call", "votes"), "one candidate has an answer"
    assert answer.decided != TREE_VOTE
    assert (answer.calls, answer.prompt_tokens, str(answer.cost)) == (2, 900, "0.02")
    assert [(cited.start_s, cited.end_s, cited.status) for cited in answer.citations] == [(3.0, 9.0, "supported")]


def test_the_command_exports_the_tenants_questions_that_are_over(acme: Any, globex: Any, tmp_path: Path) -> None:
    made = [ask(acme) for _ in range(3)]
    for question_id, video_id in made[:2]:
        finish(acme, question_id, video_id)
    judged(acme, made[1][0], "right")
    other, video_id = ask(globex)
    finish(globex, other, video_id)

    lines = exported(acme.slug, to=tmp_path / "all.ndjson")

    assert [line["question_id"] for line in lines if line["object"] == "outcome"] == [qst(made[0][0]), qst(made[1][0])]
    assert lines[:3] == trace_of(acme, made[0][0])
    right = exported(acme.slug, "--feedback=right", to=tmp_path / "right.ndjson")
    assert {line["question_id"] for line in right} == {qst(made[1][0])}
    today = datetime.now(UTC).date()
    assert exported(acme.slug, f"--since={today}", to=tmp_path / "today.ndjson") == lines
    assert exported(acme.slug, "--since=2999-01-01", to=tmp_path / "none.ndjson") == []
    with acme.scope():
        recorded = AuditEvent.objects.filter(action="traces.exported").order_by("id")
        assert [event.details["questions"] for event in recorded] == [2, 1, 2, 0]


def test_the_command_overwrites_nothing_and_names_what_is_wrong(acme: Any, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    kept.write_text("kept")
    with pytest.raises(CommandError, match="Name a new file"):
        exported(acme.slug, to=kept)
    for day in ("yesterday", "2026-13-01"):
        with pytest.raises(CommandError, match="--since"):
            exported(acme.slug, f"--since={day}", to=tmp_path / "new.ndjson")
    with pytest.raises(CommandError, match="no tenant"):
        exported("nobody", to=tmp_path / "new.ndjson")
    assert (kept.read_text(), (tmp_path / "new.ndjson").exists()) == ("kept", False)
