"""The frame that shows a cited event best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredEvent, StoredFrame, ViewQuery, Within
from gpu_workers.engine.retrieval.frames import frames_of_hits

MOST_SEARCHED = 8
"""Maximum number of events that are each searched for their best frame; the others show their middle."""


def best_frames(
    asked: Asked, calls: Calls, claims: Mapping[UUID, str], events: Mapping[UUID, StoredEvent]
) -> dict[UUID, StoredFrame]:
    """Return by event the frame with the highest cosine to the event's claim; its middle frame where frames cannot be
    compared with words. An event without frames is missing.

    claims: by event the words that it is cited for. events: at least those of claims.
    """
    found: dict[UUID, StoredFrame] = {}
    by_claim: dict[str, list[UUID]] = {}
    for event_id, claim in claims.items():
        by_claim.setdefault(claim, []).append(event_id)
    try:
        for claim, ids in by_claim.items():
            found |= _nearest(asked, calls, claim, [events[event_id] for event_id in ids])
    except ModelError:
        found = {}
    for event_id in claims:
        if event_id not in found and (middle := asked.graph.frames_of([event_id], limit=1)):
            found[event_id] = middle[0]
    return found


def _nearest(asked: Asked, calls: Calls, claim: str, events: Sequence[StoredEvent]) -> dict[UUID, StoredFrame]:
    query = asked.models.frame_embedder.embed_query(claim, meter=calls.meter)
    best = _hits(asked, ViewQuery(query, max(64, 8 * len(events))), {event.id for event in events})
    missing = [event for event in events if event.id not in best]
    for event in missing[:MOST_SEARCHED]:
        # Three, since the frames of a neighbour may lie on the event's borders.
        best |= _hits(asked, ViewQuery(query, 3, within=Within(event.video_id, event.span)), {event.id})
    return best


def _hits(asked: Asked, query: ViewQuery, wanted: set[UUID]) -> dict[UUID, StoredFrame]:
    hits = asked.graph.search_views({"frame": query}, floor=asked.settings.retrieval.floor)["frame"]
    best: dict[UUID, StoredFrame] = {}
    for frame in frames_of_hits(asked.graph, [hit for hit in hits if hit.event_id in wanted]):
        best.setdefault(frame.event_id, frame)
    return best
