"""A search by sketches finds what an exact search finds, as long as it compares all vectors; the scope stays hard."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest

from backend.ekg import sketch_search
from backend.ekg.models import SketchBlock
from backend.ekg.retirement import drop_version
from backend.ekg.sketches import BlockCache, BlockKey
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.sketches import Sketches
from tests.conftest import Cast
from tests.ekg.test_memory_and_postgres import assert_same_views, part
from tests.ekg.worlds import END_MS, PLACES, VIEWS, exact_vector, make_world, postgres


@pytest.fixture(autouse=True)
def _every_scope_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch_search, "EXACT_MS", -1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_large_scope_finds_the_same_as_memory(
    acme: Cast, globex: Cast, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If every sketched item is compared, nothing is lost: context, narrowed views and ties included."""
    monkeypatch.setattr(sketch_search, "compared", lambda *_: 10_000)
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex)
    (first, second) = world.videos
    parts = [None, *(part(random, video) for video in (first, first, second, world.foreign))]
    for span in PLACES:
        both = [(video.video_id, 1, END_MS) for video in world.videos]
        with postgres(acme, *both, span=span) as graph:
            compared = assert_same_views(random, graph, InMemoryGraph(world.videos, span=span), parts)
            assert (compared > 0) == (span.start_ms < END_MS)
    with postgres(acme, (first.video_id, 2, END_MS)) as graph:
        assert assert_same_views(random, graph, InMemoryGraph([world.second_version]), parts) > 0


def test_a_foreign_an_unknown_and_an_unbuilt_video_are_equally_empty(acme: Cast, globex: Cast) -> None:
    random = np.random.default_rng(4)
    world = make_world(random, acme, globex)
    first = world.videos[0].video_id
    everything = {view: ViewQuery(exact_vector(random), 500) for view in VIEWS}
    with postgres(globex, (world.foreign.video_id, 1, END_MS)) as graph:
        # The foreign blocks are in this process's memory from here on.
        assert all(graph.search_views(everything, floor=-2.0).values())
    for scope in ((world.foreign.video_id, 1, END_MS), (UUID(int=9), 1, END_MS), (first, 3, END_MS), (first, 1, 0)):
        with postgres(acme, scope) as graph:
            assert graph.search_views(everything, floor=-2.0) == {view: [] for view in VIEWS}


def test_a_dropped_version_has_no_sketches(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(5), acme, globex)
    first = world.videos[0].video_id
    with acme.scope():
        drop_version(first, 1)
        left = {row.video_id: row.index_version for row in SketchBlock.objects.filter(video_id=first)}
    assert left == {first: 2}


def together_of(cache: BlockCache, keys: Sequence[BlockKey]) -> Sketches:
    _, together = cache.together(keys, Sketches)
    assert together is not None
    return together


def test_a_block_that_was_dropped_since_its_key_was_read_is_left_out(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(8), acme, globex)
    dropped, kept = (index.video_id for index in world.videos[:2])
    with acme.scope():
        keys = [
            BlockKey(row.id, row.items, row.video_id, row.index_version)
            for row in SketchBlock.objects.filter(video_id__in=[dropped, kept], view="event").order_by("id")
        ]
        drop_version(dropped, 1)
        there, together = BlockCache().together(keys, Sketches)
        gone = [key for key in keys if key not in there]
        assert {(key.video_id, key.index_version) for key in gone} == {(dropped, 1)}
        assert together is not None
        assert len(together.owner) == sum(key.items for key in there)
        assert BlockCache().together(gone, Sketches) == ([], None)


def test_each_event_entity_line_and_picture_is_in_a_sketch(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(6), acme, globex)
    index = world.videos[0]
    with acme.scope():
        keys = {
            view: [
                BlockKey(row.id, row.items, row.video_id, row.index_version)
                for row in SketchBlock.objects.filter(video_id=index.video_id, index_version=1, view=view).order_by("n")
            ]
            for view in sketch_search.SKETCHED
        }
        found = {view: together_of(BlockCache(), blocks) for view, blocks in keys.items()}
    events = [record.event for record in index.events]
    assert [UUID(bytes=item) for item in found["event"].ids.tolist()] == [event.id for event in events]
    entities = {entity.id for record in index.events for entity in record.entities}
    assert {UUID(bytes=item) for item in found["entity"].ids.tolist()} == entities
    in_events = [frame.ms for frame in index.frames if frame.ms < events[-1].span.end_ms]
    stretches = list(zip(found["frame"].start_ms.tolist(), found["frame"].end_ms.tolist(), strict=True))
    assert [sum(start <= ms < end for start, end in stretches) for ms in in_events] == [1] * len(in_events)
    lines = {
        stable_id("transcript", index.video_id, 1, line.span.start_ms, line.span.end_ms, line.track)
        for chunk in index.chunks
        for line in chunk.transcript
        if line.embedding is not None and line.span.overlaps(Span(0, events[-1].span.end_ms))
    }
    assert {UUID(bytes=item) for item in found["transcript"].ids.tolist()} == lines


def test_a_block_that_grows_is_read_again(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(7), acme, globex)
    with acme.scope():
        row = SketchBlock.objects.get(video_id=world.videos[0].video_id, index_version=1, view="event")
        cache = BlockCache(limit_bytes=1)
        few, all_of_it = (
            together_of(cache, [BlockKey(row.id, items, row.video_id, 1)]) for items in (row.items - 1, row.items)
        )
    assert len(few.ids) + 1 == len(all_of_it.ids) == row.items
    assert few.ids.tolist() == all_of_it.ids.tolist()[:-1]
