"""Moments are stretches of time without overlap; neighbours that fit about equally are one."""

from __future__ import annotations

from itertools import combinations
from uuid import UUID, uuid5

from hypothesis import given
from hypothesis import strategies as st

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.moments import FoundSpan, apart, moments

YARD, GATE = UUID(int=1), UUID(int=2)


def found(n: int, start_s: int, end_s: int, score: float, video: UUID = YARD) -> FoundSpan:
    return FoundSpan(video, uuid5(video, str(n)), n, Span(1000 * start_s, 1000 * end_s), score)


def seconds(made: list) -> list[tuple[int, int]]:  # type: ignore[type-arg]
    return [(moment.span.start_ms // 1000, moment.span.end_ms // 1000) for moment in made]


def test_two_neighbours_that_fit_about_equally_are_one_moment_in_order_of_time() -> None:
    later, earlier, far = found(4, 20, 30, 0.9), found(3, 10, 20, 0.85), found(9, 90, 99, 0.7)
    made = moments([far, later, earlier])
    assert seconds(made) == [(10, 30), (90, 99)]
    assert [moment.score for moment in made] == [0.9, 0.7]
    assert made[0].event_ids == (earlier.event_id, later.event_id)


def test_a_weaker_neighbour_is_a_moment_of_its_own() -> None:
    assert seconds(moments([found(1, 0, 10, 0.9), found(2, 10, 20, 0.7)])) == [(0, 10), (10, 20)]


def test_at_most_two_events_are_one_moment() -> None:
    made = moments([found(n, 10 * n, 10 * n + 10, 0.9) for n in range(5)])
    assert [len(moment.event_ids) for moment in made] == [2, 2, 1]


def test_what_is_not_next_to_each_other_or_in_another_video_stays_apart() -> None:
    made = moments([found(1, 0, 10, 0.9), found(3, 20, 30, 0.9), found(2, 10, 20, 0.9, GATE)])
    assert [len(moment.event_ids) for moment in made] == [1, 1, 1]


def test_of_two_events_that_overlap_the_better_one_is_a_moment() -> None:
    assert seconds(moments([found(1, 0, 20, 0.7), found(5, 10, 30, 0.9)])) == [(10, 30)]


def test_nothing_found_has_no_moments() -> None:
    assert moments([]) == []


EVENTS = st.lists(
    st.builds(
        found, st.integers(0, 30), st.integers(0, 100), st.integers(101, 200), st.floats(0, 1),
        st.sampled_from([YARD, GATE]),
    ) | st.builds(
        lambda n, score: found(n, 10 * n, 10 * n + 10, score), st.integers(0, 30), st.floats(0, 1),
    ),
    max_size=40, unique_by=lambda event: (event.video_id, event.n),
)  # fmt: skip


@given(EVENTS)
def test_moments_of_a_video_never_overlap_and_the_best_event_is_always_in_one(events: list[FoundSpan]) -> None:
    made = moments(events)
    for one, other in combinations(made, 2):
        assert one.video_id != other.video_id or not one.span.overlaps(other.span)
    scores = [moment.score for moment in made]
    assert scores == sorted(scores, reverse=True)
    shown = [event_id for moment in made for event_id in moment.event_ids]
    assert len(shown) == len(set(shown))
    for event in events:
        holding = [moment for moment in made if event.event_id in moment.event_ids]
        assert all(moment.span.holds(event.span) for moment in holding)
        # Whatever is left out lost to something that overlaps it, or that its own pair overlapped.
        if event.score > max((other.score for other in events if other is not event), default=-1.0):
            assert holding


@given(EVENTS)
def test_what_is_kept_apart_is_the_first_of_what_overlaps(events: list[FoundSpan]) -> None:
    kept = apart(events, key=lambda event: (event.video_id, event.span))
    for event in events:
        before = [one for one in kept if one.video_id == event.video_id and one.span.overlaps(event.span)]
        assert before
        assert (event in kept) == (before[0] is event or before == [event])
