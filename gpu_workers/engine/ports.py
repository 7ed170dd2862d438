"""How the engine sees the outside: the index it writes and reads, the video it decodes.

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

from gpu_workers.engine.ekg import Chunk, Entity, EventRecord, ObjectState, Span, Vector

# --- writing (indexing) --------------------------------------------------------------------------------------------


class EntityDirectory(Protocol):
    """The entities of one video's index version, as far as they are committed or staged."""

    def nearest(
        self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0
    ) -> Sequence[Sequence[tuple[Entity, float]]]:
        """For each row of embeddings the known entities by falling cosine similarity to their centroid, ties by id.

        embeddings: shape (n, d), unit rows; all mentions of one event at once. Entities below floor are left out.
        """
        ...

    def expect(self, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0) -> None:
        """These rows will be looked up soon, with this limit and floor: one that asks a server asks it once for all.

        What is staged or stored in between is seen all the same. A directory may do nothing.
        """
        ...


class ObjectDirectory(Protocol):
    """The tracked objects of one video's index version, as far as they are committed or staged."""

    def count(self) -> int: ...

    def recent(self, since_ms: int) -> Sequence[ObjectState]:
        """Objects that were visible at since_ms or later, by their number."""
        ...

    def alike(
        self, categories: Collection[str], appearance: Vector, *, limit: int
    ) -> Sequence[tuple[ObjectState, float]]:
        """Objects of these categories by falling cosine similarity of their appearance; those without one are out."""
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


ViewName = Literal["event", "entity", "frame", "transcript"]
"""The views that a similarity finds events by. What the graph connects is another one (events_sharing_entities)."""


@dataclass(frozen=True, slots=True)
class ViewQuery:
    """What a view is asked: its items (events, entities, frames, spoken lines) nearest to vector, at most limit.

    context: for events alone, the weight of the better one of the two neighbours in scope. The similarity is
    (own + context * neighbour's) / (1 + context). What happens around an event shows what it is about.
    """

    vector: Vector
    limit: int
    context: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """An event found by one view.

    item: what matched: an event, entity, frame or line; for a step in time the event that the step leaves; None where
    several entities connect the event. words: what a person reads of the match, "" if there is nothing to read.
    """

    event_id: UUID
    similarity: float
    view: str
    item: UUID | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class StoredFrame:
    id: UUID
    video_id: UUID
    event_id: UUID
    ms: int
    thumbnail_key: str


@dataclass(frozen=True, slots=True)
class EntityFact:
    """What the graph says about an event: an entity that takes part, or a relation stated in it, in words."""

    event_id: UUID
    entity_id: UUID
    text: str


class KnowledgeGraph(Protocol):
    """Read access to everything inside one question's scope. Safe to call from several threads."""

    def search_views(
        self, queries: Mapping[ViewName, ViewQuery], *, floor: float = 0.1
    ) -> Mapping[ViewName, Sequence[Hit]]:
        """The hits of every view that queries ask, found together: one round trip where the index is on a server.

        Exact cosine similarity inside the scope, above floor, best first, ties by the id of what matched; limit counts
        items, and an item in scope hits each event in scope that it belongs to, in order of video and time: an entity
        those it takes part in, a line those it is spoken in. A view that is not asked, or with limit 0, is not searched
        and has no hits.
        """
        ...

    def next_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """NEXT: event -> the one after it in the same video; events at the end are missing."""
        ...

    def previous_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]: ...

    def events_sharing_entities(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[Hit]:
        """Other events reached over PARTICIPATES_IN and RELATED_TO, most strongly connected first.

        similarity: strength of the connection (engine.retrieval.expansion) over the strongest one's, in (0, 1].
        """
        ...

    def facts(self, event_ids: Sequence[UUID]) -> Sequence[EntityFact]:
        """Participations and relations of the events, for the answer's context."""
        ...

    def load_events(self, event_ids: Sequence[UUID]) -> Mapping[UUID, StoredEvent]: ...

    def frames_of(self, event_ids: Sequence[UUID], *, limit: int) -> Sequence[StoredFrame]:
        """Frames spread evenly over the events, in order of time, at most limit."""
        ...

    def jpeg(self, frame: StoredFrame) -> bytes: ...
