"""Neighbours that were found together are offered as a whole."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.moments import FoundSpan, moments

YARD, GATE = UUID(int=1), UUID(int=2)


def found(n: int, start_s: int, end_s: int, score: float, video: UUID = YARD) -> FoundSpan:
    return FoundSpan(video, uuid5(video, str(n)), n, Span(1000 * start_s, 1000 * end_s), score)


def test_two_neighbours_are_also_one_moment_in_order_of_their_scores() -> None:
    later, earlier, far = found(4, 20, 30, 0.5), found(3, 10, 20, 0.3), found(9, 90, 99, 0.2)
    made = moments([later, earlier, far])
    assert [(moment.span.start_ms // 1000, moment.span.end_ms // 1000) for moment in made] == [
        (20, 30), (10, 30), (10, 20), (90, 99),
    ]  # fmt: skip
    # 0.8 of the mean of 0.5 and 0.3.
    assert made[1].score == pytest.approx(0.32)
    assert made[1].event_ids == (earlier.event_id, later.event_id)
    assert made[0].event_ids == (later.event_id,)


def test_what_is_not_next_to_each_other_or_in_another_video_stays_apart() -> None:
    made = moments([found(1, 0, 10, 0.5), found(3, 20, 30, 0.4), found(2, 10, 20, 0.3, GATE)])
    assert [len(moment.event_ids) for moment in made] == [1, 1, 1]


def test_a_whole_that_is_nearly_one_of_its_parts_is_left_out() -> None:
    # 30 of 40 s are the second event: the whole would say the same.
    assert len(moments([found(1, 0, 10, 0.5), found(2, 10, 40, 0.5)])) == 2
    assert len(moments([found(1, 0, 11, 0.5), found(2, 11, 40, 0.5)])) == 3


def test_nothing_found_has_no_moments() -> None:
    assert moments([]) == []
