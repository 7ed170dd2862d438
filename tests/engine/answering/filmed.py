"""Videos with a frame every second, for methods that go by frames and their times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Chunk,
    Event,
    EventRecord,
    FrameRow,
    ObjectState,
    Overview,
    Place,
    Span,
    Topic,
    TranscriptLine,
)
from gpu_workers.engine.memory_graph import MemoryVideo
from tests.engine.answering.world import VIDEO, embed, event_id

FEW = 4
"""Chunks of an event."""


def filmed(
    seconds: int,
    shown: Mapping[int, str] | None = None,
    *,
    video_id: UUID = VIDEO,
    frames: bool = True,
    speech: Mapping[int, str] | None = None,
    chunks: Mapping[int, str | None] | None = None,
    **more: Any,
) -> MemoryVideo:
    """Return a video of events of 12 s with a frame every second.

    shown: what the frame at a second shows; the others show an empty room. The chunk and the event around it say so,
    too. speech: what is said in the second. chunks: description of a chunk by its number, None for a gap.
    """
    shown, speech = dict(shown or {}), dict(speech or {})
    made: list[Chunk] = []
    for n in range(-(-seconds * 1_000 // CHUNK_MS)):
        span = Span(n * CHUNK_MS, min((n + 1) * CHUNK_MS, seconds * 1_000))
        words = [text for second, text in shown.items() if span.contains(second * 1_000)]
        lines = tuple(
            TranscriptLine(Span(second * 1_000, second * 1_000 + 900), text, embedding=embed(text))
            for second, text in speech.items()
            if span.contains(second * 1_000)
        )
        description: str | None = " and ".join(words) or f"an empty room {n}"
        if chunks and n in chunks:
            description = chunks[n]
        gap = None if description is not None else "no_frames"
        made.append(Chunk(n, span, description, gap=gap, transcript=lines))
    records = []
    for number, first in enumerate(range(0, len(made), FEW)):
        members = made[first : first + FEW]
        told = [chunk.description for chunk in members if chunk.description and "empty room" not in chunk.description]
        summary = "; ".join(told) or f"an empty room {number}"
        span = Span(members[0].span.start_ms, members[-1].span.end_ms)
        event = Event(event_id(number, video_id), number, span, first, first + len(members), summary, embed(summary))
        records.append(EventRecord(event, (), (), ()))
    rows = [
        FrameRow(second * 1_000, f"jpeg {second}".encode(), embed(shown.get(second, f"an empty room at {second}")))
        for second in range(seconds if frames else 0)
    ]
    return MemoryVideo(video_id, records, made, rows, **more)


def silent(video: MemoryVideo) -> MemoryVideo:
    return replace(video, chunks=[replace(chunk, transcript=()) for chunk in video.chunks])


def topic(n: int, first: int, end: int, title: str, summary: str, people: Sequence[str] = ()) -> Topic:
    """Return a topic over events of 12 s."""
    span = Span(first * FEW * CHUNK_MS, end * FEW * CHUNK_MS)
    return Topic(n, span, first, end, title, summary, tuple(people), (), (), embedding=embed(f"{title} {summary}"))


def overview(text: str, until_ms: int, people: Sequence[str] = ()) -> Overview:
    return Overview(text, tuple(people), (), until_ms, "scripted")


def thing(n: int, category: str, colour: str, *spans: tuple[int, int], video_id: UUID = VIDEO) -> ObjectState:
    """Return a tracked thing that is visible in these seconds."""
    visible = tuple(Span(1_000 * start, 1_000 * end) for start, end in spans)
    return ObjectState(
        id=event_id(1_000 + n, video_id), n=n, categories={category: 1}, colours={colour: 1}, spans=visible,
        segments=(0,), tracks=1, observations=len(visible), entries=1, exits=1, confidence=0.9, weight=1,
        embedding=None, last=Place(visible[-1].end_ms, (0.0, 0.0, 1.0, 1.0)),
    )  # fmt: skip
