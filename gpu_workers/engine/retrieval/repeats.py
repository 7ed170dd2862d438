"""Events that say the same: of a camera that shows one thing for hours, a result names it once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from uuid import UUID

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.models.observer.clock import without_clocks
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.retrieval.fusion import RankedEvent


def without_repeats(ranking: Sequence[RankedEvent], events: Mapping[UUID, StoredEvent]) -> list[RankedEvent]:
    """Return the ranking with only the best event of each run: events that follow one another and say the same.

    What is said again after something else happened again. events: those of the ranking, with their chunks.
    """
    run_of: dict[UUID, UUID] = {}
    in_order = sorted(events.values(), key=lambda event: (event.video_id, event.n))
    for before, event in pairwise(in_order):
        follows = before.video_id == event.video_id and before.n + 1 == event.n
        if follows and event.chunks and _says(before) == _says(event):
            run_of[event.id] = run_of.get(before.id, before.id)
    best: dict[UUID, RankedEvent] = {}
    for ranked in ranking:
        best.setdefault(run_of.get(ranked.event_id, ranked.event_id), ranked)
    return list(best.values())


def _says(event: StoredEvent) -> tuple[object, ...]:
    """Return an event's text without its own times, its chunks' descriptions, and what was said and written."""
    text = event.summary
    for ms in (event.span.start_ms, event.span.end_ms):
        text = text.replace(clock(ms), "")
    return (
        text,
        frozenset(chunk.description or chunk.gap for chunk in event.chunks),
        tuple(dict.fromkeys(line.text for chunk in event.chunks for line in chunk.transcript)),
        frozenset(text for chunk in event.chunks for text in without_clocks(chunk.on_screen_text)),
    )
