"""Complete a version from the contents of its rows; backend.library.indexing.completion decides what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from backend.ekg.models import Chunk
from backend.library.indexing.completion import IndexedContent, complete_version
from gpu_workers.engine.models.observer.clock import ClockPeriod, fit_clock_periods


def finish_version(video_id: UUID, version: int) -> None:
    """Complete a whole version, in a job's checkpoint."""
    complete_version(video_id=video_id, version=version, content=indexed_content(video_id, version))


def indexed_content(video_id: UUID, version: int) -> IndexedContent:
    """Return a version's contents: the clock in the picture, or the most frequent gap if nothing is described."""
    chunks = Chunk.objects.filter(video_id=video_id, index_version=version)
    if not chunks.filter(gap=None).exists():
        gaps = Counter(chunks.values_list("gap", flat=True))
        return IndexedContent(described=False, commonest_gap=str(gaps.most_common(1)[0][0]) if gaps else "")
    return IndexedContent(described=True, clock=_clock_body(read_clock(video_id, version)))


def _clock_body(periods: Sequence[ClockPeriod]) -> dict[str, Any] | None:
    """Return the form of IndexVersion.clock."""
    if not periods:
        return None
    return {
        "at_zero": periods[0].clock.at_zero,
        "readings": sum(period.clock.readings for period in periods),
        "periods": [{"from_ms": period.from_ms, "at_start": period.at_start} for period in periods],
    }


def read_clock(video_id: UUID, version: int) -> tuple[ClockPeriod, ...]:
    """Fit the clock in the picture to all text that was read on screen; () if no clock fits."""
    rows = Chunk.objects.filter(video_id=video_id, index_version=version).exclude(on_screen_text=[])
    shown = rows.order_by("n").values_list("start_ms", "end_ms", "on_screen_text").iterator()
    return fit_clock_periods(((start_ms + end_ms) // 2, text) for start_ms, end_ms, texts in shown for text in texts)
