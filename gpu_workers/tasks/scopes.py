"""Turns the rows of a scope into the hard filter of every read for that scope."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from backend.ekg.reader import Scope, ScopedVideo
from backend.questions.models import QuestionVideo, SearchVideo


def scope_of(
    tenant_id: UUID, rows: Iterable[QuestionVideo | SearchVideo], *, start_ms: int | None, end_ms: int | None
) -> Scope:
    """Return the filter for rows, which pin each video's version and extent at the start of work.

    start_ms, end_ms: narrow every video.
    """
    videos = tuple(ScopedVideo(row.video_id, row.index_version or 1, row.indexed_until_ms or 0) for row in rows)
    limits: dict[str, int] = {}
    if start_ms is not None:
        limits["start_ms"] = start_ms
    if end_ms is not None:
        limits["end_ms"] = end_ms
    return Scope(tenant_id, videos, **limits)
