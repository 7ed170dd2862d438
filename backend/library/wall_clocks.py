"""When videos were recorded: what customers said about them, and the clock in the picture, as one clock for each.

It is computed when it is read, since a customer may correct recorded_at at any time. Inside the open tenant_scope.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.library.models import IndexVersion, InputSegment, InputStatus, SourceType, Video
from gpu_workers.engine.clock_evidence import FittedClock, RecordedPart, ShownPeriod, fit_wall_clock
from gpu_workers.engine.ekg import Span


def fitted_clocks(videos: Iterable[Video], *, versions: Mapping[UUID, int] | None = None) -> dict[UUID, FittedClock]:
    """Return the clock of each video, in two queries. versions: index version whose readings of the picture count; by
    default the one that questions read."""
    known = {video.id: video for video in videos}
    of_version = {video_id: (versions or {}).get(video_id, row.active_index_version) for video_id, row in known.items()}
    shown = {
        video_id: clock
        for video_id, n, clock in IndexVersion.objects.filter(video_id__in=known).values_list("video_id", "n", "clock")
        if n == of_version[video_id]
    }
    parts = _parts(known)
    return {
        video_id: fit_wall_clock(parts[video_id], _periods(shown.get(video_id)), zone=video.time_zone)
        for video_id, video in known.items()
    }


def _parts(videos: Mapping[UUID, Video]) -> dict[UUID, list[RecordedPart]]:
    """Return the recordings of each video, in order; none before a video is probed."""
    parts: defaultdict[UUID, list[RecordedPart]] = defaultdict(list)
    for video in videos.values():
        if video.source_type == SourceType.UPLOAD and video.duration_ms:
            parts[video.id] = [RecordedPart(Span(0, video.duration_ms), video.recorded_at)]
    grown = [video.id for video in videos.values() if video.source_type != SourceType.UPLOAD]
    rows = InputSegment.objects.filter(video_id__in=grown, status=InputStatus.READY, start_ms__isnull=False)
    for row in rows.filter(duration_ms__gt=0).order_by("video_id", "start_ms") if grown else ():
        # The video's own time is that of its first moment.
        recorded_at = row.recorded_at or (videos[row.video_id].recorded_at if row.start_ms == 0 else None)
        parts[row.video_id].append(RecordedPart(Span(row.start_ms, row.start_ms + row.duration_ms), recorded_at))
    return parts


def _periods(clock: Mapping[str, Any] | None) -> list[ShownPeriod]:
    return [ShownPeriod(period["from_ms"], period["at_start"]) for period in (clock or {}).get("periods", ())]


def filmed(clock: FittedClock | None, start_ms: int, end_ms: int) -> dict[str, datetime | None]:
    """Return start_at and end_at of a span, in the video's time zone; None where they are unknown."""
    wall = clock.clock if clock is not None else None
    if wall is None or not wall.absolute:
        return {"start_at": None, "end_at": None}
    return {"start_at": wall.at(start_ms), "end_at": wall.until(end_ms)}
