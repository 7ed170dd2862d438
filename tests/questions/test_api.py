"""/v1/questions over HTTP: asking, waiting, reading, streaming, canceling."""

from __future__ import annotations

import json
import threading
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from uuid6 import uuid7

from backend.api import public_ids
from backend.api.server.awaiting import PollClock, follow
from backend.library.models import Video
from backend.playback.services.signed_urls import playlist_url
from backend.playback.services.tokens import holder_of, token_of
from backend.questions import stream, waiting
from backend.questions.models import Question
from backend.questions.services import questions
from backend.tenancy.callers import Caller, acting_for
from gpu_workers.engine.answering.contract import Effort, NodeRecord
from gpu_workers.engine.answering.methods import METHODS
from tests.factories import make_video
from tests.questions.world import EVENT, answer, ask, finish


def qst(value: Any) -> str:
    return public_ids.encode("qst", value)


@pytest.fixture
def video(acme: Any) -> Any:
    with acme.scope():
        return make_video(indexed_until_ms=30_000).id


def post(cast: Any, video_id: Any, **values: Any) -> Any:
    headers = values.pop("headers", {})
    body = {"question": "Which car?", "video_ids": [public_ids.encode("vid", video_id)], **values}
    return cast.client.post("/v1/questions", body, format="json", headers=headers)


@pytest.mark.parametrize(
    ("method", "effort"),
    [*((method, "medium") for method in METHODS), *(("ava", effort) for effort in get_args(Effort))],
)
def test_every_method_and_effort_of_the_engine_can_be_asked_for(
    acme: Any, video: Any, method: str, effort: str
) -> None:
    body = post(acme, video, method=method, effort=effort).json()

    assert (body["method"], body["effort"]) == (method, effort)


def test_asking_answers_202_with_the_place_to_look(acme: Any, video: Any) -> None:
    reply = post(acme, video, choices=["red", "blue"], metadata={"team": "a"}, budget={"max_tokens": 5000})

    body = reply.json()
    assert reply.status_code == 202
    assert reply.headers["Location"] == f"/v1/questions/{body['id']}"
    assert (body["status"], body["metadata"], body["budget"]) == ("queued", {"team": "a"}, {"max_tokens": 5000})
    assert body["charge"] == {"amount": "0.02", "currency": "USD", "price_version": 1}
    assert acme.client.get(reply.headers["Location"]).json()["id"] == body["id"]


def test_an_answered_question_shows_answer_evidence_cost_and_timings(acme: Any) -> None:
    question_id, video_id = ask(acme, choices=["blue", "red"])
    finish(acme, question_id, video_id)

    with acme.scope():
        Video.objects.filter(id=video_id).update(title="Gate")
    body = acme.client.get(f"/v1/questions/{qst(question_id)}").json()

    assert (body["status"], body["answer"], body["choice"], body["finish_reason"]) == (
        "succeeded", "a red car", 1, "answered",
    )  # fmt: skip
    with acting_for(Caller(api_key_id=acme.key_id)):
        played = playlist_url(video_id, token_of(acme.tenant_id, video_id))
    assert body["evidence"] == [
        {
            "video_id": public_ids.encode("vid", video_id),
            "video_title": "Gate",
            "event_id": public_ids.encode("evt", EVENT),
            "start_ms": 3_000,
            "end_ms": 9_000,
            "start_at": None,
            "end_at": None,
            "frame": {"ms": 4_000, "thumbnail_url": None},
            "playback": f"{played}#t=3,9",
            "clip": f"{played}&start_ms=3000&end_ms=9000",
            "quote": "A red car parks.",
            "status": "supported",
            "similarity": None,
            "confidence": None,
        }
    ]
    assert body["charge"] == {"amount": "0.02", "currency": "USD", "price_version": 1}
    assert "cost" not in body
    assert body["timings"]["llm_ms"] == 1_200
    assert "trace" not in body


def test_the_trace_is_shown_when_asked_for(acme: Any) -> None:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)

    trace = acme.client.get(f"/v1/questions/{qst(question_id)}?include=trace").json()["trace"]

    assert [(node["path"], node["action"], len(node["candidates"])) for node in trace] == [
        ("", "SA", 2),
        ("RQ", "RQ", 0),
    ]
    assert trace[0]["events"] == [
        {"event_id": public_ids.encode("evt", EVENT), "rank": 1, "score": 0.9, "views": ["events", "frames"]}
    ]
    assert trace[0]["candidates"][0] == {
        "answer": "a red car", "choice": 1, "reasoning": "E1 shows it.", "agreement": 0.5, "coherence": 0.8,
        "score": 0.7,
    }  # fmt: skip
    assert {name: trace[1][name] for name in trace[1] if name != "id"} == {
        "path": "RQ", "depth": 1, "action": "RQ", "answer": None, "score": 0.0, "sub_queries": ["car colour"],
        "events": [], "candidates": [], "seen": [], "note": "", "reused_from": None, "error_code": None,
        "detail": None, "usage": {"prompt_tokens": 0, "completion_tokens": 0, "frames_used": 0, "frames_available": 0},
        "started_ms": 1_200, "wall_ms": 0,
    }  # fmt: skip


def test_an_answer_remembers_how_it_was_made_and_a_step_its_call(acme: Any) -> None:
    """A tool's name of 32 characters, a path of 200 and a long observation: none of them loses the answer."""
    question_id, video_id = ask(acme)
    call = {
        "tool": "multi_hop_query_generation", "arguments": {"top_k": 4, "ranges": [{"start_ms": 0, "end_ms": 9}]},
        "observation": "x" * 5_000, "thought": "Search first.", "forced": "last_step", "error": "nothing_found",
    }  # fmt: skip
    path = "/".join(["S01"] * 50)
    nodes = (NodeRecord(path, 50, "a" * 32, reused_from=path, detail=call), NodeRecord("", 0, "root"))
    made: dict[str, Any] = {
        "method_version": "7", "prompts": "0123456789abcdef", "settings": {"effort": "low", "tree": {"max_depth": 2}},
        "signals": {"head": "votes", "s": 0.5}, "degraded": ("no_speech", "no_summary"),
    }  # fmt: skip
    finish(acme, question_id, video_id, nodes=nodes, **made)

    body = acme.client.get(f"/v1/questions/{qst(question_id)}?include=trace").json()
    assert (body["method_version"], body["prompts"]) == ("7", "0123456789abcdef")
    assert body["degraded"] == ["no_speech", "no_summary"]
    step, root = body["trace"]
    assert (len(path), step["path"], step["action"], root["detail"]) == (199, path, "a" * 32, None)
    assert step["detail"] == {**call, "observation": "x" * 4_000}
    with acme.scope():
        row = Question.objects.get()
        assert (row.settings, row.signals) == (made["settings"], made["signals"])


def test_waiting_ends_with_the_answer(acme: Any, video: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer_meanwhile(_: float) -> None:
        with acme.scope():
            question = Question.objects.get()
        finish(acme, question.id, video)

    monkeypatch.setattr(waiting, "PollClock", lambda: PollClock(sleep=answer_meanwhile))
    reply = post(acme, video, headers={"Prefer": "respond-async, wait=30"})

    assert reply.status_code == 200
    assert reply.json()["answer"] == "a red car"
    assert reply.headers["Preference-Applied"] == "wait=30"


def test_waiting_in_vain_answers_202(acme: Any, video: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(0, 1_000, 10))
    monkeypatch.setattr(waiting, "PollClock", lambda: PollClock(now=lambda: float(next(moments)), sleep=lambda _: None))
    reply = post(acme, video, headers={"Prefer": "wait=9999"})

    assert (reply.status_code, reply.json()["status"]) == (202, "queued")
    assert reply.headers["Preference-Applied"] == "wait=60"


def test_the_same_key_asks_once(acme: Any, video: Any) -> None:
    first, second = (post(acme, video, headers={"Idempotency-Key": "k1"}) for _ in range(2))
    other = post(acme, video, question="Another?", headers={"Idempotency-Key": "k1"})

    assert first.json()["id"] == second.json()["id"]
    assert other.status_code == 422
    with acme.scope():
        assert Question.objects.count() == 1


def test_two_requests_at_once_with_one_key_ask_once(acme: Any, video: Any) -> None:
    statuses: list[int] = []

    def send() -> None:
        statuses.append(post(acme, video, headers={"Idempotency-Key": "k1"}).status_code)
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(statuses) <= {202, 409}
    with acme.scope():
        assert Question.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "pointer", "code"),
    [
        ({"question": ""}, "/question", "blank"),
        ({"choices": ["only one"]}, "/choices", "invalid_choices"),
        ({"method": "guess"}, "/method", "invalid_choice"),
        ({"collection_id": "col_1"}, "/collection_id", "invalid_id"),
        ({"video_ids": ["vid_nonsense"]}, "/video_ids/0", "invalid_id"),
        ({"start_ms": 10, "end_ms": 5}, "/end_ms", "invalid_span"),
        ({"budget": {"max_calls": 0}}, "/budget/max_calls", "min_value"),
        ({"colour": "red"}, "/colour", "unknown_field"),
    ],
)
def test_a_refused_question_says_where(acme: Any, video: Any, values: Any, pointer: str, code: str) -> None:
    reply = post(acme, video, **values)

    assert reply.status_code == 400
    assert (pointer, code) in [(error["pointer"], error["code"]) for error in reply.json()["errors"]]
    with acme.scope():
        assert not Question.objects.exists()


def test_a_foreign_question_is_answered_like_one_that_never_was(acme: Any, globex: Any) -> None:
    theirs, _ = ask(globex)
    paths = (("get", ""), ("post", "/cancel"), ("get", "/stream"), ("get", "?include=trace"), ("get", "/trace"))
    for method, suffix in paths:
        replies = [getattr(acme.client, method)(f"/v1/questions/{qst(id)}{suffix}") for id in (theirs, uuid7())]
        bodies = [{**reply.json(), "request_id": "", "instance": ""} for reply in replies if reply.status_code == 404]
        assert len(bodies) == 2
        assert bodies[0] == bodies[1]
    with globex.scope():
        assert Question.objects.get().status == "queued"


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ("status=eaten", "/status", "invalid_choice"),
        ("video_id=vid_nonsense", "/video_id", "invalid_id"),
        ("session_id=nonsense", "/session_id", "invalid_id"),
        ("batch=bat_1", "/batch", "unknown_field"),
    ],
)
def test_a_list_says_what_is_wrong_with_its_query(acme: Any, query: str, pointer: str, code: str) -> None:
    reply = acme.client.get(f"/v1/questions?{query}")

    assert reply.status_code == 400
    assert [(error["pointer"], error["code"]) for error in reply.json()["errors"]] == [(pointer, code)]


def test_a_page_of_questions_takes_as_many_statements_as_one(acme: Any) -> None:
    def statements(count: int) -> int:
        for _ in range(count):
            question_id, video_id = ask(acme)
            finish(acme, question_id, video_id)
            ask(acme)
        with CaptureQueriesContext(connection) as captured:
            assert acme.client.get("/v1/questions?limit=100").status_code == 200
        return len([row for row in captured if "questions_" in row["sql"] or "jobs_" in row["sql"]])

    # Questions, their scopes, evidence, jobs and feedback.
    assert statements(1) == statements(3) == 5


def test_the_list_shows_own_questions_newest_first(acme: Any, globex: Any) -> None:
    mine = [ask(acme, external_id=f"x{n}")[0] for n in range(3)]
    ask(globex)

    listed = acme.client.get("/v1/questions?limit=2").json()
    assert [row["id"] for row in listed["data"]] == [qst(mine[2]), qst(mine[1])]
    rest = acme.client.get(f"/v1/questions?cursor={listed['next_cursor']}").json()
    assert [row["id"] for row in rest["data"]] == [qst(mine[0])]
    one = acme.client.get("/v1/questions?external_id=x1&status=queued").json()
    assert [row["id"] for row in one["data"]] == [qst(mine[1])]


def test_canceling_twice_is_fine_and_canceling_the_answered_is_not(acme: Any) -> None:
    open_one, _ = ask(acme)
    answered, video_id = ask(acme)
    finish(acme, answered, video_id)

    for _ in range(2):
        reply = acme.client.post(f"/v1/questions/{qst(open_one)}/cancel")
        assert (reply.status_code, reply.json()["status"]) == (200, "canceled")
    late = acme.client.post(f"/v1/questions/{qst(answered)}/cancel")
    assert (late.status_code, late.json()["code"]) == (409, "question_over")


def streamed(chunks: Any) -> list[tuple[str, Any]]:
    """(event, data) of server-sent events; a comment is ("", its text)."""
    found: list[tuple[str, Any]] = []
    for block in b"".join(chunks).decode().strip().split("\n\n"):
        if block.startswith(":"):
            found.append(("", block[1:].strip()))
            continue
        event, data = [line for line in block.split("\n") if not line.startswith("id: ")]
        found.append((event.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_stream_shows_progress_then_nodes_then_the_answer_and_ends(acme: Any) -> None:
    question_id, video_id = ask(acme)

    def begin() -> None:
        with acme.scope():
            questions.begin(question_id=question_id)

    def search() -> None:
        with acme.scope():
            questions.set_progress(question_id=question_id, stage="search")

    steps = iter([begin, lambda: None, search, lambda: finish(acme, question_id, video_id)])
    clock = PollClock(sleep=lambda _: next(steps)() and None)
    with acting_for(caller := Caller(api_key_id=acme.key_id)):
        events = stream.QuestionEvents(tenant_id=acme.tenant_id, question_id=question_id)
    received = streamed(follow(events, clock))

    assert [name for name, _ in received] == ["progress", "progress", "progress", "node", "node", "answer"]
    assert [data["status"] for name, data in received[:3]] == ["queued", "running", "running"]
    assert received[2][1]["stage"] == "search"
    assert [data["path"] for name, data in received if name == "node"] == ["", "RQ"]
    assert received[-1][1]["answer"] == "a red car"
    clip = urlsplit(received[-1][1]["evidence"][0]["clip"])
    assert holder_of(parse_qs(clip.query)["token"][0]) == caller, "looks come after the request that they are for"


def test_nodes_arrive_while_the_search_runs_and_a_client_goes_on_after_the_last_one(acme: Any) -> None:
    question_id, video_id = ask(acme)
    nodes = answer(video_id).nodes
    with acme.scope():
        running = questions.begin(question_id=question_id)
    assert running is not None
    events = stream.QuestionEvents(tenant_id=acme.tenant_id, question_id=question_id)
    assert b"event: node" not in events.look()
    with acme.scope():
        questions.add_nodes(question=running, nodes=nodes[:1])

    first = events.look()
    again = events.look()
    with acme.scope():
        questions.store_answer(question=running, answer=answer(video_id))
    last = events.look()

    assert [name for name, _ in streamed([first])] == ["node"]
    assert first.startswith(b"id: 0:\n")
    assert again == b""
    assert [data.get("path") for name, data in streamed([last]) if name == "node"] == ["RQ"]
    qst = public_ids.encode("qst", question_id)
    for after, paths in (("0:", ["RQ"]), ("1:RQ", []), ("1:F", ["", "RQ"]), ("7:", ["", "RQ"]), ("x", ["", "RQ"])):
        reply = acme.client.get(f"/v1/questions/{qst}/stream", headers={"Last-Event-ID": after})
        found = streamed(reply.streaming_content)
        assert [data["path"] for name, data in found if name == "node"] == paths, after
        assert found[-1][0] == "answer"


def test_a_quiet_stream_is_kept_alive_and_ends_in_time(acme: Any) -> None:
    question_id, _ = ask(acme)
    moments = iter(range(0, 100_000, 8))
    clock = PollClock(now=lambda: float(next(moments)), sleep=lambda _: None)
    events = stream.QuestionEvents(tenant_id=acme.tenant_id, question_id=question_id, now=clock.now)
    received = streamed(follow(events, clock))

    assert {name for name, _ in received[1:]} == {"progress"}
    assert len(received) > 10, "it says again what is worked on, in words and not in a comment"
    assert {data["status"] for _, data in received} == {"queued"}


def test_the_stream_of_an_answered_question_over_http(acme: Any) -> None:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)

    reply = acme.client.get(f"/v1/questions/{qst(question_id)}/stream", headers={"Accept": "text/event-stream"})

    assert reply.headers["Content-Type"] == "text/event-stream"
    assert [name for name, _ in streamed(reply.streaming_content)] == ["node", "node", "answer"]
