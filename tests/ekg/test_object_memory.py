"""The object memory in Postgres against the object memory of a process."""

from __future__ import annotations

import random
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from backend.ekg.models import Track, TrackedObject
from backend.ekg.object_memory import StagedObjects, store_objects, unlinked_tracks
from backend.ekg.writer import VersionWriter
from gpu_workers.engine.ekg import ObjectState, SegmentRecord, Span, TrackObservation, unit
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.objects import ObjectLinker
from tests.conftest import Cast
from tests.factories import make_video, segment_record

MODEL = "eyes"


def track(start_ms: int, end_ms: int, look: list[float], category: str, x: float) -> TrackObservation:
    boxes = tuple((ms, x, 0.4, x + 0.1, 0.8) for ms in [*range(start_ms, end_ms, 500), end_ms])
    appearance = unit(np.array(look, dtype=np.float16).astype(np.float32))
    return TrackObservation(
        0, category, Span(start_ms, end_ms + 1), 0.9, "red", "stands", True, False, boxes, appearance
    )


def segments(seed: int) -> list[list[TrackObservation]]:
    """Return eight segments of 6 s: three appearances, slightly blurred, at three positions."""
    dice = random.Random(seed)
    made = []
    for n in range(8):
        tracks = []
        for _ in range(dice.randrange(4)):
            start = n * 6_000 + 500 * dice.randrange(10)
            look = [0.0, 0.0, 0.0, dice.choice([0.0, 0.25, 0.5])]
            look[dice.randrange(3)] = 1.0
            category, x = dice.choice(["person", "car", "truck", "bottle"]), dice.choice([0.1, 0.4, 0.7])
            tracks.append(track(start, min(n * 6_000 + 5_500, start + 500 * dice.randrange(1, 9)), look, category, x))
        made.append(tracks)
    return made


def written(video_id: UUID, n: int, tracks: list[TrackObservation]) -> None:
    record: SegmentRecord = replace(segment_record(n * 6_000, n * 6_000 + 6_000), tracks=tuple(tracks), frames=())
    VersionWriter(video_id, 1, text_model="t", frame_model="f").store_segment(n, record, thumbnail_keys={})


def about(state: ObjectState) -> tuple[object, ...]:
    """Return everything but the vector, which Postgres keeps in half precision."""
    return (
        state.id, state.n, state.category, state.colour, state.spans, state.segments, state.tracks, state.observations,
        state.entries, state.exits, state.confidence, state.weight, dict(state.categories), state.last,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_the_directories_agree_and_every_track_has_its_object(acme: Cast, seed: int) -> None:
    with acme.scope():
        video_id = make_video().id
    memory = MemoryIndex(video_id)
    for n, tracks in enumerate(segments(seed)):
        with acme.scope():
            written(video_id, n, tracks)
            ids, waiting = unlinked_tracks(video_id, 1, n)
        # A new directory for each segment, so that only the rows survive.
        stored = ObjectLinker(video_id, 1, StagedObjects(acme.tenant_id, video_id, 1, model=MODEL)).link(n, waiting)
        with acme.scope():
            store_objects(stored, ids, video_id=video_id, version=1, model=MODEL)
            assert unlinked_tracks(video_id, 1, n) == ([], [])
        linked = ObjectLinker(video_id, 1, memory).link(n, tracks)
        memory.put_objects(linked)
        assert stored.object_of == linked.object_of

    directory = StagedObjects(acme.tenant_id, video_id, 1, model=MODEL)
    assert directory.count() == memory.count() > 3
    assert list(map(about, directory.recent(0))) == list(map(about, memory.objects))
    assert [s.id for s in directory.recent(24_000)] == [s.id for s in memory.recent(24_000)]
    query = unit(np.array([1.0, 0.2, 0.0, 0.1], dtype=np.float32))
    near = directory.alike({"person", "car", "truck"}, query, limit=5)
    expected = memory.alike({"person", "car", "truck"}, query, limit=5)
    assert [similarity for _, similarity in near] == pytest.approx([s for _, s in expected], abs=2e-3)
    assert {s.category for s, _ in near} <= {"person", "car", "truck"}
    with acme.scope():
        owned = [row.object_id for row in Track.objects.filter(video_id=video_id).order_by("segment_n", "track_no")]
        assert owned == [owner for n in sorted(memory.object_of) for owner in memory.object_of[n]]
        assert TrackedObject.objects.filter(video_id=video_id).count() == memory.count()


def test_staged_objects_are_found_before_they_are_committed(acme: Cast) -> None:
    with acme.scope():
        video_id = make_video().id
    directory = StagedObjects(acme.tenant_id, video_id, 1, model=MODEL)
    linker = ObjectLinker(video_id, 1, directory)
    first = linker.link(0, [track(0, 2_000, [1, 0, 0, 0], "person", 0.1)])
    directory.stage(first)
    second = linker.link(1, [track(30_000, 32_000, [1, 0, 0, 0], "person", 0.7)])

    assert second.object_of == first.object_of
    assert directory.count() == 1
    with acme.scope():
        assert not TrackedObject.objects.filter(video_id=video_id).exists()


def test_other_versions_videos_and_tenants_are_out_of_reach(acme: Cast, globex: Cast) -> None:
    with acme.scope():
        video_id, other_id = make_video().id, make_video().id
        written(video_id, 0, [track(0, 2_000, [1, 0, 0, 0], "person", 0.1)])
        ids, tracks = unlinked_tracks(video_id, 1, 0)
    directory = StagedObjects(acme.tenant_id, video_id, 1, model=MODEL)
    linked = ObjectLinker(video_id, 1, directory).link(0, tracks)
    with acme.scope():
        store_objects(linked, ids, video_id=video_id, version=1, model=MODEL)

    query = tracks[0].appearance
    assert query is not None
    assert len(directory.alike({"person"}, query, limit=5)) == 1
    for stranger in (
        StagedObjects(acme.tenant_id, video_id, 2, model=MODEL),
        StagedObjects(acme.tenant_id, other_id, 1, model=MODEL),
        StagedObjects(globex.tenant_id, video_id, 1, model=MODEL),
        StagedObjects(acme.tenant_id, video_id, 1, model="other eyes"),
    ):
        assert stranger.alike({"person"}, query, limit=5) == []
    assert StagedObjects(globex.tenant_id, video_id, 1, model=MODEL).count() == 0
    # A vector of another length belongs to another model and is no error.
    assert directory.alike({"person"}, unit(np.ones(7, dtype=np.float32)), limit=5) == []
