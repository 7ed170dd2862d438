from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import numpy as np

from gpu_workers.engine.ekg import (
    Entity,
    EntityMention,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    Relation,
    Span,
    Topic,
    Vector,
    stable_id,
    unit,
)
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.ports import KnowledgeGraph, ViewName, ViewQuery, Within
from tests.engine.indexing.scripted import chunk
from tests.engine.retrieval.views import search

ONE, TWO = UUID(int=1), UUID(int=2)


def axis(i: int) -> Vector:
    return unit(np.eye(8)[i])


def entity(name: str, i: int) -> Entity:
    return Entity(stable_id("entity", name), name, "thing", "", (), axis(i), 1)


DOG, CAT, BALL = entity("dog", 5), entity("cat", 6), entity("ball", 7)


def record(video: UUID, n: int, vector: Vector, *entities: Entity, relation: bool = False) -> EventRecord:
    event_id = stable_id("event", video, n)
    mentions = tuple(
        LinkedMention(
            stable_id("mention", event_id, e.id), e.id, event_id, EntityMention(e.name, e.type, "seen"), e.centroid
        )
        for e in entities
    )
    relations = (
        (Relation(stable_id("r", event_id), entities[0].id, entities[1].id, "chases", "", event_id, 1.0),)
        if relation
        else ()
    )
    event = Event(event_id, n, Span(n * 6000, (n + 1) * 6000), 2 * n, 2 * n + 2, f"event {n}", vector)
    return EventRecord(event, entities, mentions, relations)


def video(video_id: UUID) -> MemoryVideo:
    events = [
        record(video_id, 0, axis(0), DOG),
        record(video_id, 1, axis(1), DOG, BALL, relation=True),
        record(video_id, 2, axis(2), CAT),
        record(video_id, 3, axis(3), BALL),
    ]
    frames = [FrameRow(ms, f"{video_id.int}:{ms}".encode(), unit(axis(ms // 6000))) for ms in range(0, 24_000, 1000)]
    return MemoryVideo(video_id, events, [chunk(n) for n in range(8)], frames)


def event_id(n: int, video_id: UUID = ONE) -> UUID:
    return stable_id("event", video_id, n)


GRAPH: KnowledgeGraph = InMemoryGraph([video(ONE)])


def test_each_view_finds_its_events_above_the_floor() -> None:
    query = unit(axis(1) + 0.5 * axis(2))
    assert [hit.event_id for hit in search(GRAPH, "event", query, limit=5)] == [event_id(1), event_id(2)]
    assert [hit.event_id for hit in search(GRAPH, "event", query, limit=1)] == [event_id(1)]
    assert [hit.event_id for hit in search(GRAPH, "event", query, limit=5, floor=0.5)] == [event_id(1)]
    hits = search(GRAPH, "entity", axis(5), limit=1)
    assert [(hit.event_id, hit.view) for hit in hits] == [(event_id(0), "entity"), (event_id(1), "entity")]
    assert {hit.event_id for hit in search(GRAPH, "frame", axis(2), limit=6)} == {event_id(2)}
    assert len(search(GRAPH, "frame", axis(2), limit=4)) == 4


def test_next_is_a_chain_inside_each_video() -> None:
    graph = InMemoryGraph([video(ONE), video(TWO)])
    assert graph.next_events([event_id(0), event_id(3)]) == {event_id(0): event_id(1)}
    assert graph.previous_events([event_id(0), event_id(1)]) == {event_id(1): event_id(0)}
    assert graph.next_events([event_id(0, TWO)]) == {event_id(0, TWO): event_id(1, TWO)}


def test_events_are_reached_over_entities_and_relations() -> None:
    hits = GRAPH.events_sharing_entities([event_id(0)], limit=5)
    # Event 1 shares the dog and has the related ball; event 3 has only the ball.
    assert [(hit.event_id, hit.similarity) for hit in hits] == [(event_id(1), 1.0), (event_id(3), 0.5 / 1.5)]
    assert GRAPH.events_sharing_entities([event_id(2)], limit=5) == []


def test_facts_are_words() -> None:
    assert [fact.text for fact in GRAPH.facts([event_id(1)])] == [
        "ball (thing), participant: seen",
        "dog (thing), participant: seen",
        "dog chases ball",
    ]


def test_events_come_with_video_and_chunks() -> None:
    stored = GRAPH.load_events([event_id(1), UUID(int=99)])
    assert list(stored) == [event_id(1)]
    assert stored[event_id(1)].video_id == ONE
    assert [c.n for c in stored[event_id(1)].chunks] == [2, 3]


def test_frames_are_spread_over_the_events_in_order_of_time() -> None:
    frames = GRAPH.frames_of([event_id(2), event_id(0)], limit=4)
    assert [frame.ms for frame in frames] == [0, 4000, 13_000, 17_000]
    assert GRAPH.jpeg(frames[1]) == b"1:4000"
    assert len(GRAPH.frames_of([event_id(0)], limit=100)) == 6
    assert GRAPH.frames_of([], limit=4) == []


def test_the_span_is_a_hard_filter() -> None:
    graph = InMemoryGraph([video(ONE)], span=Span(7000, 13_000))
    everything = unit(np.ones(8))
    assert {hit.event_id for hit in search(graph, "event", everything, limit=99)} == {event_id(1), event_id(2)}
    assert {hit.event_id for hit in search(graph, "entity", everything, limit=99)} == {event_id(1), event_id(2)}
    assert [frame.ms for frame in graph.frames_of([event_id(n) for n in range(4)], limit=99)] == list(
        range(7000, 13_000, 1000)
    )
    assert graph.load_events([event_id(0)]) == {}
    assert graph.facts([event_id(0)]) == []
    assert graph.next_events([event_id(2)]) == {}


EVERYTHING = unit(np.ones(8))


def found_within(graph: KnowledgeGraph, view: ViewName, span: Span, *, video_id: UUID = ONE) -> list[UUID]:
    query = ViewQuery(EVERYTHING, 99, within=Within(video_id, span))
    return [hit.event_id for hit in graph.search_views({view: query})[view]]


def test_a_view_is_narrowed_to_a_part_of_one_video() -> None:
    graph = InMemoryGraph([video(ONE), video(TWO)])
    assert found_within(graph, "event", Span(6_000, 12_000)) == [event_id(1)]
    assert found_within(graph, "event", Span(5_999, 6_001)) == sorted([event_id(0), event_id(1)])
    assert found_within(graph, "event", Span(6_000, 12_000), video_id=TWO) == [event_id(1, TWO)]
    assert set(found_within(graph, "entity", Span(0, 12_000))) == {event_id(0), event_id(1)}, "not event 3, of the ball"
    assert found_within(graph, "frame", Span(6_500, 9_000)) == [event_id(1)] * 2, "at 7 and 8 s"
    assert found_within(graph, "event", Span(24_000, 99_000)) == []


def test_a_part_never_widens_the_scope() -> None:
    graph = InMemoryGraph([video(ONE)], span=Span(7_000, 13_000))
    assert set(found_within(graph, "event", Span(0, 99_000))) == {event_id(1), event_id(2)}
    assert found_within(graph, "event", Span(6_000, 7_000)) == [], "event 1 is in scope, but not this part of it"
    assert found_within(graph, "frame", Span(6_000, 8_000)) == [event_id(1)]


def test_the_neighbours_of_an_event_count_though_they_are_out_of_the_part() -> None:
    query = ViewQuery(axis(2), 9, context=1.0, within=Within(ONE, Span(6_000, 12_000)))
    (hit,) = GRAPH.search_views({"event": query})["event"]
    assert (hit.event_id, hit.similarity) == (event_id(1), 0.5), "(0 + 1 of event 2) / 2"


def test_a_topic_hits_its_events_if_the_scope_holds_all_of_it() -> None:
    topics = [
        Topic(0, Span(0, 12_000), 0, 2, "A dog", "It runs.", embedding=axis(0)),
        Topic(1, Span(12_000, 24_000), 2, 4, "A cat", "It sleeps.", embedding=axis(1)),
    ]
    told = replace(video(ONE), topics=topics)
    hits = search(InMemoryGraph([told]), "topic", axis(1), limit=5)
    assert [(hit.event_id, hit.words) for hit in hits] == [(event_id(2), "A cat"), (event_id(3), "A cat")]
    for graph in (InMemoryGraph([told], span=Span(0, 23_999)), InMemoryGraph([replace(told, until_ms=23_999)])):
        assert search(graph, "topic", axis(1), limit=5) == []
        assert {hit.event_id for hit in search(graph, "topic", axis(0), limit=5)} == {event_id(0), event_id(1)}
        assert list(graph.topics(ONE)) == topics[:1]
    assert found_within(InMemoryGraph([told]), "topic", Span(18_000, 19_000)) == [event_id(3)]
    unread = InMemoryGraph([replace(told, topics=[replace(topic, embedding=None) for topic in topics])])
    assert search(unread, "topic", axis(1), limit=5) == []
    assert list(unread.topics(ONE)) == topics


def test_the_readable_stretch_of_a_video_is_that_of_its_events_in_scope() -> None:
    assert GRAPH.extents() == {ONE: Span(0, 24_000)}
    assert InMemoryGraph([video(ONE), video(TWO)], span=Span(7_000, 13_000)).extents() == {
        ONE: Span(7_000, 13_000),
        TWO: Span(7_000, 13_000),
    }
    assert InMemoryGraph([replace(video(ONE), until_ms=13_000)]).extents() == {ONE: Span(0, 12_000)}
    assert InMemoryGraph([video(ONE)], span=Span(24_000, 30_000)).extents() == {}


def test_an_empty_graph_finds_nothing() -> None:
    graph = InMemoryGraph([])
    assert search(graph, "event", axis(0), limit=5) == []
    assert search(graph, "entity", axis(0), limit=5) == []
    assert search(graph, "frame", axis(0), limit=5) == []
