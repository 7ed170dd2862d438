"""A long video without models: events with long summaries, no two alike."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from uuid import UUID

from bench.instant_models import vector_of
from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Entity,
    EntityMention,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    Span,
    stable_id,
)
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo

EVENTS, ENTITIES = 1_500, 300
"""1,500 events of one chunk are 75 minutes."""
SUMMARY_CHARACTERS = 1_180
"""16 of these, with their times and facts, are about 5,000 tokens."""


@cache
def long_day() -> InMemoryGraph:
    """75 minutes of events of one chunk with long summaries; no two are alike."""
    video_id = stable_id("video", "long day")
    records, frames = [], []
    for record in records_of(video_id, EVENTS):
        records.append(record)
        frames.append(FrameRow(record.event.span.start_ms, b"", vector_of(f"frame {record.event.n}")))
    return InMemoryGraph([MemoryVideo(video_id, records, (), frames)])


def records_of(video_id: UUID, events: int) -> Iterator[EventRecord]:
    """Yield events of one chunk, each with one of ENTITIES people."""
    said = random.Random(0)
    names = [f"{filler(said, 12)} {n}" for n in range(ENTITIES)]
    people = [
        Entity(stable_id("entity", video_id, n), name, "person", "", (), vector_of(name), 1)
        for n, name in enumerate(names)
    ]
    for n in range(events):
        span = Span(n * CHUNK_MS, (n + 1) * CHUNK_MS)
        summary = filler(said, SUMMARY_CHARACTERS)
        event = Event(stable_id("event", video_id, n), n, span, n, n + 1, summary, vector_of(summary))
        person = people[n % ENTITIES]
        mention = LinkedMention(
            stable_id("mention", event.id),
            person.id,
            event.id,
            EntityMention(person.name, "person", ""),
            person.centroid,
        )
        yield EventRecord(event, (person,), (mention,), ())


_VOCABULARY = re.findall(
    r"\w+",
    "someone walks across a square towards the shop, a door opens, two people talk beside the fountain, a child waves "
    "from its window, a cyclist stops, a van parks under trees, a woman carries a red bag, a man reads the paper",
)


def filler(source: random.Random, characters: int) -> str:
    """Words of about so many characters in all."""
    said: list[str] = []
    length = 0
    while length < characters:
        said.append(source.choice(_VOCABULARY))
        length += len(said[-1]) + 1
    return " ".join(said)
