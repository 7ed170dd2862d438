"""Recordings that arrive in pieces: which input is accepted when, the positions of pieces, and what is fetched.

The resulting index is tested in tests/tasks/test_growing_video.py.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connections
from django.test import override_settings
from django.utils import timezone

from backend.api.public_ids import decode, encode
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed, LeaseLost
from backend.library import recording
from backend.library.indexing.plan import certain_spans, live_spans
from backend.library.models import IndexVersion, InputSegment, Upload, Video, VideoStatus
from backend.library.storage import ObjectStorage, UploadMissing
from backend.webhooks.models import WebhookEvent
from gpu_workers.engine.ekg import CHUNK_MS, Span
from tests.conftest import Cast
from tests.library.growing import append, begin, close, cut, of_url, path_of, row, segments, send, spans
from tests.library.uploading import create_upload, make_video, put_all
from tests.library.web import Page, ScriptedWeb
from tests.running import run_job
from tests.tasks.world import FORTY_SECONDS, exists, run_due
from workers.ingest import fetch_source
from workers.ingest.fetch_source import fast_enough, fetch

pytestmark = pytest.mark.usefixtures("no_models")


def ingest_job(cast: Cast, segment: dict[str, Any]) -> UUID:
    with cast.scope():
        return UUID(str(Job.objects.get(subject_id=decode("seg", segment["id"]), kind=JobKind.INGEST_SEGMENT).id))


# --- pieces and their positions ---------------------------------------------------------------------------------------


def test_a_growing_video_shows_its_pieces_and_ends_when_it_is_closed(acme: Cast) -> None:
    video_id = begin(acme, title="Gate", external_id="cam-1", metadata={"a": "b"})
    shown = acme.client.get(path_of(video_id)).json()
    assert (shown["status"], shown["title"], shown["external_id"]) == ("queued", "Gate", "cam-1")
    assert shown["source"] == {"type": "segments", "state": "open", "segments": 0}

    first = send(acme, video_id, cut(FORTY_SECONDS, 0, 10_400))
    assert (first["object"], first["n"], first["status"], first["start_ms"]) == ("input_segment", 0, "queued", None)
    assert acme.client.get(f"{path_of(video_id)}/segments/{first['id']}").json() == first
    run_due()

    (found,) = segments(acme, video_id)
    assert (found["status"], found["start_ms"], found["duration_ms"]) == ("ready", 0, 10_400)
    assert (found["probe"]["width"], found["probe"]["container"]) == (96, "mov")
    assert found["size_bytes"] == len(cut(FORTY_SECONDS, 0, 10_400))
    shown = acme.client.get(path_of(video_id)).json()
    assert (shown["status"], shown["duration_ms"], shown["probe"]["width"]) == ("indexing", 10_400, 96)
    assert shown["source"] == {"type": "segments", "state": "open", "segments": 1}
    assert spans(acme, video_id) == [(0, 9_000)], "all but the last chunk, which the next piece may complete"

    send(acme, video_id, cut(FORTY_SECONDS, 10_400, 17_400))
    send(acme, video_id, cut(FORTY_SECONDS, 17_400, 40_000))
    run_due()
    assert [(s["n"], s["start_ms"]) for s in segments(acme, video_id)] == [(0, 0), (1, 10_400), (2, 17_400)]
    begun = spans(acme, video_id)
    assert begun[0] == (0, 9_000)
    assert begun[-1][1] == 39_000
    assert close(acme, video_id)["source"]["state"] == "closed"
    run_due()
    assert spans(acme, video_id) == [*begun, (39_000, 40_000)]
    video = row(acme, video_id)
    assert (video.duration_ms, video.size_bytes) == (40_000, sum(s["size_bytes"] for s in segments(acme, video_id)))


def test_a_failed_piece_takes_no_time_and_pieces_wait_for_those_before_them(acme: Cast) -> None:
    video_id = begin(acme)
    first = send(acme, video_id, cut(FORTY_SECONDS, 0, 10_400))
    second = send(acme, video_id, b"this is no recording at all")
    third = send(acme, video_id, cut(FORTY_SECONDS, 10_400, 29_400))
    closed = close(acme, video_id)
    assert closed["status"] == "queued"

    for segment in (third, second):
        run_job(ingest_job(acme, segment), acme.tenant_id, worker="test")
        assert row(acme, video_id).duration_ms is None
    assert [(s["status"], s["start_ms"]) for s in segments(acme, video_id)] == [
        ("queued", None), ("failed", None), ("ready", None)
    ]  # fmt: skip
    run_job(ingest_job(acme, first), acme.tenant_id, worker="test")

    found = segments(acme, video_id)
    assert [(s["status"], s["start_ms"]) for s in found] == [("ready", 0), ("failed", 10_400), ("ready", 10_400)]
    assert found[1]["error"]["code"] == "not_a_video"
    assert row(acme, video_id).duration_ms == 29_400
    # 5.4 s are less than the shortest segment.
    assert spans(acme, video_id) == [(0, 12_000), (12_000, 29_400)]
    run_due(times=2)
    assert spans(acme, video_id) == [(0, 12_000), (12_000, 29_400)]


def test_a_recording_without_one_usable_piece_fails_with_the_first_ones_code(acme: Cast) -> None:
    video_id = begin(acme)
    send(acme, video_id, b"this is no recording at all")
    send(acme, video_id, b"\x00")
    run_due()
    assert row(acme, video_id).status == VideoStatus.QUEUED, "more may come"
    close(acme, video_id)
    run_due()

    video = row(acme, video_id)
    assert (video.status, video.error_code) == ("failed", "not_a_video")
    with acme.scope():
        assert IndexVersion.objects.get().state == "failed"
        assert [e.type for e in WebhookEvent.objects.exclude(type="upload.completed")] == ["video.failed"]
        assert not Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING]).exists()
    again = acme.client.post(f"{path_of(video_id)}/reindex")
    assert (again.status_code, again.json()["code"]) == (409, "not_probed")


def test_closing_without_input_fails_the_video_once(acme: Cast) -> None:
    video_id = begin(acme)
    assert close(acme, video_id)["status"] == "failed"
    assert close(acme, video_id)["error"]["code"] == "no_input"
    run_due()
    with acme.scope():
        assert [event.type for event in WebhookEvent.objects.all()] == ["video.failed"]


def test_a_piece_that_would_make_the_video_too_long_is_refused(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MAX_VIDEO_MS", 15_000)
    video_id = begin(acme)
    send(acme, video_id, cut(FORTY_SECONDS, 0, 10_400))
    send(acme, video_id, cut(FORTY_SECONDS, 10_400, 17_400))
    send(acme, video_id, cut(FORTY_SECONDS, 17_400, 20_000))
    run_due()

    found = segments(acme, video_id)
    assert [s["status"] for s in found] == ["ready", "failed", "ready"]
    assert found[1]["error"]["code"] == "too_long"
    assert row(acme, video_id).duration_ms == 13_000


@pytest.mark.parametrize("piece_ms", [1_000, 2_500, 3_000, 3_001, 5_000, 10_400, 60_000])
def test_nothing_but_the_last_chunk_waits_for_the_next_piece(piece_ms: int) -> None:
    planned: list[Span] = []
    for known in range(piece_ms, 200_000, piece_ms):
        planned += live_spans(planned[-1].end_ms if planned else 0, known)
        end = planned[-1].end_ms if planned else 0
        assert end % CHUNK_MS == 0
        assert 0 < known - end <= CHUNK_MS, "the last segment is made when the input has ended"
    assert [one.start_ms for one in planned] == [0, *(one.end_ms for one in planned[:-1])]


def test_work_segments_are_a_prefix_of_the_final_plan_whatever_arrives() -> None:
    for total in range(100, 200_000, 700):
        whole = certain_spans(0, total, ended=True)
        assert sum(span.duration_ms for span in whole) == total
        for known in range(0, total + 1, 4_900):
            early = certain_spans(0, known, ended=False)
            assert early == whole[: len(early)], (known, total)
            assert len(early) < len(whole), "the last segment is made when the input has ended"


# --- what may be appended ---------------------------------------------------------------------------------------------


def test_an_upload_becomes_one_thing_once(acme: Cast) -> None:
    video_id = begin(acme)
    content = cut(FORTY_SECONDS, 0, 10_400)
    upload = create_upload(acme.client, content)
    put_all(acme.client, upload, content)
    key = {"HTTP_IDEMPOTENCY_KEY": "piece-1"}
    made, replayed = append(acme, video_id, upload["id"], **key), append(acme, video_id, upload["id"], **key)
    assert (made.status_code, replayed.json()) == (202, made.json())
    assert made.headers["Location"] == f"{path_of(video_id)}/segments/{made.json()['id']}"

    again = append(acme, video_id, upload["id"])
    assert (again.status_code, again.json()["code"]) == (409, "upload_completed")
    as_video = acme.client.post("/v1/videos", {"source": {"type": "upload", "upload_id": upload["id"]}})
    assert (as_video.status_code, as_video.json()["code"]) == (409, "upload_completed")
    assert acme.client.get(f"/v1/uploads/{upload['id']}").json()["video_id"] == encode("vid", video_id)
    video = make_video(acme.client)
    used = append(acme, video_id, video["upload_id"])
    assert (used.status_code, used.json()["code"]) == (409, "upload_completed")
    with acme.scope():
        assert (InputSegment.objects.count(), Video.objects.count()) == (1, 2)


def test_a_video_without_input_refuses_and_leaves_the_upload_open(acme: Cast) -> None:
    content = b"piece"
    upload = create_upload(acme.client, content)
    put_all(acme.client, upload, content)
    closed, failed, gone = begin(acme), begin(acme), begin(acme)
    close(acme, failed)
    assert acme.client.delete(path_of(gone)).status_code == 202
    with acme.scope():
        Video.objects.filter(id=closed).update(input_closed_at=timezone.now())
    whole = decode("vid", make_video(acme.client)["id"])

    for video_id, code in ((closed, "input_closed"), (failed, "video_failed"), (gone, "video_deleting"),
                           (whole, "not_growing")):  # fmt: skip
        refused = append(acme, video_id, upload["id"])
        assert (refused.status_code, refused.json()["code"]) == (409, code)
    assert acme.client.post(f"{path_of(whole)}/close").json()["code"] == "not_growing"
    assert acme.client.post(f"{path_of(gone)}/close").json()["code"] == "video_deleting"
    with acme.scope():
        assert Upload.objects.get(id=decode("upl", upload["id"])).status == "open"
        assert not InputSegment.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {"source": {"type": "segments", "url": "https://example.org/a.mp4"}},
        {"source": {"type": "url"}},
        {"source": {"type": "upload"}},
        {"source": {"type": "radio"}},
        {"source": {"type": "segments"}, "collection_id": "col_1112D7UDUNVZKJDLWBVxaM"},
        {"source": {"type": "segments"}, "metadata": {"a": "x" * 501}},
    ],
)
def test_a_source_says_what_its_type_needs(acme: Cast, body: dict[str, Any]) -> None:
    assert acme.client.post("/v1/videos", body).status_code == 400
    with acme.scope():
        assert not Video.objects.exists()


def test_a_video_of_an_upload_takes_its_fields_from_the_upload(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x")
    refused = acme.client.post(
        "/v1/videos", {"source": {"type": "upload", "upload_id": upload["id"]}, "title": "Other"}
    )
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "set_by_the_upload")


def test_a_growing_video_has_its_collections_profile(acme: Cast) -> None:
    collection = acme.client.post("/v1/collections", {"name": "Park", "profile": "wildlife"}).json()["id"]
    video_id = begin(acme, collection_id=collection)
    shown = acme.client.get(path_of(video_id)).json()
    assert (shown["profile"], shown["collection_id"]) == ("wildlife", collection)


# --- killed workers, purges, playback ---------------------------------------------------------------------------------


def test_a_worker_killed_before_it_commits_loses_and_doubles_nothing(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    video_id = begin(acme)
    segment = send(acme, video_id, cut(FORTY_SECONDS, 0, 10_400))
    close(acme, video_id)
    job_id = ingest_job(acme, segment)

    class Killed(BaseException):
        pass

    def die(video_id: UUID) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("backend.library.indexing.intake.settle", die)
        with pytest.raises(Killed):
            run_job(job_id, acme.tenant_id, worker="killed")
    assert segments(acme, video_id)[0]["status"] == "queued"
    with acme.scope():
        Job.objects.filter(id=job_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    run_due()
    run_job(job_id, acme.tenant_id, worker="next")
    run_due(times=2)

    assert [s["start_ms"] for s in segments(acme, video_id)] == [0]
    assert (row(acme, video_id).duration_ms, spans(acme, video_id)) == (10_400, [(0, 10_400)])


def test_pieces_taken_in_at_the_same_moment_are_placed_once_each(acme: Cast) -> None:
    video_id = begin(acme)
    borders = [0, 10_400, 17_400, 27_000, 40_000]
    jobs = [ingest_job(acme, send(acme, video_id, cut(FORTY_SECONDS, start, end))) for start, end in pairwise(borders)]
    close(acme, video_id)
    together = threading.Barrier(len(jobs))

    def work(job_id: UUID) -> None:
        together.wait()
        try:
            run_job(job_id, acme.tenant_id, worker=str(job_id))
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work, args=(job_id,)) for job_id in jobs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [s["start_ms"] for s in segments(acme, video_id)] == borders[:-1]
    assert (row(acme, video_id).duration_ms, spans(acme, video_id)) == (
        40_000, [(0, 12_000), (12_000, 24_000), (24_000, 40_000)]
    )  # fmt: skip


def test_a_purge_takes_every_piece(acme: Cast) -> None:
    kept, video_id = begin(acme), begin(acme)
    for target in (kept, video_id):
        send(acme, target, cut(FORTY_SECONDS, 0, 10_400))
        send(acme, target, b"this is no recording at all")
    run_due()
    with acme.scope():
        gone = recording.erasable_keys(Video.objects.get(id=video_id))
        stay = recording.erasable_keys(Video.objects.get(id=kept))
    assert len(gone) == len(stay) == 2
    assert all(map(exists, gone + stay))

    assert acme.client.delete(path_of(video_id)).status_code == 202
    run_due()
    assert not any(map(exists, gone))
    assert all(map(exists, stay))
    with acme.scope():
        assert set(InputSegment.objects.values_list("video_id", flat=True)) == {kept}


def test_playback_lists_the_pieces_of_a_stretch(acme: Cast) -> None:
    video_id = begin(acme)
    send(acme, video_id, cut(FORTY_SECONDS, 0, 10_400))
    send(acme, video_id, b"this is no recording at all")
    send(acme, video_id, cut(FORTY_SECONDS, 10_400, 17_400))
    run_due()

    def played(**query: int) -> list[tuple[int, int]]:
        body = acme.client.get(f"{path_of(video_id)}/playback", query).json()
        assert body["url"] is None
        return [(piece["start_ms"], piece["end_ms"]) for piece in body["segments"]]

    assert played() == [(0, 10_400), (10_400, 17_400)]
    assert played(end_ms=10_400) == [(0, 10_400)]
    assert played(start_ms=10_399, end_ms=10_401) == [(0, 10_400), (10_400, 17_400)]
    assert played(start_ms=10_400) == [(10_400, 17_400)]
    assert played(start_ms=17_400) == []
    with acme.scope():
        video = Video.objects.get(id=video_id)
        piece = recording.piece_at(video, 12_000)
        assert piece is not None
        assert (piece.start_ms, recording.piece_at(video, 17_400)) == (10_400, None)


# --- URLs -------------------------------------------------------------------------------------------------------------


def test_a_video_of_a_url_is_fetched_once_and_its_signature_is_never_shown(acme: Cast, web: ScriptedWeb) -> None:
    video = of_url(acme, f"{web.url}/film.mp4?signature=secret")
    video_id = decode("vid", video["id"])
    assert video["source"] == {"type": "url", "state": "closed", "segments": 1}
    (segment,) = segments(acme, video_id)
    assert segment["source"] == {"type": "url", "upload_id": None, "url": f"{web.url}/film.mp4"}
    run_due(times=2)

    assert web.asked == ["/film.mp4?signature=secret"]
    (segment,) = segments(acme, video_id)
    assert (segment["status"], segment["duration_ms"], segment["source"]["url"]) == ("ready", 10_400, None)
    assert spans(acme, video_id) == [(0, 10_400)]
    with acme.scope():
        piece = InputSegment.objects.get()
        assert (piece.url, piece.object_key) == ("", f"t/{acme.tenant_id}/u/{piece.id}/source")
    assert ObjectStorage().get(piece.object_key) == cut(FORTY_SECONDS, 0, 10_400)
    played = acme.client.get(f"{path_of(video_id)}/playback").json()
    assert played["url"] == played["segments"][0]["url"]
    assert acme.client.post(f"{path_of(video_id)}/close").status_code == 202


def test_pieces_may_come_by_url_and_by_upload(acme: Cast, web: ScriptedWeb) -> None:
    video_id = begin(acme)
    for name in ("film", "unannounced"):
        body = {"source": {"type": "url", "url": f"{web.url}/{name}.mp4"}}
        assert acme.client.post(f"{path_of(video_id)}/segments", body).status_code == 202
    send(acme, video_id, cut(FORTY_SECONDS, 10_400, 17_400))
    run_due()
    assert [(s["start_ms"], s["duration_ms"]) for s in segments(acme, video_id)] == [
        (0, 10_400), (10_400, 10_400), (20_800, 7_000)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "code", "asked"),
    [
        ("away", "source_unreachable", 5),
        ("broken", "source_unreachable", 5),
        ("moved", "source_refused", 1),
        ("missing", "source_refused", 1),
        ("empty", "empty_file", 1),
    ],
)
def test_a_url_that_gives_no_file_fails_the_video_with_a_code(
    acme: Cast, web: ScriptedWeb, name: str, code: str, asked: int
) -> None:
    video_id = decode("vid", of_url(acme, f"{web.url}/{name}.mp4?signature=secret")["id"])
    run_due()

    assert len(web.asked) == asked
    video = acme.client.get(path_of(video_id)).json()
    assert (video["status"], video["error"]["code"]) == ("failed", code)
    assert "secret" not in str(video)
    with acme.scope():
        piece = InputSegment.objects.get()
        assert piece.url == ""
        assert "secret" not in "".join(WebhookEvent.objects.values_list("body", flat=True))
        assert "secret" not in "".join(Job.objects.values_list("error_message", flat=True))
    assert not exists(piece.object_key)


def test_a_deleted_video_fetches_nothing_more(acme: Cast, web: ScriptedWeb) -> None:
    video_id = decode("vid", of_url(acme, f"{web.url}/film.mp4")["id"])
    assert acme.client.delete(path_of(video_id)).status_code == 202
    run_due(times=2)
    assert web.asked == []
    assert acme.client.get(path_of(video_id)).status_code == 404


@pytest.mark.parametrize("name", ["film", "unannounced"])
def test_no_more_is_fetched_than_may_be_uploaded(
    acme: Cast, web: ScriptedWeb, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(settings, "MAX_UPLOAD_BYTES", 1_000)
    video_id = decode("vid", of_url(acme, f"{web.url}/{name}.mp4")["id"])
    run_due()
    assert acme.client.get(path_of(video_id)).json()["error"]["code"] == "too_large"
    with acme.scope():
        assert not exists(InputSegment.objects.get().object_key)


@pytest.mark.parametrize("length", [True, False], ids=["announced", "unannounced"])
def test_fetches_at_the_same_time_cannot_pass_the_quota_together(
    acme: Cast, web: ScriptedWeb, monkeypatch: pytest.MonkeyPatch, length: bool
) -> None:
    """Files of 6, 6 and 3 bytes, a quota of 10, and limits that were read before anything was stored."""
    monkeypatch.setattr("workers.ingest.fetch_segment.fetch_limit", lambda api_key_id: 10)
    names = {"first": b"123456", "second": b"654321", "third": b"123"}
    web.pages.update({f"/{name}.mp4": Page(body=body, length=length) for name, body in names.items()})
    with override_settings(STORAGE_BYTES_PER_PLAN={"standard": 10.0}):
        made = [decode("vid", of_url(acme, f"{web.url}/{name}.mp4")["id"]) for name in names]
        for video_id in made:
            with acme.scope():
                job = Job.objects.get(kind=JobKind.FETCH_SEGMENT, video_id=video_id)
            run_job(job.id, acme.tenant_id, worker="test")

        with acme.scope():
            pieces = [InputSegment.objects.get(video_id=video_id) for video_id in made]
        assert [(piece.size_bytes, exists(piece.object_key)) for piece in pieces] == [(6, True), (0, False), (3, True)]
        assert (pieces[1].status, pieces[1].error_code) == ("failed", "storage_quota_exceeded")
        assert acme.client.get("/v1/storage").json()["stored_bytes"] == 9


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.org/a.mp4", "invalid_url"),
        ("https://user:password@example.org/a.mp4", "invalid_url"),
        ("https://example.org:8080/a.mp4", "invalid_url"),
        ("https://127.0.0.1/a.mp4", "address_refused"),
        ("https://[::ffff:10.0.0.1]/a.mp4", "address_refused"),
        ("https://metadata.google.internal/a.mp4", "address_refused"),
        ("file:///etc/passwd", "invalid_url"),
    ],
)
def test_private_addresses_are_refused_unless_the_operator_allows_them(acme: Cast, url: str, code: str) -> None:
    video_id = begin(acme)
    made = acme.client.post("/v1/videos", {"source": {"type": "url", "url": url}})
    added = acme.client.post(f"{path_of(video_id)}/segments", {"source": {"type": "url", "url": url}})
    for refused in (made, added):
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
        assert [error["code"] for error in refused.json()["errors"]] == [code]
    with acme.scope():
        assert (Video.objects.count(), InputSegment.objects.count()) == (1, 0)


def test_a_name_is_judged_when_it_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that was public when it was sent may point to a private address by then."""
    monkeypatch.setattr("socket.getaddrinfo", lambda *arguments, **options: [(2, 1, 6, "", ("10.0.0.1", 443))])
    with pytest.raises(JobFailed) as refused:
        fetch(
            "https://example.org/a.mp4?sig=secret",
            "t/x/u/y/source",
            ObjectStorage(),
            limit=10,
            on_progress=lambda done, total: None,
        )
    # The same as for a name that does not exist, so that nobody finds out which names lead inside.
    assert (refused.value.code, refused.value.retryable) == ("source_unreachable", True)
    assert "secret" not in str(refused.value)


def test_a_fetch_stops_when_its_lease_is_lost(acme: Cast, web: ScriptedWeb) -> None:
    def lost(done: int, total: int) -> None:
        raise LeaseLost("gone")

    key = f"t/{acme.tenant_id}/u/lost/source"
    with pytest.raises(LeaseLost):
        fetch(f"{web.url}/film.mp4", key, ObjectStorage(), limit=10**9, on_progress=lost)
    assert not exists(key)


def test_a_source_that_drips_is_left(acme: Cast, web: ScriptedWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "SOURCE_MIN_BYTES_PER_SECOND", 10**15)
    monkeypatch.setattr(fetch_source, "FLOOR_WINDOW_S", 0.0)
    key = f"t/{acme.tenant_id}/u/slow/source"
    with pytest.raises(JobFailed) as slow:
        fetch(f"{web.url}/film.mp4", key, ObjectStorage(), limit=10**9, on_progress=lambda done, total: None)
    assert (slow.value.code, slow.value.retryable) == ("source_too_slow", False)
    assert not exists(key)


@pytest.mark.parametrize(
    ("seconds", "ends"),
    [
        pytest.param([10, 10, 10, 10], True, id="4 chunks of 64 KiB in 40 s"),
        pytest.param([1, 1, 1, 1], False, id="fast"),
        pytest.param([0.5] * 80, False, id="twice the lowest throughput for 40 s"),
        pytest.param([0.5] * 30 + [10] * 4, True, id="a source that becomes slow"),
    ],
)
def test_the_throughput_of_a_source_is_measured_over_its_own_time(seconds: list[float], ends: bool) -> None:
    clock = [0.0]

    def source() -> Iterator[bytes]:
        for passing in seconds:
            clock[0] += passing
            yield b"x" * 65_536

    def consume() -> int:
        taken = 0
        for chunk in fast_enough(source(), clock=lambda: clock[0]):
            taken += len(chunk)
            clock[0] += 1_000.0  # object storage is slow: no fault of the source
        return taken

    if ends:
        with pytest.raises(JobFailed):
            consume()
    else:
        assert consume() == 65_536 * len(seconds)


def test_a_fetch_drops_what_a_killed_attempt_left(acme: Cast, web: ScriptedWeb) -> None:
    key, storage = f"t/{acme.tenant_id}/u/again/source", ObjectStorage()
    left = storage.create_upload(key, content_type="video/mp4", part_checksums=False)
    storage.put_part(key, left, 1, b"half")
    fetch(f"{web.url}/film.mp4", key, ObjectStorage(), limit=10**9, on_progress=lambda done, total: None)
    assert exists(key)
    assert storage.abort_prefix(f"t/{acme.tenant_id}/u/again/") == 0
    with pytest.raises(UploadMissing):
        storage.list_parts(key, left)
