"""Observes one segment: reads its span of the stored object and commits what it shows, with usage and checkpoint."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from backend.billing.services.ledger import record_media_seconds, record_model_calls, record_wasted_calls
from backend.ekg.writer import VersionWriter
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.flow import enqueue_assembly, is_indexing, open_next_segments
from backend.library.models import Collection, Segment, SegmentState, Video
from backend.library.recording import RecordedPiece, pieces
from backend.library.storage import ObjectStorage, thumbnail_key
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import Chunk, FrameRow, SegmentRecord, Span, chunk_spans
from gpu_workers.engine.indexing.sampling import SourceUnreadable
from gpu_workers.engine.indexing.segments import Observation, Piece, Source, observe_segment
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.tasks.models import index_models
from workers.runner import FollowUp, Work

URL_LIFETIME = timedelta(hours=2)
THUMBNAILS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Task:
    """What the segment's row and its video say about the work."""

    segment_id: UUID
    segment_n: int
    version: int
    span: Span
    video: Video
    pieces: tuple[RecordedPiece, ...]
    instructions: str


def load(work: Work) -> Task | None:
    """None when there is nothing left to do: observed already, or its version has failed or is going away."""
    with tenant_scope(work.lease.tenant_id):
        segment = Segment.objects.filter(id=work.lease.subject_id, state=SegmentState.PENDING).first()
        if segment is None or not is_indexing(segment.video_id, segment.index_version):
            return None
        video = Video.objects.get(id=segment.video_id)
        recorded = pieces(video, start_ms=segment.start_ms, end_ms=segment.end_ms)
        collection = Collection.objects.filter(id=video.collection_id).first() if video.collection_id else None
    return Task(
        segment_id=segment.id,
        segment_n=segment.n,
        version=segment.index_version,
        span=Span(segment.start_ms, segment.end_ms),
        video=video,
        pieces=tuple(recorded),
        instructions=collection.instructions if collection else "",
    )


def handle(work: Work) -> FollowUp | None:
    task = load(work)
    if task is None:
        with work.checkpoint():
            work.complete()
        return None
    storage = ObjectStorage()
    meter = Meter()
    span_s = task.span.duration_ms // 1000

    def seen_until(ms: int) -> None:
        work.require_lease()
        work.progress("observe", (ms - task.span.start_ms) // 1000, span_s)

    try:
        seen = observe_segment(
            Source(
                tuple(
                    Piece(
                        storage.presign_get(piece.object_key, expires=URL_LIFETIME),
                        Span(piece.start_ms, piece.end_ms),
                        source_start_ms=piece.source_start_ms,
                        has_audio=piece.has_audio,
                    )
                    for piece in task.pieces
                ),
                ffmpeg=settings.FFMPEG_BINARY,
            ),
            task.span,
            index_models(),
            profile=task.video.profile,
            instructions=task.instructions,
            meter=meter,
            on_progress=seen_until,
        )
    except ModelError as error:
        with tenant_scope(work.lease.tenant_id):
            record_wasted_calls(calls=meter.calls, reason=error.code, video_id=task.video.id)
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    except SourceUnreadable as error:
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    return commit(work, task, seen, store_thumbnails(work, task, seen.record), meter)


def store_thumbnails(work: Work, task: Task, record: SegmentRecord) -> dict[int, str]:
    """The object key of each frame's thumbnail. Storage is slow to answer, so several are under way at once."""
    storage = ObjectStorage()
    # The same key for the same frame: a second attempt overwrites what a first one left.
    keys = {
        frame.ms: thumbnail_key(work.lease.tenant_id, task.video.id, task.version, frame.ms) for frame in record.frames
    }

    def put(frame: FrameRow) -> None:
        # Thumbnails of a video that is deleted meanwhile must not appear after its purge.
        work.require_lease()
        storage.put(keys[frame.ms], frame.jpeg, content_type="image/jpeg")

    with ThreadPoolExecutor(THUMBNAILS_AT_ONCE, "thumbnails") as pool:
        deque(pool.map(put, record.frames), maxlen=0)  # raises what one of them raised
    return keys


def commit(work: Work, task: Task, seen: Observation, keys: dict[int, str], meter: Meter) -> FollowUp | None:
    models = index_models()
    with work.checkpoint():
        if not is_indexing(task.video.id, task.version):
            work.complete()
            return None
        writer = VersionWriter(
            task.video.id,
            task.version,
            text_model=models.text_embedder.name,
            frame_model=models.frame_embedder.name,
        )
        writer.store_segment(task.segment_n, seen.record, thumbnail_keys=keys)
        Segment.objects.filter(id=task.segment_id).update(
            state=SegmentState.OBSERVED, stage_ms=asdict(seen.times), observed_at=timezone.now()
        )
        record_media_seconds(
            segment_id=task.segment_id, video_id=task.video.id, seconds=Decimal(task.span.duration_ms) / 1000
        )
        record_model_calls(source_type="observe", source_id=task.segment_id, calls=meter.calls, video_id=task.video.id)
        open_next_segments(task.video.id, task.version)
        assembly = enqueue_assembly(task.video.id, task.version)
        work.complete()
    return FollowUp(assembly.id)


def failed(lease: Lease, error: JobFailed) -> None:
    """A segment that cannot be observed becomes explicit gaps, so that the rest of the video is still answered."""
    segment = Segment.objects.filter(id=lease.subject_id, state=SegmentState.PENDING).first()
    if segment is None or not is_indexing(segment.video_id, segment.index_version):
        return
    gaps = tuple(
        Chunk(n, span, None, gap=error.code) for n, span in chunk_spans(Span(segment.start_ms, segment.end_ms))
    )
    record = SegmentRecord(Span(segment.start_ms, segment.end_ms), gaps, ())
    VersionWriter(segment.video_id, segment.index_version, text_model="", frame_model="").store_segment(
        segment.n, record, thumbnail_keys={}
    )
    Segment.objects.filter(id=segment.id).update(
        state=SegmentState.OBSERVED, error_code=error.code, observed_at=timezone.now()
    )
    open_next_segments(segment.video_id, segment.index_version)
    enqueue_assembly(segment.video_id, segment.index_version)
