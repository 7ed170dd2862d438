"""/v1/search without a worker: asking, waiting, refusing, storing, forgetting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from uuid6 import uuid7

from backend.api import public_ids
from backend.api.server.awaiting import PollClock
from backend.billing import queries as ledger
from backend.billing.models import UsageEvent
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed
from backend.library.models import IndexVersion, Video, VideoStatus
from backend.questions import waiting
from backend.questions.models import QuestionStatus, Search, SearchVideo
from backend.questions.queries import scopes
from backend.questions.queries.searches import FoundEvent, FoundObject, Inside, Match, Reason, ScoreReport
from backend.questions.services import searches
from backend.questions.services.searches import DEFAULT_MODE
from gpu_workers.engine.models.roles import ModelCall
from gpu_workers.engine.retrieval.find_events import weights_in
from tests.factories import make_video
from tests.isolation.test_catalog import superuser
from workers.deletion.retire_version import require_unused

CALLS = (ModelCall("embedding", "minilm", wall_ms=30, prompt_tokens=8, items=2), ModelCall("embedding", "clip", 20))
EVENT = uuid7()
SCORES = ScoreReport(calibrated=True, min_score=0.5)
DEFAULT_WEIGHTS = weights_in(DEFAULT_MODE)


def vid(value: Any) -> str:
    return public_ids.encode("vid", value)


@pytest.fixture
def video(acme: Any) -> UUID:
    with acme.scope():
        return UUID(str(make_video(indexed_until_ms=30_000).id))


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes at each look, so that nobody waits for a worker that there is not."""
    moments = iter(range(0, 10_000_000, 61))
    monkeypatch.setattr(waiting, "PollClock", lambda: PollClock(now=lambda: float(next(moments)), sleep=lambda _: None))


def post(cast: Any, video_id: Any, **values: Any) -> Any:
    headers = values.pop("headers", {"Prefer": "respond-async"})
    body = {"query": "a red car", "video_ids": [vid(video_id)], **values}
    return cast.client.post("/v1/search", body, format="json", headers=headers)


def event(video_id: UUID, **values: Any) -> FoundEvent:
    fields: dict[str, Any] = {
        "video_id": video_id, "event_id": EVENT, "n": 1, "start_ms": 3_000, "end_ms": 9_000,
        "summary": "A red car parks.",
        "score": 0.75, "frame_ms": 4_000, "frame_key": "t/frames/4000.jpg",
        "reasons": (Reason("frame", 0.5, "at 4000 ms"), Reason("event", 0.25, "")),
    }  # fmt: skip
    return FoundEvent(**{**fields, **values})


def finish(cast: Any, found: Callable[[Search], list[Any]], scores: ScoreReport = SCORES) -> Search | None:
    """What the worker does with the only open search: begin, then store."""
    with cast.scope():
        begun = searches.begin(search_id=Search.objects.get(status="queued").id)
        assert begun is not None
    with cast.scope():
        return searches.store_results(
            search_id=begun.id, found=found(begun), calls=CALLS, began_at=timezone.now(), retrieval_ms=50, scores=scores
        )


def test_a_search_is_a_job_of_the_query_workers_and_no_charge(acme: Any, video: UUID) -> None:
    reply = post(acme, video, start_ms=1_000, views={"frame": 3, "graph": 0}, fusion="rrf", limit=5)

    body = reply.json()
    assert reply.status_code == 202
    assert reply.headers["Location"] == f"/v1/searches/{body['id']}"
    assert (body["status"], body["query"], body["results"], body["result_count"]) == ("queued", "a red car", [], 0)
    assert (body["video_ids"], body["start_ms"], body["end_ms"]) == ([vid(video)], 1_000, None)
    assert body["views"] == {**DEFAULT_WEIGHTS, "frame": 3.0, "graph": 0.0}
    assert (body["mode"], body["fusion"], body["limit"]) == ("hybrid", "rrf", 5)
    with acme.scope():
        job = Job.objects.get()
        assert (job.kind, job.queue, job.state) == (JobKind.SEARCH_EVENTS, "gpu.query", JobState.QUEUED)
        assert job.subject_id == Search.objects.get().id
        assert not UsageEvent.objects.exists()


@pytest.mark.parametrize(
    ("mode", "views", "fusion"),
    [
        (
            "semantic",
            {"event": 1, "entity": 0.1, "frame": 1, "transcript": 0.5, "topic": 0.25, "graph": 0.1},
            "contrast",
        ),
        ("words", {"words": 1, "name": 0.5, "title": 0.25, "object": 0.25}, "rrf"),
        (
            "hybrid",
            {"event": 1, "frame": 1, "transcript": 0.5, "words": 0.3, "name": 0.1, "title": 0.05, "object": 0.05},
            "sum",
        ),
    ],
)
def test_a_mode_is_a_set_of_views_and_a_fusion_that_a_request_may_change(
    acme: Any, video: UUID, mode: str, views: dict[str, float], fusion: str
) -> None:
    usual = post(acme, video, mode=mode).json()
    changed = post(acme, video, mode=mode, views={"graph": 0.5, "words": 2}, fusion="borda").json()

    assert usual["views"] == {**dict.fromkeys(DEFAULT_WEIGHTS, 0), **views}
    assert usual["fusion"] == fusion
    assert changed["views"] == {**usual["views"], "graph": 0.5, "words": 2.0}
    assert (changed["mode"], changed["fusion"]) == (mode, "borda")


def test_results_carry_event_span_frame_and_why(acme: Any, video: UUID) -> None:
    asked = post(acme, video)
    car, line = uuid7(), uuid7()
    why = (
        Reason("object", 0.5, "red car", car),
        Reason("transcript", 0.25, "A <b>red</b> one", line),
        Reason("event", 0.2, "", EVENT),
    )
    shown = (
        Match("object", "red car", ((0, 3), (4, 7)), item=car),
        Match("speech", "A <b>red</b> one", ((5, 8),), 3_500, 4_000),
    )
    frame = uuid7()
    inside = (Inside("frame", 4_000, 5_000, 0.75, item=frame), Inside("speech", 6_000, 7_000, 0.6, "A red one"))
    found = event(video, reasons=why, highlights=shown, moments=inside)
    stored = finish(acme, lambda _: [found, event(video, event_id=uuid7(), frame_ms=None, frame_key="")])
    assert stored is not None
    with acme.scope():
        Video.objects.filter(id=video).update(title="Gate <1>")

    body = acme.client.get(asked.headers["Location"]).json()

    assert (body["status"], body["error"], body["result_count"]) == ("succeeded", None, 2)
    first, second = body["results"]
    url = first["frame"].pop("thumbnail_url")
    assert "t/frames/4000.jpg" in url
    assert "Signature" in url
    assert first == {
        "event_id": public_ids.encode("evt", EVENT), "video_id": vid(video), "video_title": "Gate <1>",
        "start_ms": 3_000, "end_ms": 9_000, "start_at": None, "end_at": None,
        "summary": "A red car parks.", "score": 0.75, "frame": {"ms": 4_000},
        "reasons": [
            {"view": "object", "similarity": 0.5, "text": "red car", "item_id": public_ids.encode("obj", car)},
            {"view": "transcript", "similarity": 0.25, "text": "A <b>red</b> one", "item_id": None},
            {"view": "event", "similarity": 0.2, "text": "", "item_id": public_ids.encode("evt", EVENT)},
        ],
        "highlights": [
            {"kind": "object", "text": "red car", "ranges": [{"start": 0, "end": 3}, {"start": 4, "end": 7}],
             "start_ms": None, "end_ms": None, "item_id": public_ids.encode("obj", car)},
            # Plain text with ranges: nothing of it is markup.
            {"kind": "speech", "text": "A <b>red</b> one", "ranges": [{"start": 5, "end": 8}],
             "start_ms": 3_500, "end_ms": 4_000, "item_id": None},
        ],
        "moments": [
            {"view": "frame", "start_ms": 4_000, "end_ms": 5_000, "start_at": None, "end_at": None, "score": 0.75,
             "text": "", "frame_id": public_ids.encode("frm", frame)},
            {"view": "speech", "start_ms": 6_000, "end_ms": 7_000, "start_at": None, "end_at": None, "score": 0.6,
             "text": "A red one", "frame_id": None},
        ],
    }  # fmt: skip
    assert (body["calibrated"], body["min_score"], body["empty_reason"]) == (True, 0.5, None)
    assert second["frame"] is None
    assert second["highlights"] == []
    assert body["usage"] == {
        "calls": 2, "prompt_tokens": 8, "cached_tokens": 0, "completion_tokens": 0, "device_seconds": "0.05",
    }  # fmt: skip
    assert body["charge"] == {"amount": "0.001", "currency": "USD", "price_version": 1}
    assert body["timings"]["retrieval_ms"] == 50
    assert set(body["timings"]) == {"queue_ms", "retrieval_ms", "total_ms"}
    with acme.scope():
        used = UsageEvent.objects.filter(source_type="search", source_id=str(stored.id))
        assert {(row.meter, row.model, row.api_key_id) for row in used} == {
            ("input_tokens", "minilm", acme.key_id),
            ("device_seconds", "minilm", acme.key_id),
            ("device_seconds", "clip", acme.key_id),
            ("searches", "", acme.key_id),
        }
        assert ledger.mismatches() == []


def thing(video_id: UUID, **values: Any) -> FoundObject:
    fields: dict[str, Any] = {
        "video_id": video_id, "object_id": EVENT, "n": 2, "category": "person", "colour": "dark", "start_ms": 3_000,
        "end_ms": 9_000, "score": 0.1234, "frame_ms": 4_000, "frame_key": "t/frames/4000.jpg",
    }  # fmt: skip
    return FoundObject(**{**fields, **values})


OBJECT_SCORES = ScoreReport(calibrated=False, min_score=0.0, compared_by="pictures")


def test_a_search_for_objects_carries_video_span_category_and_frame(acme: Any, video: UUID) -> None:
    asked = post(acme, video, query="a man with a blue backpack", mode="objects", limit=5)
    opened = asked.json()
    assert (opened["mode"], opened["views"], opened["fusion"], opened["compared_by"]) == ("objects", {}, None, None)
    assert (opened["objects"], opened["results"]) == ([], [])
    other = uuid7()
    finish(acme, lambda _: [thing(video), thing(video, object_id=other, frame_ms=None, frame_key="")], OBJECT_SCORES)

    body = acme.client.get(asked.headers["Location"]).json()

    assert (body["status"], body["result_count"], body["results"], body["moments"]) == ("succeeded", 2, [], [])
    assert (body["compared_by"], body["calibrated"], body["min_score"]) == ("pictures", False, 0.0)
    assert body["empty_reason"] is None
    first, second = body["objects"]
    assert "t/frames/4000.jpg" in first["frame"].pop("thumbnail_url")
    assert first == {
        "object_id": public_ids.encode("obj", EVENT), "video_id": vid(video), "video_title": "", "n": 2,
        "category": "person", "colour": "dark", "start_ms": 3_000, "end_ms": 9_000, "start_at": None, "end_at": None,
        "score": 0.1234, "frame": {"ms": 4_000},
    }  # fmt: skip
    assert (second["object_id"], second["frame"]) == (public_ids.encode("obj", other), None)


def test_objects_of_a_deleted_video_are_forgotten(acme: Any, video: UUID) -> None:
    asked = post(acme, video, mode="objects")
    finish(acme, lambda _: [thing(video), thing(uuid7())], OBJECT_SCORES)
    kept = acme.client.get(asked.headers["Location"]).json()
    assert [found["video_id"] for found in kept["objects"]] == [vid(video)], "the other video is not in the scope"
    with acme.scope():
        searches.forget_video(video)

    body = acme.client.get(asked.headers["Location"]).json()

    assert (body["objects"], body["empty_reason"]["code"]) == ([], "results_deleted")


def test_a_search_that_found_no_object_says_why(acme: Any, video: UUID) -> None:
    asked = post(acme, video, mode="objects", min_score=0.5)
    finish(acme, lambda _: [], ScoreReport(False, 0.5, left_out=2, best_left_out=0.2, compared_by="words"))
    reason = acme.client.get(asked.headers["Location"]).json()["empty_reason"]
    assert (reason["code"], reason["best_score"]) == ("below_min_score", 0.2)
    assert reason["message"].startswith("2 objects were found, with scores below 0.5")

    asked = post(acme, video, mode="objects")
    finish(acme, lambda _: [], ScoreReport(False, 0.0, compared_by="words"))
    reason = acme.client.get(asked.headers["Location"]).json()["empty_reason"]
    assert (reason["code"], reason["message"]) == (
        "no_match", "No person, animal, vehicle or thing was tracked in the scope.",
    )  # fmt: skip


def test_it_waits_by_default_and_answers_200(acme: Any, video: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    def find_meanwhile(seconds: float) -> None:
        slept.append(seconds)
        finish(acme, lambda _: [event(video)])

    monkeypatch.setattr(waiting, "PollClock", lambda: PollClock(now=lambda: 0.0, sleep=find_meanwhile))
    reply = post(acme, video, headers={})

    assert (reply.status_code, reply.headers["Preference-Applied"]) == (200, "wait=10")
    assert [found["event_id"] for found in reply.json()["results"]] == [public_ids.encode("evt", EVENT)]
    assert len(slept) == 1


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [("wait=5", "wait=5"), ("wait=900", "wait=60"), ("respond-async, wait=2", "wait=2"), ("respond-async", None)],
)
def test_a_search_that_takes_longer_is_looked_up_later(
    acme: Any, video: UUID, no_wait: None, prefer: str, applied: str | None
) -> None:
    reply = post(acme, video, headers={"Prefer": prefer})

    assert (reply.status_code, reply.json()["status"]) == (202, "queued")
    assert reply.headers.get("Preference-Applied") == applied
    assert reply.headers["Location"] == f"/v1/searches/{reply.json()['id']}"


def test_the_same_key_searches_once_and_shows_what_was_found(acme: Any, video: UUID, no_wait: None) -> None:
    headers = {"Idempotency-Key": "k"}
    first = post(acme, video, headers=headers)
    finish(acme, lambda _: [event(video)])
    second = post(acme, video, headers=headers)
    other = post(acme, video, query="another", headers=headers)

    assert (first.status_code, second.status_code, other.status_code) == (202, 200, 422)
    assert first.json()["id"] == second.json()["id"]
    assert second.json()["result_count"] == 1
    with acme.scope():
        assert Search.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "pointer", "code"),
    [
        ({"query": ""}, "/query", "blank"),
        ({"query": "   "}, "/query", "blank"),
        ({"query": '"" «»'}, "/query", "empty_query"),
        ({"query": "a\0b"}, "/query", "null_characters_not_allowed"),
        ({"query": "x" * 4_001}, "/query", "max_length"),
        ({"mode": "psychic"}, "/mode", "invalid_choice"),
        ({"video_ids": ["vid_nonsense"]}, "/video_ids/0", "invalid_id"),
        ({"video_ids": [vid(uuid7())]}, "/video_ids", "unknown_video"),
        ({"collection_id": public_ids.encode("col", uuid7())}, "", "scope_required"),
        ({"start_ms": 10, "end_ms": 5}, "/end_ms", "invalid_span"),
        ({"min_score": -0.1}, "/min_score", "min_value"),
        ({"min_score": 1.1}, "/min_score", "max_value"),
        ({"min_score": "NaN"}, "/min_score", "invalid"),
        ({"limit": 0}, "/limit", "min_value"),
        ({"limit": 101}, "/limit", "max_value"),
        ({"views": {"smell": 1}}, "/views/smell", "unknown_view"),
        ({"views": {"event": 11}}, "/views/event", "max_value"),
        ({"views": {"event": -1}}, "/views/event", "min_value"),
        ({"views": {"event": "NaN"}}, "/views/event", "invalid"),
        ({"views": dict.fromkeys(DEFAULT_WEIGHTS, 0)}, "/views", "no_views"),
        ({"views": {**dict.fromkeys(DEFAULT_WEIGHTS, 0), "graph": 1}}, "/views", "no_views"),
        ({"fusion": "product"}, "/fusion", "invalid_choice"),
        ({"mode": "objects", "views": {"frame": 1}}, "/views", "views_not_applicable"),
        ({"mode": "objects", "fusion": "sum"}, "/fusion", "views_not_applicable"),
        ({"rewriting": True}, "/rewriting", "unknown_field"),
    ],
)
def test_a_refused_search_says_where(acme: Any, video: UUID, values: Any, pointer: str, code: str) -> None:
    reply = post(acme, video, **values)

    assert reply.status_code == 400
    assert [(error["pointer"], error["code"]) for error in reply.json()["errors"]] == [(pointer, code)]
    with acme.scope():
        assert not Search.objects.exists()
        assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("scores", "code", "best"),
    [
        (ScoreReport(True, 0.5, left_out=1, best_left_out=0.31), "below_min_score", 0.31),
        (ScoreReport(False, 0.4, left_out=7, best_left_out=0.31), "below_min_score", 0.31),
        (ScoreReport(True, 0.5), "no_match", None),
        (ScoreReport(True, 0.5, readable=False), "nothing_indexed", None),
    ],
)
def test_an_empty_result_is_a_success_that_says_why(
    acme: Any, video: UUID, scores: ScoreReport, code: str, best: float | None
) -> None:
    asked = post(acme, video)
    assert (asked.json()["min_score"], asked.json()["calibrated"], asked.json()["empty_reason"]) == (None, None, None)
    finish(acme, lambda _: [], scores)

    reply = acme.client.get(asked.headers["Location"])
    body = reply.json()

    assert (reply.status_code, body["status"], body["results"], body["moments"]) == (200, "succeeded", [], [])
    assert (body["calibrated"], body["min_score"]) == (scores.calibrated, scores.min_score)
    assert (body["empty_reason"]["code"], body["empty_reason"]["best_score"]) == (code, best)
    assert body["empty_reason"]["message"].endswith(".")
    assert body["charge"]["amount"] == "0.001"


def test_results_of_a_deleted_video_leave_no_other_reason_behind(acme: Any, video: UUID) -> None:
    asked = post(acme, video)
    finish(acme, lambda _: [event(video)])
    with acme.scope():
        searches.forget_video(video)

    assert acme.client.get(asked.headers["Location"]).json()["empty_reason"]["code"] == "results_deleted"


@pytest.mark.parametrize("wished", [0, 0.25, 1])
def test_a_request_may_name_its_own_minimum_score(acme: Any, video: UUID, wished: float) -> None:
    assert post(acme, video, min_score=wished).json()["min_score"] == wished
    with acme.scope():
        assert Search.objects.get().settings["min_score"] == wished


def everything(cast: Any, **values: Any) -> Any:
    return cast.client.post("/v1/search", {"query": "a red car", **values}, headers={"Prefer": "respond-async"})


def test_without_a_scope_it_searches_every_indexed_video_of_the_tenant(acme: Any, globex: Any, video: UUID) -> None:
    with acme.scope():
        growing = make_video(indexed_until_ms=3_000).id
        make_video(indexed_until_ms=0)
        make_video(indexed_until_ms=9_000, status=VideoStatus.DELETING)
    with globex.scope():
        theirs = make_video(indexed_until_ms=30_000).id

    asked = everything(acme)

    assert (asked.status_code, set(asked.json()["video_ids"])) == (202, {vid(video), vid(growing)})
    assert everything(globex).json()["video_ids"] == [vid(theirs)]
    # Another tenant's video is answered like one that never existed, with and without others of the own.
    for ids in ([vid(theirs)], [vid(video), vid(theirs)], [vid(uuid7())]):
        refused = everything(acme, video_ids=ids)
        assert (refused.status_code, [error["code"] for error in refused.json()["errors"]]) == (400, ["unknown_video"])
    assert globex.client.get(f"/v1/searches/{asked.json()['id']}").status_code == 404


def test_a_tenant_without_an_indexed_video_has_nothing_to_search(acme: Any, globex: Any) -> None:
    with globex.scope():
        make_video(indexed_until_ms=30_000)
    with acme.scope():
        make_video(indexed_until_ms=0)

    reply = everything(acme)

    assert (reply.status_code, reply.json()["code"]) == (409, "nothing_indexed")
    with acme.scope():
        assert not Search.objects.exists()


def test_a_tenant_with_too_many_videos_names_a_scope(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with acme.scope():
        for _ in range(3):
            make_video(indexed_until_ms=3_000)
    monkeypatch.setattr(scopes, "MAX_VIDEOS", 2)

    reply = everything(acme)

    assert (reply.status_code, [error["code"] for error in reply.json()["errors"]]) == (400, ["too_many_videos"])


def test_half_a_character_is_refused(acme: Any, video: UUID) -> None:
    body = f'{{"query": "a \\ud800 b", "video_ids": ["{vid(video)}"]}}'
    reply = acme.client.generic("POST", "/v1/search", body, content_type="application/json")

    assert reply.status_code == 400
    assert [error["code"] for error in reply.json()["errors"]] == ["surrogate_characters_not_allowed"]


def test_where_nothing_could_be_indexed_there_is_nothing_to_search(acme: Any) -> None:
    with acme.scope():
        failed = make_video(status=VideoStatus.FAILED, indexed_until_ms=0).id
    reply = post(acme, failed)

    assert (reply.status_code, reply.json()["code"]) == (409, "nothing_indexed")


def test_beginning_pins_what_is_read_and_nothing_of_a_video_that_goes(acme: Any, video: UUID) -> None:
    with acme.scope():
        going = make_video(indexed_until_ms=30_000).id
    post(acme, video, video_ids=[vid(video), vid(going)])
    with acme.scope():
        Video.objects.filter(id=going).update(status=VideoStatus.DELETING)
        search_id = Search.objects.get().id
        begun = searches.begin(search_id=search_id)
        assert begun is not None
        assert begun.status == QuestionStatus.RUNNING
        rows = SearchVideo.objects.values_list("video_id", "index_version", "indexed_until_ms")
        assert set(rows) == {(video, 1, 30_000), (going, 1, 0)}
        searches.fail_search(search_id=search_id, code="model_unavailable", message="away")
        assert searches.begin(search_id=search_id) is None
    body = acme.client.get(f"/v1/searches/{public_ids.encode('sea', search_id)}").json()
    assert (body["status"], body["error"]) == ("failed", {"code": "model_unavailable", "message": "away"})


def test_what_is_found_of_a_video_that_went_meanwhile_is_not_stored(acme: Any, video: UUID) -> None:
    with acme.scope():
        going, gone = (make_video(indexed_until_ms=30_000).id for _ in range(2))
    post(acme, video, video_ids=[vid(video), vid(going), vid(gone)])

    def meanwhile(_: Search) -> list[FoundEvent]:
        Video.objects.filter(id=going).update(status=VideoStatus.DELETING)
        Video.objects.filter(id=gone).delete()
        return [event(going), event(video), event(gone)]

    stored = finish(acme, meanwhile)
    assert stored is not None
    assert [result["video_id"] for result in stored.results] == [str(video)]


def test_a_search_is_stored_once(acme: Any, video: UUID) -> None:
    post(acme, video)
    stored = finish(acme, lambda _: [event(video)])
    assert stored is not None
    with acme.scope():
        again = searches.store_results(
            search_id=stored.id, found=[], calls=CALLS, began_at=timezone.now(), retrieval_ms=1, scores=SCORES
        )
        assert again is None
        assert len(Search.objects.get().results) == 1
        assert ledger.mismatches() == []


def test_deleting_a_video_takes_its_results_and_leaves_the_others(acme: Any, video: UUID) -> None:
    with acme.scope():
        other = make_video(indexed_until_ms=30_000).id
    for scope in ([video, other], [other]):
        post(acme, video, video_ids=[vid(id) for id in scope])
        finish(acme, lambda _, scope=scope: [event(id, summary=f"secret of {id}") for id in scope])  # type: ignore[misc]
    with acme.scope():
        searches.forget_video(video)
        both, one = Search.objects.order_by("id")
        assert [result["video_id"] for result in both.results] == [str(other)]
        assert [result["video_id"] for result in one.results] == [str(other)]
        assert not Search.objects.filter(results__icontains=f"secret of {video}").exists()


def test_results_of_a_retired_version_lose_their_thumbnails_only(acme: Any, video: UUID) -> None:
    for version in (1, 2):
        with acme.scope():
            Video.objects.filter(id=video).update(active_index_version=version)
        post(acme, video)
        finish(acme, lambda _: [event(video)])
    with acme.scope():
        searches.forget_frames(video, 1)
    listed = acme.client.get("/v1/searches").json()["data"]
    new, old = (acme.client.get(f"/v1/searches/{row['id']}").json()["results"][0] for row in listed)

    assert (old["frame"], old["summary"]) == ({"ms": 4_000, "thumbnail_url": None}, "A red car parks.")
    assert new["frame"]["thumbnail_url"] is not None


def test_the_list_shows_own_searches_without_results(acme: Any, globex: Any, video: UUID) -> None:
    with globex.scope():
        theirs = make_video(indexed_until_ms=30_000).id
    post(globex, theirs)
    ids = [post(acme, video, query=f"q{n}").json()["id"] for n in range(3)]
    with acme.scope():
        Search.objects.filter(text="q1").update(status="failed")

    page = acme.client.get("/v1/searches?limit=2").json()
    rest = acme.client.get(f"/v1/searches?limit=2&cursor={page['next_cursor']}").json()

    assert [row["id"] for row in (*page["data"], *rest["data"])] == ids[::-1]
    assert all("results" not in row for row in page["data"])
    assert [row["query"] for row in acme.client.get("/v1/searches?status=failed").json()["data"]] == ["q1"]
    assert acme.client.get(f"/v1/searches?video_id={vid(theirs)}").json()["data"] == []
    assert acme.client.get("/v1/searches?status=nonsense").status_code == 400


def test_a_page_of_searches_costs_two_statements_however_long(acme: Any, video: UUID) -> None:
    def statements(count: int) -> int:
        for _ in range(count):
            post(acme, video)
        with CaptureQueriesContext(connection) as captured:
            assert len(acme.client.get("/v1/searches").json()["data"]) == Search.unscoped.using("console").count()
        return len([row for row in captured if "questions_search" in row["sql"]])

    assert statements(1) == statements(4) == 2


def test_a_search_stored_while_its_video_is_deleted_keeps_nothing_of_it(acme: Any, video: UUID) -> None:
    """Whichever of the two comes first: here the deletion begins before the results are committed."""
    post(acme, video)
    with acme.scope():
        begun = searches.begin(search_id=Search.objects.get().id)
        assert begun is not None

    def delete() -> None:
        with acme.scope():
            searches.forget_video(video)
        connections.close_all()

    deletion = threading.Thread(target=delete)
    with superuser() as observer, acme.scope():
        searches.store_results(
            search_id=begun.id,
            found=[event(video)],
            calls=CALLS,
            began_at=timezone.now(),
            retrieval_ms=1,
            scores=SCORES,
        )
        deletion.start()
        blocked = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        while deletion.is_alive() and observer.execute(blocked).fetchone() == (0,):
            pass
    deletion.join()

    with acme.scope():
        search = Search.objects.get()
        assert (search.status, search.results) == ("succeeded", [])


def test_a_version_that_a_search_reads_is_not_retired(acme: Any, video: UUID) -> None:
    post(acme, video)
    with acme.scope():
        version = IndexVersion.objects.get(video_id=video, n=1)
        require_unused(version)
        search_id = Search.objects.get().id
        searches.begin(search_id=search_id)
        with pytest.raises(JobFailed) as used:
            require_unused(version)
        searches.fail_search(search_id=search_id, code="x", message="x")
        require_unused(version)
    assert (used.value.code, used.value.retryable) == ("version_in_use", True)


def test_two_neighbours_that_fit_about_equally_are_one_moment(acme: Any, video: UUID) -> None:
    post(acme, video)
    after = UUID(int=EVENT.int + 1)
    finish(acme, lambda _: [
        event(video, score=0.95), event(video, event_id=after, n=2, start_ms=9_000, end_ms=15_000, score=0.9),
    ])  # fmt: skip

    with acme.scope():
        search_id = Search.objects.get().id
    body = acme.client.get(f"/v1/searches/{public_ids.encode('sea', search_id)}").json()

    spans = [(moment["start_ms"], moment["end_ms"], moment["score"]) for moment in body["moments"]]
    assert spans == [(3_000, 15_000, 0.95)]
    assert body["moments"][0]["event_ids"] == [public_ids.encode("evt", EVENT), public_ids.encode("evt", after)]
    assert {moment["video_id"] for moment in body["moments"]} == {vid(video)}
