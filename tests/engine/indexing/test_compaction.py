"""Linking a finished index again by K-means: entities are merged and split, and nothing names an old entity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_workers.engine.ekg import Entity, LinkedMention, Relation, RelationStatement
from gpu_workers.engine.indexing.linking import Compaction, compact
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from tests.engine.indexing.test_linking import VIDEO, Linked, at
from tests.engine.retrieval.views import search

TWO_CLUSTERS = 0.33  # of six mentions


def yard() -> MemoryIndex:
    """Return six mentions in three events, which incremental linking joins to four things: a dog is seen from all
    sides."""
    scene = Linked()
    scene.event(("car", "vehicle", 90), ("dog", "animal", 0), relations=(RelationStatement("dog", "is near", "car"),))
    scene.event(
        ("car", "vehicle", 92),
        ("hound", "animal", 30),
        ("puppy", "animal", -30),
        relations=(
            RelationStatement("hound", "chases", "puppy"),
            RelationStatement("hound", "is near", "car", "far off", 0.4),
            RelationStatement("puppy", "is near", "car", "beside it", 0.9),
        ),
    )
    scene.event(("dog", "animal", 3))
    assert [entity.name for entity in scene.index.entities] == ["car", "dog", "hound", "puppy"]
    return scene.index


def parts(index: MemoryIndex) -> tuple[list[Entity], list[LinkedMention], list[Relation]]:
    return (
        index.entities,
        [mention for record in index.events for mention in record.mentions],
        [relation for record in index.events for relation in record.relations],
    )


def compacted(index: MemoryIndex, ratio: float) -> Compaction:
    return compact(VIDEO, 1, *parts(index), ratio=ratio)


def check_whole(compaction: Compaction) -> None:
    """Check the invariants of every compaction."""
    entities = {entity.id: entity for entity in compaction.entities}
    assert len(entities) == len(compaction.entities)
    assert {mention.entity_id for mention in compaction.mentions} == set(entities)
    taken = {(mention.entity_id, mention.event_id) for mention in compaction.mentions}
    assert len(taken) == len(compaction.mentions)
    keys = {(r.source_id, r.target_id, r.predicate, r.event_id) for r in compaction.relations}
    assert len(keys) == len({r.id for r in compaction.relations}) == len(compaction.relations)
    for relation in compaction.relations:
        assert relation.source_id != relation.target_id
        assert {(relation.source_id, relation.event_id), (relation.target_id, relation.event_id)} <= taken
    for entity in compaction.entities:
        assert entity.weight == sum(mention.entity_id == entity.id for mention in compaction.mentions)


def test_mentions_of_one_cluster_become_one_entity() -> None:
    compaction = compacted(yard(), TWO_CLUSTERS)
    check_whole(compaction)
    car, dog = sorted(compaction.entities, key=lambda entity: entity.name)
    assert (car.name, car.aliases, car.weight) == ("car", (), 2)
    assert (dog.name, dog.type, dog.aliases, dog.weight) == ("dog", "animal", ("hound", "puppy"), 3)
    assert np.allclose(dog.centroid, np.mean([at(a) for a in (0, 30, -30, 3)], axis=0) / np.linalg.norm(
        np.mean([at(a) for a in (0, 30, -30, 3)], axis=0)
    ), atol=1e-6)  # fmt: skip
    first, second, third = (record.event.id for record in yard().events)
    assert [(m.event_id, m.entity_id == dog.id, m.mention.name) for m in compaction.mentions] == [
        (first, False, "car"), (first, True, "dog"), (second, False, "car"), (second, True, "hound"),
        (third, True, "dog"),
    ]  # fmt: skip
    merged = compaction.mentions[3]
    assert merged.mention.aliases == ("puppy",)
    assert np.allclose(merged.embedding, at(0), atol=1e-6)


def test_relations_follow_their_mentions() -> None:
    compaction = compacted(yard(), TWO_CLUSTERS)
    names = {entity.id: entity.name for entity in compaction.entities}
    statements = [(names[r.source_id], r.predicate, names[r.target_id], r.description) for r in compaction.relations]
    # Nothing chases itself, and the more certain one of the two relations "is near" is kept.
    assert statements == [("dog", "is near", "car", ""), ("dog", "is near", "car", "beside it")]
    assert len({relation.event_id for relation in compaction.relations}) == 2


def test_an_entity_that_was_two_things_is_split() -> None:
    scene = Linked()
    scene.event(("lamp", "object", 0))
    scene.event(("lantern", "object", 20))
    (both,) = scene.index.entities
    found = compacted(scene.index, 1.0)
    check_whole(found)
    assert [(entity.name, entity.aliases) for entity in found.entities] == [("lamp", ()), ("lantern", ())]
    assert both.id not in {entity.id for entity in found.entities}


def test_an_entity_that_stays_whole_keeps_its_aliases() -> None:
    index = yard()
    entities, mentions, relations = parts(index)
    known = [replace(e, aliases=("sedan",)) if e.name == "car" else e for e in entities]
    (car,) = [e for e in compact(VIDEO, 1, known, mentions, relations, ratio=TWO_CLUSTERS).entities if e.name == "car"]
    assert car.aliases == ("sedan",)


def test_the_same_index_gives_the_same_ids_and_another_version_others() -> None:
    once, again = compacted(yard(), TWO_CLUSTERS), compacted(yard(), TWO_CLUSTERS)
    assert [e.id for e in once.entities] == [e.id for e in again.entities]
    assert [m.id for m in once.mentions] == [m.id for m in again.mentions]
    assert [r.id for r in once.relations] == [r.id for r in again.relations]
    other = compact(VIDEO, 2, *parts(yard()), ratio=TWO_CLUSTERS)
    assert not {e.id for e in other.entities} & {e.id for e in once.entities}


@pytest.mark.parametrize("seed", range(3))
def test_any_index_stays_whole(seed: int) -> None:
    chance = np.random.default_rng(seed)
    scene = Linked()
    for n in range(12):
        count = int(chance.integers(0, 5))
        scene.event(
            *((f"thing {k}", "object", float(chance.uniform(0, 360))) for k in range(count)),
            relations=tuple(
                RelationStatement(f"thing {a}", f"verb {n % 2}", f"thing {b}", "", float(chance.random()))
                for a in range(count)
                for b in range(count)
                if a != b
            ),
        )
    check_whole(compacted(scene.index, 0.4))


def test_an_index_in_memory_takes_the_new_entities() -> None:
    index = yard()
    old = {entity.id for entity in index.entities}
    found = compacted(index, TWO_CLUSTERS)
    index.replace_entities(found)

    assert [entity.id for entity in index.entities] == [entity.id for entity in found.entities]
    assert parts(index)[1:] == (list(found.mentions), list(found.relations))
    assert [entity.name for entity, _ in index.nearest(at(1)[np.newaxis], limit=5)[0]] == ["dog", "car"]
    graph = index.graph()
    events = [record.event.id for record in index.events]
    assert {hit.event_id for hit in search(graph, "entity", at(0), limit=1)} == set(events)
    assert not {fact.entity_id for fact in graph.facts(events)} & old
    assert [hit.event_id for hit in graph.events_sharing_entities([events[2]], limit=5)] == events[:2]


def test_an_index_without_mentions_has_nothing_to_link() -> None:
    assert compact(VIDEO, 1, [], [], []) == Compaction((), (), ())
