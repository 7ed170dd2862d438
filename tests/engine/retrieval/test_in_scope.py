"""What a scope leaves of objects, tracks, entities, overviews and words, by hand."""

from __future__ import annotations

from uuid import UUID

import pytest

from gpu_workers.engine.ekg import Overview, Span, TrackObservation
from gpu_workers.engine.ports import StoredEntity, StoredObject
from gpu_workers.engine.retrieval.in_scope import (
    ALIASES,
    entity_in,
    folded,
    object_in,
    overview_in,
    searchable,
    track_in,
)

VIDEO, CAR = UUID(int=1), UUID(int=2)


def track(start_ms: int, end_ms: int, *, entered: bool = True, left: bool = True) -> TrackObservation:
    boxes = tuple((ms, 0.0, 0.0, 0.5, 0.5) for ms in range(start_ms, end_ms, 1_000))
    return TrackObservation(start_ms, "car", Span(start_ms, end_ms), 0.9, entered=entered, left=left, boxes=boxes)


TRACKS = (track(0, 4_000), track(10_000, 14_000), track(20_000, 24_000, left=False))
WHOLE = StoredObject(CAR, VIDEO, 0, "car", "red", tuple(track.span for track in TRACKS), 3, 2, 0.9)


def test_an_object_is_cut_to_the_scope_and_its_comings_and_goings_are_counted_inside() -> None:
    seen = object_in(Span(2_000, 22_000), WHOLE, TRACKS)
    assert seen is not None
    assert seen.spans == (Span(2_000, 4_000), Span(10_000, 14_000), Span(20_000, 22_000))
    assert (seen.entries, seen.exits) == (2, 2), "it entered at 10 s and 20 s, and left at 4 s and 14 s"
    assert (seen.n, seen.category, seen.colour, seen.confidence) == (0, "car", "red", 0.9)
    assert object_in(Span(4_000, 10_000), WHOLE, TRACKS) is None
    assert object_in(Span(0, 24_000), WHOLE, ()) is WHOLE, "the tracks of a whole object are not read"


def test_a_track_is_cut_to_the_scope() -> None:
    cut = track_in(Span(1_500, 3_500), TRACKS[0])
    assert cut is not None
    assert (cut.span, cut.entered, cut.left) == (Span(1_500, 3_500), False, False)
    assert [box[0] for box in cut.boxes] == [2_000, 3_000]
    ends = track_in(Span(1_500, 4_000), TRACKS[0])
    assert ends is not None
    assert (ends.entered, ends.left) == (False, True)
    assert track_in(Span(0, 99_000), TRACKS[0]) is TRACKS[0]
    assert track_in(Span(4_000, 10_000), TRACKS[0]) is None


def test_an_entity_that_is_partly_in_scope_has_the_words_of_what_is_in_scope() -> None:
    whole = StoredEntity(CAR, VIDEO, "getaway car", "car", "driven by the thief", ("van", "taxi"), 9)
    mentions = [("taxi", "thing", ""), ("cab", "car", "yellow"), ("taxi", "car", "parked")]
    assert entity_in(whole, mentions) == StoredEntity(CAR, VIDEO, "taxi", "thing", "yellow", ("cab",), 3)
    many = entity_in(whole, [(f"name {n}", "car", "") for n in range(30)])
    assert (many.name, many.aliases[0], len(many.aliases)) == ("name 0", "name 1", ALIASES)


@pytest.mark.parametrize(
    ("scope", "readable"),
    [(Span(0, 60_000), True), (Span(0, 90_000), True), (Span(0, 59_999), False), (Span(1, 90_000), False)],
)
def test_an_overview_is_read_only_where_the_scope_holds_all_that_it_covers(scope: Span, readable: bool) -> None:
    told = Overview("a robbery", (), (), 60_000, "narrator")
    assert overview_in(scope, told) == (told if readable else None)
    assert overview_in(scope, None) is None


def test_words_are_searched_without_case_and_only_if_a_text_can_hold_them() -> None:
    assert folded("Straße CAFE\u0301") == "strasse café"
    assert searchable(["Ow", "OW", "", "  ", "a\0b", "\ud800", "%_\\"]) == ["ow", "%_\\"]
