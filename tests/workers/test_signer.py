"""A job reads and writes its own objects through the signer, while its lease is held, and nothing else."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from backend.env import SIGNER_KEYS
from backend.jobs import services
from backend.jobs.models import Job, JobKind
from backend.jobs.services import Lease, LeaseLost
from backend.library.models import InputSegment, Segment, Video
from backend.library.services import contents
from backend.library.services.input_segments import begin_from_url
from backend.library.storage import (
    ObjectMissing,
    ObjectStorage,
    StorageAway,
    StorageDenied,
    StorageError,
    version_prefix,
)
from backend.observability.metrics import SIGNED
from tests.conftest import Cast
from tests.tasks.world import stored_video
from workers.health import signer_faults
from workers.objects.object_rights import MOST_PUTS
from workers.objects.signed_storage import SignedStorage, _http
from workers.objects.signer import Signer

SECRET = "a secret of this test"
SECRETS = {queue: SECRET if queue == "cpu.probe" else f"{SECRET}, for {queue}" for queue in SIGNER_KEYS}


@contextmanager
def serving(port: int = 0) -> Iterator[int]:
    server = Signer("127.0.0.1", port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        # A process that ends closes its connections; a thread of this one does not.
        _http().close()
        _http.cache_clear()
        server.server_close()
        thread.join()


@pytest.fixture
def signer(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    as_a_probe_worker(monkeypatch)
    with serving() as port:
        monkeypatch.setattr(settings, "SIGNER_URL", f"http://127.0.0.1:{port}/")
        yield port


def as_a_probe_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be a worker of one class, and the signer."""
    monkeypatch.setattr(settings, "SIGNER_KEY", SECRET)
    monkeypatch.setattr(settings, "SIGNER_KEYS", SECRETS)


def probing(cast: Cast) -> tuple[Lease, str]:
    """Return the lease of a video's probe and the key of its recording."""
    video_id = stored_video(cast)
    with cast.scope():
        job = Job.objects.get(kind=JobKind.PROBE_VIDEO, subject_id=video_id)
        lease = services.claim(job.id, worker="test:1")
        assert lease is not None
        return lease, Video.objects.get(id=video_id).object_key


def test_a_probe_reads_its_recording_whole_and_by_ranges(acme: Cast, signer: int) -> None:
    lease, key = probing(acme)
    storage, content = SignedStorage(lease), ObjectStorage().get(key)
    assert storage.head(key).size_bytes == len(content)
    assert b"".join(storage.chunks(key, size=1000)) == content
    url = storage.presign_get(key)
    assert httpx.get(url, headers={"range": "bytes=10-19"}).content == content[10:20]
    assert httpx.put(url, content=b"x").status_code == 403


@pytest.mark.parametrize("minutes", [-5, 5])
def test_a_signer_whose_clock_is_wrong_judges_leases_by_that_of_the_database(
    acme: Cast, signer: int, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    lease, key = probing(acme)
    now, wrong = timezone.now, timedelta(minutes=minutes)
    monkeypatch.setattr(timezone, "now", lambda: now() + wrong)
    assert SignedStorage(lease).head(key).size_bytes > 0
    with acme.scope():
        Job.objects.filter(id=lease.job_id).update(lease_until=now() - timedelta(seconds=1))
    with pytest.raises(LeaseLost):
        SignedStorage(lease).head(key)


def test_no_other_object_and_no_other_operation(acme: Cast, globex: Cast, signer: int) -> None:
    lease, key = probing(acme)
    _, foreign = probing(globex)
    _, other = probing(acme)
    missing = f"t/{uuid4()}/u/{uuid4()}/source"
    storage = SignedStorage(lease)
    refusals = []
    for refused in (foreign, other, missing, f"{key}/../../x/source", f"{key}.jpg", "deletions/a", ""):
        with pytest.raises(StorageError) as caught:
            storage.presign_get(refused)
        refusals.append(str(caught.value))
    assert len(set(refusals)) == 1
    for write in (
        lambda: storage.put(key, b"x", content_type="image/jpeg"),
        lambda: storage.delete(key),
        lambda: storage.create_upload(key, content_type="video/mp4", part_checksums=False),
        lambda: storage.erase(key.removesuffix("source")),
    ):
        with pytest.raises(StorageError):
            write()
    with pytest.raises(LeaseLost):
        SignedStorage(replace(lease, tenant_id=globex.tenant_id)).presign_get(foreign)
    assert ObjectStorage().get(key)
    assert ObjectStorage().get(foreign)


def observing(cast: Cast) -> tuple[Lease, str]:
    """Return the lease of a segment's job and the folder of its pictures."""
    video_id = stored_video(cast)
    with cast.scope():
        segment = Segment.objects.create(
            tenant_id=cast.tenant_id, video_id=video_id, index_version=1, n=0, start_ms=0, end_ms=30_000
        )
        job = services.enqueue(kind=JobKind.OBSERVE_SEGMENT, subject_id=segment.id, dedupe_key=f"observe:{segment.id}")
        lease = services.claim(job.id, worker="test:1")
        assert lease is not None
    return lease, f"{version_prefix(cast.tenant_id, video_id, 1)}frames/"


def test_a_segment_stores_all_its_pictures_after_few_requests(
    acme: Cast, signer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SIGNER_KEY", SECRETS["gpu.index"])
    lease, folder = observing(acme)
    pictures = {f"{folder}{n}.jpg": b"picture %d" % n for n in range(MOST_PUTS + 6)}
    before = _signed("put")

    put = SignedStorage(lease).putter({key: len(body) for key, body in pictures.items()}, content_type="image/jpeg")
    for key, body in pictures.items():
        put(key, body)

    assert {key: ObjectStorage().get(key) for key in pictures} == pictures
    assert _signed("put") - before == 2
    first = f"{folder}0.jpg"
    with pytest.raises(StorageDenied):
        put(first, b"another length than was signed")
    with pytest.raises(KeyError):
        put(f"{folder}unsigned.jpg", b"x")
    assert ObjectStorage().get(first) == pictures[first]


def test_one_picture_that_a_job_may_not_store_refuses_them_all(
    acme: Cast, signer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SIGNER_KEY", SECRETS["gpu.index"])
    lease, folder = observing(acme)
    _, other = observing(acme)
    own = f"{folder}1.jpg"
    for refused in (f"{other}1.jpg", f"{folder}1", f"{folder}../1.jpg", own.replace(str(acme.tenant_id), str(uuid4()))):
        with pytest.raises(StorageError, match="not_allowed"):
            SignedStorage(lease).putter({own: 1, refused: 1}, content_type="image/jpeg")
    reply = httpx.post(
        settings.SIGNER_URL,
        headers={"authorization": f"Bearer {settings.SIGNER_KEY}"},
        json={
            "tenant": str(lease.tenant_id), "job": str(lease.job_id), "token": lease.token, "operation": "put",
            "key": [f"{folder}{n}.jpg" for n in range(MOST_PUTS + 1)], "sizes": [1] * (MOST_PUTS + 1),
            "content_type": "image/jpeg",
        },
    )  # fmt: skip
    assert (reply.status_code, reply.json()) == (403, {"error": "not_allowed"})


def _signed(operation: str) -> float:
    return SIGNED.labels(operation, "done")._value.get()


def test_a_fetch_writes_its_own_object_until_all_bytes_are_stored(
    acme: Cast, signer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SIGNER_KEY", SECRETS["io.fetch"])
    url = "https://example.org/film.mp4"
    leases: list[Lease] = []
    with acme.scope():
        pieces = [InputSegment.objects.get(video_id=begin_from_url(url=url, fields={}).id) for _ in range(2)]
        for piece in pieces:
            lease = services.claim(Job.objects.get(subject_id=piece.id).id, worker="test:1")
            assert lease is not None
            leases.append(lease)
    (first, second), (one, other) = map(SignedStorage, leases), (piece.object_key for piece in pieces)
    for storage, key in ((first, one), (second, other)):
        part = storage.put_part(
            key, upload := storage.create_upload(key, content_type="", part_checksums=False), 1, b"x"
        )
        storage.complete(key, upload, [part])
    with pytest.raises(StorageError, match="not_allowed"):
        second.delete(one)

    with acme.scope():
        for piece in pieces:
            contents.share_piece(piece.id, "a" * 64, size_bytes=1)
        assert set(InputSegment.objects.values_list("object_key", flat=True)) == {one}
    for storage in (first, second):
        for change in (storage.delete, storage.erase, storage.abort_prefix):
            with pytest.raises(StorageError, match="not_allowed"):
                change(one if change == storage.delete else one.removesuffix("source"))
    assert second.erase(other.removesuffix("source")) == 1
    assert ObjectStorage().get(one) == b"x"
    with pytest.raises(ObjectMissing):
        ObjectStorage().get(other)


def test_nothing_without_a_lease_that_is_held(acme: Cast, signer: int) -> None:
    lease, key = probing(acme)
    with pytest.raises(LeaseLost):
        SignedStorage(replace(lease, token=lease.token - 1)).get(key)
    with acme.scope():
        Job.objects.filter(id=lease.job_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    with pytest.raises(LeaseLost):
        SignedStorage(lease).get(key)
    with pytest.raises(StorageDenied):
        SignedStorage(None).get(key)
    SignedStorage(None).ping()


def test_the_health_check_sees_a_signer_that_does_not_answer(database: None, signer: int) -> None:
    assert signer_faults(signer) == []
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    assert signer_faults(port) == ["the signer does not answer: ConnectionRefusedError"]


def test_nothing_without_the_secret(database: None, signer: int) -> None:
    reply = httpx.post(f"http://127.0.0.1:{signer}/", json={"operation": "ping"})
    assert (reply.status_code, reply.json()) == (401, {"error": "unauthorized"})
    reply = httpx.post(f"http://127.0.0.1:{signer}/", content=b"{", headers={"authorization": f"Bearer {SECRET}"})
    assert reply.status_code == 400


@pytest.mark.parametrize("queue", sorted(set(SIGNER_KEYS) - {"cpu.probe"}))
def test_a_worker_gets_nothing_of_a_job_of_another_class(
    acme: Cast, signer: int, monkeypatch: pytest.MonkeyPatch, queue: str
) -> None:
    lease, key = probing(acme)
    storage = SignedStorage(lease)
    assert storage.get(key)
    monkeypatch.setattr(settings, "SIGNER_KEY", SECRETS[queue])
    storage.ping()
    for ask in (storage.get, storage.head, storage.presign_get):
        with pytest.raises(StorageError, match="not_allowed"):
            ask(key)


def test_a_signer_that_is_away_is_an_outage_and_a_restart_loses_nothing(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_a_probe_worker(monkeypatch)
    lease, key = probing(acme)
    storage = SignedStorage(lease)
    with serving() as port:
        monkeypatch.setattr(settings, "SIGNER_URL", f"http://127.0.0.1:{port}/")
        before = storage.get(key)
    with pytest.raises(StorageAway, match="the signer did not answer"):
        storage.get(key)
    with serving(port):
        assert storage.get(key) == before


def test_an_error_of_storage_has_no_url(acme: Cast, signer: int) -> None:
    lease, key = probing(acme)
    ObjectStorage().delete(key)
    for read in (SignedStorage(lease).get, SignedStorage(lease).head):
        with pytest.raises(ObjectMissing) as caught:
            read(key)
        assert "http" not in str(caught.value)
        assert key not in str(caught.value)
