"""Evenly spaced frames of a scope, the pages of its timeline, and parallel reads of pictures."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.ekg import Event, EventRecord, FrameRow, Span, unit
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.ports import EventPlace, Hit, StoredFrame
from gpu_workers.engine.retrieval.frames import (
    READS,
    ROWS,
    evenly,
    frames_of_hits,
    in_parallel,
    spread,
    uniform_frames,
)
from tests.engine.answering.world import VIDEO, ScriptedChecker, make_video, models, says, scripted

EVENTS = 5_000


class WatchedGraph(InMemoryGraph):
    """Records the events that were loaded with their chunks and the size of each page of the timeline."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.loaded: list[UUID] = []
        self.pages: list[int] = []

    def load_events(self, event_ids: Sequence[UUID]) -> Any:
        self.loaded += event_ids
        return super().load_events(event_ids)

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        page = super().timeline(after=after, limit=limit)
        self.pages.append(len(page))
        return page


def recording(events: int = EVENTS) -> WatchedGraph:
    """Return a long recording whose last hundred events, and no others, are about a red car."""
    words = ["a red car turns left" if n >= events - 100 else f"people walk {n % 7}" for n in range(events)]
    return WatchedGraph([make_video(words)])


def test_uniform_frames_lie_evenly_over_the_whole_scope_and_no_chunk_is_read() -> None:
    graph = recording()

    frames = uniform_frames(graph, count=64)

    whole = EVENTS * 3_000
    assert len(frames) == 64
    for k, frame in enumerate(frames):
        assert abs(frame.ms - (2 * k + 1) * whole / 128) <= 1_500, "the only frame of each event is in its middle"
    assert graph.loaded == []
    assert graph.pages == [4_096, 904, 0]


def test_what_a_question_asks_for_moves_no_uniform_frame() -> None:
    shown: list[list[int]] = []

    def look(request: Any) -> Any:
        shown.append([frame.ms for frame in request.frames])
        return says("A")

    for text in ("Where does the red car turn?", "Who walks?"):
        checker = ScriptedChecker(look, max_frames=64)
        question = QuestionInput(text, ("left", "right"), method="uniform")
        graph = recording()
        answer = answer_question(question, graph, models(scripted(says("A")), checker=checker))
        assert answer.choice == 0
        assert len(set(graph.loaded)) == 64, "only the events of the chosen frames are read, for the citations"

    assert shown[0] == shown[1] == [frame.ms for frame in uniform_frames(recording(), count=64)]


def long_and_short() -> InMemoryGraph:
    """Return a recording of two long events with a frame each second and a short one between them with one frame.

    4,096 of its 9,001 frames, evenly chosen, leave out frame 4,500, the one of the short event.
    """
    spans = [Span(0, 4_500_000), Span(4_500_000, 4_501_000), Span(4_501_000, 9_001_000)]
    north = unit(np.ones(2))
    records = [
        EventRecord(Event(UUID(int=n), n, span, n, n + 1, f"event {n}", north), (), (), ())
        for n, span in enumerate(spans)
    ]
    frames = [FrameRow(ms, b"", north) for ms in range(0, 9_001_000, 1_000)]
    assert 4_500 not in evenly(len(frames), ROWS)
    return InMemoryGraph([MemoryVideo(VIDEO, records, (), frames)])


def test_a_short_event_among_many_frames_keeps_its_own() -> None:
    """The middles of three equal parts of 9,001 s are 1,500.167, 4,500.5 and 7,500.833 s."""
    assert [frame.ms for frame in uniform_frames(long_and_short(), count=3)] == [1_500_000, 4_500_000, 7_501_000]


def test_every_frame_that_a_hit_names_is_found_among_many_frames() -> None:
    graph = long_and_short()
    frames = graph.frames_between(VIDEO, Span(0, 9_001_000), limit=10_000)
    named = [frames[n] for n in (4_500, 8_999, 1, 2, 3, 4_499)]
    hits = [Hit(frame.event_id, 0.5, "frame", frame.id) for frame in named]
    assert frames_of_hits(graph, hits) == named


def test_frames_lie_nearest_to_the_middles_of_equal_parts_or_have_both_ends() -> None:
    """180 frames, one a second: middles of five parts of 36 s, or every 44.75th frame, cut down to whole numbers."""
    times, whole = range(0, 180_000, 1_000), Span(0, 180_000)
    assert [times[n] for n in spread(times, whole, 5, ends=False)] == [18_000, 54_000, 90_000, 126_000, 162_000]
    assert [times[n] for n in spread(times, whole, 5, ends=True)] == [0, 44_000, 89_000, 134_000, 179_000]
    assert spread(times, whole, 0, ends=False) == spread(times, whole, 0, ends=True) == []
    assert spread(times, whole, 1, ends=True) == [0]
    assert spread(times, whole, 200, ends=False) == list(range(180))


def test_equal_distances_take_the_earlier_frame_and_no_frame_is_taken_twice() -> None:
    assert spread([0, 1_000, 9_000], Span(0, 1_000), 1, ends=False) == [0], "0 and 1,000 are as near to 500"
    # The middles are 1,500, 4,500 and 7,500; the last two are nearest to 8,000.
    assert spread([0, 8_000, 8_100, 8_200], Span(0, 9_000), 3, ends=False) == [0, 1]


def test_a_page_of_the_timeline_begins_after_the_last_place_of_the_page_before() -> None:
    other = UUID(int=VIDEO.int ^ 1)
    videos = sorted([VIDEO, other])
    graph = InMemoryGraph([make_video(["a", "b", "c"], video_id=video) for video in videos])

    places = graph.timeline(limit=4)

    assert [(place.video_id, place.n, place.span) for place in places] == [
        *((videos[0], n, Span(3_000 * n, 3_000 * n + 3_000)) for n in range(3)),
        (videos[1], 0, Span(0, 3_000)),
    ]
    assert [place.n for place in graph.timeline(after=places[-1], limit=4)] == [1, 2]
    assert graph.timeline(after=graph.timeline(limit=99)[-1], limit=4) == []


def test_even_indices_have_both_ends() -> None:
    assert evenly(27, 4) == [0, 9, 17, 26]
    assert evenly(3, 4) == [0, 1, 2]
    assert (evenly(9, 1), evenly(9, 0), evenly(0, 4)) == ([0], [], [])


def test_pictures_are_read_side_by_side_in_their_order() -> None:
    """Every read waits until as many as may run together have begun, so that serial reads would not end."""
    together = threading.Barrier(READS, timeout=30)
    frames = [StoredFrame(UUID(int=n), VIDEO, VIDEO, n, str(n)) for n in range(2 * READS)]

    def read(frame: StoredFrame) -> int:
        together.wait()
        return frame.ms

    assert in_parallel(read, frames) == list(range(2 * READS))

    def fails(frame: StoredFrame) -> int:
        raise KeyError(frame.thumbnail_key)

    with pytest.raises(KeyError):
        in_parallel(fails, frames[:2])
