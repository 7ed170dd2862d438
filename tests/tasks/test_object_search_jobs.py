"""Searches for objects on the real stack: crops of an index job, ranked by a job of the query workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend.api.public_ids import encode
from backend.ekg.models import Frame, Track
from backend.ekg.stored_rows import stored_vector
from gpu_workers.engine.ekg import Span, TrackObservation
from gpu_workers.engine.indexing import segments
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.roles import Meter
from gpu_workers.tasks import models
from tests.conftest import Cast
from tests.engine.models.tiny_models import write_siglip
from tests.tasks.test_search_jobs import search
from tests.tasks.world import TWELVE_SECONDS, indexed_video

pytestmark = pytest.mark.slow

BACKPACK = "a man with a blue backpack"


@pytest.fixture
def _tracked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add what a tracker would find, because the scripted VLM tracks nothing: a person in the first half, and a car in
    both halves, which is largest in the second."""
    described = segments._describe

    def with_tracks(view: Any, *rest: Any) -> Any:
        description = described(view, *rest)
        times = [frame.ms for chunk in view.chunks for frame in chunk.frames]
        car = tuple((ms, 0.5, 0.5, 0.6 if ms < 6_000 else 1.0, 1.0) for ms in times)
        person = tuple((ms, 0.0, 0.0, 0.5, 1.0) for ms in times if ms < 6_000)
        tracks = [TrackObservation(1, "car", Span(times[0], times[-1] + 1), 0.9, "white", boxes=car)]
        tracks += [TrackObservation(2, "person", Span(times[0], person[-1][0] + 1), 0.9, boxes=person)]
        return type(description)(description.chunks, tuple(tracks), description.warnings)

    monkeypatch.setattr(segments, "_describe", with_tracks)


@pytest.fixture
def _siglip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_siglip(tmp_path / "siglip", tokenizer=weights.fetch("all-minilm-l6-v2"))
    monkeypatch.setenv("FRAME_EMBEDDER_MODEL", str(folder))
    models.index_models.cache_clear()
    models.answer_models.cache_clear()


@pytest.mark.usefixtures("_tracked", "_siglip")
def test_objects_are_ranked_by_the_pictures_that_indexing_cut_out(acme: Cast, globex: Cast) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)

    body = search(acme, video_id, BACKPACK, mode="objects")

    assert (body["status"], body["compared_by"], body["results"]) == ("succeeded", "pictures", [])
    embedder = models.answer_models().frame_embedder
    query = embedder.embed_query(BACKPACK, meter=Meter())
    with acme.scope():
        tracks = list(Track.objects.order_by("track_no"))
        kept = set(Frame.objects.values_list("ms", flat=True))
    assert {track.crop_model for track in tracks} == {embedder.name}
    assert [track.crop_ms >= 6_000 for track in tracks] == [True, False], "the car is largest in the second half"
    cosines = {track.category: float(stored_vector(track.crop_embedding) @ query) for track in tracks}
    expected = sorted(cosines, key=lambda category: -cosines[category])
    assert [found["category"] for found in body["objects"]] == expected
    for found in body["objects"]:
        assert found["score"] == pytest.approx(max(0.0, cosines[found["category"]]), abs=2e-3)
        assert found["frame"]["ms"] in kept
        assert found["start_ms"] <= found["frame"]["ms"] < found["end_ms"]
    person = next(found for found in body["objects"] if found["category"] == "person")
    assert (person["video_id"], person["start_ms"]) == (encode("vid", video_id), 0)
    assert globex.client.get(f"/v1/searches/{body['id']}").status_code == 404

    early = search(acme, video_id, BACKPACK, mode="objects", end_ms=6_000)
    assert [found["category"] for found in early["objects"]] == ["person"], "the car's picture is outside the span"
    assert search(acme, video_id, BACKPACK, mode="objects", limit=1)["result_count"] == 1
    none = search(acme, video_id, BACKPACK, mode="objects", min_score=1)
    assert (none["objects"], none["empty_reason"]["code"]) == ([], "below_min_score")


@pytest.mark.usefixtures("_tracked")
def test_without_an_open_vocabulary_objects_are_ranked_by_words(acme: Cast) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)

    body = search(acme, video_id, "a parked white car", mode="objects")

    assert (body["status"], body["compared_by"]) == ("succeeded", "words")
    assert [found["category"] for found in body["objects"]] == ["car", "person"]
    assert body["objects"][0]["colour"] == "white"
    with acme.scope():
        assert not Track.objects.exclude(crop_embedding=None).exists(), "no vectors that no words can be compared with"
