"""When recordings were made: what customers may say about it, and the wall-clock times that follow everywhere."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import decode, encode
from backend.ekg.models import Topic
from backend.ekg.reader import PostgresGraph, Scope, ScopedVideo
from backend.library.models import IndexVersion, InputSegment, InputStatus, Upload, Video
from backend.library.storage import ObjectStorage
from gpu_workers.engine.answering.understood import Understood, UnderstoodTime
from gpu_workers.engine.ekg import Span
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.factories import FRAME_MODEL, TEXT_MODEL
from tests.library.growing import begin, path_of
from tests.library.uploading import create_upload, put_all
from tests.questions.test_searches import event as found_event
from tests.questions.test_searches import finish as store_search
from tests.questions.world import ask, finish

BERLIN = "Europe/Berlin"
HOUR = 3_600_000


def patch(cast: Cast, video_id: UUID, **fields: Any) -> Any:
    return cast.client.patch(path_of(video_id), fields, format="json")


def columns(cast: Cast, video_id: UUID) -> tuple[str | None, str]:
    with cast.scope():
        video = Video.objects.get(id=video_id)
    return video.recorded_at and video.recorded_at.isoformat(), video.time_zone


@pytest.mark.parametrize(
    ("said", "recorded_at", "time_zone"),
    [
        ({"recorded_at": "2026-05-03T14:00:00+02:00"}, "2026-05-03T12:00:00+00:00", "Etc/GMT-2"),
        ({"recorded_at": "2026-05-03T14:00:00Z"}, "2026-05-03T14:00:00+00:00", "UTC"),
        ({"recorded_at": "2026-05-03T14:00:00", "time_zone": BERLIN}, "2026-05-03T12:00:00+00:00", BERLIN),
        ({"recorded_at": "2026-01-03T14:00:00", "time_zone": BERLIN}, "2026-01-03T13:00:00+00:00", BERLIN),
        ({"recorded_at": "2026-05-03T14:00:00+05:30", "time_zone": "Asia/Kolkata"}, "2026-05-03T08:30:00+00:00",
         "Asia/Kolkata"),
        ({"time_zone": BERLIN}, None, BERLIN),
    ],
)  # fmt: skip
def test_a_recording_time_has_an_offset_or_a_zone(
    acme: Cast, said: dict[str, str], recorded_at: str | None, time_zone: str
) -> None:
    video_id = begin(acme, **said)
    assert columns(acme, video_id) == (recorded_at, time_zone)


@pytest.mark.parametrize(
    ("said", "code", "pointer"),
    [
        ({"recorded_at": "2026-05-03T14:00:00"}, "time_zone_missing", "/recorded_at"),
        ({"recorded_at": "2026-05-03T14:00:00+05:30"}, "time_zone_missing", "/time_zone"),
        ({"recorded_at": "yesterday"}, "invalid", "/recorded_at"),
        ({"recorded_at": 7}, "invalid", "/recorded_at"),
        ({"time_zone": "Mars/Olympus"}, "unknown_time_zone", "/time_zone"),
        ({"time_zone": "../../etc/passwd"}, "unknown_time_zone", "/time_zone"),
    ],
)
def test_a_time_that_names_no_instant_is_refused(acme: Cast, said: dict[str, Any], code: str, pointer: str) -> None:
    response = acme.client.post("/v1/videos", {"source": {"type": "segments"}, **said}, format="json")
    assert response.status_code == 400
    errors = response.json().get("errors") or [response.json()]
    assert any(each.get("code") == code and each.get("pointer") == pointer for each in errors), response.content
    with acme.scope():
        assert not Video.objects.exists()


def test_an_upload_keeps_its_recording_time_until_it_is_a_video(acme: Cast) -> None:
    upload = create_upload(acme.client, b"x" * 10, recorded_at="2026-05-03T14:00:00", time_zone=BERLIN)
    with acme.scope():
        assert Upload.objects.get(id=decode("upl", upload["id"])).time_zone == BERLIN
    put_all(acme.client, upload, b"x" * 10)
    response = acme.client.post("/v1/videos", {"source": {"type": "upload", "upload_id": upload["id"]}}, format="json")
    assert response.status_code == 202, response.content
    body = response.json()
    assert (body["recorded_at"], body["time_zone"]) == ("2026-05-03T14:00:00.000+02:00", BERLIN)


def test_a_recording_time_can_be_corrected_and_taken_back(acme: Cast, globex: Cast) -> None:
    made = record(acme)
    assert patch(acme, made.video_id, recorded_at="2026-05-03T14:00:00").status_code == 400
    assert patch(acme, made.video_id, time_zone=BERLIN).status_code == 200
    body = patch(acme, made.video_id, recorded_at="2026-05-03T14:00:00").json()
    assert body["recorded_at"] == "2026-05-03T14:00:00.000+02:00"
    assert body["wall_clock"] == {
        "stretches": [{
            "start_ms": 0, "end_ms": 30_000, "start_at": "2026-05-03T14:00:00.000+02:00", "evidence": "recorded_at",
        }],
        "contradictions": [],
    }  # fmt: skip
    assert patch(globex, made.video_id, recorded_at="2026-05-03T14:00:00Z").status_code == 404
    assert columns(acme, made.video_id) == ("2026-05-03T12:00:00+00:00", BERLIN)
    body = patch(acme, made.video_id, recorded_at=None).json()
    assert (body["recorded_at"], body["wall_clock"]) == (None, None)


def test_events_and_topics_have_wall_clock_times_in_the_videos_zone(acme: Cast) -> None:
    made = record(acme)
    path = f"{path_of(made.video_id)}/events"
    assert {(event["start_at"], event["end_at"]) for event in acme.client.get(path).json()["data"]} == {(None, None)}

    patch(acme, made.video_id, recorded_at="2026-03-29T01:59:55", time_zone=BERLIN)

    first, second = acme.client.get(path).json()["data"]
    assert (first["start_at"], first["end_at"]) == ("2026-03-29T01:59:55.000+01:00", "2026-03-29T03:00:04.000+02:00")
    assert second["start_at"] == "2026-03-29T03:00:04.000+02:00"
    assert (second["start_ms"], second["end_ms"]) == (9_000, 30_000)


def test_what_the_customer_says_wins_over_the_picture_and_the_difference_is_shown(acme: Cast) -> None:
    made = record(acme)
    shown = {
        "at_zero": "2026-05-03T14:07:00",
        "readings": 9,
        "periods": [{"from_ms": 0, "at_start": "2026-05-03T14:07:00"}],
    }
    with acme.scope():
        IndexVersion.objects.filter(video_id=made.video_id).update(clock=shown)
    assert acme.client.get(path_of(made.video_id)).json()["wall_clock"] is None, "a picture alone names no zone"
    body = patch(acme, made.video_id, time_zone=BERLIN).json()
    assert [stretch["evidence"] for stretch in body["wall_clock"]["stretches"]] == ["picture"]
    assert body["wall_clock"]["stretches"][0]["start_at"] == "2026-05-03T14:07:00.000+02:00"

    body = patch(acme, made.video_id, recorded_at="2026-05-03T14:00:00").json()

    assert body["wall_clock"]["stretches"][0]["start_at"] == "2026-05-03T14:00:00.000+02:00"
    assert body["wall_clock"]["contradictions"] == [{
        "at_ms": 0, "recorded_at": "2026-05-03T14:00:00.000+02:00", "shown_at": "2026-05-03T14:07:00.000+02:00",
    }]  # fmt: skip


def test_each_segment_may_have_a_time_of_its_own(acme: Cast) -> None:
    """The third segment was recorded before the second one; a failed one takes no time."""
    video_id = begin(acme)
    upload = create_upload(acme.client, b"y" * 10)
    put_all(acme.client, upload, b"y" * 10)
    body = {
        "source": {"type": "upload", "upload_id": upload["id"]},
        "recorded_at": "2026-05-03T14:00:00", "time_zone": BERLIN,
    }  # fmt: skip
    response = acme.client.post(f"{path_of(video_id)}/segments", body, format="json")
    assert response.status_code == 202, response.content
    assert response.json()["recorded_at"] == "2026-05-03T12:00:00Z"
    assert columns(acme, video_id) == (None, BERLIN), "the video takes over the zone"
    with acme.scope():
        of = {"tenant_id": acme.tenant_id, "video_id": video_id, "status": InputStatus.READY, "duration_ms": HOUR}
        InputSegment.objects.filter(video_id=video_id).update(status=InputStatus.READY, start_ms=0, duration_ms=HOUR)
        InputSegment.objects.create(**of, n=1, start_ms=HOUR, recorded_at="2026-05-03T18:00:00+02:00")
        InputSegment.objects.create(**of, n=2, start_ms=2 * HOUR, recorded_at="2026-05-01T09:00:00+02:00")
        InputSegment.objects.create(**{**of, "status": InputStatus.FAILED, "duration_ms": None}, n=3)

    stretches = acme.client.get(path_of(video_id)).json()["wall_clock"]["stretches"]
    assert [(each["start_ms"], each["end_ms"], each["start_at"]) for each in stretches] == [
        (0, HOUR, "2026-05-03T14:00:00.000+02:00"),
        (HOUR, 2 * HOUR, "2026-05-03T18:00:00.000+02:00"),
        (2 * HOUR, 3 * HOUR, "2026-05-01T09:00:00.000+02:00"),
    ]
    scope = Scope(acme.tenant_id, (ScopedVideo(video_id, 1, 3 * HOUR),))
    with PostgresGraph(scope, text_model=TEXT_MODEL, frame_model=FRAME_MODEL, storage=ObjectStorage()) as graph:
        clock = graph.recordings()[video_id].clock
    assert clock is not None
    assert [stretch.span for stretch in clock.stretches] == [
        Span(0, HOUR), Span(HOUR, 2 * HOUR), Span(2 * HOUR, 3 * HOUR),
    ]  # fmt: skip
    assert clock.zone == BERLIN


def test_a_segment_without_an_offset_needs_the_videos_zone(acme: Cast) -> None:
    video_id = begin(acme)
    body = {"source": {"type": "url", "url": "https://example.com/a.mp4"}, "recorded_at": "2026-05-03T14:00:00"}
    response = acme.client.post(f"{path_of(video_id)}/segments", body, format="json")
    assert response.status_code == 400
    with acme.scope():
        assert not InputSegment.objects.exists()
    patch(acme, video_id, time_zone=BERLIN)
    response = acme.client.post(f"{path_of(video_id)}/segments", body, format="json")
    assert response.status_code == 202, response.content
    assert response.json()["recorded_at"] == "2026-05-03T12:00:00Z"


def test_a_list_of_videos_shows_the_time_and_no_clock(acme: Cast) -> None:
    video_id = begin(acme, recorded_at="2026-05-03T14:00:00Z")
    (row,) = acme.client.get("/v1/videos").json()["data"]
    assert row["id"] == encode("vid", video_id)
    assert (row["recorded_at"], row["time_zone"], row["wall_clock"]) == ("2026-05-03T14:00:00.000+00:00", "UTC", None)


def test_results_and_evidence_have_wall_clock_times(acme: Cast) -> None:
    question_id, video_id = ask(acme)
    with acme.scope():
        zone = {"recorded_at": "2026-05-03T12:00:00Z", "time_zone": BERLIN}
        Video.objects.filter(id=video_id).update(**zone)
    finish(acme, question_id, video_id)
    (evidence,) = acme.client.get(f"/v1/questions/{encode('qst', question_id)}").json()["evidence"]
    assert (evidence["start_ms"], evidence["end_ms"]) == (3_000, 9_000)
    assert (evidence["start_at"], evidence["end_at"]) == (
        "2026-05-03T14:00:03.000+02:00", "2026-05-03T14:00:09.000+02:00",
    )  # fmt: skip

    wanted = {"query": "a red car", "video_ids": [encode("vid", video_id)]}
    asked = acme.client.post("/v1/search", wanted, format="json", headers={"Prefer": "respond-async"})
    store_search(acme, lambda _: [found_event(video_id)])
    body = acme.client.get(asked.headers["Location"]).json()
    for found in (*body["results"], *body["moments"]):
        assert (found["start_at"], found["end_at"]) == (
            "2026-05-03T14:00:03.000+02:00", "2026-05-03T14:00:09.000+02:00",
        )  # fmt: skip
    assert body["moments"]


def filmed_rows(node: Any) -> list[tuple[str, int, Any]]:
    """Return each time of a body with the wall-clock time next to it: name, milliseconds, time."""
    if isinstance(node, list):
        return [row for item in node for row in filmed_rows(item)]
    if not isinstance(node, dict):
        return []
    next_to = {"start_ms": "start_at", "end_ms": "end_at", "ms": "at"}
    here = [(name, node[name], node[at]) for name, at in next_to.items() if name in node]
    return here + [row for value in node.values() for row in filmed_rows(value)]


@pytest.mark.parametrize(
    "part",
    ["events", "chunks", "frames", "transcript", "objects", "tracks", "entities", "relations", "summary"],
)
def test_every_time_of_an_index_has_its_wall_clock_time(acme: Cast, part: str) -> None:
    video_id = record(acme).video_id
    with acme.scope():
        Topic.objects.create(
            tenant_id=acme.tenant_id, video_id=video_id, index_version=1, n=0, start_ms=0, end_ms=9_000,
            first_event=0, end_event=1, title="Gate", summary="A man.", frame_ms=[4_000],
        )  # fmt: skip
    path = f"{path_of(video_id)}/{part}"
    unknown = filmed_rows(acme.client.get(path).json())
    assert unknown
    assert {at for _, _, at in unknown} == {None}

    assert patch(acme, video_id, recorded_at="2026-05-03T14:00:00", time_zone=BERLIN).status_code == 200
    begin = datetime.fromisoformat("2026-05-03T14:00:00+02:00")
    known = filmed_rows(acme.client.get(path).json())
    assert known == [
        (name, ms, (begin + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")) for name, ms, _ in unknown
    ]


def test_the_time_that_a_question_names_has_its_wall_clock_time(acme: Cast) -> None:
    question_id, video_id = ask(acme)
    time = UnderstoodTime("at 0:10", "0:00:10 of the video", {video_id: Span(5_000, 15_000)})
    finish(acme, question_id, video_id, understood=Understood(time=time).record())
    assert patch(acme, video_id, recorded_at="2026-05-03T14:00:00Z").status_code == 200
    body = acme.client.get(f"/v1/questions/{encode('qst', question_id)}").json()
    (span,) = body["understood"]["time"]["spans"]
    assert (span["start_at"], span["end_at"]) == ("2026-05-03T14:00:05.000+00:00", "2026-05-03T14:00:15.000+00:00")
