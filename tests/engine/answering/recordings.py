"""Recordings for tests of methods that use tools: videos with topics, an overview, speech, objects and tracks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.ekg import ObjectState, Overview, Place, Span, Topic, TrackObservation, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from tests.engine.answering.world import VIDEO, embed, make_video

PARK = (
    "a boy enters the park",
    "the boy drinks orange juice on a bench",
    "a girl sings next to the fountain",
    "the boy plays with a ball",
    "a brown dog runs after the ball",
    "two people in grey talk near the gate",
    "the girl leaves through the gate",
    "the boy sleeps on the bench",
)
SPOKEN = {1: "this juice is cold", 2: "la la la", 5: "have you seen the dog"}
PEOPLE: Mapping[str, Sequence[int]] = {"boy": (0, 1, 3, 7), "girl": (2, 6), "dog": (4,)}
SECOND = stable_id("video", "second park")


def park(
    summaries: Sequence[str] = PARK,
    *,
    video_id: UUID = VIDEO,
    speech: Mapping[int, str] | None = SPOKEN,
    topics: bool = True,
    until_ms: int | None = None,
    objects: bool = True,
) -> MemoryVideo:
    """Return a video of 3 s events. speech: by event, None for a silent video. topics: whether it is summarised.
    until_ms: end of what the overview covers, by default all. objects: whether things were tracked."""
    count = len(summaries)
    entities = {name: [n for n in events if n < count] for name, events in PEOPLE.items()}
    video = make_video(
        summaries,
        video_id=video_id,
        speech={n: words for n, words in (speech or {}).items() if n < count},
        entities={name: events for name, events in entities.items() if events},
    )
    tracked = [_boy(video_id, count), _dog(video_id, count)] if objects else []
    video = replace(
        video,
        objects=[state for state, _ in tracked],
        tracks={state.id: tracks for state, tracks in tracked},
    )
    if not topics:
        return video
    middle = max(1, count // 2)
    parts = [(0, middle, "The boy and his juice")] + (
        [(middle, count, "The dog and the gate")] if middle < count else []
    )
    told = []
    for n, (first, end, title) in enumerate(parts):
        topic = Topic(n, Span(3_000 * first, 3_000 * end), first, end, title, ". ".join(summaries[first:end]), ("boy",))
        told.append(replace(topic, embedding=embed(topic.embedded_text)))
    end_ms = until_ms if until_ms is not None else 3_000 * count
    told = [topic for topic in told if topic.span.end_ms <= end_ms]
    overview = Overview("A boy drinks juice, plays and sleeps in a park.", ("boy",), ("park",), end_ms, "scripted")
    return replace(video, topics=told, overview=overview if end_ms else None)


def graph_of(*videos: MemoryVideo, span: Span | None = None) -> InMemoryGraph:
    return InMemoryGraph(videos, span=span)


def _boy(video_id: UUID, count: int) -> tuple[ObjectState, list[TrackObservation]]:
    spans = tuple(Span(3_000 * n, 3_000 * n + 3_000) for n in (0, 1, 3, 7) if n < count) or (Span(0, 3_000),)
    return _tracked(video_id, 1, "person", "blue", spans)


def _dog(video_id: UUID, count: int) -> tuple[ObjectState, list[TrackObservation]]:
    start = 3_000 * min(4, count - 1)
    return _tracked(video_id, 2, "dog", "brown", (Span(start, start + 3_000),))


def _tracked(
    video_id: UUID, n: int, category: str, colour: str, spans: tuple[Span, ...]
) -> tuple[ObjectState, list[TrackObservation]]:
    box = (0.1 * n, 0.2, 0.1 * n + 0.2, 0.8)
    state = ObjectState(
        id=stable_id("object", video_id, n),
        n=n,
        categories={category: len(spans)},
        colours={colour: len(spans)},
        spans=spans,
        segments=(0,),
        tracks=len(spans),
        observations=len(spans),
        entries=1,
        exits=0,
        confidence=0.9,
        weight=1,
        embedding=None,
        last=Place(spans[-1].end_ms - 1, box),
    )
    tracks = [
        TrackObservation(
            10 * n + number,
            category,
            span,
            0.9,
            colour=colour,
            motion="stays",
            boxes=((span.start_ms, *box), (span.end_ms - 1, *box)),
        )
        for number, span in enumerate(spans)
    ]
    return state, tracks
