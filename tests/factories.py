"""Rows that tests start from; each needs an open tenant_scope."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import numpy as np

from backend.billing.services.limits.budgets import Limits, set_cost_ceiling, set_own_limits
from backend.library.indexing.begin import create_video
from backend.library.models import Video, VideoStatus
from backend.tenancy.context import current_tenant_id
from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Chunk,
    Entity,
    EntityMention,
    Event,
    EventRecord,
    FrameRow,
    LinkedMention,
    Relation,
    SegmentRecord,
    Span,
    Vector,
    stable_id,
    unit,
)

TEXT_MODEL = "text-test"
FRAME_MODEL = "frame-test"


def make_video(**values: Any) -> Video:
    defaults: dict[str, Any] = {
        "object_key": f"t/{current_tenant_id()}/u/{uuid4()}/source",
        "size_bytes": 1000,
        "status": VideoStatus.INDEXING,
        "duration_ms": 30_000,
    }
    return create_video(**{**defaults, **values})


def vector(*values: float) -> Vector:
    """A unit vector of 4 dimensions."""
    return unit(np.array([*values, *[0.0] * (4 - len(values))], dtype=np.float32))


def segment_record(start_ms: int, end_ms: int) -> SegmentRecord:
    """Chunks "chunk <n>" and one frame a second."""
    chunks = tuple(
        Chunk(ms // CHUNK_MS, Span(ms, min(ms + CHUNK_MS, end_ms)), f"chunk {ms // CHUNK_MS}")
        for ms in range(start_ms, end_ms, CHUNK_MS)
    )
    frames = tuple(FrameRow(ms, b"jpeg", vector(1.0, ms / 30_000)) for ms in range(start_ms, end_ms, 1000))
    return SegmentRecord(Span(start_ms, end_ms), chunks, frames)


def event_record(
    video_id: UUID,
    n: int,
    first_chunk: int,
    end_chunk: int,
    *,
    who: tuple[str, ...] = (),
    relations: tuple[tuple[str, str, str], ...] = (),
    embedding: Vector | None = None,
    version: int = 1,
) -> EventRecord:
    """An event whose entities are named in who; equal names are one entity over all events of the video."""
    span = Span(first_chunk * CHUNK_MS, end_chunk * CHUNK_MS)
    event = Event(
        stable_id("event", video_id, version, span.start_ms, span.end_ms),
        n,
        span,
        first_chunk,
        end_chunk,
        f"event {n}",
        vector(1.0) if embedding is None else embedding,
    )
    ids = {name: stable_id("entity", video_id, version, name) for name in who}
    entities = tuple(Entity(ids[name], name, "person", "", (), vector(0.5, 0.5), 1) for name in who)
    mentions = tuple(
        LinkedMention(
            stable_id("mention", event.id, name), ids[name], event.id, EntityMention(name, "person", ""), vector(1.0)
        )
        for name in who
    )
    return EventRecord(
        event,
        entities,
        mentions,
        tuple(
            Relation(stable_id("relation", event.id, *row), ids[row[0]], ids[row[2]], row[1], "", event.id, 1.0)
            for row in relations
        ),
    )


def set_limits(limits: Limits) -> None:
    """Replace a tenant's own limits and the operator's one."""
    set_own_limits(max_tokens=limits.max_tokens, max_seconds=limits.max_seconds)
    set_cost_ceiling(limits.max_cost)
