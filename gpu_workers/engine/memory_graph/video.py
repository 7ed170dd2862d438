"""One video's index as the graph in memory takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.ekg import (
    Chunk,
    EntityObject,
    EventRecord,
    FrameRow,
    ObjectState,
    Overview,
    Topic,
    TrackObservation,
)
from gpu_workers.engine.wall_clock import WallClock

END_OF_TIME = 2**62
"""Milliseconds, beyond the end of every video."""


@dataclass(frozen=True, slots=True)
class MemoryVideo:
    """One video's index. events, frames, topics: in order of time. chunks: at least those of the events.

    Only topics that have an embedding are found by similarity. tracks: by the id of their object. until_ms: how far the
    video was indexed when work began; what comes later does not exist for the reader. title, language, spoken, clock:
    as in ports.Recording. links: of the entities and the objects.
    """

    video_id: UUID
    events: Sequence[EventRecord]
    chunks: Sequence[Chunk] = ()
    frames: Sequence[FrameRow] = ()
    index_version: int = 1
    topics: Sequence[Topic] = ()
    overview: Overview | None = None
    objects: Sequence[ObjectState] = ()
    tracks: Mapping[UUID, Sequence[TrackObservation]] = field(default_factory=dict)
    until_ms: int = END_OF_TIME
    title: str = ""
    language: str = ""
    spoken: str = ""
    clock: WallClock | None = None
    links: Sequence[EntityObject] = ()
