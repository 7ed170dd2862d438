"""Re-identification over segments, on synthetic tracks whose owner is known."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_workers.engine.ekg import ObjectState, Span, TrackObservation, Vector, unit
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.objects import ObjectLinker, visible_spans

VIDEO = UUID(int=7)
Box = tuple[float, float, float, float]
HERE: Box = (0.1, 0.4, 0.2, 0.8)
THERE: Box = (0.7, 0.4, 0.8, 0.8)


def look(kind: int, *, towards: int = 0, share: float = 0.0) -> Vector:
    """Return the look of kind, mixed with another's: two looks with share s each of one third have cosine 1 - s at
    most."""
    vector = np.zeros(8, dtype=np.float32)
    vector[kind] = 1.0 - share
    vector[towards] += share
    return unit(vector)


def track(
    start_ms: int, end_ms: int, appearance: Vector | None, box: Box = HERE, category: str = "person", **more: bool
) -> TrackObservation:
    """Return a track that is seen five times a second, first at start_ms and last at end_ms."""
    boxes = tuple((ms, *box) for ms in [*range(start_ms, end_ms, 200), end_ms])
    return TrackObservation(
        0, category, Span(start_ms, end_ms + 1), 0.9, "red", boxes=boxes, appearance=appearance, **more
    )


def linked(segments: Sequence[Sequence[TrackObservation]]) -> MemoryIndex:
    index = MemoryIndex(VIDEO)
    linker = ObjectLinker(VIDEO, 1, index)
    for n, tracks in enumerate(segments):
        index.put_objects(linker.link(n, tracks))
    return index


def owners(index: MemoryIndex) -> list[list[int]]:
    """Return the number of each track's object, by segment."""
    number = {state.id: state.n for state in index.objects}
    return [[number[owner] for owner in index.object_of[n]] for n in sorted(index.object_of)]


def plain(states: Sequence[ObjectState]) -> list[object]:
    return [
        (replace(state, embedding=None), None if state.embedding is None else state.embedding.round(5).tolist())
        for state in states
    ]


@st.composite
def recordings(draw: st.DrawFn) -> list[list[TrackObservation]]:
    """Draw up to four segments of tracks with few looks and positions, so that many joins are possible."""
    segments = []
    for n in range(draw(st.integers(1, 4))):
        tracks = []
        for _ in range(draw(st.integers(0, 5))):
            start = n * 6_000 + 200 * draw(st.integers(0, 25))
            end = min(n * 6_000 + 5_800, start + 200 * draw(st.integers(0, 15)))
            share = draw(st.sampled_from([0.0, 0.05, 0.1]))
            appearance = draw(st.sampled_from([None, look(0, towards=1, share=share), look(1)]))
            tracks.append(track(start, end, appearance, draw(st.sampled_from([HERE, THERE])),
                                draw(st.sampled_from(["person", "car", "truck", "bottle"]))))  # fmt: skip
        segments.append(tracks)
    return segments


@settings(max_examples=50)
@given(recordings())
def test_two_tracks_that_share_a_frame_are_never_one_object(segments: list[list[TrackObservation]]) -> None:
    index = linked(segments)
    seen: defaultdict[UUID, list[set[int]]] = defaultdict(list)
    for n, tracks in enumerate(segments):
        for one, owner in zip(tracks, index.object_of[n], strict=True):
            seen[owner].append({box[0] for box in one.boxes})
    for frames in seen.values():
        assert all(not a & b for a, b in itertools.combinations(frames, 2))


@settings(max_examples=50)
@given(recordings())
def test_objects_add_up_to_their_tracks(segments: list[list[TrackObservation]]) -> None:
    index = linked(segments)
    for state in index.objects:
        mine = [
            (n, one)
            for n, tracks in enumerate(segments)
            for one, owner in zip(tracks, index.object_of[n], strict=True)
            if owner == state.id
        ]
        assert state.tracks == len(mine)
        assert state.observations == sum(len(one.boxes) for _, one in mine) == sum(state.categories.values())
        assert state.segments == tuple(sorted({n for n, _ in mine}))
        assert state.weight == sum(one.appearance is not None for _, one in mine)
        assert all(any(s.contains(box[0]) for s in state.spans) for _, one in mine for box in one.boxes)
        assert all(a.end_ms < b.start_ms for a, b in itertools.pairwise(state.spans))
    assert [state.n for state in index.objects] == list(range(len(index.objects)))


@settings(max_examples=50)
@given(recordings(), st.data())
def test_a_new_linker_goes_on_from_what_is_stored(segments: list[list[TrackObservation]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(segments)))
    index = linked(segments[:cut])
    linker = ObjectLinker(VIDEO, 1, index)
    for n in range(cut, len(segments)):
        index.put_objects(linker.link(n, segments[n]))

    assert plain(index.objects) == plain(linked(segments).objects)


def test_no_join_through_a_third() -> None:
    """Both later tracks look like the first, and share a frame with each other only."""
    index = linked([[track(0, 5_000, look(0))], [track(40_000, 45_000, look(0)), track(41_000, 44_000, look(0))]])
    assert owners(index) == [[0], [0, 1]]

    over_segments = [[track(0, 5_000, look(0))], [track(40_000, 45_000, look(0))], [track(44_900, 50_000, look(0))]]
    assert owners(linked(over_segments)) == [[0], [0], [1]]


def test_who_leaves_and_returns_with_the_same_look_is_one() -> None:
    index = linked([[track(0, 5_000, look(0), left=True)], [], [track(90_000, 95_000, look(0), THERE, entered=True)]])

    (one,) = index.objects
    assert (one.tracks, one.entries, one.exits, one.segments) == (2, 1, 1, (0, 2))
    assert one.spans == (Span(0, 5_001), Span(90_000, 95_001))
    assert one.confidence == pytest.approx(0.7)


def test_who_comes_with_another_look_is_another() -> None:
    assert owners(linked([[track(0, 5_000, look(0))], [track(90_000, 95_000, look(1))]])) == [[0], [1]]
    near = look(0, towards=1, share=0.3)
    assert float(near @ look(0)) == pytest.approx(0.919, abs=0.001)
    assert owners(linked([[track(0, 5_000, look(0))], [track(90_000, 95_000, near)]])) == [[0], [1]]


def test_of_two_look_alikes_neither_is_chosen_and_confidence_drops() -> None:
    twins = [track(0, 5_000, look(0)), track(0, 5_000, look(0), THERE)]
    index = linked([twins, [track(90_000, 95_000, look(0), (0.4, 0.4, 0.5, 0.8))]])

    assert owners(index) == [[0, 1], [2]]
    assert [state.confidence for state in index.objects] == [1.0, 1.0, 0.5]


def test_what_goes_on_over_the_border_is_the_same_even_among_twins() -> None:
    twins = [track(0, 29_800, look(0)), track(0, 29_800, look(0), THERE)]
    later = [track(30_000, 35_000, look(0), THERE), track(30_000, 35_000, look(0))]

    assert owners(linked([twins, later])) == [[0, 1], [1, 0]]


def test_what_moves_on_is_expected_where_it_would_be() -> None:
    def runner(start_ms: int, x: float) -> TrackObservation:
        boxes = tuple((start_ms + 200 * k, x + 0.06 * k, 0.4, x + 0.06 * k + 0.1, 0.6) for k in range(5))
        return TrackObservation(0, "car", Span(start_ms, start_ms + 801), 0.9, boxes=boxes, appearance=look(0))

    # Half a second later it is 0.15 further on; a car that stands there by then is another one.
    assert owners(linked([[runner(29_000, 0.0)], [runner(30_300, 0.39)]])) == [[0], [0]]
    parked = track(30_300, 32_000, look(0, towards=1, share=0.3), (0.0, 0.4, 0.1, 0.6), "car")
    assert owners(linked([[runner(29_000, 0.0)], [parked]])) == [[0], [1]]


def test_a_thing_that_stands_where_one_stood_is_that_one_and_a_person_is_not() -> None:
    other = look(0, towards=1, share=0.3)
    bottles = [[track(0, 5_000, look(0), category="bottle")], [track(60_000, 65_000, other, category="bottle")]]
    people = [[track(0, 5_000, look(0))], [track(60_000, 65_000, other)]]

    assert owners(linked(bottles)) == [[0], [0]]
    assert owners(linked(people)) == [[0], [1]]


def test_who_came_in_and_did_not_go_out_is_found_again_where_he_was() -> None:
    """The detector loses a man who stands still. Over 13 s and in another pose his looks alone would not do."""
    other_pose = look(0, towards=1, share=0.3)
    came = track(5_000, 9_000, look(0), entered=True)
    again = track(22_000, 25_000, other_pose)
    (one,) = linked([[came], [again]]).objects
    assert (one.tracks, one.entries, one.confidence) == (2, 1, 0.7)

    for first, second in (
        (replace(came, entered=False), again),  # nobody knows that he is still there
        (replace(came, left=True), again),
        (came, replace(again, entered=True)),
        (came, track(22_000, 25_000, other_pose, THERE)),
        (came, track(22_000, 25_000, look(1))),
        (came, track(45_000, 48_000, other_pose)),
        (replace(came, category="bottle"), replace(again, category="person")),
    ):
        assert owners(linked([[first], [second]])) == [[0], [1]]


def test_of_two_who_are_missing_neither_is_found_again_by_where_he_was() -> None:
    came = [track(5_000, 9_000, look(0), entered=True), track(5_000, 9_000, look(1), THERE, entered=True)]
    again = track(22_000, 25_000, look(0, towards=1, share=0.3))
    assert owners(linked([came, [again]])) == [[0, 1], [2]]
    # The other one is there all the time, so he is not missing.
    stays = [came[0], track(5_000, 25_000, look(1), THERE, entered=True)]
    assert owners(linked([stays, [again]])) == [[0, 1], [0]]


def test_what_the_detector_mixes_up_is_one_kind_and_is_called_what_it_is_most() -> None:
    segments = [[track(0, 5_000, look(0), category="truck")], [track(60_000, 75_000, look(0), category="car")]]
    (one,) = linked(segments).objects
    assert one.category == "car"

    segments[1] = [track(60_000, 75_000, look(0), category="person")]
    assert [state.category for state in linked(segments).objects] == ["truck", "person"]


def test_the_cut_into_segments_changes_nothing_for_equal_tracks() -> None:
    tracks = [
        track(0, 5_000, look(0)), track(7_000, 9_000, look(1), THERE), track(12_000, 20_000, look(0), THERE),
        track(20_600, 25_000, look(0), THERE), track(26_000, 29_000, look(2)),
    ]  # fmt: skip

    def states(segments: Sequence[Sequence[TrackObservation]]) -> list[object]:
        return [
            (state.spans, state.tracks, state.category, state.confidence) for state in linked(segments).objects
        ]  # fmt: skip

    whole = states([tracks])
    assert len(whole) == 3
    assert states([[one] for one in tracks]) == states([tracks[:2], tracks[2:]]) == whole


def test_the_same_segment_twice_changes_nothing() -> None:
    segments = [[track(0, 5_000, look(0))], [track(40_000, 45_000, look(0))]]
    index = linked(segments)
    before = plain(index.objects)
    index.put_objects(ObjectLinker(VIDEO, 1, index).link(1, segments[1]))
    assert plain(index.objects) == before
    assert [state.id for state in linked(segments).objects] == [state.id for state in index.objects]


def test_time_for_which_a_track_was_lost_is_not_visible() -> None:
    lost = replace(track(0, 1_000, look(0)), boxes=(*track(0, 1_000, None).boxes, *track(8_000, 9_000, None).boxes))
    assert visible_spans(lost) == (Span(0, 1_001), Span(8_000, 9_001))
    # So another may be seen in between, and be the same one.
    assert owners(linked([[lost], [track(4_000, 5_000, look(0))]])) == [[0], [0]]


def test_no_tracks_ask_nothing() -> None:
    class Closed(MemoryIndex):
        def count(self) -> int:
            raise AssertionError("asked")

        recent = alike = count  # type: ignore[assignment]

    assert ObjectLinker(VIDEO, 1, Closed(VIDEO)).link(3, []).objects == ()
