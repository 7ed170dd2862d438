"""Identity by lasting looks and names, whatever the entity does in one event."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

from gpu_workers.engine.ekg import EntityMention, Event, EventRecord, Span, Vector, unit
from gpu_workers.engine.indexing.identity import identity_text, marks, share_mark
from gpu_workers.engine.indexing.linking import EntityLinker
from gpu_workers.engine.indexing.memory_index import MemoryIndex


@pytest.mark.parametrize(
    ("name", "looks", "role", "text"),
    [
        ("man", "red jacket", "participant", "man: red jacket"),
        ("man", "", "walks to the bus stop", "man"),
        ("man", "with a red jacket, is walking to the bus stop", "walks to the bus stop", "man: with a red jacket"),
        ("man", "who walks to the bus stop, has a beard", "walks to the bus stop", "man: , has a beard"),
        ("woman opening the glass door", "red coat", "opens the glass door", "woman: red coat"),
        ("driver", "driver of a bus", "driver", "driver: driver of a bus"),
        ("crossing the road", "", "crosses the road", "crossing the road"),
        ("man", "man in red jacket", "man in red jacket at the gate", "man: man in red jacket"),
        ("van", "parks where people wait", "parks at the gate", "van: parks where people wait"),
        ("M\u00fcller", "walks", "", "M\u00fcller: walks"),
    ],
)
def test_words_of_the_part_are_not_embedded(name: str, looks: str, role: str, text: str) -> None:
    assert identity_text(EntityMention(name, "person", looks, role)) == text.replace(": ,", ":")


def test_codes_and_full_names_are_marks() -> None:
    assert marks(["car with plate B-AX 1234", "Alice Miller", "Woman in red coat", "dog 2", "bus", "Bob"]) == {
        "1234",
        "alice miller",
    }
    assert share_mark(marks(["van BAX1234"]), marks(["plate B-AX 1234"]))
    assert not share_mark(marks(["van BAX1234"]), marks(["van BAX1235"]))
    assert not share_mark((), ("1234",))


def at(degrees: float) -> Vector:
    return unit(np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]))


def linked(*mentions: tuple[str, float]) -> list[UUID]:
    """Return the entity of each mention of vehicles, which come in events of their own, at angles between vectors."""
    index = MemoryIndex(UUID(int=9))
    linker = EntityLinker(index.video_id, 1, index)
    owners = []
    for n, (name, angle) in enumerate(mentions):
        event_id = UUID(int=n + 1)
        made = linker.link(event_id, [EntityMention(name, "vehicle", "")], at(angle)[None], ())
        event = Event(event_id, n, Span(n, n + 1), n, n + 1, "", at(0))
        index.append(EventRecord(event, made.entities, made.mentions, made.relations))
        owners.append(made.mentions[0].entity_id)
    return owners


def test_a_plate_joins_a_car_that_looks_different_and_keeps_similar_cars_apart() -> None:
    """The cosine at 50 degrees is 0.64, below 0.85 for vehicles; at 10 degrees it is 0.98."""
    first, other_light, similar, unread = linked(
        ("white van BAX1234", 0), ("dark van B-AX 1234", 50), ("white van BAX1299", 10), ("white van", 5)
    )

    assert first == other_light
    assert similar != first
    assert unread in (first, similar)


def test_a_mark_does_not_join_things_that_look_like_nothing_of_each_other() -> None:
    """The cosine at 70 degrees is 0.34, below tau_named."""
    one, other = linked(("van 1234", 0), ("boat 1234", 70))

    assert one != other


def test_without_marks_looks_decide_as_before() -> None:
    one, near, far = linked(("white van", 0), ("pale van", 20), ("lorry", 60))

    assert one == near
    assert far != one
