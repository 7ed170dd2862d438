"""Presigned multipart uploads against a real S3 server."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from backend.api.public_ids import decode
from backend.jobs.models import Job, JobKind
from backend.library.models import Upload, Video
from backend.library.services.upload_expiry import expire_uploads
from backend.library.services.uploads import MIB, part_size_for
from backend.library.storage import ObjectMissing, ObjectStorage, UploadMissing
from tests.conftest import Cast
from tests.library.uploading import complete, create_upload, erase_parts, put_all, put_part

PART = 16 * MIB


def stored(cast: Cast, upload_id: str) -> Upload:
    with cast.scope():
        upload: Upload = Upload.objects.get(id=decode("upl", upload_id))
        return upload


def videos(cast: Cast) -> int:
    with cast.scope():
        return int(Video.objects.count())


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, PART),
        (PART * 9_000, PART),
        (PART * 9_000 + 1, 17 * MIB),
        (100 * 1024**3, 16 * MIB),
        (9_000 * 512 * MIB, 512 * MIB),
        (9_000 * 600 * MIB, 512 * MIB),
    ],
)
def test_part_size_keeps_the_number_of_parts_within_the_limit_of_s3(size: int, expected: int) -> None:
    assert part_size_for(size) == expected


def test_it_makes_one_video_and_one_probe_job_of_two_parts(acme: Cast) -> None:
    client = acme.client
    content = b"a" * PART + b"tail"
    upload = create_upload(client, content, title="Gate", external_id="cam-7", metadata={"site": "north"})
    assert (upload["part_size"], upload["part_count"], upload["missing_parts"]) == (PART, 2, [1, 2])
    parts = put_all(client, upload, content)

    response = complete(client, upload["id"], parts)

    assert response.status_code == 202
    video = response.json()
    assert response.headers["Location"] == f"/v1/videos/{video['id']}"
    assert (video["status"], video["title"], video["external_id"]) == ("queued", "Gate", "cam-7")
    assert (video["metadata"], video["size_bytes"], video["probe"]) == ({"site": "north"}, len(content), None)
    key = stored(acme, upload["id"]).object_key
    assert key == f"t/{acme.tenant_id}/u/{decode('upl', upload['id'])}/source"
    assert ObjectStorage().head(key).size_bytes == len(content)
    with acme.scope():
        job = Job.objects.get()
        assert (job.kind, job.subject_id) == (JobKind.PROBE_VIDEO, decode("vid", video["id"]))
        assert (job.state, job.due) == ("queued", True)


def test_completing_again_gives_the_same_video_and_no_second_job(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"x")
    parts = put_all(client, upload, b"x")

    first, second, third = (complete(client, upload["id"], named) for named in (parts, parts, None))

    assert first.json()["id"] == second.json()["id"] == third.json()["id"]
    assert second.status_code == 202
    with acme.scope():
        assert (Video.objects.count(), Job.objects.count()) == (1, 1)


def test_a_video_can_be_made_of_the_parts_that_have_arrived(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"x")
    put_all(client, upload, b"x")

    response = client.post("/v1/videos", {"source": {"type": "upload", "upload_id": upload["id"]}})

    assert response.status_code == 202
    assert client.get(f"/v1/uploads/{upload['id']}").json()["video_id"] == response.json()["id"]


def test_progress_comes_from_storage(acme: Cast) -> None:
    client = acme.client
    content = b"a" * PART + b"tail"
    upload = create_upload(client, content)
    reply = put_part(client, upload["id"], 2, b"tail")

    seen = client.get(f"/v1/uploads/{upload['id']}").json()

    assert seen["missing_parts"] == [1]
    assert seen["received_parts"] == [
        {"part_number": 2, "etag": reply.headers["ETag"].strip('"'), "size_bytes": 4, "sha256": ""}
    ]


def test_a_part_before_the_last_that_has_not_arrived_is_missing_and_no_mismatch(acme: Cast) -> None:
    client = acme.client
    content = b"a" * PART + b"tail"
    upload = create_upload(client, content)
    put_part(client, upload["id"], 2, b"tail")

    refused = complete(client, upload["id"])
    put_part(client, upload["id"], 1, content[:PART])
    done = complete(client, upload["id"])

    assert (refused.status_code, refused.json()["code"]) == (409, "parts_missing")
    assert refused.json()["detail"] == "Part 1 has not arrived."
    assert done.status_code == 202


@pytest.mark.parametrize(
    ("parts", "code", "pointer"),
    [
        ([{"part_number": 1, "etag": "0" * 32}], "part_mismatch", "/parts/0/etag"),
        ([{"part_number": 2, "etag": "0" * 32}], "part_mismatch", "/parts/0/part_number"),
    ],
)
def test_wrong_parts_are_refused_and_the_upload_stays_open(
    acme: Cast, parts: list[dict[str, Any]], code: str, pointer: str
) -> None:
    client = acme.client
    upload = create_upload(client, b"x")
    right = put_all(client, upload, b"x")

    response = complete(client, upload["id"], parts)

    assert (response.status_code, response.json()["code"]) == (409, code)
    assert response.json()["errors"][0]["pointer"] == pointer
    assert videos(acme) == 0
    assert stored(acme, upload["id"]).status == "open"
    assert complete(client, upload["id"], right).status_code == 202


def test_missing_bytes_are_refused_and_can_be_sent_later(acme: Cast) -> None:
    client = acme.client
    content = b"a" * PART + b"tail"
    upload = create_upload(client, content)
    reply = put_part(client, upload["id"], 1, content[:PART])
    first = {"part_number": 1, "etag": reply.headers["ETag"]}

    short = complete(client, upload["id"], [first])
    named_only = complete(client, upload["id"], [first, {"part_number": 2, "etag": "0" * 32}])

    assert (short.status_code, short.json()["code"]) == (409, "parts_missing")
    assert (named_only.status_code, named_only.json()["code"]) == (409, "parts_missing")
    assert complete(client, upload["id"]).json()["code"] == "parts_missing"
    assert videos(acme) == 0
    put_part(client, upload["id"], 2, b"tail")
    assert complete(client, upload["id"]).status_code == 202


@pytest.mark.parametrize("checked", [False, True])
def test_a_part_that_is_sent_twice_counts_as_its_checksum_names_it(acme: Cast, checked: bool) -> None:
    client, versions = acme.client, (b"zzzz", b"aaaa", b"mmmm")
    upload = create_upload(client, b"....", part_checksums=checked)
    for content in versions:
        checksum = hashlib.sha256(content).hexdigest()
        reply = put_part(client, upload["id"], 1, content, **({"checksums": {"1": checksum}} if checked else {}))
        assert reply.status_code == 200, reply.text
    last = {"part_number": 1, "etag": reply.headers["ETag"], **({"sha256": checksum} if checked else {})}

    done = complete(client, upload["id"], [last])

    assert done.status_code == 202, done.content
    assert ObjectStorage().get(stored(acme, upload["id"]).object_key) == versions[-1]


def test_only_what_a_part_was_sent_last_counts(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"....")
    stale = put_part(client, upload["id"], 1, b"zzzz").headers["ETag"].strip('"')
    received: list[dict[str, Any]] = [{"etag": stale}]
    # The clock of the storage shows seconds.
    while stale in {part["etag"] for part in received}:
        last = put_part(client, upload["id"], 1, b"aaaa").headers["ETag"]
        received = client.get(f"/v1/uploads/{upload['id']}").json()["received_parts"]

    refused = complete(client, upload["id"], [{"part_number": 1, "etag": stale}])
    done = complete(client, upload["id"])

    assert [part["etag"] for part in received] == [last.strip('"')]
    assert (refused.status_code, refused.json()["code"]) == (409, "part_mismatch")
    assert done.status_code == 202, done.content
    assert ObjectStorage().get(stored(acme, upload["id"]).object_key) == b"aaaa"


def test_storage_refuses_bytes_that_do_not_have_the_signed_checksum(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"right", part_checksums=True)
    checksum = hashlib.sha256(b"right").hexdigest()

    wrong = put_part(client, upload["id"], 1, b"wrong", checksums={"1": checksum})
    right = put_part(client, upload["id"], 1, b"right", checksums={"1": checksum})

    assert wrong.status_code == 400
    assert right.status_code == 200
    other = [{"part_number": 1, "etag": right.headers["ETag"], "sha256": "0" * 64}]
    refused = complete(client, upload["id"], other)
    assert (refused.status_code, refused.json()["code"]) == (409, "checksum_mismatch")
    assert videos(acme) == 0
    assert complete(client, upload["id"]).json()["code"] == "checksum_mismatch"
    assert stored(acme, upload["id"]).status == "open"
    other[0]["sha256"] = checksum.upper()
    assert complete(client, upload["id"], other).status_code == 202


def test_a_whole_file_in_one_part_must_have_the_announced_checksum(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"sent", part_checksums=True, sha256=hashlib.sha256(b"meant").hexdigest())
    checksum = hashlib.sha256(b"sent").hexdigest()
    reply = put_part(client, upload["id"], 1, b"sent", checksums={"1": checksum})

    part = {"part_number": 1, "etag": reply.headers["ETag"], "sha256": checksum}
    response = complete(client, upload["id"], [part])

    assert response.json()["code"] == "checksum_mismatch"
    assert videos(acme) == 0


def test_a_completion_whose_answer_was_lost_is_found_again(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"x")
    put_all(client, upload, b"x")
    row = stored(acme, upload["id"])
    bucket = ObjectStorage()
    bucket.complete(row.object_key, row.multipart_id, bucket.list_parts(row.object_key, row.multipart_id))

    response = complete(client, upload["id"])

    assert response.status_code == 202
    assert videos(acme) == 1


def test_an_object_of_another_length_is_removed_and_the_upload_ends(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"announced")
    row = stored(acme, upload["id"])
    # Imitates a storage that has assembled something else: the multipart upload is gone and the object is too short.
    ObjectStorage().abort(row.object_key, row.multipart_id)
    ObjectStorage().put(row.object_key, b"short", content_type="video/mp4")

    response = complete(client, upload["id"])

    assert (response.status_code, response.json()["code"]) == (409, "size_mismatch")
    assert response.headers["Content-Type"] == "application/problem+json"
    erase_parts(acme)
    with pytest.raises(ObjectMissing):
        ObjectStorage().head(row.object_key)
    assert stored(acme, upload["id"]).status == "aborted"
    assert videos(acme) == 0


def test_an_upload_that_vanished_from_storage_ends(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"x")
    row = stored(acme, upload["id"])
    ObjectStorage().abort(row.object_key, row.multipart_id)

    assert complete(client, upload["id"]).json()["code"] == "upload_gone"
    assert complete(client, upload["id"]).json()["code"] == "upload_not_open"


def test_aborting_drops_the_parts_and_is_final(acme: Cast) -> None:
    client = acme.client
    upload = create_upload(client, b"x")
    put_all(client, upload, b"x")
    row = stored(acme, upload["id"])

    assert client.delete(f"/v1/uploads/{upload['id']}").status_code == 204

    erase_parts(acme)
    with pytest.raises(UploadMissing):
        ObjectStorage().list_parts(row.object_key, row.multipart_id)
    assert complete(client, upload["id"]).json()["code"] == "upload_not_open"
    assert client.get(f"/v1/uploads/{upload['id']}").json()["status"] == "aborted"
    urls = client.post(f"/v1/uploads/{upload['id']}/part-urls", {"part_numbers": [1]})
    assert (urls.status_code, urls.json()["code"]) == (409, "upload_not_open")


def test_the_sweep_ends_expired_uploads_only(acme: Cast, globex: Cast) -> None:
    old, young = create_upload(acme.client, b"x"), create_upload(globex.client, b"x")
    put_all(acme.client, old, b"x")
    row = stored(acme, old["id"])
    now = timezone.now()
    with acme.scope():
        Upload.objects.filter(id=row.id).update(expires_at=now - timedelta(seconds=1))

    refused = complete(acme.client, old["id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "upload_expired")
    assert expire_uploads(now=now) == 1
    assert expire_uploads(now=now) == 0

    assert stored(acme, old["id"]).status == "expired"
    assert stored(globex, young["id"]).status == "open"
    erase_parts(acme)
    with pytest.raises(UploadMissing):
        ObjectStorage().list_parts(row.object_key, row.multipart_id)


def test_an_abort_removes_the_object_of_a_completion_that_was_rolled_back(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x")
    put_all(acme.client, upload, b"x")
    row = stored(acme, upload["id"])
    storage = ObjectStorage()
    storage.complete(row.object_key, row.multipart_id, storage.list_parts(row.object_key, row.multipart_id))
    assert acme.client.delete(f"/v1/uploads/{upload['id']}").status_code == 204
    erase_parts(acme)
    with pytest.raises(ObjectMissing):
        storage.head(row.object_key)


def test_many_completions_at_once_make_one_video(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x")
    parts = put_all(acme.client, upload, b"x")
    start = threading.Barrier(4)

    def finish(_: int) -> str:
        try:
            start.wait(20)
            return str(complete(acme.client, upload["id"], parts).json()["id"])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        ids = set(pool.map(finish, range(4)))

    assert len(ids) == 1
    with acme.scope():
        assert (Video.objects.count(), Job.objects.count()) == (1, 1)
