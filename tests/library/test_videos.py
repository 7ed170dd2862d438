"""Videos, collections and index jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from backend.api.public_ids import decode, encode
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Collection, Segment, SegmentState, Video, VideoStatus
from backend.library.services.videos import delete_video, drop_video
from backend.tenancy.refusals import Refused
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.library.uploading import make_video


def change(cast: Cast, video_id: Any, **columns: Any) -> None:
    with cast.scope():
        Video.objects.filter(id=video_id).update(**columns)


def test_a_ready_video_shows_its_probe_timings_and_the_size_of_its_graph(acme: Cast) -> None:
    made = record(acme)
    with acme.scope():
        created = Video.objects.get(id=made.video_id).created_at
    change(
        acme, made.video_id, width=640, height=480, fps=25.0, container="mp4", codec="h264", stage_ms={"describe": 12},
        index_started_at=created + timedelta(seconds=2), ready_at=created + timedelta(seconds=12),
    )  # fmt: skip

    body = acme.client.get(f"/v1/videos/{encode('vid', made.video_id)}").json()

    assert body["probe"] == {
        "container": "mp4", "codec": "h264", "width": 640, "height": 480, "fps": 25.0, "rotation": 0,
        "has_audio": False, "audio_tracks": [], "bitrate": None, "source_start_ms": 0, "degraded": [],
    }  # fmt: skip
    assert body["degraded"] == []
    assert body["timings"] == {
        "queue_ms": 2_000, "index_ms": 10_000, "realtime_factor": 3.0, "stages_ms": {"describe": 12.0}
    }  # fmt: skip
    assert body["ekg"] == {
        "chunks": 10, "events": 2, "entities": 2, "mentions": 3, "relations": 1, "frames": 3,
        "graph": {"vertices": 0, "edges": 0},
    }  # fmt: skip
    assert body["error"] is None


def test_a_failed_video_says_why(acme: Cast) -> None:
    made = record(acme)
    change(acme, made.video_id, status=VideoStatus.FAILED, error_code="not_a_video", error_message="No video stream.")

    body = acme.client.get(f"/v1/videos/{encode('vid', made.video_id)}").json()

    assert (body["status"], body["ekg"]) == ("failed", None)
    assert body["error"] == {"code": "not_a_video", "message": "No video stream."}


def test_lists_are_newest_first_and_filtered(acme: Cast) -> None:
    collection = acme.client.post("/v1/collections", {"name": "Park"}).json()["id"]
    first = make_video(acme.client, external_id="a")
    second = make_video(acme.client, collection_id=collection)

    def ids(**query: str) -> list[str]:
        return [row["id"] for row in acme.client.get("/v1/videos", query).json()["data"]]

    assert ids() == [second["id"], first["id"]]
    assert ids(external_id="a") == [first["id"]]
    assert ids(collection_id=collection) == [second["id"]]
    assert ids(status="ready") == []
    assert acme.client.get("/v1/videos", {"status": "asleep"}).status_code == 400


def test_a_change_needs_the_version_that_was_read(acme: Cast) -> None:
    path = f"/v1/videos/{encode('vid', record(acme).video_id)}"
    etag = acme.client.get(path).headers["ETag"]
    assert etag.startswith('"1-'), "the version, then what the whole reply is"

    changed = acme.client.patch(path, {"title": "New", "metadata": {"a": "b"}}, HTTP_IF_MATCH=etag)
    late = acme.client.patch(path, {"title": "Late"}, HTTP_IF_MATCH=etag)

    assert (changed.status_code, changed.headers["ETag"][:3], changed.json()["title"]) == (200, '"2-', "New")
    assert (late.status_code, late.json()["code"], late.headers["ETag"][:2]) == (412, "version_mismatch", '"2')
    assert acme.client.get(path).json()["title"] == "New"
    assert acme.client.patch(path, {"title": "Again"}).json()["metadata"] == {"a": "b"}


def test_a_video_joins_and_leaves_collections_of_its_own_tenant(acme: Cast, globex: Cast) -> None:
    path = f"/v1/videos/{encode('vid', record(acme).video_id)}"
    mine = acme.client.post("/v1/collections", {"name": "Park"}).json()["id"]
    theirs = globex.client.post("/v1/collections", {"name": "Park"}).json()["id"]

    assert acme.client.patch(path, {"collection_id": mine}).json()["collection_id"] == mine
    assert acme.client.patch(path, {"collection_id": theirs}).status_code == 400
    assert acme.client.get(path).json()["collection_id"] == mine
    assert acme.client.patch(path, {"collection_id": None}).json()["collection_id"] is None


def test_deleting_stops_the_jobs_and_queues_one_purge(acme: Cast) -> None:
    video = make_video(acme.client)
    path = f"/v1/videos/{video['id']}"

    first, second = acme.client.delete(path), acme.client.delete(path)

    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["status"] == "deleting"
    with acme.scope():
        jobs = {job.kind: job for job in Job.objects.all()}
        assert len(jobs) == Job.objects.count() == 2
        assert jobs[JobKind.PROBE_VIDEO].state == JobState.CANCELED
        purge = jobs[JobKind.PURGE_VIDEO]
        assert (purge.state, purge.subject_id, purge.video_id) == (JobState.QUEUED, decode("vid", video["id"]), None)
    refused = acme.client.patch(path, {"title": "x"})
    assert (refused.status_code, refused.json()["code"]) == (409, "video_deleting")


def test_a_deletion_that_another_has_overtaken_finds_no_video(acme: Cast) -> None:
    video_id = decode("vid", make_video(acme.client)["id"])
    with acme.scope():
        video = Video.objects.get(id=video_id)
        delete_video(video=video)
        drop_video(video.id)
        with pytest.raises(Refused) as refused:
            delete_video(video=video)
    assert (refused.value.code, refused.value.status) == ("not_found", 404)


def test_a_deletion_of_one_version_is_refused_after_a_change(acme: Cast) -> None:
    path = f"/v1/videos/{encode('vid', record(acme).video_id)}"
    with acme.scope():
        read = Video.objects.get()
    acme.client.patch(path, {"title": "New"})

    late = acme.client.delete(path, HTTP_IF_MATCH=f'"{read.version}"')
    with acme.scope(), pytest.raises(Refused) as refused:
        # This is what happens if the change comes between the comparison of the ETags and the deletion.
        delete_video(video=read, version=read.version)

    assert (late.status_code, late.json()["code"]) == (412, "version_mismatch")
    assert (refused.value.code, refused.value.status) == ("version_mismatch", 412)
    assert acme.client.get(path).json()["status"] != "deleting"
    assert acme.client.delete(path, HTTP_IF_MATCH="*").status_code == 202


def test_collections_are_made_changed_and_deleted_without_their_videos(acme: Cast) -> None:
    made = acme.client.post("/v1/collections", {"name": "Park", "profile": "wildlife", "instructions": "Count deer."})
    path = made.headers["Location"]
    video = make_video(acme.client, collection_id=made.json()["id"])

    taken = acme.client.post("/v1/collections", {"name": "Park"})
    assert (taken.status_code, taken.json()["code"]) == (409, "name_taken")
    renamed = acme.client.patch(path, {"name": "Forest"}).json()
    assert (renamed["name"], renamed["profile"], renamed["instructions"]) == ("Forest", "wildlife", "Count deer.")
    other = acme.client.post("/v1/collections", {"name": "Park"}).headers["Location"]
    assert acme.client.patch(other, {"name": "Forest"}).json()["code"] == "name_taken"
    assert acme.client.delete(path).status_code == 204
    assert acme.client.get(path).status_code == 404
    assert acme.client.get(f"/v1/videos/{video['id']}").json()["collection_id"] is None
    with acme.scope():
        assert [row.name for row in Collection.objects.all()] == ["Park"]


@pytest.mark.parametrize(
    ("status", "observed", "assembled", "expected"),
    [
        (VideoStatus.QUEUED, 0, 0, ("queued", "probe", 0.0)),
        (VideoStatus.PROBING, 0, 0, ("running", "probe", 0.0)),
        (VideoStatus.INDEXING, 1, 0, ("running", "observe", 0.0)),
        (VideoStatus.INDEXING, 2, 2, ("running", "assemble", 50.0)),
        (VideoStatus.INDEXING, 0, 4, ("running", "summarise", 100.0)),
        (VideoStatus.READY, 0, 4, ("succeeded", "", 100.0)),
        (VideoStatus.FAILED, 1, 1, ("failed", "", 25.0)),
        (VideoStatus.DELETING, 0, 4, ("canceled", "", 100.0)),
    ],
)
def test_an_index_job_adds_up_the_segments(
    acme: Cast, status: str, observed: int, assembled: int, expected: tuple[str, str, float]
) -> None:
    with acme.scope():
        video = Video.objects.create(tenant_id=acme.tenant_id, object_key="k", size_bytes=1, status=status)
        if status not in (VideoStatus.QUEUED, VideoStatus.PROBING):
            for n in range(4):
                state = (
                    SegmentState.ASSEMBLED if n < assembled
                    else SegmentState.OBSERVED if n < assembled + observed else SegmentState.PENDING
                )  # fmt: skip
                Segment.objects.create(
                    tenant_id=acme.tenant_id,
                    video_id=video.id,
                    index_version=1,
                    n=n,
                    start_ms=n,
                    end_ms=n + 1,
                    state=state,
                )

    body = acme.client.get(f"/v1/index-jobs/{encode('job', video.id)}").json()

    assert (body["status"], body["stage"], body["progress"]["percent"]) == expected
    assert body["progress"]["unit"] == "segments"
    assert [row["id"] for row in acme.client.get("/v1/index-jobs").json()["data"]] == [body["id"]]


@pytest.mark.parametrize(("code", "retryable"), [("worker_lost", True), ("not_a_video", False)])
def test_a_failed_index_job_says_whether_a_retry_can_help(acme: Cast, code: str, retryable: bool) -> None:
    video = make_video(acme.client)
    change(acme, decode("vid", video["id"]), status=VideoStatus.FAILED, error_code=code, error_message="m")
    with acme.scope():
        Job.objects.update(state=JobState.DEAD, attempt=3, completed_at=timezone.now())

    job = acme.client.get("/v1/index-jobs", {"video_id": video["id"]}).json()["data"][0]

    assert job["error"] == {"code": code, "message": "m", "retryable": retryable}
    assert job["attempt"] == 3
    assert job["completed_at"] is not None


def test_a_list_costs_the_same_number_of_queries_whatever_its_length(acme: Cast) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert acme.client.get(path).status_code == 200
        return len(captured)

    made = record(acme)
    paths = ["/v1/videos", "/v1/index-jobs", f"/v1/videos/{encode('vid', made.video_id)}/events?limit=1"]
    cost(paths[0])
    before = [cost(path) for path in paths]
    for _ in range(3):
        record(acme)
    paths[2] = paths[2].replace("limit=1", "limit=100")

    assert [cost(path) for path in paths] == before
