"""A recording that is fetched from a URL shares the object of another recording of its tenant with the same bytes."""

from __future__ import annotations

import hashlib

import httpx
import pytest
from django.utils import timezone

from backend.api.public_ids import decode
from backend.jobs.models import Job, JobKind
from backend.library.models import InputSegment
from backend.library.services import deletions
from backend.library.storage import ObjectStorage, source_key, source_prefix
from tests.conftest import Cast
from tests.library.growing import cut, of_url, path_of, row, sources, spans
from tests.library.uploading import make_video
from tests.library.web import Page, ScriptedWeb
from tests.tasks.world import FORTY_SECONDS, WITHOUT_MODELS, run_due
from workers.runner import run_class


def test_a_fetched_recording_shares_the_object_of_the_same_bytes_until_the_last_is_deleted(
    acme: Cast, globex: Cast, web: ScriptedWeb
) -> None:
    content = cut(FORTY_SECONDS, 0, 10_400)
    checksum = hashlib.sha256(content).hexdigest()
    uploaded = decode("vid", make_video(acme.client, content)["id"])
    run_due(times=2, classes=WITHOUT_MODELS)
    fetched = [decode("vid", of_url(cast, f"{web.url}/film.mp4")["id"]) for cast in (acme, acme, globex)]
    run_due(times=2, classes=WITHOUT_MODELS)

    rows = []
    for cast, video_id in zip((acme, acme, globex), fetched, strict=True):
        with cast.scope():
            rows.append(InputSegment.objects.get(video_id=video_id))
    assert [(piece.status, piece.content_sha256, piece.size_bytes) for piece in rows] == [
        ("ready", checksum, len(content))
    ] * 3
    shared = row(acme, uploaded).object_key
    assert [piece.object_key for piece in rows] == [shared, shared, source_key(globex.tenant_id, rows[2].id)]
    assert sources(acme) == [shared]
    assert acme.client.get("/v1/storage").json()["stored_bytes"] == len(content)
    assert [spans(acme, video_id) for video_id in (uploaded, *fetched[:2])] == [[(0, 10_400)]] * 3

    for video_id, left in ((uploaded, [shared]), (fetched[0], [shared]), (fetched[1], [])):
        assert acme.client.delete(path_of(video_id)).status_code == 202
        run_due(classes=WITHOUT_MODELS)
        assert acme.client.get(path_of(video_id)).status_code == 404
        assert sources(acme) == left
    assert sources(globex) == [rows[2].object_key]
    assert ObjectStorage().get(rows[2].object_key) == content


def test_an_upload_shares_the_object_of_a_fetched_recording(acme: Cast, web: ScriptedWeb) -> None:
    fetched = decode("vid", of_url(acme, f"{web.url}/film.mp4")["id"])
    run_due(times=2, classes=WITHOUT_MODELS)
    uploaded = decode("vid", make_video(acme.client, cut(FORTY_SECONDS, 0, 10_400))["id"])
    run_due(classes=WITHOUT_MODELS)

    (key,) = sources(acme)
    assert row(acme, uploaded).object_key == key
    assert acme.client.delete(path_of(fetched)).status_code == 202
    run_due(classes=WITHOUT_MODELS)
    assert sources(acme) == [key]
    played = httpx.get(acme.client.get(f"{path_of(uploaded)}/playback").json()["url"])
    assert hashlib.sha256(played.content).hexdigest() == row(acme, uploaded).content_sha256


def test_other_bytes_at_the_same_url_share_nothing(acme: Cast, web: ScriptedWeb) -> None:
    video_id = decode("vid", of_url(acme, f"{web.url}/film.mp4")["id"])
    run_due(times=2, classes=WITHOUT_MODELS)
    web.pages["/film.mp4"] = Page(body=cut(FORTY_SECONDS, 10_400, 17_400))
    other = decode("vid", of_url(acme, f"{web.url}/film.mp4")["id"])
    run_due(times=2, classes=WITHOUT_MODELS)
    assert len(sources(acme)) == 2
    assert (spans(acme, video_id), spans(acme, other)) == ([(0, 10_400)], [(0, 7_000)])


def test_a_fetch_that_died_after_it_shared_neither_fetches_again_nor_leaves_an_object(
    acme: Cast, web: ScriptedWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_url(acme, f"{web.url}/film.mp4")
    run_due(times=2, classes=WITHOUT_MODELS)
    second = decode("vid", of_url(acme, f"{web.url}/film.mp4")["id"])

    def die(storage: ObjectStorage, prefix: str) -> int:
        raise RuntimeError("the process ends here")

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStorage, "erase", die)
        run_class("io.fetch", worker="test")
    assert len(sources(acme)) == 2
    with acme.scope():
        Job.objects.filter(kind=JobKind.FETCH_SEGMENT, video_id=second).update(not_before=timezone.now(), due=True)
    run_due(times=2, classes=WITHOUT_MODELS)

    assert len(sources(acme)) == 1
    assert web.asked == ["/film.mp4"] * 2
    assert spans(acme, second) == [(0, 10_400)]


def test_a_sweep_spares_an_object_that_another_recording_reads(acme: Cast, web: ScriptedWeb) -> None:
    first, second = (decode("vid", of_url(acme, f"{web.url}/film.mp4")["id"]) for _ in range(2))
    run_due(times=2, classes=WITHOUT_MODELS)
    (key,) = sources(acme)
    assert acme.client.delete(path_of(first)).status_code == 202
    run_due(classes=WITHOUT_MODELS)
    with acme.scope():
        # A worker that stored the object in an attempt of its own does this when it learns late of the deletion.
        deletions.bury_deleted({first: [source_prefix(key)]})
        Job.objects.filter(kind=JobKind.SWEEP_DELETED).update(not_before=timezone.now(), due=True)
    run_due(classes=WITHOUT_MODELS)
    assert sources(acme) == [key]
    assert acme.client.delete(path_of(second)).status_code == 202
    run_due(classes=WITHOUT_MODELS)
    assert sources(acme) == []
