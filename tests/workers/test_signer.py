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
from backend.library.models import Video
from backend.library.storage import ObjectMissing, ObjectStorage, StorageAway, StorageDenied, StorageError
from tests.conftest import Cast
from tests.tasks.world import stored_video
from workers.health import signer_faults
from workers.signed_storage import SignedStorage, _http
from workers.signer import Signer

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
