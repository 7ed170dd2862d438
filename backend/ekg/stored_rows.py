"""Rows of the Event Knowledge Graph as the engine's plain data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pgvector import HalfVector

from backend.ekg.models import Chunk, Entity, Topic, Track, TranscriptLine
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import Span, Vector, unit


def read_chunk(row: Chunk, transcript: Sequence[TranscriptLine] = ()) -> ekg.Chunk:
    return ekg.Chunk(
        n=row.n,
        span=Span(row.start_ms, row.end_ms),
        description=row.description,
        gap=row.gap,
        facts=row.facts,
        on_screen_text=tuple(row.on_screen_text),
        transcript=tuple(
            ekg.TranscriptLine(Span(line.start_ms, line.end_ms), line.text)
            for line in transcript
            if line.start_ms < row.end_ms and line.end_ms > row.start_ms
        ),
        inherited=row.inherited,
    )


def stored_vector(value: object) -> Vector:
    return unit(np.asarray(value.to_list() if isinstance(value, HalfVector) else value, dtype=np.float32))


def read_entity(row: Entity) -> ekg.Entity:
    return ekg.Entity(
        id=row.id,
        name=row.name,
        type=row.type,
        description=row.description,
        aliases=tuple(row.aliases),
        centroid=stored_vector(row.centroid),
        weight=row.weight,
    )


def read_topic(row: Topic, *, embedding: Vector | None = None) -> ekg.Topic:
    return ekg.Topic(
        n=row.n,
        span=Span(row.start_ms, row.end_ms),
        first_event=row.first_event,
        end_event=row.end_event,
        title=row.title,
        summary=row.summary,
        people=tuple(row.people),
        places=tuple(row.places),
        frame_ms=tuple(row.frame_ms),
        embedding=embedding,
    )


def read_track(row: Track) -> ekg.TrackObservation:
    return ekg.TrackObservation(
        track_id=row.track_no,
        category=row.category,
        span=Span(row.start_ms, row.end_ms),
        confidence=row.confidence,
        colour=row.colour,
        motion=row.motion,
        entered=row.entered,
        left=row.left,
        boxes=tuple((ms, x0, y0, x1, y1) for ms, x0, y0, x1, y1 in row.boxes),
        appearance=None if row.appearance is None else stored_vector(row.appearance),
    )
