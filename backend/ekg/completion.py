"""Complete a version from what its rows show; backend.library.indexing.completion decides what follows from it."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from backend.ekg.models import Chunk
from backend.library.indexing.completion import IndexedContent, complete_version
from gpu_workers.engine.models.observer.clock import Clock, fit_clock


def finish_version(video_id: UUID, version: int) -> None:
    """Complete a whole version, in a job's checkpoint."""
    complete_version(video_id=video_id, version=version, content=indexed_content(video_id, version))


def indexed_content(video_id: UUID, version: int) -> IndexedContent:
    """Return what a version holds: whether anything is described, its most frequent gap, the clock in the picture."""
    chunks = Chunk.objects.filter(video_id=video_id, index_version=version)
    gaps = Counter(chunks.exclude(gap=None).values_list("gap", flat=True))
    clock = read_clock(video_id, version)
    return IndexedContent(
        described=chunks.filter(gap=None).exists(),
        commonest_gap=str(gaps.most_common(1)[0][0]) if gaps else "",
        clock={"at_zero": clock.at_zero, "readings": clock.readings} if clock is not None else None,
    )


def read_clock(video_id: UUID, version: int) -> Clock | None:
    """Fit the clock in the picture to everything that was read on screen; None if nothing fits."""
    rows = Chunk.objects.filter(video_id=video_id, index_version=version).exclude(on_screen_text=[])
    shown = rows.order_by("n").values_list("start_ms", "end_ms", "on_screen_text").iterator()
    return fit_clock(((start_ms + end_ms) // 2, text) for start_ms, end_ms, texts in shown for text in texts)
