"""A long video that has everything a method may ask for: speech, frames, things and topics, made without models."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench.instant_models import InstantEmbedder, vector_of
from bench.long_day import EVENTS, filler, records_of
from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Chunk,
    EventRecord,
    FrameRow,
    ObjectState,
    Overview,
    Place,
    Span,
    Topic,
    TranscriptLine,
    Vector,
    stable_id,
    unit,
)
from gpu_workers.engine.indexing.global_summary import TopicSettings
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.roles import Meter

SHORT, LONG = EVENTS, 8 * EVENTS
"""Events of one chunk: 75 minutes and 10 hours."""
SPEECH_EVERY = 10
"""One chunk in so many has a spoken line."""
THINGS = 200
TOPIC_CHARACTERS, OVERVIEW_CHARACTERS = 400, 1_200


COMMON = 0.6 * vector_of("all that is said of a video")
"""Part of every vector, so that any query has hits in every view, as with a real model: about 0.26 in cosine."""


def leaning(vector: Vector) -> Vector:
    return unit(vector + COMMON)


class LeaningEmbedder(InstantEmbedder):
    """An InstantEmbedder in whose space no two texts are far apart."""

    name = "leaning"

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        return np.stack([leaning(vector_of(text)) for text in texts])

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return leaning(vector_of(text))


@cache
def whole_day(events: int = SHORT) -> InMemoryGraph:
    """Return a video of so many events of one chunk, as bench.long_day has them, with chunks, lines, a frame a second,
    tracked things, and as many topics as the product cuts such a video into."""
    video_id = stable_id("video", "whole day", events)
    said = random.Random(1)
    records = [_leaning_record(record) for record in records_of(video_id, events)]
    return InMemoryGraph(
        [
            MemoryVideo(
                video_id,
                records,
                list(_chunks(records, said)),
                list(_frames(events)),
                topics=(topics := list(_topics(records, said))),
                overview=_overview(topics, said),
                objects=list(_things(video_id, events)),
            )
        ]
    )


def _leaning_record(record: EventRecord) -> EventRecord:
    entities = tuple(replace(entity, centroid=leaning(entity.centroid)) for entity in record.entities)
    event = replace(record.event, embedding=leaning(record.event.embedding))
    return replace(record, event=event, entities=entities)


def _chunks(records: Sequence[EventRecord], said: random.Random) -> Iterator[Chunk]:
    """Yield one chunk per event, with a description of a few dozen words."""
    for n, record in enumerate(records):
        span = record.event.span
        lines: tuple[TranscriptLine, ...] = ()
        if n % SPEECH_EVERY == 0:
            text = filler(said, 60)
            lines = (TranscriptLine(Span(span.start_ms, span.start_ms + 2_000), text, (), leaning(vector_of(text))),)
        yield Chunk(n, span, filler(said, 250), transcript=lines)


def _frames(events: int) -> Iterator[FrameRow]:
    """Yield a frame a second, all with one small picture."""
    picture = _jpeg()
    for ms in range(0, events * CHUNK_MS, 1_000):
        yield FrameRow(ms, picture, leaning(vector_of(f"frame at {ms}")))


def _jpeg() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (480, 270), (90, 120, 90)).save(file, "JPEG")
    return file.getvalue()


def _topics(records: Sequence[EventRecord], said: random.Random) -> Iterator[Topic]:
    """Yield topics of twice the shortest length that the product gives a video of this length."""
    settings = TopicSettings.for_length(records[-1].event.span.end_ms)
    length = 2 * settings.shortest_ms // CHUNK_MS
    for n, first in enumerate(range(0, len(records), length)):
        inside = records[first : first + length]
        span = Span(inside[0].event.span.start_ms, inside[-1].event.span.end_ms)
        people = tuple(inside[0].entities[k].name for k in range(len(inside[0].entities)))
        summary = filler(said, TOPIC_CHARACTERS)
        yield Topic(
            n, span, first, first + len(inside), filler(said, 30), summary, people, (), (), leaning(vector_of(summary))
        )


def _overview(topics: Sequence[Topic], said: random.Random) -> Overview:
    people = tuple(dict.fromkeys(name for topic in topics[:5] for name in topic.people))
    return Overview(filler(said, OVERVIEW_CHARACTERS), people, (), topics[-1].span.end_ms, "bench")


def _things(video_id: UUID, events: int) -> Iterator[ObjectState]:
    """Yield things that are each visible three times."""
    length_ms = events * CHUNK_MS
    kinds, colours = ("person", "car", "dog", "bicycle"), ("red", "blue", "white", "black")
    for n in range(THINGS):
        starts = [(n * CHUNK_MS + third * length_ms // 3) % (length_ms - CHUNK_MS) for third in range(3)]
        spans = tuple(Span(start, start + 2_000) for start in sorted(starts))
        place = Place(spans[-1].start_ms, (0.1, 0.1, 0.2, 0.2))
        yield ObjectState(
            stable_id("object", video_id, n), n, {kinds[n % 4]: 9}, {colours[n % 3]: 9}, spans, (0,),
            tracks=3, observations=27, entries=1, exits=1, confidence=0.9, weight=3, embedding=None, last=place,
        )  # fmt: skip
