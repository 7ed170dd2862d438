"""Captions, chapters and the timeline of a video, as a customer reads them."""

from __future__ import annotations

import gzip
from io import StringIO
from typing import Any

import pytest
import webvtt
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.ekg.models import Chunk, Event, Topic, TranscriptLine
from backend.library.models import Video
from backend.playback.timeline import LANES, joined
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


def timeline(cast: Cast, video_id: Any, **query: Any) -> Any:
    return get(cast, video_id, "timeline", **query).json()


def test_a_timeline_has_only_the_lanes_that_were_asked_for(acme: Cast) -> None:
    made = record(acme)
    whole = timeline(acme, made.video_id)

    some = timeline(acme, made.video_id, lanes="speech,events,speech")

    about = {"video_id", "index_version", "indexed_until_ms", "duration_ms", "resolution_ms"}
    assert (whole.keys() - about, some.keys() - about) == (set(LANES) - {"entities"}, {"speech", "events"})
    assert all(some[lane] == whole[lane] for lane in ("speech", "events"))
    man, dog = encode("ent", made.man), encode("ent", made.dog)
    entities = timeline(acme, made.video_id, lanes="entities")["entities"]
    spans = sorted(zip(*(entities[name] for name in ("entity_id", "start_ms", "end_ms")), strict=True))
    assert spans == sorted([(man, 0, 9_000), (dog, 0, 30_000)])
    summaries = timeline(acme, made.video_id, lanes="events", include="summaries")["events"]["summary"]
    assert summaries == ["A man walks in.", "The dog barks."]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"lanes": "events,sounds"}, "unknown_lane"),
        ({"lanes": ","}, "unknown_lane"),
        ({"resolution_ms": "-1"}, "min_value"),
        ({"start_ms": "9", "end_ms": "9"}, "out_of_order"),
        ({"include": "everything"}, "invalid_choice"),
        ({"lane": "events"}, "unknown_field"),
    ],
)
def test_a_timeline_refuses_what_it_does_not_know(acme: Cast, query: dict[str, str], code: str) -> None:
    made = record(acme)
    reply = acme.client.get(f"/v1/videos/{encode('vid', made.video_id)}/timeline", query)
    assert reply.status_code == 400
    assert reply.json()["errors"][0]["code"] == code


def test_a_part_of_a_timeline_has_what_overlaps_it_at_its_own_resolution(acme: Cast) -> None:
    made = record(acme)
    with acme.scope():
        TranscriptLine.objects.filter(video_id=made.video_id).delete()
        for start_ms in range(0, 30_000, 500):
            TranscriptLine.objects.create(
                id=uuid7(), tenant_id=acme.tenant_id, video_id=made.video_id, index_version=1, text="word",
                start_ms=start_ms, end_ms=start_ms + 200, words=[],
            )  # fmt: skip

    whole = timeline(acme, made.video_id)
    part = timeline(acme, made.video_id, start_ms=9_000, end_ms=10_000, resolution_ms=0)

    assert (whole["resolution_ms"], len(whole["speech"]["start_ms"])) == (1_000, 1)
    assert (part["resolution_ms"], part["speech"]["start_ms"]) == (0, [9_000, 9_500])
    assert part["events"]["id"] == [encode("evt", made.events[1])]
    for lane in set(LANES) - {"topics"}:
        columns = part.get(lane, {"start_ms": [], "end_ms": []})
        assert all(start < 10_000 for start in columns["start_ms"]), lane
        assert all(end > 9_000 for end in columns["end_ms"]), lane


def test_a_growing_timeline_is_read_on_from_where_it_ended(acme: Cast) -> None:
    made = record(acme)
    late = {"video_id": made.video_id, "start_ms__gte": 9_000}
    with acme.scope():
        events = list(Event.objects.filter(**late))
        Event.objects.filter(**late).delete()
        Video.objects.filter(id=made.video_id).update(indexed_until_ms=9_000)
    path = f"/v1/videos/{encode('vid', made.video_id)}/timeline"
    first = acme.client.get(path)
    assert first.json()["indexed_until_ms"] == 9_000
    assert acme.client.get(path, headers={"if-none-match": first["ETag"]}).status_code == 304
    for query in ({"lanes": "events"}, {"end_ms": "3000"}):
        other = acme.client.get(path, query, headers={"if-none-match": first["ETag"]})
        assert (other.status_code, other["ETag"] != first["ETag"]) == (200, True)

    with acme.scope():
        Event.objects.bulk_create(events)
        Video.objects.filter(id=made.video_id).update(indexed_until_ms=30_000)

    assert acme.client.get(path, headers={"if-none-match": first["ETag"]}).status_code == 200
    grown = timeline(acme, made.video_id, start_ms=first.json()["indexed_until_ms"])
    assert first.json()["events"]["id"] + grown["events"]["id"] == [encode("evt", event) for event in made.events]
    assert grown["indexed_until_ms"] == 30_000


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
