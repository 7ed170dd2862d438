"""The Event Knowledge Graph as plain data: what the engine makes, stores and reads (AVA, section 4.1).

Times are integer milliseconds from the start of the video; spans are half-open. Vectors are float32 of unit
length. Nothing here knows a framework, a database or a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

CHUNK_MS = 3_000
"""Length of a uniform chunk (AVA, section 4.2)."""

Vector = NDArray[np.float32]
Picture = NDArray[np.uint8]
"""One RGB frame, shape (height, width, 3)."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open stretch of time, start_ms <= t < end_ms."""

    start_ms: int
    end_ms: int

    def __post_init__(self) -> None:
        if not 0 <= self.start_ms < self.end_ms:
            raise ValueError(f"a span runs forward from 0 or later, got {self.start_ms}..{self.end_ms}")

    @property
    def duration_ms(self) -> int:
        return self.end_ms - self.start_ms

    def contains(self, ms: int) -> bool:
        return self.start_ms <= ms < self.end_ms

    def overlaps(self, other: Span) -> bool:
        return self.start_ms < other.end_ms and other.start_ms < self.end_ms

    def holds(self, other: Span) -> bool:
        return self.start_ms <= other.start_ms and other.end_ms <= self.end_ms

    def cut_to(self, other: Span) -> Span | None:
        """Return the part of this span that lies in other; None if there is none."""
        start_ms, end_ms = max(self.start_ms, other.start_ms), min(self.end_ms, other.end_ms)
        return Span(start_ms, end_ms) if start_ms < end_ms else None


@dataclass(frozen=True, slots=True)
class SampledFrame:
    """A decoded picture and a time at which it was shown. held_since_ms: when it appeared, if it was before ms."""

    ms: int
    picture: Picture
    held_since_ms: int | None = None

    @property
    def taken_ms(self) -> int:
        """Return the picture's own time: what it shows was so then."""
        return self.ms if self.held_since_ms is None else self.held_since_ms


@dataclass(frozen=True, slots=True)
class FrameRow:
    """The stored part of a sampled frame: its thumbnail and its vector in the shared space."""

    ms: int
    jpeg: bytes
    embedding: Vector


@dataclass(frozen=True, slots=True)
class Crop:
    """What a thing's box shows at ms, as a vector in the space of frames."""

    ms: int
    embedding: Vector


@dataclass(frozen=True, slots=True)
class TrackObservation:
    """One tracked object inside one segment, as measured.

    category: detector label. colour: plain colour word or "". motion: plain words such as "walks left" or "stays".
    boxes: (ms, x0, y0, x1, y1), coordinates as fractions of the picture. appearance: unit vector for re-identification.
    entered, left: whether the thing entered or left the picture at a border while it was filmed. crop: its largest
    picture, None if words cannot be compared with pictures.
    """

    track_id: int
    category: str
    span: Span
    confidence: float
    colour: str = ""
    motion: str = ""
    entered: bool = False
    left: bool = False
    boxes: tuple[tuple[int, float, float, float, float], ...] = ()
    appearance: Vector | None = None
    crop: Crop | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Position of something at one moment.

    box: x0, y0, x1, y1 as fractions of the picture. drift: how far the middle of its lower edge goes per second.
    """

    ms: int
    box: tuple[float, float, float, float]
    drift: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ObjectState:
    """One tracked thing over all segments so far: its tracks joined by re-identification.

    n: running number in order of first appearance. spans: in which it is visible, in order, disjoint. categories,
    colours: number of observations by word. confidence: certainty, 0 to 1, that this is one thing and no
    other known one. embedding: mean appearance over `weight` tracks. last: its last position.
    """

    id: UUID
    n: int
    categories: Mapping[str, int]
    colours: Mapping[str, int]
    spans: tuple[Span, ...]
    segments: tuple[int, ...]
    tracks: int
    observations: int
    entries: int
    exits: int
    confidence: float
    weight: int
    embedding: Vector | None
    last: Place

    @property
    def category(self) -> str:
        return _most(self.categories)

    @property
    def colour(self) -> str:
        return _most(self.colours)

    @property
    def span(self) -> Span:
        return Span(self.spans[0].start_ms, self.spans[-1].end_ms)


def _most(votes: Mapping[str, int]) -> str:
    return min(votes, key=lambda word: (-votes[word], word), default="")


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    span: Span
    text: str
    words: tuple[tuple[int, int, str], ...] = ()
    """(start_ms, end_ms, word)"""
    embedding: Vector | None = None
    language: str = ""
    """ISO 639-1 code of the language that was heard, "" if that is not certain."""
    track: int = 1
    """Number of the audio track, from 1."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One uniform slice of a video with its description.

    n: index on the video's chunk grid, span.start_ms // CHUNK_MS.
    description: None exactly when the chunk is a gap; gap then says why, in a stable code. facts: measurements,
    JSON-serialisable, written by the describer and read by the observer's summariser and extractor
    (gpu_workers.engine.models.observer.measured has its fields); empty for a VLM. inherited: nothing changed since an
    earlier chunk, whose description this one keeps.
    """

    n: int
    span: Span
    description: str | None
    gap: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    on_screen_text: tuple[str, ...] = ()
    transcript: tuple[TranscriptLine, ...] = ()
    inherited: bool = False

    def __post_init__(self) -> None:
        if (self.description is None) == (self.gap is None):
            raise ValueError("a chunk has either a description or a gap code")


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """All results of one segment before events exist: the unit of checkpoint."""

    span: Span
    chunks: tuple[Chunk, ...]
    frames: tuple[FrameRow, ...]
    tracks: tuple[TrackObservation, ...] = ()
    transcript: tuple[TranscriptLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One or more adjacent chunks about the same thing; the EKG's vertex in time."""

    id: UUID
    n: int
    span: Span
    first_chunk: int
    end_chunk: int
    """One past the last member chunk."""
    summary: str
    embedding: Vector


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity as one event saw it."""

    name: str
    type: str
    description: str
    role: str = "participant"
    aliases: tuple[str, ...] = ()
    confidence: float = 1.0
    frame_ms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationStatement:
    """subject and object are mention names of the same event."""

    subject: str
    predicate: str
    object: str
    description: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """Entities and relations of one event. cut: whether the answer was cut off, so that some may be missing."""

    mentions: tuple[EntityMention, ...]
    relations: tuple[RelationStatement, ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing or person that several mentions name. centroid: unit mean of mention embeddings; weight: their number."""

    id: UUID
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    centroid: Vector
    weight: int


@dataclass(frozen=True, slots=True)
class LinkedMention:
    """id is unique per (event, entity): one entity takes part in one event once."""

    id: UUID
    entity_id: UUID
    event_id: UUID
    mention: EntityMention
    embedding: Vector


@dataclass(frozen=True, slots=True)
class Relation:
    """Unique per (source, target, predicate, event)."""

    id: UUID
    source_id: UUID
    target_id: UUID
    predicate: str
    description: str
    event_id: UUID
    confidence: float


@dataclass(frozen=True, slots=True)
class EntityObject:
    """An entity is a tracked object. Unique per (entity, object). confidence: certainty, 0 to 1, that they are one
    thing (engine.indexing.object_links)."""

    entity_id: UUID
    object_id: UUID
    confidence: float


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One finished event with its entities, mentions and relations; a store writes it in one transaction.

    entities: every entity the event touches, new or with its state after this event (an upsert by id).
    """

    event: Event
    entities: tuple[Entity, ...]
    mentions: tuple[LinkedMention, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Actor:
    """A person or thing that an event names. type: that of the mention."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class EventDigest:
    """An event as the global summary reads it. described: False for an event of gaps; its summary says why. speech: the
    lines whose first word was said during it."""

    n: int
    span: Span
    summary: str
    embedding: Vector
    actors: tuple[Actor, ...] = ()
    described: bool = True
    speech: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A stretch of the video about one thing: the events first_event..end_event (one past the last), narrated together.

    Each topic starts where the one before it ends. people, places: names as the events give them. frame_ms: times of
    kept frames that show it. embedding: of embedded_text, if the text embedder has read it.
    """

    n: int
    span: Span
    first_event: int
    end_event: int
    title: str
    summary: str
    people: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    frame_ms: tuple[int, ...] = ()
    embedding: Vector | None = field(default=None, compare=False, repr=False)

    @property
    def embedded_text(self) -> str:
        return f"{self.title}: {self.summary}"


@dataclass(frozen=True, slots=True)
class Overview:
    """The global summary, written over the topics from 0 to until_ms. model: name of the narrator."""

    text: str
    people: tuple[str, ...]
    places: tuple[str, ...]
    until_ms: int
    model: str


def stable_id(kind: str, *parts: object) -> UUID:
    """Return a UUIDv8 of the content, so that repeated work gives the same id.

    Two events with the same words at different times get different ids, since time is among the parts.
    """
    digest = bytearray(hashlib.sha256("\x1f".join([kind, *map(str, parts)]).encode()).digest()[:16])
    digest[6] = (digest[6] & 0x0F) | 0x80
    digest[8] = (digest[8] & 0x3F) | 0x80
    return UUID(bytes=bytes(digest))


def unit(vector: NDArray[np.floating[Any]]) -> Vector:
    """Return vector scaled to length 1 (float32); a zero vector stays zero."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector if length == 0.0 else vector / length, dtype=np.float32)


def chunk_spans(span: Span) -> Sequence[tuple[int, Span]]:
    """Return the (n, span) of every chunk of the grid that begins inside span; the last one ends with span.

    Raises ValueError when span does not begin on the grid: a segment boundary elsewhere would cut a chunk in two.
    """
    if span.start_ms % CHUNK_MS:
        raise ValueError(f"a segment begins on the {CHUNK_MS} ms grid, got {span.start_ms}")
    return [
        (start // CHUNK_MS, Span(start, min(start + CHUNK_MS, span.end_ms)))
        for start in range(span.start_ms, span.end_ms, CHUNK_MS)
    ]
