"""Several stretches of a graph read as one: nothing between them is read, and what is in two of them comes once."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.ports import KnowledgeGraph, ViewQuery
from gpu_workers.engine.retrieval.stretches import stretches_of
from tests.engine.answering.toolboxes import tracked
from tests.engine.answering.world import STREET, embed, event_id, make_video

THINGS = (
    tracked(1, "person", "red", [Span(0, 2_000), Span(22_000, 24_000)]),
    tracked(2, "car", "blue", [Span(9_000, 12_000)]),
    tracked(3, "car", "red", [Span(21_000, 24_000)]),
)
VIDEO = replace(make_video(STREET, entities={"the red car": [0, 3, 7], "a person": [3]}), objects=list(THINGS))
WHOLE = InMemoryGraph([VIDEO])
FIRST_AND_LAST = stretches_of(WHOLE, {VIDEO.video_id: (Span(0, 6_000), Span(18_000, 24_000))})
IN_SCOPE = [event_id(n) for n in (0, 1, 6, 7)]
ALL = [event_id(n) for n in range(8)]


def query(limit: int) -> ViewQuery:
    return ViewQuery(embed("a red car passes"), limit)


def test_only_the_stretches_are_read() -> None:
    graph = FIRST_AND_LAST
    assert [place.event_id for place in graph.timeline(limit=9)] == IN_SCOPE
    assert [place.event_id for place in graph.events_between(VIDEO.video_id, Span(0, 24_000), limit=9)] == IN_SCOPE
    assert set(graph.load_events(ALL)) == set(IN_SCOPE)
    assert {frame.event_id for frame in graph.frames_of(ALL, limit=99)} == set(IN_SCOPE)
    assert {frame.event_id for frame in graph.frames_between(VIDEO.video_id, Span(0, 24_000), limit=99)} <= set(
        IN_SCOPE
    )
    assert {chunk.n for chunk in graph.chunks_between(VIDEO.video_id, Span(0, 24_000), limit=9)} == {0, 1, 6, 7}
    assert {hit.event_id for hit in graph.search_views({"event": query(9)}, floor=-1.0)["event"]} == set(IN_SCOPE)
    assert graph.next_events(ALL) == {event_id(0): event_id(1), event_id(6): event_id(7)}
    assert graph.extents() == {VIDEO.video_id: Span(0, 24_000)}
    assert graph.recordings()[VIDEO.video_id].until_ms == 24_000
    assert [(thing.n, thing.spans) for thing in graph.objects(limit=9)] == [
        (1, (Span(0, 2_000), Span(22_000, 24_000))),
        (3, (Span(21_000, 24_000),)),
    ]
    assert {fact.event_id for fact in graph.facts(ALL)} == {event_id(0), event_id(7)}
    assert graph.overview(VIDEO.video_id) is None
    assert [place.event_id for place in graph.narrowed({VIDEO.video_id: Span(3_000, 21_000)}).timeline(limit=9)] == [
        event_id(1),
        event_id(6),
    ]


def test_pages_of_the_timeline_follow_each_other() -> None:
    places, after = [], None
    while page := FIRST_AND_LAST.timeline(after=after, limit=1):
        places.append(page[0].event_id)
        after = page[-1]
    assert places == IN_SCOPE


def test_stretches_that_leave_nothing_out_are_the_graph_itself() -> None:
    """The cut at 10.5 s runs through an event, which both parts hold."""
    for cut in (9_000, 10_500):
        graph: KnowledgeGraph = stretches_of(WHOLE, {VIDEO.video_id: (Span(0, cut), Span(cut, 24_000))})
        assert graph.timeline(limit=9) == WHOLE.timeline(limit=9)
        assert graph.timeline(limit=3) == WHOLE.timeline(limit=3)
        assert graph.load_events(ALL) == WHOLE.load_events(ALL)
        assert graph.facts(ALL) == WHOLE.facts(ALL)
        assert graph.entities_of(ALL) == WHOLE.entities_of(ALL)
        assert graph.extents() == WHOLE.extents()
        assert graph.recordings() == WHOLE.recordings()
        assert graph.frames_of(ALL, limit=99) == WHOLE.frames_of(ALL, limit=99)
        for limit in (3, 9):
            assert graph.search_views({"event": query(limit)}) == WHOLE.search_views({"event": query(limit)})
        ids = [mention.entity_id for mention in WHOLE.entities_of(ALL)]
        assert graph.events_of(ids, limit=9) == WHOLE.events_of(ids, limit=9)
        assert graph.entities(ids).keys() == WHOLE.entities(ids).keys()
        assert [thing.n for thing in graph.objects(limit=9)] == [1, 2, 3]
        assert [thing.n for thing in graph.objects(limit=2)] == [1, 2]


def test_one_span_for_each_video_is_a_narrowed_graph() -> None:
    graph = stretches_of(WHOLE, {VIDEO.video_id: (Span(0, 6_000),)})
    assert isinstance(graph, InMemoryGraph)
    assert list(stretches_of(WHOLE, {}).timeline(limit=9)) == []
