"""Captions, chapters and the timeline of a video, as a customer reads them."""

from __future__ import annotations

import gzip
from io import StringIO
from typing import Any

import pytest
import webvtt
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.ekg.models import Chunk, Topic, TranscriptLine
from backend.playback.timeline import joined
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.playback.recorded_days import forty_files


def get(cast: Cast, video_id: Any, part: str, **query: Any) -> Any:
    response = cast.client.get(f"/v1/videos/{encode('vid', video_id)}/{part}", query)
    assert response.status_code == 200, response.content
    return response


def test_captions_are_the_transcript(acme: Cast) -> None:
    made = record(acme)
    lines = [row["text"] for row in get(acme, made.video_id, "transcript").json()["data"]]
    assert lines

    vtt = get(acme, made.video_id, "captions.vtt")
    srt = get(acme, made.video_id, "captions.srt")

    assert (vtt["Content-Type"], srt["Content-Type"]) == (
        "text/vtt; charset=utf-8",
        "text/srt; charset=utf-8",
    )
    for content, form in ((vtt, "vtt"), (srt, "srt")):
        cues = webvtt.from_buffer(StringIO(content.content.decode()), form)
        assert " ".join(" ".join(cue.text.split()) for cue in cues) == " ".join(" ".join(lines).split())


def test_captions_of_a_span_and_of_one_audio_track(acme: Cast) -> None:
    made = record(acme)
    with acme.scope():
        TranscriptLine.objects.filter(video_id=made.video_id).delete()
        for track, start_ms, text in ((1, 0, "one"), (2, 500, "zwei"), (1, 4_000, "three")):
            TranscriptLine.objects.create(
                id=uuid7(), tenant_id=acme.tenant_id, video_id=made.video_id, index_version=1, track=track, text=text,
                start_ms=start_ms, end_ms=start_ms + 1_000, words=[],
            )  # fmt: skip

    def cues(**query: Any) -> list[tuple[str, str]]:
        read = webvtt.from_buffer(StringIO(get(acme, made.video_id, "captions.vtt", **query).content.decode()))
        return [(cue.start, cue.text) for cue in read]

    assert cues(track=2) == [("00:00:00.500", "zwei")]
    assert cues(start_ms=1_000) == [("00:00:00.000", "zwei"), ("00:00:03.000", "three")]
    assert cues(start_ms=2_000, end_ms=3_000) == []


def test_chapters_are_the_topics(acme: Cast) -> None:
    made = record(acme)
    with acme.scope():
        Topic.objects.filter(video_id=made.video_id).delete()
        for n, title in enumerate(("A man & a dog", "The dog barks")):
            Topic.objects.create(
                id=uuid7(), tenant_id=acme.tenant_id, video_id=made.video_id, index_version=1,
                n=n, start_ms=9_000 * n, end_ms=9_000 * (n + 1),
                first_event=n, end_event=n + 1, title=title, summary=title,
            )  # fmt: skip
    read = webvtt.from_buffer(StringIO(get(acme, made.video_id, "chapters.vtt").content.decode()))
    assert [(c.start, c.raw_text) for c in read] == [
        ("00:00:00.000", "A man &amp; a dog"),
        ("00:00:09.000", "The dog barks"),
    ]


def test_the_timeline_has_every_lane_of_the_whole_video(acme: Cast) -> None:
    made = record(acme)
    with acme.scope():
        last = Chunk.objects.filter(video_id=made.video_id).order_by("n").last()
        Chunk.objects.filter(id=last.id).update(description=None, gap="decode_error")

    body = get(acme, made.video_id, "timeline").json()

    assert body["events"]["id"] == [encode("evt", event) for event in made.events]
    assert body["events"]["start_ms"][:2] == [0, 9_000]
    assert body["gaps"] == {"code": ["decode_error"], "start_ms": [last.start_ms], "end_ms": [last.end_ms]}
    for lane in ("events", "topics", "speech", "objects", "gaps"):
        lengths = {len(column) for column in body[lane].values()}
        assert len(lengths) == 1, lane
    assert "person" in body["objects"]["category"]


@pytest.mark.parametrize("part", ["timeline", "hls/index.m3u8"])
def test_what_is_long_for_a_long_video_is_compressed_for_who_takes_it(acme: Cast, part: str) -> None:
    made = forty_files(acme) if part.startswith("hls") else record(acme).video_id
    path = f"/v1/videos/{encode('vid', made)}/{part}"

    plain = acme.client.get(path)
    packed = acme.client.get(path, HTTP_ACCEPT_ENCODING="gzip")

    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed["Vary"]
    assert gzip.decompress(packed.content) == plain.content


def test_stretches_of_one_kind_that_a_screen_cannot_tell_apart_are_one() -> None:
    stretches = [("dog", 0, 10), ("cat", 5, 8), ("dog", 12, 20), ("dog", 31, 40), ("dog", 33, 35)]
    assert joined(stretches, 5) == [("dog", 0, 20), ("cat", 5, 8), ("dog", 31, 40)]
