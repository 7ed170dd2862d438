"""How near events that were found are to a query, by themselves: their descriptions, frames and spoken lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from backend.ekg.view_search import half
from backend.ekg.views import EVENT_IN_SCOPE, EVENT_OF_LINE, SCOPE
from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.ports import EventSimilarity, NearPart

# Each event looks its own frames and lines up by the indexes of their times, so that the statement costs the same
# however large the scope is.
_CHOSEN = (
    f"WITH {SCOPE}, chosen AS MATERIALIZED (SELECT e.*, greatest(e.start_ms, scope.from_ms) AS first_ms, "
    "least(e.end_ms, scope.to_ms) AS last_ms FROM ekg_event e JOIN scope USING (video_id, index_version) "
    f"WHERE {EVENT_IN_SCOPE} AND e.id = ANY(%(ids)s::uuid[]))"
)
_EVENTS = "SELECT 'event' AS view, e.id AS event_id, NULL::uuid AS id, 0::bigint, 0::bigint, {cosine}, '' FROM chosen e"
_OWN = "CASE WHEN e.embedding_model = %(text_model)s THEN -(e.embedding <#> %(text)s::halfvec) END AS similarity"
_FRAMES = (
    "SELECT 'frame', e.id, near.id, near.ms::bigint, (near.ms + 1)::bigint, near.similarity, '' FROM chosen e "
    "CROSS JOIN LATERAL (SELECT f.id, f.ms, -(f.embedding <#> %(frame)s::halfvec) AS similarity FROM ekg_framevector f "
    "WHERE f.tenant_id = %(tenant)s AND f.video_id = e.video_id AND f.index_version = e.index_version "
    "AND f.ms >= e.first_ms AND f.ms < e.last_ms AND f.embedding_model = %(frame_model)s "
    "ORDER BY similarity DESC, f.id LIMIT %(limit)s) near"
)
_LINES = (
    "SELECT 'transcript', e.id, near.id, near.start_ms::bigint, near.end_ms::bigint, near.similarity, near.text "
    "FROM chosen e CROSS JOIN LATERAL (SELECT line.id, line.start_ms, line.end_ms, line.text, "
    "-(line.embedding <#> %(text)s::halfvec) AS similarity FROM ekg_transcriptline line "
    f"WHERE line.tenant_id = %(tenant)s AND {EVENT_OF_LINE} AND line.start_ms < e.last_ms AND line.end_ms > e.first_ms "
    "AND line.embedding_model = %(text_model)s ORDER BY similarity DESC, line.id LIMIT %(limit)s) near"
)


def similarity_statement(
    event_ids: Sequence[UUID], *, text: Vector, frame: Vector, limit: int
) -> tuple[str, dict[str, Any]]:
    """Return the SQL and its parameters, without those of the scope, %(text_model)s and %(frame_model)s."""
    selects = [_EVENTS.format(cosine=_OWN if len(text) else "NULL::float8 AS similarity")]
    parameters: dict[str, Any] = {"ids": list(set(event_ids)), "limit": max(0, limit)}
    if len(frame):
        selects.append(_FRAMES)
        parameters["frame"] = half(frame)
    if len(text):
        selects.append(_LINES)
        parameters["text"] = half(text)
    return f"{_CHOSEN} {' UNION ALL '.join(selects)}", parameters


def read_similarities(rows: Iterable[tuple[Any, ...]]) -> dict[UUID, EventSimilarity]:
    """Return the rows of similarity_statement() by event. A zero vector is near nothing."""
    own: dict[UUID, float | None] = {}
    parts: dict[UUID, list[NearPart]] = {}
    for view, event_id, item, start_ms, end_ms, similarity, words in rows:
        if view == "event":
            own[event_id] = None if similarity is None else float(similarity)
        else:
            near = NearPart(view, item, Span(start_ms, end_ms), float(similarity), words.strip())
            parts.setdefault(event_id, []).append(near)

    def best_first(found: Sequence[NearPart]) -> tuple[NearPart, ...]:
        return tuple(sorted(found, key=lambda part: (part.view, -part.similarity, part.id)))

    return {event_id: EventSimilarity(cosine, best_first(parts.get(event_id, ()))) for event_id, cosine in own.items()}
