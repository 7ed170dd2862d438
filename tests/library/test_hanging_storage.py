"""Object storage that takes its time: no request holds a transaction, and so no row, while it waits for storage."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connections
from django.test import override_settings

from backend.api.public_ids import decode
from backend.jobs.models import Job, JobKind
from backend.library import storage
from backend.library.models import Upload, Video
from backend.library.services.deletion_ledger import Deleted, entries
from backend.library.storage import ObjectMissing, ObjectStorage, UploadMissing
from tests.conftest import Cast, superuser_url
from tests.library.uploading import complete, create_upload, erase_parts, make_video, put_all
from tests.tasks.held_storage import HeldStorage

S = 20
Call = Callable[[], Any]


@contextmanager
def holding(request: bytes) -> Iterator[HeldStorage]:
    """Hold back the requests to storage that have these bytes in their head."""
    with HeldStorage(settings.S3_ENDPOINT_URL, request) as held, override_settings(S3_ENDPOINT_URL=held.url):
        storage._client.cache_clear()
        try:
            yield held
        finally:
            held.release()
            storage._client.cache_clear()


def open_transactions() -> list[tuple[Any, ...]]:
    """Return the sessions of this database that hold a transaction open while they do nothing in it."""
    with psycopg.connect(superuser_url()) as server:
        return server.execute(
            "SELECT usename, query FROM pg_stat_activity WHERE datname = current_database() "
            "AND state LIKE 'idle in transaction%'"
        ).fetchall()


def apart(call: Call) -> Any:
    try:
        return call()
    finally:
        connections.close_all()


def begin(cast: Cast, _: str) -> Call:
    return lambda: cast.client.post("/v1/uploads", {"filename": "b.mp4", "size_bytes": 1, "content_type": "video/mp4"})


def ended(cast: Cast, _: str) -> Call:
    upload = create_upload(cast.client, b"y")
    assert cast.client.delete(f"/v1/uploads/{upload['id']}").status_code == 204
    return lambda: cast.client.delete(f"/v1/uploads/{upload['id']}")


def appended(cast: Cast, upload: str) -> Call:
    video = cast.client.post("/v1/videos", {"source": {"type": "segments"}}).json()["id"]
    source = {"type": "upload", "upload_id": upload}
    return lambda: cast.client.post(f"/v1/videos/{video}/segments", {"source": source})


def deleted(cast: Cast, _: str) -> Call:
    video = make_video(cast.client, b"z")["id"]
    return lambda: cast.client.delete(f"/v1/videos/{video}")


@pytest.mark.parametrize(
    ("request_of", "held", "status"),
    [
        (begin, b"?uploads", 201),
        (lambda cast, upload: lambda: cast.client.get(f"/v1/uploads/{upload}"), b"GET /", 200),
        (lambda cast, upload: lambda: complete(cast.client, upload), b"GET /", 202),
        (lambda cast, upload: lambda: complete(cast.client, upload), b"POST /", 202),
        (lambda cast, upload: lambda: complete(cast.client, upload), b"HEAD /", 202),
        (
            lambda cast, upload: lambda: cast.client.post(
                "/v1/videos", {"source": {"type": "upload", "upload_id": upload}}
            ),
            b"POST /",
            202,
        ),
        (appended, b"POST /", 202),
        (ended, b"/deletions/", 204),
        (deleted, b"/deletions/", 202),
    ],
    ids=[
        "begin", "show", "complete-list", "complete-make", "complete-head", "create-video", "append", "delete-upload",
        "delete-video",
    ],
)  # fmt: skip
def test_no_transaction_is_open_while_storage_hangs(
    acme: Cast, request_of: Callable[[Cast, str], Call], held: bytes, status: int
) -> None:
    upload = create_upload(acme.client, b"x")
    put_all(acme.client, upload, b"x")
    send = request_of(acme, upload["id"])
    connections.close_all()

    with ThreadPoolExecutor(1) as pool, holding(held) as slow:
        answer = pool.submit(apart, send)
        assert slow.reached.wait(S)
        waiting = open_transactions()
        with acme.scope():
            locked = Upload.objects.select_for_update(nowait=True).get(id=decode("upl", upload["id"]))
        slow.release()

        assert (waiting, locked.filename) == ([], "clip.mp4")
        assert answer.result(S).status_code == status


def test_an_abort_waits_for_no_storage(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x")
    put_all(acme.client, upload, b"x")
    row = Upload.unscoped.using("dispatch").get(id=decode("upl", upload["id"]))

    with override_settings(S3_ENDPOINT_URL="http://127.0.0.1:9"):
        storage._client.cache_clear()
        response = acme.client.delete(f"/v1/uploads/{upload['id']}")
    storage._client.cache_clear()

    assert response.status_code == 204
    erase_parts(acme)
    with pytest.raises(UploadMissing):
        ObjectStorage().list_parts(row.object_key, row.multipart_id)


def test_an_abort_while_the_object_is_made_wins_and_leaves_nothing(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x")
    parts = put_all(acme.client, upload, b"x")
    row = Upload.unscoped.using("dispatch").get(id=decode("upl", upload["id"]))

    with ThreadPoolExecutor(1) as pool, holding(b"HEAD /") as slow:
        answer = pool.submit(apart, lambda: complete(acme.client, upload["id"], parts))
        assert slow.reached.wait(S)
        aborted = acme.client.delete(f"/v1/uploads/{upload['id']}")
        slow.release()
        refused = answer.result(S)

    assert (aborted.status_code, refused.status_code, refused.json()["code"]) == (204, 409, "upload_not_open")
    erase_parts(acme)
    with pytest.raises(ObjectMissing):
        ObjectStorage().head(row.object_key)
    with acme.scope():
        assert (Video.objects.count(), Upload.objects.get().status) == (0, "aborted")
        assert Job.objects.filter(kind=JobKind.SWEEP_DELETED).count() == 1, "and it is swept again"


def test_completions_that_storage_holds_back_together_make_one_video(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x")
    parts = put_all(acme.client, upload, b"x")
    start = threading.Barrier(3)

    def finish(_: int) -> str:
        start.wait(S)
        return str(apart(lambda: complete(acme.client, upload["id"], parts)).json()["id"])

    with ThreadPoolExecutor(3) as pool, holding(b"POST /") as slow:
        answers = [pool.submit(finish, n) for n in range(3)]
        assert slow.reached.wait(S)
        slow.release()
        ids = {answer.result(S) for answer in answers}

    assert len(ids) == 1
    with acme.scope():
        assert (Video.objects.count(), Job.objects.filter(kind=JobKind.PROBE_VIDEO).count()) == (1, 1)


def test_an_idempotent_upload_is_begun_once_in_storage(acme: Cast) -> None:
    body = {"filename": "a.mp4", "size_bytes": 1, "content_type": "video/mp4"}
    prefix = f"t/{acme.tenant_id}/"

    first, again = (acme.client.post("/v1/uploads", body, HTTP_IDEMPOTENCY_KEY="k") for _ in range(2))

    assert first.json()["id"] == again.json()["id"]
    assert ObjectStorage().count_uploads(prefix) == 1
    acme.client.post("/v1/uploads", {**body, "collection_id": "col_nonsense"}, HTTP_IDEMPOTENCY_KEY="k2")
    assert ObjectStorage().count_uploads(prefix) == 1, "a refused upload is not begun"


def test_a_deletion_that_is_refused_does_not_stay_in_the_ledger(acme: Cast) -> None:
    video = make_video(acme.client)
    before = [entry for entry in entries() if entry.tenant_id == acme.tenant_id]

    def change() -> int:
        return int(acme.client.patch(f"/v1/videos/{video['id']}", {"title": "New"}).status_code)

    tag = acme.client.get(f"/v1/videos/{video['id']}").headers["ETag"]
    with ThreadPoolExecutor(1) as pool, holding(b"/deletions/") as slow:
        answer = pool.submit(apart, lambda: acme.client.delete(f"/v1/videos/{video['id']}", HTTP_IF_MATCH=tag))
        assert slow.reached.wait(S)
        assert change() == 200
        slow.release()
        refused = answer.result(S)

    assert refused.status_code == 412
    assert [entry for entry in entries() if entry.tenant_id == acme.tenant_id] == before
    assert acme.client.delete(f"/v1/videos/{video['id']}").status_code == 202
    (entry,) = [entry for entry in entries() if entry.tenant_id == acme.tenant_id]
    assert (entry.kind, entry.ids) == (Deleted.VIDEO, (decode("vid", video["id"]),))
