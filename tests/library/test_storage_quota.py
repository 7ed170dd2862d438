"""What a tenant stores: a quota that is reserved and settled, parts of the signed length, contents that are checked."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx
import pytest
from django.test import override_settings
from django.utils import timezone

from backend.api.public_ids import decode, encode
from backend.jobs.models import Breaker, Job, JobKind, JobState
from backend.library.models import Upload, Video, VideoStatus
from backend.library.storage import ObjectStorage, StorageAway
from tests.conftest import Cast
from tests.factories import make_video as stored_video
from tests.library.growing import sources
from tests.library.uploading import complete, create_upload, make_video, put_all, put_part
from tests.running import run_job
from tests.tasks.world import TWELVE_SECONDS, recording
from workers.runner import run_class

TEN = override_settings(STORAGE_BYTES_PER_PLAN={"standard": 10.0})


def probe(cast: Cast, video_id: UUID) -> Video:
    """Run the probe of a video and return its row."""
    with cast.scope():
        job = Job.objects.get(kind=JobKind.PROBE_VIDEO, subject_id=video_id)
    run_job(job.id, cast.tenant_id, worker="test")
    with cast.scope():
        return Video.objects.get(id=video_id)  # type: ignore[no-any-return]


@TEN
def test_an_upload_reserves_its_bytes_and_its_completion_settles_them(acme: Cast, globex: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"123456")
    refused = client.post("/v1/uploads", {"filename": "b", "size_bytes": 5, "content_type": "video/mp4"})
    assert (refused.status_code, refused.json()["code"]) == (402, "storage_quota_exceeded")
    storage = {"object": "storage", "quota_bytes": 10, "stored_bytes": 0, "reserved_bytes": 6, "open_uploads": 1}
    assert client.get("/v1/storage").json() == storage
    assert create_upload(globex.client, b"0123456789")["size_bytes"] == 10, "another tenant has its own quota"

    complete(client, upload["id"], put_all(client, upload, b"123456"))

    settled = {"stored_bytes": 6, "reserved_bytes": 0, "open_uploads": 0}
    assert client.get("/v1/storage").json() == storage | settled
    small = create_upload(client, b"4444")
    assert client.delete(f"/v1/uploads/{small['id']}").status_code == 204
    assert client.get("/v1/storage").json() == storage | settled


@TEN
def test_a_url_is_not_fetched_without_room(acme: Cast) -> None:
    create_upload(acme.client, b"0123456789")
    refused = acme.client.post("/v1/videos", {"source": {"type": "url", "url": "https://example.org/a.mp4"}})
    assert (refused.status_code, refused.json()["code"]) == (402, "storage_quota_exceeded")
    with acme.scope():
        assert not Video.objects.exists()


def test_a_part_has_the_announced_length_or_storage_refuses_it(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x")
    assert put_part(acme.client, upload["id"], 1, b"x" * 1_000).status_code == 403
    assert acme.client.get(f"/v1/uploads/{upload['id']}").json()["received_parts"] == []
    assert put_part(acme.client, upload["id"], 1, b"x").status_code == 200


def test_uploads_are_listed_and_narrowed_by_status(acme: Cast, globex: Cast) -> None:
    create_upload(globex.client, b"x")
    video = make_video(acme.client)
    waiting = create_upload(acme.client, b"x")
    listed = acme.client.get("/v1/uploads", {"limit": 1}).json()
    assert [row["id"] for row in listed["data"]] == [waiting["id"]]
    older = acme.client.get("/v1/uploads", {"cursor": listed["next_cursor"]}).json()["data"]
    assert [(row["id"], row["video_id"], row["status"]) for row in older] == [
        (video["upload_id"], video["id"], "completed")
    ]
    opened = acme.client.get("/v1/uploads", {"status": "open"}).json()["data"]
    assert [row["id"] for row in opened] == [waiting["id"]]
    assert "received_parts" not in opened[0]


def test_an_upload_that_has_ended_is_deleted_and_its_video_stays(acme: Cast) -> None:
    video = make_video(acme.client, metadata={"site": "north"})
    path = f"/v1/uploads/{video['upload_id']}"
    assert acme.client.delete(path).status_code == 204
    assert acme.client.get(path).status_code == 404
    with acme.scope():
        kept = Video.objects.get()
        assert (kept.upload_id, ObjectStorage().head(kept.object_key).size_bytes) == (None, 9)


def test_a_file_with_another_checksum_than_the_announced_one_is_refused_before_it_is_read(acme: Cast) -> None:
    content = recording(TWELVE_SECONDS)
    video = make_video(acme.client, content, sha256="0" * 64)
    row = probe(acme, decode("vid", video["id"]))
    assert (row.status, row.error_code, row.content_sha256, row.duration_ms) == (
        "failed",
        "checksum_mismatch",
        "",
        None,
    )


def test_recordings_with_the_same_bytes_share_one_object_until_the_last_is_deleted(acme: Cast, globex: Cast) -> None:
    content = recording(TWELVE_SECONDS)
    checksum = hashlib.sha256(content).hexdigest()
    rows = [
        probe(cast, decode("vid", make_video(cast.client, content, sha256=checksum)["id"]))
        for cast in (acme, acme, globex)
    ]
    assert [(row.status, row.content_sha256) for row in rows] == [("indexing", checksum)] * 3
    first, second, foreign = (row.object_key for row in rows)
    assert first == second != foreign
    assert sources(acme) == [first]
    assert acme.client.get("/v1/storage").json()["stored_bytes"] == len(content)

    for row, left in zip(rows[:2], ([first], []), strict=True):
        with acme.scope():
            Job.objects.filter(video_id=row.id).update(state=JobState.CANCELED)
        assert acme.client.delete(f"/v1/videos/{row_id(row)}").status_code == 202
        with acme.scope():
            purge = Job.objects.get(kind=JobKind.PURGE_VIDEO, subject_id=row.id)
        run_job(purge.id, acme.tenant_id, worker="test")
        assert sources(acme) == left
    with acme.scope():
        assert not Upload.objects.exists(), "file names and metadata go with the video"
    assert sources(globex) == [foreign]


def test_a_probe_that_died_before_it_erased_the_second_object_erases_it_when_it_runs_again(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = recording(TWELVE_SECONDS)
    first = probe(acme, decode("vid", make_video(acme.client, content)["id"]))
    second = decode("vid", make_video(acme.client, content)["id"])

    def away(storage: ObjectStorage, prefix: str) -> int:
        raise StorageAway("object storage is away")

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStorage, "erase", away)
        assert probe(acme, second).status != "indexing"
    assert len(sources(acme)) == 2
    Breaker.objects.using("dispatch").update(probe_at=timezone.now() - timedelta(seconds=1))
    with acme.scope():
        Job.objects.filter(subject_id=second).update(not_before=timezone.now(), due=True)

    run_class("cpu.probe", worker="test")

    with acme.scope():
        row = Video.objects.get(id=second)
    assert (row.status, row.object_key) == ("indexing", first.object_key)
    assert sources(acme) == [first.object_key]


def row_id(row: Video) -> str:
    from backend.api.public_ids import encode

    return encode("vid", row.id)


def test_a_page_that_was_uploaded_as_a_video_is_never_served_as_a_page(acme: Cast) -> None:
    key = f"t/{acme.tenant_id}/u/x/source"
    ObjectStorage().put(key, b"<script>alert(1)</script>", content_type="text/html")
    reply = httpx.get(ObjectStorage().presign_get(key))
    assert (reply.headers["content-type"], reply.headers["content-disposition"]) == (
        "application/octet-stream",
        "attachment",
    )
    picture = f"t/{acme.tenant_id}/v/x/1/frames/0.jpg"
    ObjectStorage().put(picture, b"jpeg", content_type="text/html")
    reply = httpx.get(ObjectStorage().presign_get(picture))
    assert (reply.headers["content-type"], reply.headers["content-disposition"]) == ("image/jpeg", "inline")


def test_a_url_of_a_recording_or_a_picture_is_valid_for_30_minutes(acme: Cast) -> None:
    with acme.scope():
        video = stored_video(status=VideoStatus.READY)
    before = timezone.now()
    played = acme.client.get(f"/v1/videos/{encode('vid', video.id)}/playback").json()
    ends = datetime.fromisoformat(played["expires_at"])
    assert before + timedelta(minutes=30) <= ends <= timezone.now() + timedelta(minutes=30)
    picture = ObjectStorage().presign_get(f"t/{acme.tenant_id}/q/x/1.jpg")
    for url in (played["url"], played["segments"][0]["url"], picture):
        assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == ["1800"]


@pytest.mark.parametrize("announced", ["text/html", "Video/MP4"])
def test_an_upload_is_stored_as_a_video_or_as_bytes(acme: Cast, announced: str) -> None:
    video = make_video(acme.client, content_type=announced)
    with acme.scope():
        key = Video.objects.get().object_key
    stored = ObjectStorage()._client.head_object(Bucket=ObjectStorage()._bucket, Key=key)["ContentType"]
    assert stored == ("application/octet-stream" if announced == "text/html" else "video/mp4")
    assert video["status"] == "queued"


def test_the_retention_of_a_tenant_is_its_own(acme: Cast, globex: Cast) -> None:
    kept = {
        "object": "retention", "source_days": None, "thumbnails_days": None, "index_days": None,
        "questions_days": None, "derived_text": "redact",
    }  # fmt: skip
    assert acme.client.get("/v1/retention").json() == kept
    changed = acme.client.patch("/v1/retention", {"source_days": 30, "derived_text": "remove"})
    assert changed.json() == kept | {"source_days": 30, "derived_text": "remove"}
    assert acme.client.patch("/v1/retention", {"source_days": 0}).status_code == 400
    assert acme.client.patch("/v1/retention", {"source_days": None}).json() == kept | {"derived_text": "remove"}
    assert globex.client.get("/v1/retention").json() == kept
