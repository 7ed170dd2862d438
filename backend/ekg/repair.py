"""Repair a version that is retried in place: put back what failed, and keep what was observed.

An event can span segments and entities gather mentions over the whole recording, so events are not patched: if a
failed segment is part of them, all of them go, and the assembly makes them again out of the stored observations. They
get the ids that they would have without the failure, because ids come from positions.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db.models import F

from backend.ekg.graph_store import GraphStore
from backend.ekg.models import Chunk, Frame, FrameVector, IndexRow, Track, TranscriptLine
from backend.library.indexing.completion import is_whole
from backend.library.indexing.follow_ups import enqueue_assembly, enqueue_observation, enqueue_summary
from backend.library.indexing.rebuilding import begin_again
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


def reopen(segment: Segment) -> bool:
    """Take a ready version apart for a segment of it that was observed again, and put the segment back.

    Runs in the checkpoint that stores the observation, so that an index is taken apart only for a retry that succeeded.
    Other segments that wait for a retry are put back too, and the events are made again once. Returns whether the
    version is still the one that questions read; if not, nothing has changed.
    """
    segments = Segment.objects.filter(video_id=segment.video_id, index_version=segment.index_version)
    others = list(segments.exclude(retry_at=None).exclude(id=segment.id).order_by("n"))
    # Jobs are locked before the video. Each of these opens the next ones.
    for other in others[: settings.SEGMENTS_WAITING]:
        enqueue_observation(other.id, segment.video_id)
    enqueue_assembly(segment.video_id, segment.index_version)
    GraphStore().lock_video(segment.video_id)
    if not begin_again(segment.video_id, segment.index_version):
        return False
    take_apart(segment.video_id, segment.index_version)
    segments.filter(id__in=[other.id for other in others]).update(retries=F("retries") + 1)
    for failed in (segment, *others):
        _forget_observation(failed)
    return True


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
        state=SegmentState.PENDING, error_code="", stage_ms={}, observed_at=None, assembled_at=None, retry_at=None
    )
