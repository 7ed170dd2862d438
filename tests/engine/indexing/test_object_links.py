"""Which entities are which tracked objects, by hand-computed confidences."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest

from gpu_workers.engine.ekg import EntityMention, EntityObject, ObjectState, Place, Span, stable_id
from gpu_workers.engine.indexing.object_links import fit, object_links

MINUTE = Span(0, 60_000)


def thing(n: int, category: str = "person", colour: str = "", spans: Sequence[Span] = (MINUTE,)) -> ObjectState:
    return ObjectState(
        id=stable_id("object", n),
        n=n,
        categories={category: 1},
        colours={colour: 1},
        spans=tuple(spans),
        segments=(0,),
        tracks=1,
        observations=1,
        entries=0,
        exits=0,
        confidence=1.0,
        weight=0,
        embedding=None,
        last=Place(0, (0.0, 0.0, 0.1, 0.1)),
    )


def who(name: str, kind: str = "person", looks: str = "") -> tuple[UUID, EntityMention]:
    return stable_id("entity", name), EntityMention(name, kind, looks)


@pytest.mark.parametrize(
    ("name", "kind", "looks", "category", "colour", "fits"),
    [
        ("woman", "person", "wears a red coat", "person", "red", 1.0),
        ("woman", "person", "wears a red coat", "person", "blue", 0.0),
        ("woman", "person", "wears a coat", "person", "blue", 0.6),
        ("woman", "person", "wears a red coat", "person", "", 0.6),
        ("man in black", "person", "", "person", "dark", 1.0),
        ("woman", "person", "wears a red coat", "car", "red", 0.0),
        ("delivery van", "vehicle", "white", "truck", "white", 1.0),
        ("delivery van", "vehicle", "white", "car", "white", 0.0),
        ("vehicle", "vehicle", "", "bus", "red", 0.6),
        ("the courier", "person", "", "person", "", 0.6),
        ("white dog", "animal", "", "dog", "white", 1.0),
        ("suitcase", "object", "blue", "suitcase", "blue", 1.0),
        ("suitcase with a toy dog", "object", "", "dog", "", 0.0),
        ("people at the gate", "group", "", "person", "", 0.0),
        ("the garage", "place", "", "car", "", 0.0),
    ],
)
def test_a_mention_fits_objects_of_its_kind_and_colour(
    name: str, kind: str, looks: str, category: str, colour: str, fits: float
) -> None:
    assert fit(EntityMention(name, kind, looks), thing(0, category, colour)) == fits


def test_the_only_pair_of_a_kind_is_linked_and_the_colour_makes_it_sure() -> None:
    woman, van = who("woman", looks="in a red coat"), who("van", "vehicle")
    links = object_links([(MINUTE, [woman, van])], [thing(0, colour="red"), thing(1, "truck", "white")])

    assert set(links) == {
        EntityObject(woman[0], stable_id("object", 0), 1.0),
        EntityObject(van[0], stable_id("object", 1), 0.6),
    }


def test_colours_keep_two_people_apart_and_two_without_any_are_not_guessed() -> None:
    red, blue = who("woman", looks="red coat"), who("man", looks="blue jacket")
    coloured = object_links([(MINUTE, [red, blue])], [thing(0, colour="blue"), thing(1, colour="red")])

    assert {(link.entity_id, link.object_id): link.confidence for link in coloured} == {
        (red[0], stable_id("object", 1)): 1.0,
        (blue[0], stable_id("object", 0)): 1.0,
    }
    # 0.6 ** 3 / (1.2 * 1.2) = 0.15 for each of the four pairs.
    assert object_links([(MINUTE, [who("woman"), who("man")])], [thing(0), thing(1)]) == ()


def test_the_confidence_is_the_mean_over_the_events_in_which_both_may_be_there() -> None:
    """Alone with her coat: 1.0. With a second person without a colour: 1 / (1 * 1.6) = 0.625 of the object. Not in the
    picture at all: the event says nothing."""
    woman, man = who("woman", looks="red coat"), who("man")
    visible = thing(0, colour="red", spans=[Span(0, 2_000), Span(10_000, 20_000)])
    events = [
        (Span(0, 3_000), [woman]),
        (Span(12_000, 15_000), [woman, man]),
        (Span(30_000, 33_000), [woman]),
        (Span(20_000, 30_000), [woman]),
    ]

    links = object_links(events, [visible])

    # The man's: 0.6 * 1 * (0.6 / 1.6) = 0.225.
    assert links == (EntityObject(woman[0], visible.id, pytest.approx((1.0 + 0.625) / 2, abs=1e-4)),)


def test_nothing_is_linked_without_objects_or_without_entities() -> None:
    assert object_links([(MINUTE, [who("woman")])], []) == ()
    assert object_links([(MINUTE, [])], [thing(0)]) == ()
    assert object_links([], [thing(0)]) == ()
