"""From the rows of a scope to the hard filter of everything that is read for it."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from backend.ekg.reader import Scope, ScopedVideo
from backend.questions.models import QuestionVideo, SearchVideo


def scope_of(
    tenant_id: UUID, rows: Iterable[QuestionVideo | SearchVideo], *, start_ms: int | None, end_ms: int | None
) -> Scope:
    """rows: with the version and extent that were pinned when work began. start_ms, end_ms: narrow every video."""
    videos = tuple(ScopedVideo(row.video_id, row.index_version or 1, row.indexed_until_ms or 0) for row in rows)
    limits: dict[str, int] = {}
    if start_ms is not None:
        limits["start_ms"] = start_ms
    if end_ms is not None:
        limits["end_ms"] = end_ms
    return Scope(tenant_id, videos, **limits)
