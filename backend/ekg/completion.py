"""Complete a version from the contents of its rows; backend.library.indexing.completion decides what follows."""

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
    """Return a version's contents: the clock in the picture, or the most frequent gap if nothing is described."""
    chunks = Chunk.objects.filter(video_id=video_id, index_version=version)
    if not chunks.filter(gap=None).exists():
        gaps = Counter(chunks.values_list("gap", flat=True))
        return IndexedContent(described=False, commonest_gap=str(gaps.most_common(1)[0][0]) if gaps else "")
    clock = read_clock(video_id, version)
    shown = {"at_zero": clock.at_zero, "readings": clock.readings} if clock is not None else None
    return IndexedContent(described=True, clock=shown)


def read_clock(video_id: UUID, version: int) -> Clock | None:
    """Fit the clock in the picture to all text that was read on screen; None if no clock fits."""
    rows = Chunk.objects.filter(video_id=video_id, index_version=version).exclude(on_screen_text=[])
    shown = rows.order_by("n").values_list("start_ms", "end_ms", "on_screen_text").iterator()
    return fit_clock(((start_ms + end_ms) // 2, text) for start_ms, end_ms, texts in shown for text in texts)
