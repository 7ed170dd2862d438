"""The language that a video's speech is in: heard once, or given by the customer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import decode, encode
from backend.ekg.models import TranscriptLine
from backend.ekg.writer import VersionWriter
from backend.library.indexing.segments import mark_heard
from backend.library.models import Upload, Video
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import SegmentRecord, Span
from tests.conftest import Cast
from tests.factories import make_video


def made_by(cast: Cast) -> UUID:
    with cast.scope():
        return UUID(str(make_video().id))


def shown(cast: Cast, video_id: Any) -> Any:
    return cast.client.get(f"/v1/videos/{encode('vid', video_id)}").json()["language"]


def test_the_first_certain_language_stays(acme: Cast, globex: Cast) -> None:
    video_id, theirs = made_by(acme), made_by(globex)
    assert shown(acme, video_id) == ""
    with acme.scope():
        for heard in ("", "de", "en"):
            mark_heard(video_id, heard)
        mark_heard(theirs, "fr")

    assert shown(acme, video_id) == "de"
    assert shown(globex, theirs) == "", "a worker of acme writes no video of globex"


def test_a_language_that_is_given_wins_over_what_was_heard(acme: Cast) -> None:
    video_id = made_by(acme)
    path = f"/v1/videos/{encode('vid', video_id)}"
    with acme.scope():
        mark_heard(video_id, "en")

    assert acme.client.patch(path, {"language": "ar"}).json()["language"] == "ar"
    with acme.scope():
        assert Video.objects.get(id=video_id).spoken_language == "ar"
    assert acme.client.patch(path, {"language": ""}).json()["language"] == "en"


@pytest.mark.parametrize("type_", ["segments", "url"])
def test_a_new_video_takes_the_language_of_its_request(acme: Cast, type_: str) -> None:
    source = {"type": type_, **({"url": "https://example.com/a.mp4"} if type_ == "url" else {})}

    made = acme.client.post("/v1/videos", {"source": source, "language": "es"})

    assert made.status_code == 202
    assert made.json()["language"] == "es"


def test_an_upload_keeps_the_language_for_its_video(acme: Cast) -> None:
    body = {"filename": "a.mp4", "size_bytes": 1_000, "content_type": "video/mp4", "language": "zh"}

    made = acme.client.post("/v1/uploads", body)

    assert made.status_code == 201
    with acme.scope():
        assert Upload.objects.get(id=decode("upl", made.json()["id"])).language == "zh"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/v1/videos", {"source": {"type": "segments"}}),
        ("post", "/v1/uploads", {"filename": "a.mp4", "size_bytes": 1_000, "content_type": "video/mp4"}),
        ("patch", "", {}),
    ],
)
def test_an_unknown_language_is_refused(acme: Cast, method: str, path: str, body: dict[str, Any]) -> None:
    path = path or f"/v1/videos/{encode('vid', made_by(acme))}"

    reply = getattr(acme.client, method)(path, {**body, "language": "xx"})

    assert reply.status_code == 400
    [error] = reply.json()["errors"]
    assert (error["pointer"], error["code"]) == ("/language", "unknown_language")
    assert 'no language "xx"' in error["detail"]


def test_transcript_lines_show_their_language(acme: Cast) -> None:
    video_id = made_by(acme)
    lines = (
        ekg.TranscriptLine(Span(0, 1_000), "Guten Tag", language="de"),
        ekg.TranscriptLine(Span(1_000, 2_000), "hm"),
    )
    with acme.scope():
        writer = VersionWriter(video_id, 1, text_model="", frame_model="")
        writer.store_segment(0, SegmentRecord(Span(0, 2_000), (), (), (), lines), thumbnail_keys={})
        assert TranscriptLine.objects.count() == 2

    body = acme.client.get(f"/v1/videos/{encode('vid', video_id)}/transcript").json()

    assert [(line["text"], line["language"]) for line in body["data"]] == [("Guten Tag", "de"), ("hm", "")]
