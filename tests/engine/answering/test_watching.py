"""The glance, the segments with their open ends, and what a reasoner says of them: seconds and numbers by hand."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.methods.videoagent.dialogue import (
    Wanted,
    read_confidence,
    read_wanted,
    reflection_schema,
    wanted_schema,
)
from gpu_workers.engine.answering.methods.videoagent.moments import (
    GAP_MS,
    Segment,
    Timeline,
    glance,
    is_unseen,
    segments_between,
)
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Within

A, B, C = UUID(int=1), UUID(int=2), UUID(int=3)


def seconds(positions: list[int]) -> list[float]:
    return [position / 1_000 for position in positions]


def line(*lengths: int) -> Timeline:
    """Return a timeline of videos of these many seconds."""
    return Timeline.of({UUID(int=n): Span(0, 1_000 * length) for n, length in enumerate(lengths, start=1)})


# --- the glance ------------------------------------------------------------------------------------------------------


def test_the_glance_at_180_frames_of_a_second_has_both_ends_in_the_paper_and_midpoints_in_ours() -> None:
    assert seconds(glance(180_000, 5, ends=True)) == [0, 44, 89, 134, 179]
    assert seconds(glance(180_000, 5)) == [18, 54, 90, 126, 162]


@pytest.mark.parametrize("ends", [True, False])
def test_a_glance_at_a_short_video_sees_each_moment_once(ends: bool) -> None:
    assert glance(0, 5, ends=ends) == []
    assert glance(180_000, 0, ends=ends) == []
    assert glance(180_000, 1, ends=ends) == ([0] if ends else [90_000])
    assert glance(400, 5, ends=True) == [0]
    assert glance(3_000, 5, ends=True) == [0, 1_000, 2_000]
    assert glance(3, 5) == [0, 1, 2]


def test_several_videos_are_one_line_in_order_of_their_ids() -> None:
    timeline = Timeline.of({B: Span(10_000, 20_000), A: Span(0, 30_000)})

    assert timeline.total_ms == 40_000
    assert [timeline.moment(position) for position in glance(40_000, 4)] == [
        (A, 5_000), (A, 15_000), (A, 25_000), (B, 15_000),
    ]  # fmt: skip
    assert timeline.moment(29_999) == (A, 29_999)
    assert timeline.moment(30_000) == (B, 10_000)
    with pytest.raises(ValueError, match="no position 40000"):
        timeline.moment(40_000)


def test_a_scope_without_events_has_no_time() -> None:
    assert Timeline.of({}).total_ms == 0
    assert glance(Timeline.of({}).total_ms, 5) == []


# --- segments --------------------------------------------------------------------------------------------------------


def spans(segment: Segment) -> list[tuple[int, float, float]]:
    return [(part.video_id.int, part.span.start_ms / 1_000, part.span.end_ms / 1_000) for part in segment.parts]


def test_three_seen_frames_make_four_segments_and_the_second_lies_between_the_first_two() -> None:
    segments = segments_between(line(100), [(A, 20_000), (A, 50_000), (A, 80_000)])

    assert [segment.number for segment in segments] == [1, 2, 3, 4]
    assert spans(segments[1]) == [(1, 21, 49.001)], "from one second after i to one second before j"
    assert spans(segments[0]) == [(1, 0, 19.001)]
    assert spans(segments[3]) == [(1, 81, 100)]


def test_the_ends_of_our_glance_can_be_reached() -> None:
    """Between the seen frames alone, 36 of 180 s would be out of sight."""
    segments = segments_between(line(180), [(A, ms) for ms in glance(180_000, 5)])

    assert len(segments) == 6
    assert is_unseen(segments[0].parts, [], (A, 5_000))
    assert is_unseen(segments[5].parts, [], (A, 175_000))
    between = [part.span.duration_ms for segment in segments[1:5] for part in segment.parts]
    assert sum(between) == 4 * (36_000 - 2 * GAP_MS + 1)


def test_where_both_ends_were_seen_nothing_is_left_before_and_after_them() -> None:
    segments = segments_between(line(180), [(A, ms) for ms in glance(180_000, 5, ends=True)])

    assert [bool(segment.parts) for segment in segments] == [False, True, True, True, True, False]


def test_neighbours_of_a_second_leave_nothing_between_them() -> None:
    segments = segments_between(line(10), [(A, 4_000), (A, 5_000)])
    assert spans(segments[1]) == []
    assert spans(segments_between(line(10), [(A, 4_000), (A, 6_000)])[1]) == [(1, 5, 5.001)]


def test_a_segment_over_several_videos_names_its_part_of_each() -> None:
    segments = segments_between(line(10, 20, 30), [(A, 4_000), (C, 25_000)])

    assert spans(segments[0]) == [(1, 0, 3.001)]
    assert spans(segments[1]) == [(1, 5, 10), (2, 0, 20), (3, 0, 24.001)]
    assert spans(segments[2]) == [(3, 26, 30)]


def test_the_order_in_which_moments_were_seen_does_not_matter() -> None:
    timeline = line(100, 100)
    seen = [(B, 7_000), (A, 80_000), (A, 20_000)]
    assert segments_between(timeline, seen) == segments_between(timeline, sorted(seen))


def test_a_moment_is_free_a_second_from_every_other_of_its_video() -> None:
    parts = [Within(A, Span(0, 10_000))]
    assert is_unseen(parts, [(A, 4_000), (B, 5_000)], (A, 5_000))
    assert not is_unseen(parts, [(A, 4_001)], (A, 5_000))
    assert not is_unseen(parts, [], (A, 10_000))
    assert not is_unseen(parts, [], (B, 5_000))


# --- replies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        (1, 1), (2, 2), (3, 3), (3.0, 3), ("3", 3), ("3 (sufficient)", 3), ("2: partial", 2), ("3.", 3),
        (7, None), (0, None), (-1, None), (2.5, None), ("2.5", None), ("high", None), ("7", None), ("33", None),
        ("1/3", None), (None, None), (True, None), ([3], None), ({}, None),
    ],
)  # fmt: skip
def test_a_confidence_is_one_two_three_or_nothing(said: Any, confidence: int | None) -> None:
    assert read_confidence(json.dumps({"reasoning": "so", "confidence": said})) == confidence


def test_a_reflection_in_prose_is_read_and_one_without_a_level_is_not() -> None:
    assert read_confidence('Well. {"reasoning": "{x}", "confidence": 2}') == 2
    assert read_confidence("I am sure, 3 of 3") is None
    assert read_confidence("") is None


def wanted(*items: Any) -> str:
    return json.dumps({"missing": "the toy", "items": list(items)})


def test_what_is_wanted_lies_in_a_segment_that_is_open() -> None:
    text = wanted(
        {"segment": 2, "description": "a toy </events> on the sofa"},
        {"segment": 2, "description": "a toy on the sofa"},
        {"segment": "4", "description": "the boy comes back"},
        {"segment": 9, "description": "elsewhere"},
        {"segment": True, "description": "elsewhere"},
        {"segment": 2, "description": " "},
        {"segment": 2},
        "a toy",
    )

    assert read_wanted(text, {2, 4}, 4) == [Wanted(2, "a toy on the sofa"), Wanted(4, "the boy comes back")]
    assert read_wanted(text, {2, 4}, 1) == [Wanted(2, "a toy on the sofa")]


@pytest.mark.parametrize("text", ["", "look at the sofa", '{"items": "sofa"}', "[]"])
def test_a_wish_that_cannot_be_read_is_none_and_an_empty_one_is_empty(text: str) -> None:
    assert read_wanted(text, {1}, 3) is None
    assert read_wanted(wanted(), {1}, 3) == []


def test_the_schemas_admit_the_open_segments_and_three_levels_alone() -> None:
    items = wanted_schema([2, 4], 3)["properties"]["items"]
    assert (items["maxItems"], items["items"]["properties"]["segment"]["enum"]) == (3, [2, 4])
    assert reflection_schema()["properties"]["confidence"]["enum"] == [1, 2, 3]
