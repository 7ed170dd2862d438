"""Turns the rows of a scope into the hard filter of every read for that scope, and says what is not in it yet."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from backend.ekg.reader import Scope, ScopedVideo
from backend.library.models import Video
from backend.questions.models import QuestionVideo, SearchVideo
from backend.questions.queries.scopes import UNFINISHED
from gpu_workers.engine.clock_text import clock

MOST_NAMED = 5
"""Maximum number of titles in the note on videos that are still being indexed."""


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


def under_way(rows: Iterable[QuestionVideo]) -> str:
    """Return the note on videos of the scope that were not indexed to their end when work began; "" if all were."""
    read = {row.video_id: row.indexed_until_ms or 0 for row in rows}
    unfinished = list(
        Video.objects.filter(id__in=read, status__in=UNFINISHED).order_by("id").values_list("id", "title")
    )
    if not unfinished:
        return ""
    named = [f'"{title}"' if title else "a video without a title" for _, title in unfinished[:MOST_NAMED]]
    more = f" and {len(unfinished) - MOST_NAMED} more" if len(unfinished) > MOST_NAMED else ""
    if len(read) == 1:
        return f"Indexing is under way: the first {clock(read[unfinished[0][0]], hours=True)} were read."
    return f"Indexing is under way: only what was indexed by then was read of {', '.join(named)}{more}."
