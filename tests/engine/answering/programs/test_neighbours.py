"""Relations of places by measured boxes, relations of the graph by their words, and objects found by words."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from gpu_workers.engine.answering.methods.ravu import finding, show
from gpu_workers.engine.answering.methods.ravu.finding import RELATIONS, localize, neighbors
from gpu_workers.engine.answering.methods.ravu.functions import count
from gpu_workers.engine.answering.methods.ravu.values import Moments, Run, Things
from gpu_workers.engine.ekg import (
    ObjectState,
    Place,
    Relation,
    Span,
    TrackObservation,
    stable_id,
)
from gpu_workers.engine.memory_graph import MemoryVideo
from tests.engine.answering.programs.small_world import as_json, juice, ran, run_over, toolbox_over
from tests.engine.answering.world import VIDEO, event_id

Boxes = dict[int, tuple[float, float, float, float]]


def object_id(n: int) -> UUID:
    return stable_id("object", VIDEO, n)


def thing(
    n: int, category: str, boxes: Boxes, *, colour: str = "", confidence: float = 0.9
) -> tuple[ObjectState, TrackObservation]:
    """Return an object that is visible from its first box to 1 ms after its last, and its track."""
    span = Span(min(boxes), max(boxes) + 1)
    track = TrackObservation(n, category, span, confidence, colour, boxes=tuple((ms, *b) for ms, b in boxes.items()))
    state = ObjectState(
        object_id(n), n, {category: 1}, {colour: 1} if colour else {}, (span,), (0,), 1, len(boxes), 1, 1, confidence,
        1, None, Place(max(boxes), boxes[max(boxes)]),
    )  # fmt: skip
    return state, track


CUP = {0: (0.4, 0.4, 0.6, 0.6), 1_000: (0.4, 0.4, 0.6, 0.6), 4_000: (0.4, 0.4, 0.6, 0.6)}
LEFT = (0.0, 0.4, 0.2, 0.6)
RIGHT = (0.8, 0.4, 1.0, 0.6)
KITCHEN = (
    thing(1, "cup", CUP, colour="white"),
    thing(2, "bottle", {0: LEFT, 1_000: LEFT}, colour="green"),
    thing(3, "bottle", {0: LEFT, 1_000: RIGHT, 4_000: RIGHT}, colour="red"),
    thing(4, "lamp", {0: (0.4, 0.0, 0.6, 0.1)}),
    thing(5, "cat", {8_000: LEFT}, confidence=0.4),
)


def kitchen() -> MemoryVideo:
    return replace(
        juice(),
        objects=tuple(state for state, _ in KITCHEN),
        tracks={state.id: (track,) for state, track in KITCHEN},
    )


def run_in_kitchen() -> Run:
    return run_over(toolbox_over(kitchen()))


def found(run: Run, relation: str, within: Moments | None = None) -> list[int]:
    cup = localize(run, "the white cup", "object", None)
    assert isinstance(cup, Things)
    by_id = {object_id(n): n for n in range(1, 6)}
    return [by_id[thing.id] for thing in neighbors(run, cup, relation, within).items]


def test_measured_relations_hold_in_at_least_half_of_the_moments_that_show_both() -> None:
    """The red bottle is left of the cup at 0 s, right of it at 1 s and 4 s."""
    run = run_in_kitchen()
    assert found(run, "left_of") == [2]
    assert found(run, "left of") == [2]
    assert found(run, "right_of") == [3]
    assert found(run, "above") == [4]
    assert found(run, "below") == []


def test_within_a_moment_only_its_boxes_count() -> None:
    """Event 0 lasts to 3 s, so that the red bottle is as often left as right of the cup; event 1 has 4 s."""
    run = run_in_kitchen()
    first = localize(run, "a boy enters the kitchen", "event", None)
    second = localize(run, "the boy drinks juice", "event", None)
    assert isinstance(first, Moments)
    assert isinstance(second, Moments)
    assert found(run, "left_of", first) == [2, 3]
    assert found(run, "left_of", second) == []
    assert found(run, "right_of", second) == [3]


@pytest.mark.parametrize(
    ("relation", "a", "holds"),
    [
        ("left_of", (0.0, 0.0, 0.3, 1.0), True),
        ("left_of", (0.0, 0.0, 0.9, 1.0), False),  # its middle lies inside the cup
        ("right_of", (0.7, 0.0, 0.9, 0.1), True),
        ("above", (0.4, 0.0, 0.6, 0.3), True),
        ("below", (0.4, 0.7, 0.6, 0.9), True),
        ("near", (0.79, 0.4, 0.99, 0.6), True),  # 0.19 apart, 0.2 wide
        ("near", (0.81, 0.4, 1.0, 0.6), False),
        ("near", (0.5, 0.5, 0.5, 0.5), True),
    ],
)
def test_each_relation_of_a_box_to_the_cup(relation: str, a: tuple[float, float, float, float], holds: bool) -> None:
    assert RELATIONS[relation](a, CUP[0]) is holds


def test_objects_go_by_category_and_colour() -> None:
    run = run_in_kitchen()
    bottles = localize(run, "bottles", "object", None)
    green = localize(run, "a green bottle", "object", None)
    yellow = localize(run, "a yellow bottle", "object", None)
    assert [thing.words for thing in bottles.items] == ["green bottle", "red bottle"]  # type: ignore[union-attr]
    assert [thing.words for thing in green.items] == ["green bottle"]  # type: ignore[union-attr]
    assert len(yellow.items) == 2, "a colour that nobody has tells nothing apart"
    assert run.limits == ["none of these is yellow"]


def test_objects_are_found_as_object_lookup_finds_them() -> None:
    """By kinds of things, by other words for a category and a colour, and not by every word of the phrase."""
    street = replace(
        juice(),
        objects=tuple(
            state
            for state, _ in (
                thing(1, "person", CUP, colour="red"),
                thing(2, "person", CUP, colour="black"),
                thing(3, "bicycle", CUP, colour="blue"),
                thing(4, "car", CUP, colour="grey"),
                thing(5, "truck", CUP, colour="white"),
            )
        ),
    )
    run = run_over(toolbox_over(street))

    def named(phrase: str) -> list[str]:
        return [one.words for one in localize(run, phrase, "object", None).items]  # type: ignore[union-attr]

    assert named("man in red") == ["red person"]
    assert named("bike") == ["blue bicycle"]
    assert named("gray car") == ["grey car"]
    assert named("vehicles") == ["blue bicycle", "grey car", "white truck"]
    assert run.limits == []


def test_a_number_says_that_not_all_objects_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "MOST_OBJECTS", 3)
    toolbox = toolbox_over(kitchen())
    run = run_over(toolbox)
    show(run, count(run, localize(run, "bottles", "object", None)), most_frames=1)
    assert toolbox.evidence.notes[0].startswith(
        "Counted in the index: about 2 things. Uncertain: read the first 3 tracked objects; there are more. O1 "
    )


def test_a_category_that_was_never_detected_names_those_there_are() -> None:
    run = run_in_kitchen()
    assert localize(run, "an elephant", "object", None) == Things()
    assert run.notes == ["categories here: bottle, cat, cup, lamp"]


def test_counting_objects_is_exact_where_each_is_surely_one() -> None:
    toolbox = toolbox_over(kitchen())
    assert ran(as_json('a = localize("bottles", "object")\nb = count(a)'), toolbox).value.in_words() == "2 things"  # type: ignore[union-attr]
    assert ran(as_json('a = localize("cat", "object")\nb = count(a)'), toolbox).value.in_words() == "about 1 thing"  # type: ignore[union-attr]


def test_a_track_is_the_events_that_overlap_it_by_a_millisecond() -> None:
    """The cat has one box, at 8.0 s: visible for 1 ms, in event 2. The cup is visible until 4.001 s."""
    toolbox = toolbox_over(kitchen())
    cat = ran(as_json('a = localize("cat", "object")\nb = track(a)'), toolbox).value
    cup = ran(as_json('a = localize("cup", "object")\nb = track(a)'), toolbox).value
    assert [(m.place.n, m.ms) for m in cat.items] == [(2, 8_000)]  # type: ignore[union-attr]
    assert [(m.place.n, m.ms) for m in cup.items] == [(0, 1_500), (1, 3_500)]  # type: ignore[union-attr]


def test_stated_relations_go_by_words_and_in_both_directions() -> None:
    video = juice()
    boy, girl = stable_id("entity", "boy"), stable_id("entity", "girl")
    stated = Relation(stable_id("r", 1), boy, girl, "listens to", "", event_id(2), 1.0)
    records = [replace(r, relations=(stated,)) if r.event.n == 2 else r for r in video.events]
    run = run_over(toolbox_over(replace(video, events=records)))
    one, other = localize(run, "boy", "entity", None), localize(run, "girl", "entity", None)
    assert isinstance(one, Things)
    assert isinstance(other, Things)

    def names(*arguments: object) -> list[str]:
        return [thing.words for thing in neighbors(run, *arguments).items]  # type: ignore[arg-type]

    assert names(one, "listened", None) == ["girl (person)"]
    assert names(other, None, None) == ["boy (person)"]
    assert names(one, "pushes", None) == []
    assert names(one, "listens", localize(run, "the boy drinks juice", "event", None)) == []


def test_objects_have_no_written_relations() -> None:
    run = run_in_kitchen()
    assert found(run, "pushes") == []
    assert run.notes == ["tracked objects have no written relations"]
