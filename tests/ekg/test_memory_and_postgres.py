"""The graph in memory and the graph on PostgreSQL give the engine the same answers for the same index and scope.

Vectors have few values that half precision holds exactly, so similarities are equal to the bit and ties are many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest

from backend.ekg.writer import VersionWriter
from gpu_workers.engine.ekg import (
    Chunk,
    Entity,
    EntityMention,
    EventRecord,
    LinkedMention,
    Span,
    TranscriptLine,
    Vector,
    stable_id,
)
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.ports import EventPlace, KnowledgeGraph, ViewQuery, Within
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings, ViewQueries, retrieve
from tests.conftest import Cast
from tests.ekg.worlds import END_MS, PLACES, VIEWS, exact_record, exact_vector, make_world, postgres, store
from tests.factories import FRAME_MODEL, TEXT_MODEL, make_video


def part(random: np.random.Generator, video: MemoryVideo) -> Within:
    """Return a part of the video, which may lie beyond its end."""
    start = int(random.integers(0, END_MS))
    return Within(video.video_id, Span(start, start + int(random.choice([1, 500, 10_000, END_MS]))))


CONTEXTS = [0.0, 0.3, 0.4, 1.0, 2.5]


def assert_same_views(
    random: np.random.Generator, one: KnowledgeGraph, other: KnowledgeGraph, within: Sequence[Within | None]
) -> int:
    """Assert that both graphs find the same in these parts of the scope; return the number of compared hits."""
    compared = 0
    for _ in range(10):
        limits = {view: int(random.choice([0, 1, 3, 8, 500])) for view in VIEWS if random.random() < 0.8}
        queries = {
            view: ViewQuery(
                exact_vector(random),
                limit,
                float(random.choice(CONTEXTS)),
                within[int(random.integers(len(within)))],
            )
            for view, limit in limits.items()
        }
        floor = float(random.choice([-2.0, 0.0, 0.1, 0.25, 0.5]))
        found = one.search_views(queries, floor=floor)
        assert found == other.search_views(queries, floor=floor)
        assert found.keys() == queries.keys()
        assert all(hit.similarity > floor and hit.view == view for view in found for hit in found[view])
        assert not any(found[view] for view, limit in limits.items() if limit == 0)
        compared += sum(map(len, found.values()))
    return compared


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_views_are_the_same_in_every_scope(acme: Cast, globex: Cast, seed: int) -> None:
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex)
    (first, second) = world.videos
    parts = [None, *(part(random, video) for video in (first, first, second, world.foreign))]
    for span in PLACES:
        both = [(video.video_id, 1, END_MS) for video in world.videos]
        with postgres(acme, *both, span=span) as graph:
            compared = assert_same_views(random, graph, InMemoryGraph(world.videos, span=span), parts)
            assert (compared > 0) == (span.start_ms < END_MS)
    with postgres(acme, (first.video_id, 1, 40_000), (second.video_id, 1, 0)) as graph:
        assert assert_same_views(random, graph, InMemoryGraph([replace(first, until_ms=40_000)]), parts) > 0
    with postgres(acme, (first.video_id, 2, END_MS)) as graph:
        assert assert_same_views(random, graph, InMemoryGraph([world.second_version]), parts) > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_events_are_as_near_to_a_query_in_either_store_and_none_is_outside_the_scope(
    acme: Cast, globex: Cast, seed: int
) -> None:
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex)
    both = [(video.video_id, 1, END_MS) for video in world.videos]
    ids = [record.event.id for video in (*world.videos, world.foreign, world.second_version) for record in video.events]
    nothing = np.zeros(0, dtype=np.float32)
    parts = 0
    for span in PLACES:
        memory = InMemoryGraph(world.videos, span=span)
        with postgres(acme, *both, span=span) as graph:
            for text, frame in ((True, True), (True, False), (False, True), (False, False)):
                asked: dict[str, Any] = {
                    "text": exact_vector(random) if text else nothing,
                    "frame": exact_vector(random) if frame else nothing,
                    "limit": int(random.choice([0, 1, 3, 50])),
                }
                found = graph.similarities(ids, **asked)
                assert found == memory.similarities(ids, **asked)
                parts += sum(len(near.parts) for near in found.values())
            assert graph.similarities([], **asked) == {}
    assert parts > 0
    with postgres(acme, (world.foreign.video_id, 1, END_MS), (UUID(int=9), 1, END_MS)) as graph:
        assert graph.similarities(ids, text=exact_vector(random), frame=exact_vector(random), limit=9) == {}


def test_a_crowded_event_loses_what_the_nearest_have_in_common(acme: Cast) -> None:
    """Events 0 and 1 are the same, event 2 is another; all three have the cosine 0.5 to the query."""
    with acme.scope():
        video_id = UUID(str(make_video().id))
    shapes = ((0, 1), (0, 1), (0, 2))
    records = []
    for n, (query_axis, own_axis) in enumerate(shapes):
        vector = np.zeros(16, dtype=np.float32)
        vector[query_axis], vector[own_axis] = 0.5, 0.75**0.5
        record = lone_event(video_id, n, 0.0)
        records.append(replace(record, event=replace(record.event, embedding=vector)))
    with acme.scope():
        VersionWriter(video_id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL).store_events(records)
    ids = [record.event.id for record in records]
    query = {"event": ViewQuery(axis(0), 3, crowding=0.5)}
    # Between 0 and 1: 1.0; to event 2: 0.25. Crowds: 0.625, 0.625, 0.25; mean 0.5.
    expected = {ids[0]: 0.5 - 0.0625, ids[1]: 0.5 - 0.0625, ids[2]: 0.5 + 0.125}
    with postgres(acme, (video_id, 1, END_MS)) as graph:
        for either in (graph, InMemoryGraph([MemoryVideo(video_id, records)])):
            hits = either.search_views(query)["event"]
            assert {hit.event_id: hit.similarity for hit in hits} == pytest.approx(expected, abs=1e-3)
            assert hits[0].event_id == ids[2]
            assert len(either.search_views(query, floor=0.45)["event"]) == 1
            assert either.search_views(query, floor=0.5)["event"] == [], "the cosines themselves are above the floor"


def event_similarities(graph: KnowledgeGraph, vector: Vector, context: float) -> dict[UUID, float]:
    hits = graph.search_views({"event": ViewQuery(vector, 500, context)}, floor=-2.0)["event"]
    assert [hit.similarity for hit in hits] == sorted((hit.similarity for hit in hits), reverse=True)
    return {hit.event_id: hit.similarity for hit in hits}


def lone_event(
    video_id: UUID, n: int, similarity: float, *, version: int = 1, number: int | None = None
) -> EventRecord:
    """Return the nth 3 s of a video, with the given cosine to axis 0. number: its event number, by default n."""
    made = exact_record(np.random.default_rng(n), video_id, version, n if number is None else number, n, n + 1)
    vector = np.zeros(16, dtype=np.float32)
    vector[0] = similarity
    return replace(made, event=replace(made.event, embedding=vector), entities=(), mentions=(), relations=())


def test_what_happens_around_an_event_counts_as_far_as_it_is_in_scope(acme: Cast, globex: Cast) -> None:
    """The score joins the own similarity with the better neighbour's. Events 0, 1, 2 and 4 exist, and 4 has no
    neighbour. Numbers that go on in another version or another video are no neighbours."""
    with acme.scope():
        first, second = sorted(UUID(str(make_video().id)) for _ in range(2))
    told = {0: 0.5, 1: 0.25, 2: 1.0, 4: 0.75}
    index = MemoryVideo(first, [lone_event(first, n, similarity) for n, similarity in told.items()])
    other = MemoryVideo(second, [lone_event(second, 3, 1.0)])
    rebuilt = MemoryVideo(first, [lone_event(first, 3, 1.0, version=2)], index_version=2)
    for video in (index, other, rebuilt):
        with acme.scope():
            writer = VersionWriter(video.video_id, video.index_version, text_model=TEXT_MODEL, frame_model=FRAME_MODEL)
            writer.store_events(video.events)
    ids = {n: record.event.id for n, record in zip(told, index.events, strict=True)}
    around = {0: 0.25, 1: 1.0, 2: 0.25, 4: 0.75}
    scope = ((first, 1, END_MS), (second, 1, END_MS))
    for context in (0.0, 0.4, 1.0, 3.0):
        expected = {ids[n]: (told[n] + context * around[n]) / (1 + context) for n in told}
        expected[other.events[0].event.id] = (1.0 + context) / (1 + context)
        with postgres(acme, *scope) as graph:
            assert event_similarities(graph, axis(0), context) == expected
        assert event_similarities(InMemoryGraph([index, other]), axis(0), context) == expected

    # The best event is outside the scope: event 1 has event 0 as neighbour, and event 0 has event 1.
    early = Span(0, 6_000)
    with postgres(acme, *scope, span=early) as graph:
        for either in (graph, InMemoryGraph([index, other], span=early)):
            assert event_similarities(either, axis(0), 1.0) == {ids[0]: 0.375, ids[1]: 0.375}
    with postgres(acme, (first, 1, 6_000)) as graph:
        assert event_similarities(graph, axis(0), 1.0) == {ids[0]: 0.375, ids[1]: 0.375}
    with postgres(globex, *scope) as graph:
        assert event_similarities(graph, axis(0), 1.0) == {}


def test_a_context_changes_the_event_view_alone(acme: Cast, globex: Cast) -> None:
    random = np.random.default_rng(9)
    world = make_world(random, acme, globex)
    vectors = {view: exact_vector(random) for view in VIEWS}
    with postgres(acme, *((video.video_id, 1, END_MS) for video in world.videos)) as graph:
        for either in (graph, InMemoryGraph(world.videos)):
            plain, within = (
                either.search_views({v: ViewQuery(vectors[v], 500, context) for v in VIEWS}, floor=-2.0)
                for context in (0.0, 1.0)
            )
            assert {view for view in VIEWS if plain[view] != within[view]} == {"event"}


def test_a_foreign_an_unknown_and_an_unbuilt_video_are_equally_empty(acme: Cast, globex: Cast) -> None:
    random = np.random.default_rng(4)
    world = make_world(random, acme, globex)
    first = world.videos[0].video_id
    everything = {view: ViewQuery(exact_vector(random), 500) for view in VIEWS}
    for scope in ((world.foreign.video_id, 1, END_MS), (UUID(int=9), 1, END_MS), (first, 3, END_MS), (first, 1, 0)):
        with postgres(acme, scope) as graph:
            assert graph.search_views(everything, floor=-2.0) == {view: [] for view in VIEWS}
    with postgres(acme) as graph:
        assert graph.search_views(everything, floor=-2.0) == {view: [] for view in VIEWS}
    with postgres(globex, (world.foreign.video_id, 1, END_MS), (first, 1, END_MS)) as graph:
        found = graph.search_views(everything, floor=-2.0)
        assert found == InMemoryGraph([world.foreign]).search_views(everything, floor=-2.0)
        assert all(found.values())


@pytest.mark.parametrize("seed", [5, 6])
def test_edges_and_contents_are_the_same(acme: Cast, globex: Cast, seed: int) -> None:
    """Events that share an entity with the events found are among them, the most strongly connected first."""
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex)
    both = [(video.video_id, 1, END_MS) for video in world.videos]
    ids = [record.event.id for video in (*world.videos, world.foreign) for record in video.events]
    reached = 0
    for span in PLACES:
        memory = InMemoryGraph(world.videos, span=span)
        with postgres(acme, *both, span=span) as graph:
            for _ in range(6):
                seeds = [ids[i] for i in random.choice(len(ids), size=4, replace=False)]
                limit = int(random.choice([1, 5, 100]))
                hits = graph.events_sharing_entities(seeds, limit=limit)
                assert hits == memory.events_sharing_entities(seeds, limit=limit)
                reached += len(hits)
            assert graph.next_events(ids) == memory.next_events(ids)
            assert graph.previous_events(ids) == memory.previous_events(ids)
            loaded, expected = graph.load_events(ids), memory.load_events(ids)
            assert loaded.keys() == expected.keys()
            for event_id, event in loaded.items():
                assert replace(event, chunks=()) == replace(expected[event_id], chunks=())
                assert _told(event.chunks) == _told(expected[event_id].chunks)
    assert reached > 20


def _told(chunks: Sequence[Chunk]) -> list[Any]:
    return [
        replace(chunk, transcript=tuple(TranscriptLine(line.span, line.text) for line in chunk.transcript))
        for chunk in chunks
    ]


@pytest.mark.parametrize("seed", [10, 11])
def test_facts_frames_and_places_are_the_same(acme: Cast, globex: Cast, seed: int) -> None:
    random = np.random.default_rng(seed)
    world = make_world(random, acme, globex)
    both = [(video.video_id, 1, END_MS) for video in world.videos]
    ids = [record.event.id for video in (*world.videos, world.foreign) for record in video.events]
    facts = relations = frames = 0
    for span in PLACES:
        memory = InMemoryGraph(world.videos, span=span)
        with postgres(acme, *both, span=span) as graph:
            for _ in range(8):
                wanted = [ids[i] for i in random.choice(len(ids), size=7)]
                told = graph.facts(wanted)
                assert told == memory.facts(wanted)
                facts, relations = facts + len(told), relations + sum(fact.relation for fact in told)
                for limit in (0, 1, 4, 30, 500):
                    shown = graph.frames_of(wanted, limit=limit)
                    assert [(f.id, f.video_id, f.event_id, f.ms) for f in shown] == [
                        (f.id, f.video_id, f.event_id, f.ms) for f in memory.frames_of(wanted, limit=limit)
                    ]
                    frames += len(shown)
            for limit in (1, 7, 500):
                assert _paged(graph, limit) == _paged(memory, limit) == list(memory.timeline(limit=10_000))
    with postgres(acme, (world.videos[0].video_id, 1, 40_000)) as graph:
        early = replace(world.videos[0], until_ms=40_000)
        assert list(graph.timeline(limit=99)) == list(InMemoryGraph([early]).timeline(limit=99))
        ids_until = {record.event.id for record in early.events if record.event.span.end_ms <= 40_000}
        assert {place.event_id for place in graph.timeline(limit=99)} == ids_until
        assert {fact.event_id for fact in graph.facts(ids)} <= ids_until
    assert facts > 100
    assert relations > 30
    assert frames > 500


def _paged(graph: KnowledgeGraph, limit: int) -> list[EventPlace]:
    places: list[EventPlace] = []
    while page := graph.timeline(after=places[-1] if places else None, limit=limit):
        assert len(page) <= limit
        places += page
    return places


def test_an_entity_that_is_everywhere_says_little(acme: Cast) -> None:
    """Event 0 shares the crowd with all events, the stranger only with event 5: 1 / log2(1 + 8) and 1 / log2(1 + 2)."""
    with acme.scope():
        video_id = UUID(str(make_video().id))

    def record(n: int, *names: str) -> EventRecord:
        made = exact_record(np.random.default_rng(n), video_id, 1, n, n, n + 1)
        who = [Entity(stable_id("entity", name), name, "person", "", (), axis(0), 1) for name in names]
        mentions = [
            LinkedMention(
                stable_id("mention", made.event.id, e.id),
                e.id,
                made.event.id,
                EntityMention(e.name, "person", ""),
                axis(0),
            )
            for e in who
        ]
        return replace(made, entities=tuple(who), mentions=tuple(mentions), relations=())

    records = [record(n, "crowd", *(["stranger"] if n in (0, 5) else [])) for n in range(8)]
    index = MemoryVideo(video_id, records)
    store(acme, index)
    with postgres(acme, (video_id, 1, END_MS)) as graph:
        for either in (graph, InMemoryGraph([index])):
            hits = either.events_sharing_entities([records[0].event.id], limit=3)
            assert [hit.event_id for hit in hits] == [records[n].event.id for n in (5, 1, 2)]
            crowd, stranger = 1 / np.log2(9), 1 / np.log2(3)
            assert hits[0].similarity == 1.0
            assert hits[1].similarity == pytest.approx(crowd / (crowd + stranger), rel=1e-12)
            assert set(hits[0].words.split("; ")) == {"crowd", "stranger"}


def axis(i: int) -> Vector:
    return np.eye(16, dtype=np.float32)[i]


class ScriptedAxes:
    """Every text has the same direction."""

    name, dimension, open_vocabulary = "axes", 16, False

    def embed(self, texts: Sequence[str], *, meter: Meter) -> Any:
        return np.stack([axis(0)] * len(texts))

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return axis(0)

    def embed_frames(self, pictures: Sequence[Any], *, meter: Meter) -> Any:
        raise NotImplementedError


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the statements sent to the server, Cypher included, without the tenant's setting of each transaction."""
    sent: list[str] = []
    execute: Callable[..., Any] = psycopg.Cursor.execute

    def recorded(self: psycopg.Cursor[Any], query: Any, *more: Any, **options: Any) -> Any:
        if "tenancy_enter" not in str(query):
            sent.append(str(query))
        return execute(self, query, *more, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", recorded)
    return sent


def test_a_retrieval_is_one_statement_for_all_views_three_for_the_graph_and_three_to_leave_out_repeats(
    acme: Cast, globex: Cast, statements: list[str]
) -> None:
    world = make_world(np.random.default_rng(7), acme, globex)
    embedder = ScriptedAxes()
    with postgres(acme, *((video.video_id, 1, END_MS) for video in world.videos)) as graph:
        views = ViewQueries.same("anything")

        def find(settings: RetrievalSettings) -> set[str]:
            statements.clear()
            found = retrieve(graph, views, settings, text_embedder=embedder, frame_embedder=embedder, meter=Meter())
            return {hit.view for event in found.ranking for hit in event.reasons}

        find(RetrievalSettings())  # opens the connection
        assert find(RetrievalSettings(floor=-2.0, graph_events=0)) == set(VIEWS) - {"topic"}
        assert len(statements) == 1 + 3
        assert find(RetrievalSettings(floor=-2.0, graph_events=0, repeats=True))
        assert len(statements) == 1
        assert find(RetrievalSettings(floor=-2.0, events=1, entities=0, frames=0, transcript=0)) == {"event", "graph"}
        assert len(statements) == 1 + 3 + 3
        assert find(RetrievalSettings(events=0, entities=0, frames=0, transcript=0)) == set()
        assert statements == []


def test_events_are_loaded_in_three_statements_however_many_there_are(
    acme: Cast, globex: Cast, statements: list[str]
) -> None:
    world = make_world(np.random.default_rng(8), acme, globex)
    ids = [record.event.id for record in world.videos[0].events]
    with postgres(acme, (world.videos[0].video_id, 1, END_MS)) as graph:
        graph.load_events(ids[:1])
        for wanted in (ids[:1], ids):
            statements.clear()
            assert len(graph.load_events(wanted)) == len(wanted)
            assert len(statements) == 3
        statements.clear()
        assert graph.next_events(ids)
        assert len(statements) == 1
