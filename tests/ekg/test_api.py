"""The index of a video as its customer reads it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import encode
from backend.ekg.models import Overview, Topic
from backend.jobs.models import Job, JobState
from backend.library.indexing.follow_ups import enqueue_summary
from backend.library.models import IndexVersion, Video, VideoStatus
from tests.conftest import Cast
from tests.ekg.recorded import record


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


PARTS = ("events", "chunks", "frames", "transcript", "objects", "tracks", "entities", "relations")


def test_every_id_that_a_list_shows_can_be_read_by_itself(acme: Cast, globex: Cast) -> None:
    made, other = record(acme), record(acme)
    for part in ("events", "chunks", "frames", "transcript", "objects", "tracks", "entities", "relations"):
        under, beside = (f"/v1/videos/{encode('vid', video.video_id)}/{part}" for video in (made, other))
        rows = read(acme, made.video_id, part)
        assert rows, part
        for row in rows:
            found = acme.client.get(f"{under}/{row['id']}")
            assert found.status_code == 200, found.content
            assert {**found.json(), "thumbnail_url": ""} == {**row, "thumbnail_url": ""}
            for client, path in ((acme.client, beside), (globex.client, under)):
                refused = client.get(f"{path}/{row['id']}")
                assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), (part, path)


def test_lists_are_narrowed_by_time_and_words(acme: Cast) -> None:
    cases: list[tuple[str, dict[str, Any], int]] = [
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
        ("frames", {"q": 'exit "b"'}, 1),
        ("frames", {"q": "0% OFF"}, 1),
        ("frames", {"q": "slice 3"}, 1),
        ("frames", {"q": "slice 2"}, 0),
        ("frames", {"q": "exit", "end_ms": 3_000}, 0),
        ("chunks", {"q": "50%"}, 1),
        ("chunks", {"q": "5_%"}, 0),
        ("transcript", {"q": "good"}, 1),
        ("transcript", {"start_ms": 1_500}, 1),
        ("objects", {}, 2),
        ("objects", {"q": "red"}, 1),
        ("objects", {"start_ms": 8_000}, 1),
        ("objects", {"start_ms": 2_000, "end_ms": 3_000}, 0),
        ("objects", {"start_ms": 8_000, "q": "person"}, 0),
        ("tracks", {}, 3),
        ("tracks", {"q": "walks"}, 1),
        ("tracks", {"start_ms": 2_000, "end_ms": 4_000}, 1),
        ("entities", {}, 2),
        ("entities", {"q": "hound"}, 1),
        ("entities", {"start_ms": 9_000}, 1),
        ("relations", {"q": "man"}, 1),
        ("relations", {"start_ms": 9_000}, 0),
    ]
    made = record(acme)
    found = [(part, query, len(read(acme, made.video_id, part, **query))) for part, query, _ in cases]
    assert found == cases


def test_entities_name_the_events_they_appear_in(acme: Cast) -> None:
    made = record(acme)

    dog, man = read(acme, made.video_id, "entities")

    assert (dog["name"], dog["aliases"], dog["mentions"]) == ("Dog", ["hound"], 2)
    assert [(row["event_id"], row["role"]) for row in dog["appearances"]] == [
        (encode("evt", made.events[0]), "watcher"),
        (encode("evt", made.events[1]), "barker"),
    ]
    assert man["mentions"] == 1


def test_an_entity_names_the_tracked_object_that_it_is(acme: Cast) -> None:
    made = record(acme)
    # Another version links them otherwise.
    record(acme, version=2, video_id=made.video_id)

    dog, man = read(acme, made.video_id, "entities")

    assert man["objects"] == [
        {"object_id": encode("obj", made.walker), "n": 0, "category": "person", "colour": "red", "confidence": 0.8}
    ]
    assert dog["objects"] == []
    assert read(acme, made.video_id, "objects")[1]["entities"] == []


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
            "start_at": None,
            "end_at": None,
            "confidence": 1.0,
        }
    ]


def test_an_object_is_listed_once_with_all_its_visits(acme: Cast) -> None:
    made = record(acme)

    person, car = read(acme, made.video_id, "objects")

    thumbnail = person.pop("thumbnail_url")
    assert person == {
        "id": encode("obj", made.walker), "n": 0, "category": "person", "colour": "red", "start_ms": 0, "end_ms": 8_000,
        "start_at": None, "end_at": None,
        "spans": [[0, 2_000], [3_000, 8_000]], "segments": [0], "tracks": 2, "observations": 9, "entries": 1,
        "exits": 0, "confidence": 0.9,
        "entities": [{"entity_id": encode("ent", made.man), "name": "Man", "confidence": 0.8}],
    }  # fmt: skip
    # The frame nearest to the middle of its longer visit, 5.5 s; the car's frame is nearest to 24 s.
    assert f"/v/{made.video_id}/1/frames/4000.jpg?" in thumbnail
    assert "/frames/9000.jpg?" in car["thumbnail_url"]


def test_tracks_are_narrowed_to_one_object(acme: Cast, globex: Cast) -> None:
    made, theirs = record(acme), record(globex)
    walker = encode("obj", made.walker)

    assert [row["motion"] for row in read(acme, made.video_id, "tracks", object_id=walker)] == ["walks left", "stands"]
    assert {row["object_id"] for row in read(acme, made.video_id, "tracks", object_id=walker)} == {walker}
    assert read(acme, made.video_id, "tracks", object_id=encode("obj", theirs.walker)) == []
    path = f"/v1/videos/{encode('vid', made.video_id)}"
    assert acme.client.get(f"{path}/tracks", {"object_id": "obj_x"}).status_code == 400
    assert acme.client.get(f"{path}/objects", {"object_id": walker}).status_code == 400


def test_the_clock_in_the_picture_is_on_the_videos_page(acme: Cast) -> None:
    made = record(acme)
    path = f"/v1/videos/{encode('vid', made.video_id)}"
    assert acme.client.get(path).json()["clock"] is None
    period = {"from_ms": 0, "at_start": "2021-03-04T12:00:00"}
    clock = {"at_zero": "2021-03-04T12:00:00", "readings": 7, "periods": [period]}
    with acme.scope():
        IndexVersion.objects.filter(video_id=made.video_id, n=1).update(clock=clock)

    assert acme.client.get(path).json()["clock"] == clock
    assert acme.client.get("/v1/videos").json()["data"][0]["clock"] is None


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


def add_topics(cast: Cast, video_id: UUID) -> None:
    with cast.scope():
        of = {"tenant_id": cast.tenant_id, "video_id": video_id, "index_version": 1}
        Topic.objects.create(
            **of, n=1, start_ms=9_000, end_ms=30_000, first_event=1, end_event=2, title="A dog", summary="It barks.",
            frame_ms=[9_000, 29_000],
        )  # fmt: skip
        Topic.objects.create(
            **of, n=0, start_ms=0, end_ms=9_000, first_event=0, end_event=1, title="A man", summary="He walks in.",
            people=["Man"], places=["gate"], frame_ms=[0, 4_000],
        )  # fmt: skip


def test_the_summary_lists_topics_in_order_with_their_frames(acme: Cast) -> None:
    made = record(acme)
    add_topics(acme, made.video_id)

    body = acme.client.get(f"/v1/videos/{encode('vid', made.video_id)}/summary").json()

    topics = body.pop("topics")
    assert body == {
        "video_id": encode("vid", made.video_id),
        "index_version": 1,
        "text": "A man and a dog.",
        "people": [],
        "places": [],
        "until_ms": 30_000,
        "complete": True,
        "error": None,
    }
    assert [
        (t["n"], t["start_ms"], t["end_ms"], t["title"], t["summary"], t["people"], t["places"]) for t in topics
    ] == [
        (0, 0, 9_000, "A man", "He walks in.", ["Man"], ["gate"]),
        (1, 9_000, 30_000, "A dog", "It barks.", [], []),
    ]
    # A frame that does not exist is not shown.
    assert [[frame["ms"] for frame in topic["frames"]] for topic in topics] == [[0, 4_000], [9_000]]
    assert "/1/frames/4000.jpg" in topics[0]["frames"][1]["thumbnail_url"]


def test_a_summary_on_its_way_says_so(acme: Cast) -> None:
    made = record(acme)
    path = f"/v1/videos/{encode('vid', made.video_id)}/summary"
    with acme.scope():
        Overview.objects.update(until_ms=9_000)
    assert acme.client.get(path).json()["complete"] is False
    with acme.scope():
        Overview.objects.update(until_ms=30_000)
        Video.objects.update(status=VideoStatus.INDEXING)
    assert acme.client.get(path).json()["complete"] is False
    with acme.scope():
        Overview.objects.all().delete()
    body = acme.client.get(path).json()
    assert (body["text"], body["until_ms"], body["topics"], body["error"]) == ("", 0, [], None)


def test_a_summary_that_failed_says_why(acme: Cast) -> None:
    made = record(acme)
    with acme.scope():
        Overview.objects.all().delete()
        job = enqueue_summary(made.video_id, 1)
        path = f"/v1/videos/{encode('vid', made.video_id)}/summary"
        Job.objects.filter(id=job.id).update(error_code="model_unavailable", error_message="away")
    assert acme.client.get(path).json()["error"] is None, "it is still being tried"
    with acme.scope():
        Job.objects.filter(id=job.id).update(state=JobState.DEAD)
    body = acme.client.get(path).json()
    assert (body["error"], body["complete"]) == ({"code": "model_unavailable", "message": "away"}, False)


def test_the_summary_is_that_of_the_active_version(acme: Cast) -> None:
    made = record(acme)
    add_topics(acme, made.video_id)
    record(acme, version=2, video_id=made.video_id)
    with acme.scope():
        Video.objects.update(active_index_version=2)
    body = acme.client.get(f"/v1/videos/{encode('vid', made.video_id)}/summary").json()
    assert (body["index_version"], body["topics"]) == (2, [])
