"""The index of a video as its customer reads it."""

from __future__ import annotations

from typing import Any

import pytest

from backend.api.public_ids import encode
from backend.library.models import Video, VideoStatus
from tests.api.recorded import record
from tests.conftest import Cast


def read(cast: Cast, video_id: Any, part: str, **query: Any) -> list[dict[str, Any]]:
    response = cast.client.get(f"/v1/videos/{encode('vid', video_id)}/{part}", query)
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()["data"]
    return rows


def test_events_come_in_order_with_participants_and_a_thumbnail(acme: Cast) -> None:
    made = record(acme)

    first, second = read(acme, made.video_id, "events")

    assert (first["id"], first["n"], first["start_ms"], first["end_ms"]) == (encode("evt", made.events[0]), 0, 0, 9_000)
    assert (first["summary"], first["first_chunk"], first["end_chunk"]) == ("A man walks in.", 0, 3)
    assert {(row["entity_id"], row["role"]) for row in first["participants"]} == {
        (encode("ent", made.man), "walker"),
        (encode("ent", made.dog), "watcher"),
    }
    assert f"/t/{acme.tenant_id}/v/{made.video_id}/1/frames/0.jpg?" in first["thumbnail_url"]
    assert [row["role"] for row in second["participants"]] == ["barker"]


@pytest.mark.parametrize(
    ("part", "query", "count"),
    [
        ("events", {"start_ms": 9_000}, 1),
        ("events", {"start_ms": 8_999, "end_ms": 9_000}, 1),
        ("events", {"start_ms": 8_999, "end_ms": 9_001}, 2),
        ("events", {"q": "DOG"}, 1),
        ("events", {"q": "100%"}, 0),
        ("chunks", {}, 10),
        ("chunks", {"q": "slice 4"}, 1),
        ("chunks", {"start_ms": 3_000, "end_ms": 9_000}, 2),
        ("frames", {}, 3),
        ("frames", {"start_ms": 4_000, "end_ms": 9_000}, 1),
        ("transcript", {"q": "good"}, 1),
        ("transcript", {"start_ms": 1_500}, 1),
        ("objects", {"q": "red"}, 1),
        ("objects", {"start_ms": 8_000}, 0),
        ("entities", {}, 2),
        ("entities", {"q": "hound"}, 1),
        ("entities", {"start_ms": 9_000}, 1),
        ("relations", {"q": "man"}, 1),
        ("relations", {"start_ms": 9_000}, 0),
    ],
)
def test_lists_are_narrowed_by_time_and_words(acme: Cast, part: str, query: dict[str, Any], count: int) -> None:
    assert len(read(acme, record(acme).video_id, part, **query)) == count


def test_entities_name_the_events_they_appear_in(acme: Cast) -> None:
    made = record(acme)

    dog, man = read(acme, made.video_id, "entities")

    assert (dog["name"], dog["aliases"], dog["mentions"]) == ("Dog", ["hound"], 2)
    assert [(row["event_id"], row["role"]) for row in dog["appearances"]] == [
        (encode("evt", made.events[0]), "watcher"),
        (encode("evt", made.events[1]), "barker"),
    ]
    assert man["mentions"] == 1


def test_a_relation_names_its_ends_and_its_event(acme: Cast) -> None:
    made = record(acme)

    assert read(acme, made.video_id, "relations") == [
        {
            "id": encode("rel", made.relation),
            "source": {"entity_id": encode("ent", made.man), "name": "Man"},
            "predicate": "meets",
            "target": {"entity_id": encode("ent", made.dog), "name": "Dog"},
            "description": "at the gate",
            "event_id": encode("evt", made.events[0]),
            "start_ms": 0,
            "end_ms": 9_000,
            "confidence": 1.0,
        }
    ]


def test_a_gap_says_why_it_is_not_described(acme: Cast) -> None:
    last = read(acme, record(acme).video_id, "chunks")[-1]

    assert (last["description"], last["gap"]) == (None, "unreadable")


def test_only_the_active_index_version_is_read(acme: Cast) -> None:
    made = record(acme)
    record(acme, version=2, video_id=made.video_id, word=" Again.")

    assert [row["summary"] for row in read(acme, made.video_id, "events")] == ["A man walks in.", "The dog barks."]
    with acme.scope():
        Video.objects.filter(id=made.video_id).update(active_index_version=2)
    assert read(acme, made.video_id, "events")[0]["summary"] == "A man walks in. Again."


def test_pages_follow_time_without_gap_or_repeat(acme: Cast) -> None:
    path = f"/v1/videos/{encode('vid', record(acme).video_id)}/chunks"
    seen: list[int] = []
    cursor = ""
    while cursor is not None:
        body = acme.client.get(path, {"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
        seen += [row["n"] for row in body["data"]]
        cursor = body["next_cursor"]

    assert seen == list(range(10))


def test_a_video_on_its_way_out_shows_nothing(acme: Cast) -> None:
    made = record(acme)
    with acme.scope():
        Video.objects.filter(id=made.video_id).update(status=VideoStatus.DELETING)

    for part in ("events", "summary", "frames", "playback"):
        assert acme.client.get(f"/v1/videos/{encode('vid', made.video_id)}/{part}").status_code == 404


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"start_ms": -1}, "/start_ms"),
        ({"start_ms": 5, "end_ms": 5}, "/end_ms"),
        ({"end_ms": 2**60}, "/end_ms"),
        ({"q": "x" * 201}, "/q"),
        ({"form": 1}, "/form"),
        ({"limit": 0}, "/limit"),
        ({"limit": 101}, "/limit"),
        ({"limit": "²"}, "/limit"),
    ],
)
def test_bad_queries_are_refused(acme: Cast, query: dict[str, Any], pointer: str) -> None:
    response = acme.client.get(f"/v1/videos/{encode('vid', record(acme).video_id)}/events", query)

    assert response.status_code == 400
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_the_summary_says_how_far_it_reaches(acme: Cast) -> None:
    made = record(acme)

    assert acme.client.get(f"/v1/videos/{encode('vid', made.video_id)}/summary").json() == {
        "video_id": encode("vid", made.video_id),
        "summary": "A man and a dog.",
        "indexed_until_ms": 30_000,
    }
