"""Replacing the entities of a stored index version: rows and graph change together, and nothing else does."""

from __future__ import annotations

from uuid import UUID

from backend.ekg.graph_store import GraphStore, Topology
from backend.ekg.index_reads import read_linked
from backend.ekg.invariants import topology_of_rows
from backend.ekg.models import Entity, Event, Mention, Relation
from backend.ekg.writer import VersionWriter
from gpu_workers.engine.ekg import Entity as EkgEntity
from gpu_workers.engine.indexing.linking import compact
from tests.conftest import Cast
from tests.ekg.test_graph_and_rows import indexed_video
from tests.engine.indexing.test_compaction import TWO_CLUSTERS, yard
from tests.factories import FRAME_MODEL, TEXT_MODEL, make_video


def writer_of(video_id: UUID, version: int) -> VersionWriter:
    return VersionWriter(video_id, version, text_model=TEXT_MODEL, frame_model=FRAME_MODEL)


def topologies(video_id: UUID, version: int) -> tuple[Topology, Topology]:
    """Return the topology from the graph, and from the rows."""
    events = list(Event.objects.filter(video_id=video_id, index_version=version).order_by("n"))
    return GraphStore().topology(video_id, version), topology_of_rows(video_id, version, events)


def stored_yard(cast: Cast) -> UUID:
    with cast.scope():
        video = make_video()
        writer_of(video.id, 1).store_events(yard().events)
        return UUID(str(video.id))


def test_reading_a_version_back_returns_the_entities_that_linking_made(acme: Cast) -> None:
    video_id = stored_yard(acme)
    with acme.scope():
        linked = read_linked(video_id, 1)
    index = yard()
    assert {entity.id for entity in linked.entities} == {entity.id for entity in index.entities}
    assert [m.id for m in linked.mentions] == [m.id for record in index.events for m in record.mentions]
    assert {r.id for r in linked.relations} == {r.id for record in index.events for r in record.relations}


def test_rows_and_graph_take_the_new_entities_together(acme: Cast, globex: Cast) -> None:
    video_id, strangers = stored_yard(acme), indexed_video(globex)
    with globex.scope():
        before = topologies(strangers, 1)
    with acme.scope():
        linked = read_linked(video_id, 1)
        found = compact(video_id, 1, linked.entities, linked.mentions, linked.relations, ratio=TWO_CLUSTERS)
        events, chain = Event.objects.count(), GraphStore().topology(video_id, 1).next
        writer_of(video_id, 1).replace_entities(found)

        graph, rows = topologies(video_id, 1)
        assert graph == rows
        assert (Event.objects.count(), graph.next) == (events, chain)
        assert set(graph.entities) == {entity.id for entity in found.entities}
        names = sorted(Entity.objects.values_list("name", "aliases", "weight"))
        assert names == [("car", [], 2), ("dog", ["hound", "puppy"], 3)]
        assert (Mention.objects.count(), Relation.objects.count()) == (5, 2)
        assert Mention.objects.values("entity_id", "event_id").distinct().count() == 5
    with globex.scope():
        assert topologies(strangers, 1) == before


def test_another_version_keeps_its_entities(acme: Cast) -> None:
    with acme.scope():
        video = make_video()
        records = yard().events
        writer_of(video.id, 1).store_events(records)
        here = {"video_id": video.id, "index_version": 1}
        before = [sorted(map(repr, model.objects.filter(**here).values())) for model in (Entity, Mention, Relation)]
        graph = GraphStore().topology(video.id, 1)
        one: EkgEntity = records[0].entities[0]
        writer_of(video.id, 2).replace_entities(compact(video.id, 2, [one], [], []))
        assert [
            sorted(map(repr, model.objects.filter(**here).values())) for model in (Entity, Mention, Relation)
        ] == before
        assert GraphStore().topology(video.id, 1) == graph
