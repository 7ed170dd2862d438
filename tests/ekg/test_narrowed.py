"""A graph on a narrower scope: each video only in its own span, the same in both stores, never wider than before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from backend.library.models import Video
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.stretches import stretches_of
from tests.conftest import Cast
from tests.ekg.test_memory_and_postgres import assert_same_views, part
from tests.ekg.test_same_reads import Ids, assert_same_reads, everything, plain
from tests.ekg.worlds import END_MS, VIEWS, World, exact_vector, make_world, postgres


def narrowings(random: np.random.Generator, world: World) -> list[Mapping[UUID, Span]]:
    """Return spans for one video, both, a foreign and an unknown one, some of them outside all that there is."""
    first, second = (video.video_id for video in world.videos)

    def span() -> Span:
        start = int(random.integers(0, END_MS))
        return Span(start, start + int(random.choice([1, 2_500, 12_000, END_MS])))

    return [
        {},
        {first: span()},
        {first: span(), second: span()},
        {second: Span(0, END_MS), first: Span(END_MS, END_MS + 1)},
        {world.foreign.video_id: Span(0, END_MS), UUID(int=9): Span(0, 1), second: span()},
    ]


@pytest.mark.parametrize("seed", [60, *(pytest.param(seed, marks=pytest.mark.long) for seed in (61, 62))])
def test_every_read_of_a_narrowed_graph_is_the_same_in_both_stores(acme: Cast, globex: Cast, seed: int) -> None:
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex)
    ids = Ids(world)
    parts = [None, *(part(random, video) for video in (*world.videos, world.foreign))]
    both = [(video.video_id, 1, END_MS) for video in world.videos]
    rows: Counter[str] = Counter()
    compared = 0
    for span in (Span(0, END_MS), Span(10_500, 90_000)):
        memory = InMemoryGraph(world.videos, span=span)
        with postgres(acme, *both, span=span) as graph:
            for spans in narrowings(random, world):
                one, other = graph.narrowed(spans), memory.narrowed(spans)
                rows += assert_same_reads(random, one, other, ids, rounds=4)
                compared += assert_same_views(random, one, other, parts)
                assert one.next_events(ids.events) == other.next_events(ids.events)
                assert one.previous_events(ids.events) == other.previous_events(ids.events)
                assert one.facts(ids.events) == other.facts(ids.events)
                assert one.load_events(ids.events).keys() == other.load_events(ids.events).keys()
                assert one.events_sharing_entities(ids.events[:5], limit=99) == other.events_sharing_entities(
                    ids.events[:5], limit=99
                )
                again = narrowings(random, world)[2]
                assert_same_reads(random, one.narrowed(again), other.narrowed(again), ids, rounds=2)
            # The graph itself is as before.
            assert graph.timeline(limit=999) == memory.timeline(limit=999)
    assert rows.total() > 300
    assert compared > 50


def test_several_stretches_read_as_one_graph_are_the_same_in_both_stores(acme: Cast, globex: Cast) -> None:
    random = np.random.default_rng(63)
    world = make_world(random, acme, globex)
    ids = Ids(world)
    first, second = (video.video_id for video in world.videos)
    spans = {
        first: (Span(0, END_MS // 4), Span(END_MS // 2, END_MS)),
        second: (Span(END_MS // 3, END_MS // 2),),
        world.foreign.video_id: (Span(0, END_MS),),
    }
    memory = stretches_of(InMemoryGraph(world.videos, span=Span(0, END_MS)), spans)
    with postgres(acme, *((video.video_id, 1, END_MS) for video in world.videos), span=Span(0, END_MS)) as graph:
        several = stretches_of(graph, spans)
        assert assert_same_reads(random, several, memory, ids).total() > 50
        places = several.timeline(limit=999)
        assert places == memory.timeline(limit=999)
        assert all(any(part.overlaps(place.span) for part in spans[place.video_id]) for place in places)
        assert len(places) < len(graph.timeline(limit=999))


def test_a_narrowed_graph_is_the_one_that_was_made_with_this_scope(acme: Cast, globex: Cast) -> None:
    """Narrowed to one span everywhere it equals a graph of that span, and no narrowing reaches beyond the scope."""
    random = np.random.default_rng(70)
    world = make_world(random, acme, globex)
    first, second = world.videos
    ids = Ids(world)
    span = Span(31_000, 74_000)
    both = [(video.video_id, 1, END_MS) for video in world.videos]
    vectors = {view: exact_vector(random) for view in VIEWS}
    with postgres(acme, *both) as graph, postgres(acme, *both, span=span) as made:
        narrowed = graph.narrowed({first.video_id: span, second.video_id: span})
        assert plain(everything(narrowed, ids)) == plain(everything(made, ids))
        wide = made.narrowed({first.video_id: Span(0, END_MS), second.video_id: Span(0, 2**61)})
        assert plain(everything(wide, ids)) == plain(everything(made, ids))
        queries = {view: ViewQuery(vectors[view], 99, 0.4) for view in VIEWS}
        assert wide.search_views(queries) == made.search_views(queries) == narrowed.search_views(queries)
        only = graph.narrowed({first.video_id: span}).narrowed({second.video_id: span, world.foreign.video_id: span})
        assert not any(everything(only, ids).values())
        assert only.recordings() == {}


def test_recordings_are_the_videos_of_the_scope_with_what_is_known_about_them(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(71), acme, globex)
    first, second = world.videos
    with acme.scope():
        Video.objects.filter(id=first.video_id).update(title="Gate camera")
    titled = [
        replace(first, until_ms=40_000, title="Gate camera", language="en"),
        replace(second, until_ms=0, language="en"),
    ]
    scope = ((second.video_id, 1, 0), (first.video_id, 1, 40_000), (world.foreign.video_id, 1, END_MS))
    spans = {first.video_id: Span(1_000, 9_000)}
    with postgres(acme, *scope) as graph:
        memory = InMemoryGraph(titled)
        assert graph.recordings() == memory.recordings()
        assert [*graph.recordings()] == sorted([first.video_id, second.video_id])
        assert graph.recordings()[first.video_id].title == "Gate camera"
        assert [recording.until_ms for recording in memory.recordings().values()] == [
            {first.video_id: 40_000, second.video_id: 0}[video_id] for video_id in graph.recordings()
        ]
        assert graph.narrowed(spans).recordings() == memory.narrowed(spans).recordings()
        assert graph.narrowed(spans).recordings()[first.video_id].until_ms == 9_000
