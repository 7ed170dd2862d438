"""A video indexed again: the old index answers until the new one is ready, and then nothing of the old one is left."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing import queries as ledger
from backend.billing.models import UsageEvent
from backend.ekg.graph_store import GraphStore
from backend.ekg.models import Event, Frame, IndexRow
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Collection, IndexVersion, Segment, Video
from backend.library.storage import ObjectStorage
from backend.questions.models import Evidence
from backend.questions.services import questions
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast
from tests.library.growing import begin, close, cut, path_of, send
from tests.running import run_job
from tests.scripted_openai import Fault, ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import see
from tests.tasks.world import TWELVE_SECONDS, exists, indexed_video, run_due, run_past_deadlines, stored_video

pytestmark = pytest.mark.slow

DOWN = Fault(503, "overloaded", "away", {"Retry-After": "0"})


@pytest.fixture
def video_id(acme: Cast, vlm: ScriptedOpenAIServer) -> UUID:
    return indexed_video(acme, TWELVE_SECONDS)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RETIRE_AFTER_SECONDS", 0)


def reindex(cast: Cast, video_id: UUID) -> Any:
    return cast.client.post(f"{path_of(video_id)}/reindex")


def cut_into_segments(cast: Cast, video_id: UUID) -> None:
    """Run only the job that begins the new version."""
    with cast.scope():
        job = Job.objects.get(kind=JobKind.PROBE_VIDEO, video_id=video_id)
    run_job(job.id, cast.tenant_id, worker="test")


def shown(cast: Cast, video_id: UUID) -> dict[str, Any]:
    body: dict[str, Any] = cast.client.get(path_of(video_id)).json()
    return body


def versions(cast: Cast, video_id: UUID) -> list[tuple[int, str, bool]]:
    rows = cast.client.get(f"{path_of(video_id)}/versions").json()["data"]
    return [(row["n"], row["state"], row["active"]) for row in rows]


def held(video_id: UUID, version: int) -> dict[str, int]:
    """Count the rows of a version by table, its graph included."""
    counts = {
        model.__name__: model.objects.filter(video_id=video_id, index_version=version).count()
        for model in (*IndexRow.__subclasses__(), Segment)
    }
    size = GraphStore().count(video_id, version)
    return {**counts, "vertices": size.vertices, "edges": size.edges}


def told(video_id: UUID) -> list[tuple[str, int]]:
    rows = WebhookEvent.objects.filter(resource_id=video_id).order_by("id")
    return [(row.type, row.sequence) for row in rows]


def test_the_old_index_answers_until_the_new_one_is_ready(
    acme: Cast, vlm: ScriptedOpenAIServer, video_id: UUID, at_once: None
) -> None:
    with acme.scope():
        before = held(video_id, 1)
        collection = Collection.objects.create(tenant_id=acme.tenant_id, name="Park", instructions="Count the dogs.")
        Video.objects.filter(id=video_id).update(collection_id=collection.id)
        thumbnails = list(Frame.objects.filter(video_id=video_id).values_list("thumbnail_key", flat=True))
        source = Video.objects.get(id=video_id).object_key
    read = acme.client.get(f"{path_of(video_id)}/events").json()
    etag = shown(acme, video_id)["index_version"]
    vlm.requests.clear()

    begun = reindex(acme, video_id)
    assert (begun.status_code, begun.json()["status"], etag) == (202, "ready", 1)
    assert {**begun.json()["indexing"], "started_at": ""} == {"version": 2, "indexed_until_ms": 0, "started_at": ""}
    refused = reindex(acme, video_id)
    assert (refused.status_code, refused.json()["code"]) == (409, "already_indexing")
    cut_into_segments(acme, video_id)
    meanwhile = shown(acme, video_id)
    assert (meanwhile["status"], meanwhile["index_version"], meanwhile["indexed_until_ms"]) == ("ready", 1, 12_000)
    assert versions(acme, video_id) == [(2, "building", False), (1, "ready", True)]
    job = acme.client.get("/v1/index-jobs", {"video_id": encode("vid", video_id)}).json()["data"][0]
    assert (job["status"], job["stage"], job["index_version"]) == ("running", "observe", 2)
    events = [{**event, "thumbnail_url": ""} for event in acme.client.get(f"{path_of(video_id)}/events").json()["data"]]
    assert events == [{**event, "thumbnail_url": ""} for event in read["data"]]
    run_due(times=2)

    after = shown(acme, video_id)
    assert (after["status"], after["index_version"], after["indexing"]) == ("ready", 2, None)
    assert after["timings"]["queue_ms"] is None
    assert versions(acme, video_id) == [(2, "ready", True), (1, "superseded", False)]
    described = [r.system + r.user for r in vlm.requests if r.schema_name == "chunk_description"]
    assert len(described) == 4
    assert all("Count the dogs." in text for text in described)
    with acme.scope():
        earlier = ("video.indexing", 1), ("video.ready", 1), ("video.indexing", 2)
        assert told(video_id) == [*earlier, ("video.ready", 2)]
        assert held(video_id, 2) == before
        assert set(held(video_id, 1).values()) == {0}, "nothing of the old one is left"
        kept = list(Frame.objects.filter(video_id=video_id).values_list("thumbnail_key", flat=True))
        media = UsageEvent.objects.filter(video_id=video_id, meter="media_seconds")
        assert [str(row.quantity.normalize()) for row in media] == ["12", "12"]
        assert ledger.mismatches() == []
    assert not any(map(exists, thumbnails))
    assert all(map(exists, [*kept, source]))


def test_a_replaced_version_is_kept_for_its_grace(acme: Cast, video_id: UUID) -> None:
    reindex(acme, video_id)
    run_due()
    with acme.scope():
        retirement = Job.objects.get(kind=JobKind.RETIRE_VERSION)
        assert retirement.state == JobState.QUEUED
        assert retirement.not_before > timezone.now() + timedelta(minutes=55)
        assert held(video_id, 1) == held(video_id, 2)


def test_a_version_stays_while_a_question_reads_it(
    acme: Cast, video_id: UUID, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.jobs.leases.RETRY_BASE_SECONDS", 1_000)
    with acme.scope():
        question = questions.create_question(text="Who waits?", video_ids=[video_id])
        Job.objects.filter(kind=JobKind.ANSWER_QUESTION).update(
            not_before=timezone.now() + timedelta(hours=1), due=False
        )
        assert questions.begin(question_id=question.id) is not None
        cited = Event.objects.get(video_id=video_id, n=0)
        thumbnail = Frame.objects.filter(video_id=video_id).earliest("ms").thumbnail_key
        Evidence.objects.create(
            tenant_id=acme.tenant_id, question=question, video_id=video_id, ordinal=0, event_id=cited.id, start_ms=0,
            end_ms=6_000, frame_ms=0, frame_key=thumbnail,
        )  # fmt: skip
    picture = ObjectStorage().get(thumbnail)
    reindex(acme, video_id)
    run_due()

    with acme.scope():
        retirement = Job.objects.get(kind=JobKind.RETIRE_VERSION)
        assert (retirement.state, retirement.error_code) == (JobState.QUEUED, "version_in_use")
        assert held(video_id, 1) == held(video_id, 2)
        questions.fail_question(question_id=question.id, code="x", message="x")
        Job.objects.filter(id=retirement.id).update(not_before=timezone.now())
    run_job(retirement.id, acme.tenant_id, worker="test")
    with acme.scope():
        assert set(held(video_id, 1).values()) == {0}
        evidence = Evidence.objects.get()
        assert evidence.frame_key == f"t/{acme.tenant_id}/v/{video_id}/q/{question.id}/thumbnail-000.jpg"
    assert ObjectStorage().get(evidence.frame_key) == picture
    assert not exists(thumbnail)


@pytest.mark.long
def test_a_new_version_that_fails_leaves_the_old_one_and_says_so(
    acme: Cast, vlm: ScriptedOpenAIServer, video_id: UUID
) -> None:
    with acme.scope():
        before = held(video_id, 1)
    vlm.script = DOWN
    reindex(acme, video_id)
    run_past_deadlines(acme)

    body = shown(acme, video_id)
    assert (body["status"], body["index_version"], body["indexing"], body["error"]) == ("ready", 1, None, None)
    newest = acme.client.get(f"{path_of(video_id)}/versions").json()["data"][0]
    assert (newest["n"], newest["state"], newest["error"]["code"]) == (2, "failed", "deadline_exceeded")
    with acme.scope():
        earlier = ("video.indexing", 1), ("video.ready", 1), ("video.indexing", 2)
        assert told(video_id) == [*earlier, ("video.reindex_failed", 2)]
        data = json.loads(WebhookEvent.objects.get(type="video.reindex_failed").body)["data"]
        assert (data["status"], data["index_version"], data["failed_version"]) == ("ready", 1, 2)
        assert held(video_id, 1) == before
        assert set(held(video_id, 2).values()) == {0}, "what was built of it is removed"
    vlm.script = see
    assert reindex(acme, video_id).json()["indexing"]["version"] == 3
    run_due()
    assert versions(acme, video_id) == [(3, "ready", True), (2, "failed", False), (1, "superseded", False)]


@pytest.mark.long
def test_a_failed_video_is_indexed_again(acme: Cast, vlm: ScriptedOpenAIServer, at_once: None) -> None:
    vlm.script = DOWN
    video_id = stored_video(acme, TWELVE_SECONDS)
    run_past_deadlines(acme)
    assert shown(acme, video_id)["status"] == "failed"
    vlm.script = see

    begun = reindex(acme, video_id).json()
    assert (begun["status"], begun["index_version"], begun["error"], begun["indexing"]) == ("indexing", 2, None, None)
    run_due()
    assert versions(acme, video_id) == [(2, "ready", True), (1, "failed", False)]
    assert shown(acme, video_id)["status"] == "ready"
    with acme.scope():
        earlier = ("video.indexing", 1), ("video.failed", 1), ("video.indexing", 2)
        assert told(video_id) == [*earlier, ("video.ready", 2)]
        assert set(held(video_id, 1).values()) == {0}


def test_a_video_of_pieces_is_indexed_again(acme: Cast, at_once: None) -> None:
    video_id = begin(acme)
    for start, end in ((0, 7_700), (7_700, 12_000)):
        send(acme, video_id, cut(TWELVE_SECONDS, start, end))
    run_due()
    still_open = reindex(acme, video_id)
    assert (still_open.status_code, still_open.json()["code"]) == (409, "already_indexing")
    close(acme, video_id)
    run_due()
    assert reindex(acme, video_id).status_code == 202
    run_due()
    assert versions(acme, video_id) == [(2, "ready", True), (1, "superseded", False)]
    with acme.scope():
        assert list(Segment.objects.values_list("start_ms", "end_ms", "index_version")) == [(0, 12_000, 2)]


def test_deleting_a_video_stops_its_reindex_and_leaves_nothing(
    acme: Cast, vlm: ScriptedOpenAIServer, video_id: UUID
) -> None:
    other = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        kept = held(other, 1)
    reindex(acme, video_id)
    cut_into_segments(acme, video_id)
    vlm.requests.clear()
    assert acme.client.delete(path_of(video_id)).status_code == 202
    run_due(times=2)

    assert vlm.requests == []
    assert acme.client.get(path_of(video_id)).status_code == 404
    with acme.scope():
        assert not IndexVersion.objects.filter(video_id=video_id).exists()
        left = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])
        assert [job.kind for job in left] == [JobKind.SWEEP_DELETED]
        assert [set(held(video_id, n).values()) for n in (1, 2)] == [{0}, {0}]
        assert held(other, 1) == kept


def test_a_gap_is_reported(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    def script(request: ScriptedRequest) -> Any:
        if request.schema_name == "chunk_description" and "00:03 to 00:06 of the video" in request.user:
            return "no JSON at all"
        return see(request)

    vlm.script = script
    video_id = indexed_video(acme, TWELVE_SECONDS)

    assert shown(acme, video_id)["gaps"] == {"count": 1, "ms": 3_000, "codes": {"invalid_output": 1}}
    assert acme.client.get("/v1/videos").json()["data"][0]["gaps"] is None

    def chunks(**query: str) -> list[int]:
        return [row["n"] for row in acme.client.get(f"{path_of(video_id)}/chunks", query).json()["data"]]

    assert (chunks(gap="true"), chunks(gap="false"), chunks()) == ([1], [0, 2, 3], [0, 1, 2, 3])
    vlm.script = see
    reindex(acme, video_id)
    run_due()
    assert shown(acme, video_id)["gaps"] == {"count": 0, "ms": 0, "codes": {}}
