from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

from gpu_workers.engine.ekg import (
    Entity,
    EntityMention,
    Event,
    EventRecord,
    RelationStatement,
    Span,
    Vector,
    stable_id,
    unit,
)
from gpu_workers.engine.indexing.identity import identity_text
from gpu_workers.engine.indexing.linking import (
    EntityLinker,
    LinkedEvent,
    LinkingSettings,
    compact_entities,
    distinct_mentions,
)
from gpu_workers.engine.indexing.memory_index import MemoryIndex

VIDEO = UUID(int=9)


def at(degrees: float) -> Vector:
    return unit(np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]))


class Linked:
    """A linker with its directory; the n-th call is the n-th event."""

    def __init__(self) -> None:
        self.index = MemoryIndex(VIDEO)
        self.linker = EntityLinker(VIDEO, 1, self.index, LinkingSettings(tau=0.9, tau_by_type={"person": 0.95}))

    def event(self, *mentions: tuple[str, str, float], relations: tuple[RelationStatement, ...] = ()) -> LinkedEvent:
        n = len(self.index.events)
        event_id = UUID(int=n + 1)
        linked = self.linker.link(
            event_id,
            [EntityMention(name, kind, f"{name} seen") for name, kind, _ in mentions],
            np.stack([at(angle) for _, _, angle in mentions]) if mentions else np.zeros((0, 2), np.float32),
            relations,
        )
        event = Event(event_id, n, Span(n, n + 1), n, n + 1, "", at(0))
        self.index.append(EventRecord(event, linked.entities, linked.mentions, linked.relations))
        return linked


def test_near_mentions_of_one_type_are_one_entity_with_both_names() -> None:
    scene = Linked()
    first = scene.event(("raccoon", "animal", 0))
    second = scene.event(("procyon lotor", "animal", 20))
    (entity,) = scene.index.entities
    assert entity.id == first.entities[0].id == second.mentions[0].entity_id
    assert entity.id == stable_id("entity", VIDEO, 1, UUID(int=1), "raccoon")
    assert entity.name == "raccoon"
    assert entity.aliases == ("procyon lotor",)
    assert entity.weight == 2
    assert np.allclose(entity.centroid, at(10), atol=1e-6)


def test_far_mentions_are_two_entities() -> None:
    scene = Linked()
    scene.event(("raccoon", "animal", 0))
    scene.event(("heron", "animal", 40))
    assert [e.name for e in scene.index.entities] == ["raccoon", "heron"]


def test_the_threshold_is_the_types() -> None:
    scene = Linked()
    scene.event(("guard", "person", 0))
    scene.event(("cyclist", "person", 20))  # cosine 0.94: enough for an animal, not for a person
    assert len(scene.index.entities) == 2


def test_another_type_links_only_when_very_close() -> None:
    scene = Linked()
    scene.event(("truck", "vehicle", 0))
    scene.event(("lorry", "machine", 20))
    scene.event(("the truck", "object", 5))
    assert [e.name for e in scene.index.entities] == ["truck", "lorry"]
    assert scene.index.entities[0].aliases == ("the truck",)


def test_two_mentions_of_one_event_that_find_one_entity_are_one_mention() -> None:
    scene = Linked()
    scene.event(("dog", "animal", 0))
    linked = scene.event(("hound", "animal", 5), ("puppy", "animal", -5))
    (mention,) = linked.mentions
    assert mention.mention.name == "hound"
    assert mention.mention.aliases == ("puppy",)
    assert mention.mention.description == "hound seen puppy seen"
    assert linked.entities[0].weight == 2, "the event counts once"


def test_two_new_things_of_one_event_stay_two() -> None:
    scene = Linked()
    linked = scene.event(("left dog", "animal", 0), ("right dog", "animal", 2))
    assert len(linked.entities) == 2


def test_relations_are_unique_have_two_known_ends_and_no_loop() -> None:
    scene = Linked()
    scene.event(("dog", "animal", 0))
    linked = scene.event(
        ("hound", "animal", 5),
        ("puppy", "animal", -5),
        ("ball", "object", 90),
        relations=(
            RelationStatement("hound", "chases", "ball", "slowly", 0.5),
            RelationStatement("Puppy", "Chases", " ball", "fast", 0.9),  # puppy became hound
            RelationStatement("hound", "licks", "puppy"),
            RelationStatement("hound", "sees", "ghost"),
            RelationStatement("ball", "hits", "hound"),
        ),
    )
    dog, ball = (e.id for e in linked.entities)
    assert [(r.source_id, r.predicate, r.target_id, r.description) for r in linked.relations] == [
        (dog, "chases", ball, "fast"),
        (ball, "hits", dog, ""),
    ]


def test_repeated_names_of_an_event_are_one_mention() -> None:
    merged = distinct_mentions(
        [
            EntityMention("Red Car", "vehicle", "parked", confidence=0.4, frame_ms=(2000,)),
            EntityMention("red  car", "vehicle", "two doors", aliases=("the car",), confidence=0.8, frame_ms=(0,)),
            EntityMention(" ", "object", "nameless"),
        ]
    )
    (car,) = merged
    assert car.name == "Red Car"
    assert car.aliases == ("red  car", "the car")
    assert car.description == "parked two doors"
    assert car.confidence == 0.8
    assert car.frame_ms == (0, 2000)


def test_a_mention_is_embedded_with_its_name() -> None:
    assert identity_text(EntityMention("dog", "animal", "brown")) == "dog: brown"
    assert identity_text(EntityMention("dog", "animal", "")) == "dog"


def test_an_event_without_mentions_links_nothing() -> None:
    linked = Linked().event()
    assert (linked.entities, linked.mentions, linked.relations) == ((), (), ())


def test_compaction_is_the_same_for_the_same_seed() -> None:
    rows = np.stack([at(a + d) for a in (0, 90, 180) for d in (0, 1, 2, 3)])
    labels = compact_entities(rows, ratio=0.25, seed=3)
    assert labels.tolist() == compact_entities(rows, ratio=0.25, seed=3).tolist()
    assert len(labels) == 12
    assert len(set(labels.tolist())) == 3
    assert compact_entities(np.zeros((0, 2), np.float32)).tolist() == []
    with pytest.raises(ValueError, match="ratio"):
        compact_entities(rows, ratio=0.0)


def test_look_ups_of_one_event_are_those_made_one_by_one() -> None:
    """More entities than are asked for; two of them tie, and the order among these is that of their ids."""
    places = {"east": 0, "low": 30, "high": 30, "north": 90}
    ids = dict(zip(places, (UUID(int=4), UUID(int=2), UUID(int=3), UUID(int=1)), strict=True))
    entities = tuple(Entity(ids[name], name, "thing", "", (), at(degrees), 1) for name, degrees in places.items())
    index = MemoryIndex(VIDEO)
    index.append(EventRecord(Event(UUID(int=9), 0, Span(0, 1), 0, 1, "", at(0)), entities[::-1], (), ()))
    wanted = np.stack([at(0), at(30), at(91)])

    together = index.nearest(wanted, limit=2, floor=0.5)

    alone = [index.nearest(row[np.newaxis], limit=2, floor=0.5)[0] for row in wanted]
    names = [[entity.name for entity, _ in found] for found in together]
    assert names == [[entity.name for entity, _ in found] for found in alone]
    assert names == [["east", "low"], ["low", "high"], ["north"]]
    assert together[2][0][1] == pytest.approx(np.cos(np.radians(1)), abs=1e-6)
    assert list(index.nearest(wanted[:0], limit=2)) == []


def test_nothing_below_the_lowest_threshold_is_asked_for() -> None:
    settings = LinkingSettings(tau=0.8, tau_by_type={"person": 0.7}, tau_across_types=0.97)
    assert settings.floor == 0.7
    assert LinkingSettings(tau=0.8, tau_by_type={}, tau_across_types=0.75).floor == 0.75
