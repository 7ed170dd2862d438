"""The objects over segments and the picture's clock that the assembly job makes from tracks and on-screen text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from backend.api.public_ids import encode
from backend.ekg.models import Track, TrackedObject
from backend.ekg.writer import VersionWriter
from backend.library.models import IndexVersion
from gpu_workers.engine.ekg import SegmentRecord, Span, TrackObservation, unit
from tests.conftest import Cast
from tests.scripted_openai import ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import chunk_n, see
from tests.tasks.world import indexed_video, ring_again, run_due

pytestmark = pytest.mark.slow


def followed(record: SegmentRecord) -> tuple[TrackObservation, ...]:
    """Return a parked car in the whole segment, and in the first segment also a person who comes and goes."""
    start, end = record.span.start_ms, record.span.end_ms - 200
    car = tuple((ms, 0.1, 0.4, 0.4, 0.6) for ms in range(start, end + 1, 200))
    tracks = [TrackObservation(1, "car", Span(start, end + 1), 0.9, "white", boxes=car, appearance=look(0))]
    if start == 0:
        person = tuple((ms, 0.8, 0.2, 0.9, 0.6) for ms in range(2_000, 6_001, 200))
        tracks.append(
            TrackObservation(2, "person", Span(2_000, 6_001), 0.8, "red", "", True, True, person, look(1))
        )  # fmt: skip
    return tuple(tracks)


def look(axis: int) -> Any:
    return unit(np.eye(4, dtype=np.float32)[axis])


@pytest.fixture
def _eyes_with_tracks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add tracks where a segment is stored, because the scripted VLM tracks nothing."""
    store = VersionWriter.store_segment

    def stored(
        self: VersionWriter, segment_n: int, record: SegmentRecord, *, thumbnail_keys: Mapping[int, str]
    ) -> None:
        store(self, segment_n, replace(record, tracks=followed(record)), thumbnail_keys=thumbnail_keys)

    monkeypatch.setattr(VersionWriter, "store_segment", stored)


def rows(cast: Cast) -> list[Any]:
    with cast.scope():
        objects = TrackedObject.objects.order_by("n").values()
        return [*map(repr, objects), *Track.objects.order_by("segment_n", "track_no").values_list("id", "object_id")]


@pytest.mark.usefixtures("_eyes_with_tracks")
def test_tracks_of_two_segments_become_objects_with_their_events(acme: Cast) -> None:
    video_id = indexed_video(acme)

    car, person = acme.client.get(f"/v1/videos/{encode('vid', video_id)}/objects").json()["data"]
    assert (car["category"], car["spans"], car["segments"], car["tracks"]) == ("car", [[0, 39_801]], [0, 1, 2], 3)
    assert (person["spans"], person["entries"], person["exits"]) == ([[2_000, 6_001]], 1, 1)
    assert person["thumbnail_url"] is not None
    tracks = acme.client.get(f"/v1/videos/{encode('vid', video_id)}/tracks").json()["data"]
    assert sorted(row["object_id"] for row in tracks) == sorted([car["id"], car["id"], car["id"], person["id"]])

    before = rows(acme)
    ring_again(acme)
    run_due(times=2)
    assert rows(acme) == before


@pytest.mark.long
def test_a_video_without_tracks_has_no_objects(acme: Cast) -> None:
    video_id = indexed_video(acme)

    assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}/objects").json()["data"] == []
    assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}").json()["clock"] is None


@pytest.mark.long
def test_the_clock_that_the_describer_reads_is_mapped_to_the_videos_time(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    def with_clock(request: ScriptedRequest) -> Any:
        answer = see(request)
        if request.schema_name == "chunk_description":
            n = chunk_n(request)
            # One misread digit, and one chunk without a reading.
            shown = "2021-08-04 23:59:31" if n == 4 else "" if n == 5 else _clock(30 + 3 * n)
            answer["on_screen_clock"] = shown
        return answer

    vlm.script = with_clock
    video_id = indexed_video(acme)

    with acme.scope():
        clock = IndexVersion.objects.get(video_id=video_id).clock
    assert clock["readings"] == 12
    assert clock["at_zero"] in {"2021-03-04T23:59:29", "2021-03-04T23:59:28"}, (
        "to the second, read in the chunk's middle"
    )
    assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}").json()["clock"] == clock


def _clock(seconds: int) -> str:
    """Return the time this number of seconds after 23:59, over midnight."""
    return f"2021-03-04 23:59:{seconds:02}" if seconds < 60 else f"2021-03-05 00:00:{seconds - 60:02}"
