"""Repair a version that is retried in place: put back what failed, and keep what was observed.

An event can span segments and entities gather mentions over the whole recording, so events are not patched: if a
failed segment is part of them, all of them go, and the assembly makes them again out of the stored observations. They
get the ids that they would have without the failure, because ids come from positions.
"""

from __future__ import annotations

from uuid import UUID

from backend.ekg.graph_store import GraphStore
from backend.ekg.models import Chunk, Frame, FrameVector, IndexRow, Track, TranscriptLine
from backend.library.indexing.completion import is_whole
from backend.library.indexing.follow_ups import enqueue_assembly, enqueue_summary
from backend.library.models import SEGMENT_WANTED_AGAIN, IndexVersion, Segment, SegmentState

OBSERVATIONS: tuple[type[IndexRow], ...] = (Chunk, Frame, FrameVector, Track, TranscriptLine)
"""Rows that the observation of a segment writes; the assembly and the summary write all others."""


def repair_version(video_id: UUID) -> int | None:
    """Put back the wanted segments of the version that waits for its repair. Returns its number; None if none waits.

    Runs in the checkpoint of the job that plans the version; nothing else writes to the version until it commits.
    """
    row: IndexVersion | None = IndexVersion.objects.select_for_update().filter(video_id=video_id, repair=True).first()
    if row is None:
        return None
    version: int = row.n
    GraphStore().lock_video(video_id)
    segments = Segment.objects.filter(video_id=video_id, index_version=version)
    wanted = list(segments.filter(error_code=SEGMENT_WANTED_AGAIN).order_by("n"))
    if any(segment.state == SegmentState.ASSEMBLED for segment in wanted):
        take_apart(video_id, version)
    for segment in wanted:
        _forget_observation(segment)
    IndexVersion.objects.filter(id=row.id).update(repair=False)
    return version


def take_apart(video_id: UUID, version: int) -> None:
    """Remove everything that was made out of the observations of a version: events, entities, objects, summary."""
    GraphStore().drop_version(video_id, version)
    scope = {"video_id": video_id, "index_version": version}
    Chunk.objects.filter(**scope).exclude(event=None).update(event=None)
    Frame.objects.filter(**scope).exclude(event=None).update(event=None)
    Track.objects.filter(**scope).exclude(object=None).update(object=None)
    for model in IndexRow.__subclasses__():
        if model not in OBSERVATIONS:
            model.objects.filter(**scope).delete()
    segments = Segment.objects.filter(**scope, state=SegmentState.ASSEMBLED)
    segments.update(state=SegmentState.OBSERVED, assembled_at=None)
    IndexVersion.objects.filter(video_id=video_id, n=version).update(indexed_until_ms=0, clock=None, stage_ms={})


def enqueue_what_remains(video_id: UUID, version: int) -> None:
    """Enqueue the assembly of segments that are observed already, and the summary of a whole version."""
    enqueue_assembly(video_id, version)
    if is_whole(video_id, version):
        enqueue_summary(video_id, version)


def _forget_observation(segment: Segment) -> None:
    scope = {"video_id": segment.video_id, "index_version": segment.index_version}
    Chunk.objects.filter(**scope, segment_n=segment.n).delete()
    Track.objects.filter(**scope, segment_n=segment.n).delete()
    for model in (Frame, FrameVector):
        model.objects.filter(**scope, ms__gte=segment.start_ms, ms__lt=segment.end_ms).delete()
    TranscriptLine.objects.filter(**scope, start_ms__gte=segment.start_ms, start_ms__lt=segment.end_ms).delete()
    Segment.objects.filter(id=segment.id).update(
        state=SegmentState.PENDING, error_code="", stage_ms={}, observed_at=None, assembled_at=None
    )
