"""The graph's rows and topology are written together, read by the search, and confined to scope and tenant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch
from uuid import UUID

import numpy as np
import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.ekg.graph_store import GraphStore, Participation, RelatedTo
from backend.ekg.models import Chunk, Event, Frame
from backend.ekg.reader import PostgresGraph, Scope, ScopedVideo
from backend.ekg.writer import StagedEntities, VersionWriter
from backend.library.storage import ObjectStorage
from gpu_workers.engine.ekg import SegmentRecord, Span, TranscriptLine, stable_id
from tests.conftest import Cast
from tests.engine.retrieval.views import search
from tests.factories import FRAME_MODEL, TEXT_MODEL, event_record, make_video, segment_record, vector


def indexed_video(cast: Cast) -> UUID:
    """Record 30 s: three events over chunks 0-3, 3-6, 6-10; ann is in the first and last, bob in the last."""
    with cast.scope():
        video = make_video()
        writer = VersionWriter(video.id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL)
        record = segment_record(0, 30_000)
        writer.store_segment(0, record, thumbnail_keys={frame.ms: f"k/{frame.ms}" for frame in record.frames})
        writer.store_events(
            [
                event_record(video.id, 0, 0, 3, who=("ann",), embedding=vector(1.0)),
                event_record(video.id, 1, 3, 6, embedding=vector(0.0, 1.0)),
            ]
        )
        writer.store_events(
            [
                event_record(
                    video.id,
                    2,
                    6,
                    10,
                    who=("ann", "bob"),
                    relations=(("ann", "near", "bob"),),
                    embedding=vector(0, 0, 1),
                )
            ]
        )
        return UUID(str(video.id))


def event_id(video_id: UUID, first_chunk: int, end_chunk: int) -> UUID:
    return stable_id("event", video_id, 1, first_chunk * 3000, end_chunk * 3000)


def graph_of(cast: Cast, video_id: UUID, *, until_ms: int = 30_000, **span: int) -> PostgresGraph:
    scope = Scope(cast.tenant_id, (ScopedVideo(video_id, 1, until_ms),), **span)
    return PostgresGraph(scope, text_model=TEXT_MODEL, frame_model=FRAME_MODEL, storage=ObjectStorage())


def test_next_is_a_chain_over_commits_and_every_row_has_its_vertex(acme: Cast) -> None:
    video_id = indexed_video(acme)
    first, second, third = event_id(video_id, 0, 3), event_id(video_id, 3, 6), event_id(video_id, 6, 10)
    with acme.scope():
        graph = GraphStore()
        assert graph.next_events([first, second, third]) == {first: second, second: third}
        assert graph.previous_events([first, second, third]) == {second: first, third: second}
        size = graph.count(video_id, 1)
        # 3 events and 2 entities; 2 NEXT, 3 participations, 1 relation.
        assert (size.vertices, size.edges) == (5, 6)
        assert Event.objects.filter(video_id=video_id).count() == 3


def test_chunks_and_frames_belong_to_the_event_of_their_time(acme: Cast) -> None:
    video_id = indexed_video(acme)
    with acme.scope():
        placed = list(Chunk.objects.filter(video_id=video_id).order_by("n").values_list("event_id", flat=True))
        assert (
            placed == [event_id(video_id, 0, 3)] * 3 + [event_id(video_id, 3, 6)] * 3 + [event_id(video_id, 6, 10)] * 4
        )
        assert Frame.objects.get(video_id=video_id, ms=9000).event_id == event_id(video_id, 3, 6)


def test_participations_and_relations_are_read_from_the_graph(acme: Cast) -> None:
    video_id = indexed_video(acme)
    ann, bob = stable_id("entity", video_id, 1, "ann"), stable_id("entity", video_id, 1, "bob")
    last = event_id(video_id, 6, 10)
    with acme.scope():
        graph = GraphStore()
        assert {row.event_id for row in graph.events_of([ann])} == {event_id(video_id, 0, 3), last}
        participations, relations = graph.surroundings([last])
        assert set(participations) == {
            Participation(ann, last, "participant"),
            Participation(bob, last, "participant"),
        }
        assert relations == [RelatedTo(ann, bob, "near", last)]


@pytest.mark.parametrize(("hop", "end"), [("next_events", "start_id"), ("previous_events", "end_id")])
def test_a_hop_reads_the_edges_of_its_vertices_alone(acme: Cast, hop: str, end: str) -> None:
    """Row-level security keeps the planner from an index on edges unless every function on a vertex is leakproof."""
    video_id = indexed_video(acme)
    with acme.scope():
        with connection.cursor() as cursor:
            # Otherwise a table this small is read as a whole.
            cursor.execute("SET LOCAL enable_seqscan = off")
        plan = "\n".join(plan_of(lambda: getattr(GraphStore(), hop)([event_id(video_id, 0, 3)])))
    assert f"Index Cond: ({end} = " in plan
    assert "Index Cond: (agtype_access_operator(VARIADIC ARRAY[properties, '\"uid\"'::agtype])" in plan


def plan_of(call: Callable[[], object]) -> list[str]:
    """Return the plan of the one statement that call sends, on the connection of the open scope."""
    sent: list[tuple[str, object]] = []
    execute: Callable[..., object] = psycopg.Cursor.execute

    def recorded(self: psycopg.Cursor[tuple[str]], query: str, parameters: object = None) -> object:
        sent.append((query, parameters))
        return execute(self, query, parameters)

    with patch.object(psycopg.Cursor, "execute", recorded):
        call()
    ((query, parameters),) = sent
    with psycopg.Cursor(connection.connection) as cursor:
        execute(cursor, f"EXPLAIN (COSTS OFF) {query}", parameters)
        return [row[0] for row in cursor.fetchall()]


def test_an_edge_to_nowhere_is_refused_and_nothing_of_its_transaction_stays(acme: Cast) -> None:
    with acme.scope():
        video = make_video()
    first, unknown = stable_id("event", 1), stable_id("event", 2)

    def link_to_nowhere() -> None:
        with acme.scope():
            GraphStore().add_events(video.id, 1, [first])
            GraphStore().link_next(video.id, 1, [(first, unknown)])

    with pytest.raises(LookupError):
        link_to_nowhere()
    with acme.scope():
        assert GraphStore().count(video.id, 1).vertices == 0


def test_another_tenant_reaches_nothing_by_any_hop(acme: Cast, globex: Cast) -> None:
    video_id = indexed_video(acme)
    events = [event_id(video_id, 0, 3), event_id(video_id, 3, 6)]
    with globex.scope():
        graph = GraphStore()
        assert graph.next_events(events) == {}
        assert graph.surroundings(events) == ([], [])
        assert graph.events_of([stable_id("entity", video_id, 1, "ann")]) == []
        assert graph.count(video_id, 1).vertices == 0
        graph.drop_version(video_id)
    with graph_of(globex, video_id) as foreign:
        assert search(foreign, "event", vector(1.0), limit=5) == []
        assert foreign.load_events(events) == {}
    with acme.scope():
        assert GraphStore().count(video_id, 1).vertices == 5


def test_the_three_views_find_events_and_say_why(acme: Cast) -> None:
    video_id = indexed_video(acme)
    with graph_of(acme, video_id) as graph:
        (best,) = search(graph, "event", vector(0.0, 1.0), limit=1)
        assert (best.event_id, best.view) == (event_id(video_id, 3, 6), "event")
        assert best.similarity == pytest.approx(1.0, abs=1e-3)
        by_entity = search(graph, "entity", vector(0.5, 0.5), limit=5)
        assert {(hit.event_id, hit.words) for hit in by_entity} == {
            (event_id(video_id, 0, 3), "ann"),
            (event_id(video_id, 6, 10), "ann"),
            (event_id(video_id, 6, 10), "bob"),
        }
        frames = search(graph, "frame", vector(1.0), limit=1)
        assert [hit.event_id for hit in frames] == [event_id(video_id, 0, 3)]


def test_a_spoken_line_leads_to_the_events_it_is_spoken_in(acme: Cast, globex: Cast) -> None:
    """A line that overlaps an event is found with it: here it crosses the border of the first two events."""
    video_id = indexed_video(acme)
    lines = (
        TranscriptLine(Span(8_000, 11_000), "over the border", embedding=vector(1.0)),
        TranscriptLine(Span(20_000, 21_000), "in the last", embedding=vector(0.8, 0.6)),
        TranscriptLine(Span(22_000, 23_000), "never embedded"),
    )
    with acme.scope():
        VersionWriter(video_id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL).store_segment(
            1, SegmentRecord(Span(30_000, 60_000), (), (), (), lines), thumbnail_keys={}
        )
    first, second, third = event_id(video_id, 0, 3), event_id(video_id, 3, 6), event_id(video_id, 6, 10)
    with graph_of(acme, video_id) as graph:
        hits = search(graph, "transcript", vector(1.0), limit=5)
        assert [hit.event_id for hit in hits] == [first, second, third]
        assert hits[0].similarity == pytest.approx(1.0, abs=1e-3)
        assert hits[0].words == "over the border"
        assert [hit.event_id for hit in search(graph, "transcript", vector(1.0), limit=1)] == [first, second]
        assert [hit.event_id for hit in search(graph, "transcript", vector(1.0), limit=5, floor=0.9)] == [first, second]
    with graph_of(acme, video_id, until_ms=9_000) as graph:
        assert [hit.event_id for hit in search(graph, "transcript", vector(1.0), limit=5)] == [first]
    with graph_of(globex, video_id) as foreign:
        assert search(foreign, "transcript", vector(1.0), limit=5) == []


def test_the_scope_bounds_every_view_and_hop(acme: Cast) -> None:
    video_id = indexed_video(acme)
    first, second, third = event_id(video_id, 0, 3), event_id(video_id, 3, 6), event_id(video_id, 6, 10)
    with graph_of(acme, video_id, until_ms=18_000) as graph:
        assert {hit.event_id for hit in search(graph, "entity", vector(0.5, 0.5), limit=5)} == {first}
        assert graph.next_events([first, second]) == {first: second}
        assert graph.load_events([first, third]).keys() == {first}
        assert graph.events_sharing_entities([first], limit=5) == []
    with graph_of(acme, video_id, start_ms=10_000, end_ms=17_000) as graph:
        assert [hit.event_id for hit in search(graph, "event", vector(1.0, 1.0, 1.0), limit=5)] == [second]


def test_shared_entities_lead_to_other_events(acme: Cast) -> None:
    video_id = indexed_video(acme)
    with graph_of(acme, video_id) as graph:
        (hit,) = graph.events_sharing_entities([event_id(video_id, 0, 3)], limit=5)
        assert hit.event_id == event_id(video_id, 6, 10)
        assert (hit.item, set(hit.words.split("; "))) == (None, {"ann", "bob"})
        assert {fact.text for fact in graph.facts([event_id(video_id, 6, 10)])} == {
            "ann (person), participant",
            "bob (person), participant",
            "ann near bob",
        }


def test_staged_entities_are_found_before_and_after_their_commit(acme: Cast) -> None:
    video_id = indexed_video(acme)
    directory = StagedEntities(acme.tenant_id, video_id, 1)
    staged = event_record(video_id, 3, 10, 11, who=("cat",))
    directory.stage(staged)
    (found,) = directory.nearest(np.stack([vector(0.5, 0.5)]), limit=3)
    assert {entity.name for entity, _ in found} == {"ann", "bob", "cat"}


def test_look_ups_of_one_event_are_those_made_one_by_one(acme: Cast) -> None:
    """Committed and staged entities have one order: nearest first, equals by id, a moved centroid where it is now."""
    with acme.scope():
        video = make_video()
    record = event_record(video.id, 0, 0, 1, who=("ann", "bob", "cat", "dan", "eve"))
    # ann and bob tie; cat and dan tie, and a later event that is not committed moves them.
    places = (vector(1.0), vector(1.0), vector(0.0, 1.0), vector(0.0, 1.0), vector(0.0, 0.0, 1.0))
    known = [replace(entity, centroid=place) for entity, place in zip(record.entities, places, strict=True)]
    with acme.scope():
        VersionWriter(video.id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL).store_events(
            [replace(record, entities=tuple(known))]
        )
    directory = StagedEntities(acme.tenant_id, video.id, 1)
    moved = [replace(entity, centroid=vector(1.0, 0.5)) for entity in known[2:4]]
    later = event_record(video.id, 1, 1, 2)
    directory.stage(replace(later, entities=tuple(moved)))
    wanted = np.stack([vector(1.0), vector(0.0, 0.0, 1.0), vector(0.0, 1.0)])

    together = directory.nearest(wanted, limit=3, floor=0.1)

    alone = [directory.nearest(row[np.newaxis], limit=3, floor=0.1)[0] for row in wanted]
    assert [[(e.id, cosine) for e, cosine in found] for found in together] == [
        [(e.id, cosine) for e, cosine in found] for found in alone
    ]
    ann, bob, cat, dan = sorted(known[:2], key=lambda e: str(e.id)) + sorted(moved, key=lambda e: str(e.id))
    assert [entity.id for entity, _ in together[0]] == [ann.id, bob.id, cat.id]
    assert [entity.name for entity, _ in together[1]] == ["eve"], "all others are below the floor"
    assert [entity.id for entity, _ in together[2]] == [cat.id, dan.id], "not where they were"
    assert together[2][0][1] == pytest.approx(0.447, abs=1e-3)


def test_expected_look_ups_see_what_is_staged_meanwhile(acme: Cast) -> None:
    """One query serves all mentions of a step; entities that an earlier event of the step made or moved count too."""
    with acme.scope():
        video = make_video()
    record = event_record(video.id, 0, 0, 1, who=("ann", "bob"))
    known = [
        replace(e, centroid=place) for e, place in zip(record.entities, (vector(1.0), vector(0.0, 1.0)), strict=True)
    ]
    with acme.scope():
        VersionWriter(video.id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL).store_events(
            [replace(record, entities=tuple(known))]
        )
    wanted = np.stack([vector(1.0), vector(0.0, 1.0), vector(0.0, 0.0, 1.0)])
    expecting, asking = (StagedEntities(acme.tenant_id, video.id, 1) for _ in range(2))
    expecting.expect(wanted, limit=2, floor=0.1)
    new = replace(known[0], id=stable_id("entity", "new"), name="new", centroid=vector(0.0, 0.0, 1.0))
    moved = replace(known[1], centroid=vector(0.6, 0.8))
    for directory in (expecting, asking):
        directory.stage(replace(event_record(video.id, 1, 1, 2), entities=(new, moved)))

    queries = CaptureQueriesContext(connection)
    with queries:
        found = [expecting.nearest(row[np.newaxis], limit=2, floor=0.1)[0] for row in wanted]
    assert len(queries) == 0
    asked = [asking.nearest(row[np.newaxis], limit=2, floor=0.1)[0] for row in wanted]
    assert [[(e.id, cosine) for e, cosine in near] for near in found] == [
        [(e.id, cosine) for e, cosine in near] for near in asked
    ]
    assert [[e.name for e, _ in near] for near in found] == [["ann", "bob"], ["bob"], ["new"]]
    assert expecting.nearest(vector(0.9, 0.1)[np.newaxis], limit=1, floor=0.1)[0][0][0].name == "ann", "not expected"


def test_entities_of_another_version_or_tenant_are_not_linked_to(acme: Cast, globex: Cast) -> None:
    video_id = indexed_video(acme)
    wanted = np.stack([vector(0.5, 0.5), vector(1.0)])
    assert StagedEntities(acme.tenant_id, video_id, 2).nearest(wanted, limit=3) == [[], []]
    assert StagedEntities(globex.tenant_id, video_id, 1).nearest(wanted, limit=3) == [[], []]


def test_dropping_a_version_removes_its_topology_and_keeps_the_other(acme: Cast) -> None:
    video_id = indexed_video(acme)
    with acme.scope():
        GraphStore().add_events(video_id, 2, [stable_id("event", video_id, 2, 0, 3000)])
        GraphStore().drop_version(video_id, 1)
        assert GraphStore().count(video_id, 1).vertices == 0
        assert GraphStore().count(video_id, 2).vertices == 1


def test_chunks_that_wait_for_the_next_segment_keep_what_was_said_during_them(acme: Cast) -> None:
    with acme.scope():
        video = make_video()
        writer = VersionWriter(video.id, 1, text_model=TEXT_MODEL, frame_model=FRAME_MODEL)
        record = replace(segment_record(0, 6_000), transcript=(TranscriptLine(Span(1_000, 2_000), "Good morning."),))
        writer.store_segment(0, record, thumbnail_keys={frame.ms: f"k/{frame.ms}" for frame in record.frames})
        pending = writer.pending_chunks(before_segment=1)
        assert [[line.text for line in chunk.transcript] for chunk in pending] == [["Good morning."], []]
