"""Every function of a program on a world worked out by hand: events of 3 s, event n from 3n to 3n + 3 s."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from gpu_workers.engine.answering.methods.ravu import functions
from gpu_workers.engine.answering.methods.ravu.finding import localize
from gpu_workers.engine.answering.methods.ravu.values import (
    Frames,
    Moment,
    Moments,
    NumberValue,
    Run,
    Things,
    entity_thing,
    place_of,
)
from gpu_workers.engine.ekg import FrameRow, Span, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from tests.engine.answering.programs.small_world import as_json, juice, ran, run_over, toolbox_over
from tests.engine.answering.world import VIDEO, embed, event_id, make_video

OTHER = stable_id("video", "a second kitchen")
TEN = [f"a person does thing {n}" for n in range(10)]


def over(*videos: MemoryVideo, span: Span | None = None) -> Run:
    return run_over(toolbox_over(InMemoryGraph(videos, span=span)))


def at(run: Run, *numbers: int, video_id: UUID = VIDEO, scores: tuple[float, ...] = ()) -> Moments:
    events = run.toolbox.load([event_id(n, video_id) for n in numbers])
    return Moments(tuple(Moment(place_of(e), s) for e, s in zip(events, scores or [0.0] * len(events), strict=True)))


def numbers(value: object) -> list[int]:
    assert isinstance(value, Moments)
    return [moment.place.n for moment in value.items]


def entity(run: Run, name: str) -> Things:
    found = run.graph.entities([stable_id("entity", name)])
    return Things(tuple(map(entity_thing, found.values())))


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "most", "expected"),
    [([4], 3, [5, 6, 7]), ([4, 6], 3, [5, 6, 7]), ([6, 4], 2, [5, 6]), ([8], 3, [9]), ([9], 3, [])],
)
def test_after_is_after_the_earliest_nearest_first(of: list[int], most: int, expected: list[int]) -> None:
    run = over(make_video(TEN))
    assert numbers(functions.after(run, at(run, *of), None, most)) == expected


@pytest.mark.parametrize(
    ("of", "most", "expected"),
    [([4], 3, [3, 2, 1]), ([4, 6], 3, [5, 4, 3]), ([1], 3, [0]), ([0], 3, [])],
)
def test_before_is_before_the_latest_nearest_first(of: list[int], most: int, expected: list[int]) -> None:
    run = over(make_video(TEN))
    assert numbers(functions.before(run, at(run, *of), None, most)) == expected


def test_with_only_events_in_which_these_take_part_count() -> None:
    run = over(juice())
    assert numbers(functions.after(run, at(run, 1), None, 3)) == [2, 3, 4]
    assert numbers(functions.after(run, at(run, 1), entity(run, "boy"), 3)) == [3, 4]
    assert numbers(functions.before(run, at(run, 3), entity(run, "girl"), 3)) == [2]


def test_after_keeps_to_each_video() -> None:
    run = over(make_video(TEN), make_video(TEN[:3], video_id=OTHER))
    both = Moments((*at(run, 7).items, *at(run, 0, video_id=OTHER).items))
    found = functions.after(run, both, None, 3)

    assert {(moment.place.video_id, moment.place.n) for moment in found.items} >= {(VIDEO, 8), (OTHER, 1)}
    assert len(found.items) == 3, "most is of all videos together"


def test_between_lies_between_the_earliest_of_one_and_the_latest_of_the_other() -> None:
    run = over(make_video(TEN))
    assert numbers(functions.between(run, at(run, 2), at(run, 6))) == [3, 4, 5]
    assert numbers(functions.between(run, at(run, 2), at(run, 3))) == [], "spans are half-open"
    assert numbers(functions.between(run, at(run, 6), at(run, 2))) == []


def test_during_is_what_overlaps_and_not_what_touches() -> None:
    run = over(juice())
    assert numbers(functions.during(run, at(run, 2))) == [2]
    assert numbers(functions.during(run, entity(run, "boy"))) == [0, 1, 3, 4]


def test_first_and_last_go_by_time_and_then_by_id() -> None:
    run = over(make_video(TEN), make_video(TEN, video_id=OTHER))
    twins = Moments((*at(run, 3, 5).items, *at(run, 3, 5, video_id=OTHER).items))

    assert functions.first(run, twins).event_ids == (min(event_id(3), event_id(3, OTHER)),)
    assert functions.last(run, twins).event_ids == (min(event_id(5), event_id(5, OTHER)),)


def test_a_scope_of_time_bounds_every_function() -> None:
    run = over(make_video(TEN), span=Span(9_000, 18_000))
    assert numbers(functions.after(run, at(run, 4), None, 10)) == [5]
    assert numbers(functions.before(run, at(run, 4), None, 10)) == [3]


# --- things, sets, results -------------------------------------------------------------------------------------------


def test_events_of_an_entity_are_its_mentions_in_order_of_time() -> None:
    run = over(juice())
    assert numbers(functions.events_of(run, entity(run, "boy"))) == [0, 1, 3, 4]
    assert numbers(functions.track(run, entity(run, "girl"))) == [2]


def test_sets_of_moments_and_of_things() -> None:
    run = over(juice())
    a, b = at(run, 3, 1, 0), at(run, 1, 2)
    assert numbers(functions.union(run, a, b)) == [0, 1, 2, 3]
    assert numbers(functions.intersect(run, a, b)) == [1]
    assert numbers(functions.minus(run, a, b)) == [3, 0], "the order of the first one stays"
    boy, girl = entity(run, "boy"), entity(run, "girl")
    assert functions.union(run, boy, girl) == Things((*boy.items, *girl.items))
    assert functions.union(run, boy, boy) == boy
    assert functions.minus(run, boy, boy) == Things()


def test_union_keeps_the_better_of_two_scores() -> None:
    run = over(juice())
    found = functions.union(run, at(run, 1, scores=(0.3,)), at(run, 1, scores=(0.8,)))
    assert isinstance(found, Moments)
    assert [moment.score for moment in found.items] == [0.8]


def test_a_count_of_entities_or_events_is_about() -> None:
    run = over(juice())
    assert functions.count(run, entity(run, "boy")).in_words() == "about 1 thing"
    assert functions.count(run, at(run, 1, 2)).in_words() == "about 2 events"


def test_a_description_is_the_words_of_the_index() -> None:
    run = over(juice())
    assert functions.describe(run, at(run, 1, 2)).text == "the boy drinks juice\na girl sings a song"
    assert functions.describe(run, entity(run, "boy")).text == "boy (person)"


def test_frames_are_shared_out_evenly_and_come_in_order_of_time() -> None:
    """Event 1 has frames at 3.0, 3.5, … 5.5 s, event 2 one at 7.5 s."""
    video = juice()
    dense = [FrameRow(3_000 + 500 * n, b"", embed("x")) for n in range(6)]
    run = over(replace(video, frames=[*dense, video.frames[2]]))

    def times(value: Frames) -> list[int]:
        return [frame.ms for frame in value.items]

    assert times(functions.frames(run, at(run, 2, 1), 4)) == [3_500, 5_000, 7_500]
    assert times(functions.frames(run, at(run, 1), 1)) == [4_500]
    assert times(functions.frames(run, at(run, 1), 10)) == [3_000, 3_500, 4_000, 4_500, 5_000, 5_500]
    (moment,) = at(run, 1).items
    assert times(functions.frames(run, Moments((replace(moment, ms=3_100),)), 1)) == [3_000]


# --- searching -------------------------------------------------------------------------------------------------------


def test_localize_within_moments_finds_nothing_outside() -> None:
    run = over(juice())
    assert numbers(localize(run, "boy drinks juice", "event", None)) == [1]
    assert numbers(localize(run, "boy drinks juice", "event", at(run, 3, 4))) == [3]
    assert numbers(localize(run, "sofa", "event", at(run, 3))) == []


def test_localize_a_frame_gives_its_event_and_its_time() -> None:
    run = over(juice())
    found = localize(run, "sings song", "frame", None)
    assert isinstance(found, Moments)
    assert [(moment.place.n, moment.ms) for moment in found.items] == [(2, 7_500)]


def test_a_search_reads_at_most_sixteen_time_ranges_and_says_so() -> None:
    run = over(make_video([f"a person does thing {n}" for n in range(40)]))
    every_other = at(run, *range(0, 40, 2))
    localize(run, "person", "event", every_other)
    assert run.notes == ["searched 16 of 20 time ranges"]


def test_a_program_reads_no_more_than_the_scope() -> None:
    run = toolbox_over(InMemoryGraph([juice()], span=Span(0, 6_000)))
    outcome = ran(as_json('a = localize("boy plays with a ball")\nb = after(a)'), run)
    assert outcome.value is None


def test_a_number_is_kept_with_what_was_counted() -> None:
    run = over(juice())
    counted = functions.count(run, at(run, 1))
    assert counted == NumberValue(1, True, at(run, 1))
