"""The index of the tape, as the engine would have written it: events, frames, speech, writing, graph, objects, topics.

The engine's own linker links the entities, and its text of an event (summary, speech, writing) is embedded. A sentence
stands for the frame that shows it. What is read in the picture or said is in the chunks and not in the summaries, as
with a describer that reports what is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from uuid import UUID

import numpy as np

from bench.evaluation.tape10.scenes import scene
from bench.evaluation.tape10.world import ZONE, Moment, Thing, World, Writing
from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Chunk,
    EntityMention,
    Event,
    EventRecord,
    Extraction,
    FrameRow,
    ObjectState,
    Overview,
    Place,
    RelationStatement,
    Span,
    Topic,
    TrackObservation,
    TranscriptLine,
    Vector,
    stable_id,
)
from gpu_workers.engine.indexing.assembly import embedded_text
from gpu_workers.engine.indexing.identity import identity_text
from gpu_workers.engine.indexing.linking import EntityLinker, LinkingSettings, distinct_mentions
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.topic_vectors import with_vectors
from gpu_workers.engine.memory_graph import MemoryVideo
from gpu_workers.engine.models.roles import Meter, TextEmbedder
from gpu_workers.engine.wall_clock import ClockStretch, WallClock

CLOCK_EVERY_CHUNKS = 10
"""A camera with a clock in its picture shows it in every chunk; a reader of text gets it about so often."""

_ARTICLE = re.compile(r"^(?:a|an|the|one|two|some)\s+", re.IGNORECASE)
_SLOT = re.compile(r"\{(\w)\}")


def video_id(world: World) -> UUID:
    return stable_id("evaluation", "tape10", world.seed, world.span.end_ms)


def event_id(world: World, n: int) -> UUID:
    return stable_id("event", video_id(world), n)


def make_video(world: World, embedder: TextEmbedder) -> MemoryVideo:
    """Return the index of the tape. Raises ModelError when the embedder fails."""
    video, meter = video_id(world), Meter()
    spoken = [line for moment in world.moments for line in moment.lines]
    pictures = [f"A camera picture: {moment.text}" for moment in world.moments]
    lines = embedder.embed([line.text for line in spoken], meter=meter)
    line_vectors = dict(zip([line.span for line in spoken], lines, strict=True))
    frames = embedder.embed(pictures, meter=meter)
    chunks = tuple(_chunks(world, line_vectors))
    return MemoryVideo(
        video,
        _events(world, chunks, embedder, meter),
        chunks,
        tuple(
            FrameRow(_middle(moment.span), moment.text.encode(), vector)
            for moment, vector in zip(world.moments, frames, strict=True)
        ),
        topics=with_vectors(_topics(world), embedder, meter=meter),
        overview=_overview(world),
        objects=[_object(world, n, thing) for n, thing in enumerate(world.things, start=1)],
        tracks={_object_id(world, thing): tuple(_tracks(thing)) for thing in world.things},
        until_ms=world.span.end_ms,
        title="Five cameras",
        language="en",
        spoken="en",
        clock=clock_of(world),
    )


def clock_of(world: World) -> WallClock:
    """Return the wall clock of the tape: one stretch per recording."""
    return WallClock(tuple(ClockStretch(r.span, r.begins_at, r.source) for r in world.recordings), ZONE)


# --- events and their graph ----------------------------------------------------------------------------------------


def _events(world: World, chunks: Sequence[Chunk], embedder: TextEmbedder, meter: Meter) -> Sequence[EventRecord]:
    index = MemoryIndex(video_id(world))
    linker = EntityLinker(index.video_id, 1, index, LinkingSettings())
    extractions = [extracted(moment) for moment in world.moments]
    mentions = [distinct_mentions(extraction.mentions) for extraction in extractions]
    members = [
        chunks[moment.span.start_ms // CHUNK_MS : -(-moment.span.end_ms // CHUNK_MS)] for moment in world.moments
    ]
    texts = [embedded_text(moment.text, own) for moment, own in zip(world.moments, members, strict=True)]
    vectors = embedder.embed(texts, meter=meter)
    rows = iter(embedder.embed([identity_text(mention) for group in mentions for mention in group], meter=meter))
    for moment, vector, named, extraction in zip(world.moments, vectors, mentions, extractions, strict=True):
        first, end = moment.span.start_ms // CHUNK_MS, -(-moment.span.end_ms // CHUNK_MS)
        event = Event(event_id(world, moment.n), moment.n, moment.span, first, end, moment.text, vector)
        own = np.asarray([next(rows) for _ in named], dtype=np.float32)
        linked = linker.link(event.id, named, own, extraction.relations)
        index.append(EventRecord(event, linked.entities, linked.mentions, linked.relations))
    return index.events


def extracted(moment: Moment) -> Extraction:
    """Return who and what takes part in a moment, and as relations the words between two of them."""
    values = dict(moment.slots)
    types = {"A": "person", "a": "person", "p": "place", "t": "thing"}
    if moment.scene == "wildlife":
        types |= {"A": "animal", "a": "animal"}
    names = {slot: _ARTICLE.sub("", value).strip() for slot, value in values.items() if slot in types}
    mentions = tuple(
        EntityMention(names[slot], types[slot], "", "place" if slot == "p" else "participant") for slot in names
    )
    relations = []
    found = [match for match in _SLOT.finditer(moment.template) if match[1] in names]
    for left, right in pairwise(found):
        words = re.sub(r"\b(?:the|a|an)\b|[.,:;]", " ", moment.template[left.end() : right.start()]).split()
        if 1 <= len(words) <= 5:
            relations.append(RelationStatement(names[left[1]], " ".join(words).lower(), names[right[1]]))
    return Extraction(mentions, tuple(relations))


# --- chunks --------------------------------------------------------------------------------------------------------


def _chunks(world: World, vectors: Mapping[Span, Vector]) -> Iterator[Chunk]:
    recordings = {recording.scene: recording for recording in world.recordings}
    for moment in world.moments:
        recording = recordings[moment.scene]
        for start in range(moment.span.start_ms, moment.span.end_ms, CHUNK_MS):
            n, span = start // CHUNK_MS, Span(start, min(start + CHUNK_MS, moment.span.end_ms))
            shown = [f"{recording.local(start):%d.%m.%Y %H:%M:%S}"] if _shows_clock(recording.source, n) else []
            first = start == moment.span.start_ms
            lines = tuple(
                TranscriptLine(line.span, line.text, embedding=vectors[line.span]) for line in moment.lines if first
            )
            texts = (*shown, *_read(moment.writing if first else ()))
            yield Chunk(n, span, moment.text, on_screen_text=texts, transcript=lines)


def _shows_clock(source: str, n: int) -> bool:
    return source == "picture" and n % CLOCK_EVERY_CHUNKS == 0


def _read(writing: Sequence[Writing]) -> Iterator[str]:
    return (item.shown for item in writing)


# --- topics and things ---------------------------------------------------------------------------------------------


def _topics(world: World) -> list[Topic]:
    return [
        Topic(n, part.span, part.first, part.end, part.title, part.summary, frame_ms=(_middle(part.span),))
        for n, part in enumerate(world.parts)
    ]


def _overview(world: World) -> Overview:
    places = [scene(recording.scene).about for recording in world.recordings]
    text = "The video joins five cameras. " + " ".join(f"{place}." for place in places)
    return Overview(text, (), tuple(places), world.span.end_ms, "tape10")


def _object_id(world: World, thing: Thing) -> UUID:
    return stable_id("object", video_id(world), thing.scene, thing.n)


def _object(world: World, n: int, thing: Thing) -> ObjectState:
    segments = tuple(sorted({span.start_ms // 60_000 for span in thing.spans}))
    observations = sum(span.duration_ms // 1_000 + 1 for span in thing.spans)
    last = Place(thing.spans[-1].end_ms, (0.4, 0.4, 0.6, 0.9))
    times = len(thing.spans)
    return ObjectState(
        _object_id(world, thing), n, {thing.category: observations}, {thing.colour: observations}, thing.spans,
        segments, times, observations, times, times, 0.9, times, None, last,
    )  # fmt: skip


def _tracks(thing: Thing) -> Iterator[TrackObservation]:
    for n, span in enumerate(thing.spans):
        boxes = ((span.start_ms, 0.1, 0.4, 0.3, 0.9), (span.end_ms - 1, 0.7, 0.4, 0.9, 0.9))
        motion = "walks right" if thing.category == "person" else "moves right"
        yield TrackObservation(n, thing.category, span, 0.9, thing.colour, motion, True, True, boxes)


def _middle(span: Span) -> int:
    return (span.start_ms + span.end_ms) // 2
