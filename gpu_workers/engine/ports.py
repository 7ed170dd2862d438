"""Protocols of everything outside the engine: the index that it writes and reads.

Scope (tenant, videos, time span, index version) is bound when an implementation is made, as a hard filter: nothing the
engine passes at a call can widen it. Implementations: backend.ekg.reader for Postgres, engine.memory_graph for one
process.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import (
    Chunk,
    Entity,
    EntityObject,
    EventRecord,
    ObjectState,
    Overview,
    Span,
    Topic,
    TrackObservation,
    Vector,
)
from gpu_workers.engine.wall_clock import WallClock

# --- writing (indexing) --------------------------------------------------------------------------------------------


class EntityDirectory(Protocol):
    """The entities of one video's index version, as far as they are committed or staged."""

    def nearest(
        self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0
    ) -> Sequence[Sequence[tuple[Entity, float]]]:
        """Return for each row of embeddings the known entities by falling cosine to their centroid, ties by id.

        embeddings: shape (n, d), unit rows; all mentions of one event at once. Entities below floor are left out.
        """
        ...

    def expect(self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0) -> None:
        """Announce rows that will be looked up soon with this limit and floor, so that one request to a server finds
        them all.

        Later look-ups also see entities that are staged or stored in between. A directory may do nothing.
        """
        ...


class ObjectDirectory(Protocol):
    """The tracked objects of one video's index version, as far as they are committed or staged."""

    def count(self) -> int: ...

    def recent(self, since_ms: int) -> Sequence[ObjectState]:
        """Return objects that were visible at since_ms or later, by their number."""
        ...

    def alike(
        self, categories: Collection[str], appearance: Vector, *, limit: int
    ) -> Sequence[tuple[ObjectState, float]]:
        """Return objects of these categories by falling cosine of their appearance, without those that have none."""
        ...


class EventSink(Protocol):
    """Takes finished events in order of time."""

    def append(self, record: EventRecord) -> None: ...


# --- reading (answering) -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as a question sees it. It always carries its video."""

    id: UUID
    video_id: UUID
    n: int
    span: Span
    summary: str
    chunks: tuple[Chunk, ...] = ()


ViewName = Literal["event", "entity", "frame", "transcript", "topic", "words"]
"""Views that find events: words by the words themselves, the others by similarity. events_sharing_entities is a further
view, by connections of the graph."""


NamedView = Literal["name", "title", "object"]
"""Views by the names of things: of entities, topics and tracked objects."""


@dataclass(frozen=True, slots=True)
class Within:
    """A part of one video that narrows a view. It never widens the scope."""

    video_id: UUID
    span: Span


@dataclass(frozen=True, slots=True)
class ViewQuery:
    """A query to a view: its items (events, entities, frames, spoken lines, topics) nearest to vector, at most limit.

    context: only for events, the weight of the better of the two neighbours in scope. The similarity is (own + context
    * neighbour's) / (1 + context). The neighbours of an event show its subject. within: admits only events, lines and
    topics that overlap it, frames inside it, and entities that take part in an event that overlaps it; they hit only
    the events that overlap it. The neighbours of an event count wherever in scope they are.

    crowding: only for events, the weight of what the nearest events have in common. An event loses crowding times its
    own mean cosine to the CROWD nearest of the events found, as far as that is above their mean: an event that is like
    all others says little about the query (CSLS, Conneau et al. 2018). Cosine and result are both above the floor.

    text, exact: only for view words, which has no vector (an empty one): the words that are searched for, and those of
    them that an event must contain exactly.
    """

    vector: Vector
    limit: int
    context: float = 0.0
    within: Within | None = None
    text: str = ""
    exact: tuple[str, ...] = ()
    crowding: float = 0.0


CROWD = 20
"""Number of nearest events of ViewQuery.crowding."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An event found by one view.

    item: id of the matching event, entity, frame, line or topic; for a step in time the event that the step leaves;
    None if several entities connect the event. words: the match in words for people, "" if there is nothing to read.
    """

    event_id: UUID
    similarity: float
    view: str
    item: UUID | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class NearPart:
    """A frame or a spoken line inside an event. view: frame or transcript. span: of a frame, its own millisecond.
    similarity: cosine to the query."""

    view: Literal["frame", "transcript"]
    id: UUID
    span: Span
    similarity: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class EventSimilarity:
    """How near an event is to a query by itself, whatever else the scope holds. own: cosine of its description; None if
    it has none. parts: its nearest frames and lines, the best first in each view."""

    own: float | None
    parts: tuple[NearPart, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredFrame:
    id: UUID
    video_id: UUID
    event_id: UUID
    ms: int
    thumbnail_key: str


@dataclass(frozen=True, slots=True)
class EntityFact:
    """A fact of the graph about an event, in words: an entity that takes part, or a relation stated in it. entity_id:
    the entity, or the source of the relation."""

    event_id: UUID
    entity_id: UUID
    text: str
    relation: bool = False


@dataclass(frozen=True, slots=True)
class EventPlace:
    """Where an event lies, without its words. n: its number in its video."""

    event_id: UUID
    video_id: UUID
    n: int
    span: Span

    def follows(self, before: EventPlace) -> bool:
        """Whether this is the next event of the same video."""
        return self.video_id == before.video_id and self.n == before.n + 1


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A spoken line. words: (start_ms, end_ms, word) of the line's words, if the transcriber timed them. language: ISO
    639-1 code, "" if unknown."""

    id: UUID
    video_id: UUID
    span: Span
    text: str
    words: tuple[tuple[int, int, str], ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """A tracked thing of one video. n: its number in its video. spans: in which it is visible, in order, cut to the
    scope. confidence: certainty, 0 to 1, that it is one thing and no other object of the video."""

    id: UUID
    video_id: UUID
    n: int
    category: str
    colour: str
    spans: tuple[Span, ...]
    entries: int
    exits: int
    confidence: float


@dataclass(frozen=True, slots=True)
class NearObject:
    """A tracked object and its picture that is nearest to a query. ms: when it was taken. similarity: its cosine."""

    object_id: UUID
    ms: int
    similarity: float


@dataclass(frozen=True, slots=True)
class StoredTrack:
    """One track of an object, as measured inside one segment."""

    object_id: UUID
    video_id: UUID
    observed: TrackObservation


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity of the graph. weight: number of its mentions."""

    id: UUID
    video_id: UUID
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class StoredMention:
    """An entity takes part in an event. role: its part there."""

    entity_id: UUID
    event_id: UUID
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class TimedRelation:
    """A relation as one event states it, with the names of its ends and the event's place."""

    id: UUID
    source_id: UUID
    source: str
    predicate: str
    target_id: UUID
    target: str
    description: str
    place: EventPlace


@dataclass(frozen=True, slots=True)
class Recording:
    """One video of the scope as a whole. language: ISO 639-1 code of its index's texts, "" if unknown. spoken: that of
    its speech. clock: None if nothing is known about when it was filmed. until_ms: how far it may be read."""

    video_id: UUID
    title: str
    until_ms: int
    language: str = ""
    spoken: str = ""
    clock: WallClock | None = None


class KnowledgeGraph(Protocol):
    """Read access to everything inside one question's scope. Safe to call from several threads."""

    def recordings(self) -> Mapping[UUID, Recording]:
        """Return every video of the scope, also those without an event, in order of id."""
        ...

    def narrowed(self, spans: Mapping[UUID, Span]) -> KnowledgeGraph:
        """Return this graph on a narrower scope: of each video only its span; videos that are missing are not in it.

        It shares this graph's connection. It can never reach beyond this graph's own scope.
        """
        ...

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        """Return the hits of every queried view in one round trip, if the index is on a server.

        Hits have an exact cosine similarity above floor, best first, ties by the id of the item. limit counts items. An
        item in scope hits each event in scope that it belongs to, in order of video and time: an entity hits the events
        that it takes part in, a line those that it is spoken in, a topic those that it covers. A topic is in scope if
        all of it is. A view without a query, or with limit 0, is not searched and has no hits.
        """
        ...

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """Return event -> the next event of the same video (edge NEXT); events at the end are missing."""
        ...

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]: ...

    def events_sharing_entities(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[Hit]:
        """Return other events reached over PARTICIPATES_IN and RELATED_TO, most strongly connected first.

        similarity: strength of the connection (engine.retrieval.expansion) over the strongest one's, in (0, 1].
        """
        ...

    def facts(self, event_ids: Sequence[UUID]) -> Sequence[EntityFact]:
        """Return participations and relations of the events, for the answer's context.

        engine.retrieval.facts has their words and their order. Events out of scope have none.
        """
        ...

    def timeline(self, *, after: EventPlace | None = None, limit: int) -> Sequence[EventPlace]:
        """Return at most limit events in scope that follow after, by video and time; the first ones without after.

        It reads no text. A reader pages with the last place of the page before.
        """
        ...

    def undescribed(self) -> Sequence[EventPlace]:
        """Return the events in scope all of whose chunks are gaps, by video and time."""
        ...

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]: ...

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        """Return at most limit frames of the events in order of video and time, evenly chosen from all of them
        (engine.retrieval.frames.evenly)."""
        ...

    def jpeg(self, frame: StoredFrame) -> bytes: ...

    # Reads by time, words, topic and thing. A limit of 0 or less returns nothing. All keep to the scope: a span that is
    # asked for is cut to the scope's, and engine.retrieval.in_scope says what is left of things that reach beyond it.

    def extents(self) -> Mapping[UUID, Span]:
        """Return for each video in scope that has an event in it the stretch that may be read: from the start of its
        first event in scope to the end of its last, cut to the scope's span."""
        ...

    def events_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[EventPlace]:
        """Return at most limit events of the video that overlap span, in order of time, the first ones."""
        ...

    def chunks_between(self, video_id: UUID, span: Span, *, limit: int) -> Sequence[Chunk]:
        """Return at most limit chunks of events in scope that overlap span, in order of time, gaps included.

        They carry speech and writing on screen, like those of load_events().
        """
        ...

    def frames_between(self, video_id: UUID, span: Span, *, limit: int, ends: bool = False) -> Sequence[StoredFrame]:
        """Return at most limit stored frames inside span, in order of time.

        If there are more, the part of span inside extents() is cut into limit equal parts, and the frame nearest to the
        middle of each is returned, each once. ends: instead, in equal steps from the first of them to the last
        (engine.retrieval.frames.spread).
        """
        ...

    def lines(self, line_ids: Sequence[UUID]) -> Sequence[StoredLine]:
        """Return these spoken lines in order of video and time, without those out of scope."""
        ...

    def lines_containing(self, words: Sequence[str], *, limit: int) -> Sequence[StoredLine]:
        """Return at most limit lines that contain one of words as text, whatever its case, in order of video and time.

        A caller counts words itself: "owl" contains "ow". No letter of a word has a meaning of its own. A line is in
        scope if it overlaps the scope's span and an event in scope.
        """
        ...

    def topics(self, video_id: UUID) -> Sequence[Topic]:
        """Return the video's topics that lie in scope as a whole, in order of time; none if they are not written yet.

        A topic that reaches beyond the scope is left out: its words cannot be cut.
        """
        ...

    def topics_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[Topic]]:
        """Return topics() of each of the videos in one round trip; videos without one are missing."""
        ...

    def overview(self, video_id: UUID) -> Overview | None:
        """Return the video's global summary; None if it is not written yet, or if the scope does not hold the whole of
        what it covers: its words cannot be cut."""
        ...

    def overviews_of(self, video_ids: Sequence[UUID]) -> Mapping[UUID, Overview]:
        """Return overview() of each of the videos in one round trip; videos without one are missing."""
        ...

    def objects(self, *, limit: int, ids: Sequence[UUID] | None = None) -> Sequence[StoredObject]:
        """Return at most limit tracked objects that are visible in scope, by video and number.

        spans, entries and exits are those in scope. ids: of the only objects that count; None for all.
        """
        ...

    def objects_like(self, vector: Vector, *, limit: int) -> Sequence[NearObject]:
        """Return at most limit objects whose pictures in scope are nearest to vector, best first, ties by id.

        vector: of the frame embedder. An object counts by its nearest picture, the first one of several. Objects
        without a picture in scope are left out.
        """
        ...

    def tracks_of(self, object_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredTrack]:
        """Return at most limit tracks of the objects that overlap the scope, in order of video, time and track.

        Each is cut to the scope.
        """
        ...

    def entities(self, entity_ids: Sequence[UUID]) -> Mapping[UUID, StoredEntity]:
        """Return those of the entities that take part in an event in scope.

        If an entity also takes part in events out of scope, its words and its weight are those of the events in scope.
        """
        ...

    def entities_of(self, event_ids: Sequence[UUID]) -> Sequence[StoredMention]:
        """Return who takes part in the events, in the order of the events, then by falling weight, then by id."""
        ...

    def events_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[EventPlace]:
        """Return at most limit events in which one of the entities takes part, by video and time, each once."""
        ...

    def relations_of(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[TimedRelation]:
        """Return at most limit relations with one of the entities at an end, by video and time of the event, then by
        id. Their ends have the names that the event has for them."""
        ...

    def things_named(self, text: str, *, limit: int) -> Mapping[NamedView, Sequence[Hit]]:
        """Return the events of the things that the words of text name: entities by name and alias, topics by title,
        tracked objects by category and colour (engine.retrieval.named_things).

        limit counts things of a kind; they come best first, ties by falling weight of an entity, then by id (an object
        by video and number). A thing hits each event in scope that it belongs to, in order of video and time: an object
        those in which it is visible. An entity has the names that the events in scope have for it. words of a hit: the
        name that matched; similarity: in (0, 1].
        """
        ...

    def links_of(self, ids: Sequence[UUID], *, limit: int) -> Sequence[EntityObject]:
        """Return at most limit links between entities and tracked objects with one of ids at an end, by falling
        confidence, then by entity and object. Both ends are in scope."""
        ...


class SearchedGraph(KnowledgeGraph, Protocol):
    """A graph that a search without an answer reads: it also compares events that were found with the query."""

    def similarities(
        self, event_ids: Sequence[UUID], *, text: Vector, frame: Vector, limit: int
    ) -> Mapping[UUID, EventSimilarity]:
        """Return the cosines of these events in scope, with at most limit frames and limit lines of each.

        text, frame: unit vectors of the query in the space of texts and of frames; what has an empty one is not
        compared. Frames and lines keep to the scope's span. Ties fall to the id.
        """
        ...
