"""Which audio tracks of a recording are listened to: as the customer chose, and as the video shows it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import decode, encode
from backend.ekg.models import TranscriptLine
from backend.ekg.writer import VersionWriter
from backend.library.models import Upload, Video
from backend.library.recording import pieces
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import SegmentRecord, Span
from gpu_workers.engine.indexing.audio_tracks import AudioTrack
from tests.conftest import Cast
from tests.factories import make_video

TRACKS = [
    AudioTrack(1, "de", "Original", "aac", 2, is_default=True),
    AudioTrack(2, "en", "Dub", "aac", 2),
    AudioTrack(3, "", "", "", 0),
]


def with_tracks(cast: Cast, tracks: list[AudioTrack] | None = None) -> UUID:
    with cast.scope():
        video = make_video()
        fields = [track.as_fields() for track in TRACKS if tracks is None or track in tracks]
        Video.objects.filter(id=video.id).update(audio_tracks=fields, has_audio=True, duration_ms=9_000)
        return UUID(str(video.id))


def shown(cast: Cast, video_id: UUID) -> Any:
    return cast.client.get(f"/v1/videos/{encode('vid', video_id)}").json()


def heard(cast: Cast, video_id: UUID) -> list[int]:
    with cast.scope():
        [piece] = pieces(Video.objects.get(id=video_id))
        return [track.number for track in piece.tracks]


def test_all_tracks_are_heard_unless_the_customer_chooses(acme: Cast) -> None:
    video_id = with_tracks(acme)
    path = f"/v1/videos/{encode('vid', video_id)}"

    body = shown(acme, video_id)
    assert (body["audio"], body["degraded"], heard(acme, video_id)) == ("all", ["audio_not_heard"], [1, 2])
    assert body["probe"]["audio_tracks"][0] == {
        "number": 1, "language": "de", "title": "Original", "codec": "aac", "channels": 2, "is_default": True,
        "heard": True, "not_heard": None,
    }  # fmt: skip
    assert [one["not_heard"] for one in body["probe"]["audio_tracks"]] == [None, None, "undecodable"]

    body = acme.client.patch(path, {"audio": "EN"}).json()
    assert (body["audio"], body["degraded"], heard(acme, video_id)) == ("en", [], [2])
    assert [one["heard"] for one in body["probe"]["audio_tracks"]] == [False, True, False]

    body = acme.client.patch(path, {"audio": "fr"}).json()
    assert (body["degraded"], heard(acme, video_id)) == (["audio_not_found", "audio_not_heard"], [1, 2])


@pytest.mark.parametrize("type_", ["segments", "url"])
def test_a_new_video_takes_the_choice_of_its_request(acme: Cast, type_: str) -> None:
    source = {"type": type_, **({"url": "https://example.com/a.mp4"} if type_ == "url" else {})}

    made = acme.client.post("/v1/videos", {"source": source, "audio": "2, de"})

    assert made.status_code == 202
    assert made.json()["audio"] == "2,de"


def test_an_upload_keeps_the_choice_for_its_video(acme: Cast) -> None:
    body = {"filename": "a.mp4", "size_bytes": 1_000, "content_type": "video/mp4", "audio": "2"}

    made = acme.client.post("/v1/uploads", body)

    assert made.status_code == 201
    with acme.scope():
        assert Upload.objects.get(id=decode("upl", made.json()["id"])).audio == "2"


@pytest.mark.parametrize("choice", ["", "xx", "0", "all,2", "2;3", 2.5])
def test_what_is_no_choice_is_refused(acme: Cast, choice: object) -> None:
    reply = acme.client.post("/v1/videos", {"source": {"type": "segments"}, "audio": choice})

    assert reply.status_code == 400
    assert [error["pointer"] for error in reply.json()["errors"]] == ["/audio"]


def test_lines_show_their_track(acme: Cast) -> None:
    video_id = with_tracks(acme)
    lines = tuple(
        ekg.TranscriptLine(Span(0, 1_000), text, language=language, track=number)
        for number, language, text in ((1, "de", "Guten Tag"), (2, "en", "Good day"), (7, "", "hm"))
    )
    with acme.scope():
        writer = VersionWriter(video_id, 1, text_model="", frame_model="")
        writer.store_segment(0, SegmentRecord(Span(0, 2_000), (), (), (), lines), thumbnail_keys={})
        assert TranscriptLine.objects.count() == 3

    body = acme.client.get(f"/v1/videos/{encode('vid', video_id)}/transcript").json()

    assert {line["text"]: line["track"] for line in body["data"]} == {
        "Guten Tag": {"number": 1, "language": "de", "title": "Original"},
        "Good day": {"number": 2, "language": "en", "title": "Dub"},
        "hm": {"number": 7, "language": "", "title": ""},
    }
