"""Videos of random content for comparisons of the two graphs, and the stores that hold them.

Vectors have few values that half precision holds exactly, so similarities are equal to the bit and ties are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from backend.ekg.object_memory import store_objects, unlinked_tracks
from backend.ekg.reader import PostgresGraph, Scope, ScopedVideo
from backend.ekg.writer import VersionWriter
from backend.library.storage import ObjectStorage
from gpu_workers.engine.ekg import (
    Chunk,
    Crop,
    Entity,
    EntityMention,
    EntityObject,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    ObjectState,
    Overview,
    Place,
    Relation,
    SegmentRecord,
    Span,
    Topic,
    TrackObservation,
    TranscriptLine,
    Vector,
    stable_id,
)
from gpu_workers.engine.indexing.objects import LinkedTracks
from gpu_workers.engine.memory_graph import MemoryVideo
from gpu_workers.engine.ports import ViewName
from tests.conftest import Cast
from tests.factories import FRAME_MODEL, TEXT_MODEL, make_video

CHUNKS, CHUNK_MS = 40, 3_000
END_MS = CHUNKS * CHUNK_MS
VIEWS: tuple[ViewName, ...] = ("event", "entity", "frame", "transcript", "topic")
PHRASES = (
    "An owl now",
    "100% ow",
    "a_b or aXb",
    "back\\slash",
    "Straße STRASSE",
    "Café cafe\u0301",
    "İstanbul ΣΊΣΥΦΟΣ",
    "",
)
SHAPES = ("full", "silent", "one frame", "gaps", "no summary")
"""Kinds of videos. Every other one is full: with speech, pictures, descriptions, topics and objects."""
GAP_EVENT = 3
"""Number of the event of every video that could not be described."""
PLACES = [Span(0, END_MS), Span(10_500, 50_000), Span(31_000, 31_001), Span(END_MS, END_MS + 1)]


def exact_vector(random: np.random.Generator) -> Vector:
    """Return a vector of length 1, or 0 now and then; 16 dimensions."""
    vector = np.zeros(16, dtype=np.float32)
    entries = random.choice([0, 1, 4, 16], p=[0.05, 0.15, 0.4, 0.4])
    if entries:
        where = random.choice(16, size=entries, replace=False)
        vector[where] = random.choice([-1.0, 1.0], size=entries) / np.sqrt(entries)
    return vector


def make_index(random: np.random.Generator, video_id: UUID, version: int, shape: str = "full") -> MemoryVideo:
    """Make events of 1 to 5 chunks; nine entities that move and have relations; lines that cross borders; topics of
    some events, an overview, and objects that come and go."""
    lines = []
    for k in range(0 if shape == "silent" else 25):
        start = int(random.integers(0, END_MS))
        vector = None if random.random() < 0.1 else exact_vector(random)
        span = Span(start, start + int(random.integers(200, 7_000)))
        text = f"{PHRASES[k % len(PHRASES)]} at {start}"
        words = tuple((start + 50 * n, start + 50 * n + 40, word) for n, word in enumerate(text.split()))
        lines.append(TranscriptLine(span, text, words if start % 3 else (), vector))
    lines = sorted({line.span: line for line in lines}.values(), key=lambda line: line.span)
    chunks = []
    for n in range(CHUNKS):
        span = Span(n * CHUNK_MS, (n + 1) * CHUNK_MS)
        gap = shape == "gaps" and n % 3 == 1
        chunks.append(
            Chunk(
                n,
                span,
                None if gap else f"chunk {n}",
                "decode_error" if gap else None,
                facts={"measured": n} if n % 3 else {},
                on_screen_text=tuple(f"sign {n}.{i}" for i in range(int(random.integers(0, 3)))),
                transcript=tuple(line for line in lines if line.span.overlaps(span)),
            )
        )
    records: list[EventRecord] = []
    first = 0
    # The last chunks wait for an event.
    while first < CHUNKS - 4:
        end = min(first + int(random.integers(1, 6)), CHUNKS - 4)
        records.append(exact_record(random, video_id, version, len(records), first, end))
        first = end
    lost = records[GAP_EVENT].event
    for n in range(lost.first_chunk, lost.end_chunk):
        chunks[n] = replace(chunks[n], description=None, gap="decode_error")
    frames = [FrameRow(ms, b"jpeg", exact_vector(random)) for ms in range(0, END_MS, 1_000)]
    if shape == "one frame":
        frames = frames[17:18]
    topics = () if shape == "no summary" else _topics(random, [record.event for record in records])
    overview = Overview(f"all of {video_id}", ("ann",), (), topics[-1].span.end_ms, "narrator") if topics else None
    tracks = {} if shape == "silent" else _tracks(random, video_id, version)
    objects = [_object(n, object_id, tracks[object_id]) for n, object_id in enumerate(tracks)]
    links = _links(random, records, objects)
    return MemoryVideo(video_id, records, chunks, frames, version, topics, overview, objects, tracks, links=links)


def _links(
    random: np.random.Generator, records: Sequence[EventRecord], objects: Sequence[ObjectState]
) -> tuple[EntityObject, ...]:
    """Return links between some entities and some objects, several with the same confidence."""
    entities = dict.fromkeys(mention.entity_id for record in records for mention in record.mentions)
    return tuple(
        EntityObject(entity_id, state.id, int(random.integers(8, 13)) / 16)
        for entity_id in entities
        for state in objects
        if random.random() < 0.3
    )


def _topics(random: np.random.Generator, events: Sequence[Event]) -> tuple[Topic, ...]:
    """Return topics of 1 to 3 events each; the last events wait for theirs."""
    topics: list[Topic] = []
    while (first := topics[-1].end_event if topics else 0) < len(events) - 1:
        end = min(first + int(random.integers(1, 4)), len(events) - 1)
        span = Span(events[first].span.start_ms, events[end - 1].span.end_ms)
        vector = None if random.random() < 0.1 else exact_vector(random)
        told = f"of events {first} to {end}"
        topics.append(
            Topic(len(topics), span, first, end, f"Topic {told}", told, ("ann",), ("lawn",), (span.start_ms,), vector)
        )
    return tuple(topics)


def _tracks(random: np.random.Generator, video_id: UUID, version: int) -> dict[UUID, list[TrackObservation]]:
    """Return the tracks of six objects; those of one object do not overlap. They have the numbers of their rows. Most
    have a picture."""
    pictures = np.random.default_rng(version)
    tracks: dict[UUID, list[TrackObservation]] = {}
    for n in range(6):
        mine = tracks[stable_id("object", video_id, version, n)] = []
        start = int(random.integers(0, END_MS // 2))
        while start < END_MS - 1_000 and len(mine) < 4:
            span = Span(start, min(END_MS, start + int(random.integers(500, 20_000))))
            boxes = tuple((ms, n / 8, 0.25, n / 8 + 0.125, 0.5) for ms in range(span.start_ms, span.end_ms, 500))
            vector = exact_vector(random)
            mine.append(
                TrackObservation(
                    sum(map(len, tracks.values())),
                    str(random.choice(["person", "car"])),
                    span,
                    0.5,
                    str(random.choice(["red", "blue"])),
                    "walks left",
                    bool(random.random() < 0.5),
                    bool(random.random() < 0.5),
                    boxes,
                    vector if vector.any() else None,
                    Crop(int(pictures.choice(boxes)[0]), exact_vector(pictures)) if pictures.random() < 0.8 else None,
                )
            )
            start = span.end_ms + int(random.integers(1, 30_000))
    return tracks


def _object(n: int, object_id: UUID, tracks: Sequence[TrackObservation]) -> ObjectState:
    return ObjectState(
        id=object_id,
        n=n,
        categories=Counter(track.category for track in tracks),
        colours=Counter(track.colour for track in tracks),
        spans=tuple(track.span for track in tracks),
        segments=(0,),
        tracks=len(tracks),
        observations=len(tracks),
        entries=sum(track.entered for track in tracks),
        exits=sum(track.left for track in tracks),
        confidence=0.5 + n / 16,
        weight=0,
        embedding=None,
        last=Place(tracks[-1].span.end_ms, (0.0, 0.0, 0.5, 0.5)),
    )


def exact_record(
    random: np.random.Generator, video_id: UUID, version: int, n: int, first: int, end: int
) -> EventRecord:
    span = Span(first * CHUNK_MS, end * CHUNK_MS)
    event_id = stable_id("event", video_id, version, span.start_ms, span.end_ms)
    event = Event(event_id, n, span, first, end, f"event {n}", exact_vector(random))
    often = (0.9, 0.6, 0.5, 0.4, 0.4, 0.4, 0.3, 0.15, 0.1)
    names = [name for name, share in zip("abcdefghi", often, strict=True) if random.random() < share]
    entities = [
        Entity(
            stable_id("entity", video_id, version, name),
            f"{name} {n}",
            "person",
            f"{name} of all events",
            (f"alias of {name}",),
            exact_vector(random),
            int(random.integers(1, 4)),
        )
        for name in names
    ]
    mentions = [
        LinkedMention(
            stable_id("mention", event_id, entity.id),
            entity.id,
            event_id,
            EntityMention(
                f"{entity.name} as event {n} saw it",
                str(random.choice(["person", "thing"])),
                str(random.choice(["", "in red"])),
                str(random.choice(["", "participant", "driver"])),
            ),
            entity.centroid,
        )
        for entity in entities
    ]
    # An entity of a relation may be one that its event does not mention.
    strangers = [
        Entity(stable_id("entity", video_id, version, "z"), f"z {n}", "thing", "", (), exact_vector(random), 1)
    ]
    ends = [*entities, *strangers] if random.random() < 0.2 else entities
    predicates = [str(random.choice(["near", "behind", "follows"])) for _ in range(3)] if len(ends) > 1 else []
    relations = [
        Relation(
            stable_id("relation", event_id, predicate),
            ends[0].id,
            ends[-1].id,
            predicate,
            str(random.choice(["", "all along"])),
            event_id,
            1.0,
        )
        for predicate in dict.fromkeys(predicates)
    ]
    entities = list(ends)
    return EventRecord(event, tuple(entities), tuple(mentions), tuple(relations))


def store(cast: Cast, index: MemoryVideo) -> None:
    lines = {line.span: line for chunk in index.chunks for line in chunk.transcript}
    owners = {track.track_id: object_id for object_id, mine in index.tracks.items() for track in mine}
    tracks = sorted((track for mine in index.tracks.values() for track in mine), key=lambda track: track.track_id)
    segment = SegmentRecord(
        Span(0, END_MS), tuple(index.chunks), tuple(index.frames), tuple(tracks), tuple(lines.values())
    )
    with cast.scope():
        writer = VersionWriter(index.video_id, index.index_version, text_model=TEXT_MODEL, frame_model=FRAME_MODEL)
        writer.store_segment(0, segment, thumbnail_keys={frame.ms: f"{frame.ms}" for frame in index.frames})
        writer.store_events(index.events[:4])
        writer.store_events(index.events[4:])
        writer.store_summary(index.topics, index.overview)
        linked = LinkedTracks(0, tuple(index.objects), tuple(owners[track.track_id] for track in tracks))
        ids, _ = unlinked_tracks(index.video_id, index.index_version, 0)
        store_objects(linked, ids, video_id=index.video_id, version=index.index_version, model="looks")
        writer.store_links(index.links)


@dataclass(frozen=True, slots=True)
class World:
    """Two videos of acme, the first in two index versions, and one video of globex."""

    videos: tuple[MemoryVideo, MemoryVideo]
    second_version: MemoryVideo
    foreign: MemoryVideo


def make_world(random: np.random.Generator, acme: Cast, globex: Cast, *, shape: str = "full") -> World:
    ids = []
    for cast in (acme, acme, globex):
        with cast.scope():
            ids.append(UUID(str(make_video().id)))
    shapes = ("full", shape, "full")
    indexes = [make_index(random, video_id, 1, of) for video_id, of in zip(ids, shapes, strict=True)]
    second = make_index(random, ids[0], 2)
    for cast, index in zip((acme, acme, globex, acme), (*indexes, second), strict=True):
        store(cast, index)
    return World((indexes[0], indexes[1]), second, indexes[2])


def postgres(cast: Cast, *videos: tuple[UUID, int, int], span: Span = PLACES[0]) -> PostgresGraph:
    scope = Scope(cast.tenant_id, tuple(ScopedVideo(*video) for video in videos), span.start_ms, span.end_ms)
    return PostgresGraph(scope, text_model=TEXT_MODEL, frame_model=FRAME_MODEL, storage=ObjectStorage())
