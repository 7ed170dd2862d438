from __future__ import annotations

from uuid import UUID

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import CHUNK_MS, Chunk, Span
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.retrieval.fusion import RankedEvent
from gpu_workers.engine.retrieval.repeats import without_repeats

VIDEO = UUID(int=7)


def event(n: int, *descriptions: str, video: UUID = VIDEO, writing: str = "") -> StoredEvent:
    chunks = tuple(
        Chunk(k, Span(k * CHUNK_MS, (k + 1) * CHUNK_MS), text, on_screen_text=(writing,) if writing else ())
        for k, text in enumerate(descriptions, start=10 * n)
    )
    span = Span(chunks[0].span.start_ms, chunks[-1].span.end_ms)
    return StoredEvent(
        UUID(int=n),
        video,
        n,
        span,
        f"From {clock(span.start_ms)} to {clock(span.end_ms)}: {' '.join(dict.fromkeys(descriptions))}",
        chunks,
    )


def kept(*events: StoredEvent) -> list[int]:
    ranking = [RankedEvent(each.id, 1.0 / (1 + place)) for place, each in enumerate(events)]
    return [each.event_id.int for each in without_repeats(ranking, {each.id: each for each in events})]


def test_of_events_in_a_row_that_say_the_same_the_best_stays() -> None:
    empty = "an empty room"
    assert kept(event(3, empty), event(1, empty, empty), event(2, empty), event(5, "a person", empty)) == [3, 5]


def test_what_happens_again_after_something_else_is_said_again() -> None:
    assert kept(event(1, "a man waves"), event(2, "a van"), event(3, "a man waves")) == [1, 2, 3]
    assert kept(event(1, "a man waves"), event(3, "a man waves")) == [1, 3]


def test_a_clock_that_runs_on_says_nothing_new_and_other_writing_does() -> None:
    at = [event(n, "a street", writing=f"12:{n:02}:07") for n in (1, 2)]
    assert kept(*at) == [1]
    assert kept(event(1, "a slide", writing="Chapter 1"), event(2, "a slide", writing="Chapter 2")) == [1, 2]


def test_events_of_two_videos_are_two_things() -> None:
    assert kept(event(1, "an empty room"), event(2, "an empty room", video=UUID(int=8))) == [1, 2]
