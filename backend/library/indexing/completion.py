"""Complete a version: decide whether it is ready or has failed, once every segment is assembled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.library.indexing.activation import activate
from backend.library.indexing.failure import fail_version
from backend.library.models import IndexVersion, Segment, SegmentState, Video
from gpu_workers.engine.indexing.frame_stream import Damage


@dataclass(frozen=True, slots=True)
class IndexedContent:
    """The contents of a complete version (backend.ekg.completion reads them).

    described: whether any chunk has a description. commonest_gap: code of the most frequent gap if none has, ""
    without a gap. clock: the clock in the picture in the form of IndexVersion.clock; None if no clock is readable.
    """

    described: bool
    commonest_gap: str = ""
    clock: Mapping[str, Any] | None = None


def is_whole(video_id: UUID, version: int) -> bool:
    """Whether every segment up to the end of the recording is assembled."""
    segments = Segment.objects.filter(video_id=video_id, index_version=version)
    if segments.exclude(state=SegmentState.ASSEMBLED).exists():
        return False
    # The segment that ends with the recording is planned last (plan.plan).
    duration_ms = Video.objects.values_list("duration_ms", flat=True).get(id=video_id)
    return bool(segments.filter(end_ms=duration_ms).exists())


def complete_version(*, video_id: UUID, version: int, content: IndexedContent) -> None:
    """Switch questions to a whole version; the version fails instead if no part of it was described."""
    if not content.described:
        fail_version(
            video_id=video_id,
            version=version,
            code=content.commonest_gap or "nothing_described",
            message="No part of the video could be described.",
        )
        return
    stages: Counter[str] = Counter()
    damage = Damage()
    segments = Segment.objects.filter(video_id=video_id, index_version=version)
    for stage_ms, packets, damaged in segments.values_list("stage_ms", "packets", "damaged"):
        stages.update(stage_ms)
        damage += Damage(packets, damaged)
    if content.clock is not None:
        IndexVersion.objects.filter(video_id=video_id, n=version).update(clock=dict(content.clock))
    activate(video_id=video_id, version=version, stage_ms=stages, is_damaged=damage.is_serious)
