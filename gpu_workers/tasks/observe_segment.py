"""Observes one segment: reads its span of the stored object and commits the observation, usage and checkpoint."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from backend.billing.charges import FULL, OBSERVER
from backend.billing.services.usage.ledger import record_media_seconds, record_model_calls
from backend.ekg.repair import reopen
from backend.ekg.writer import VersionWriter
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.follow_ups import enqueue_assembly, open_next_segments
from backend.library.indexing.segments import (
    PendingSegment,
    mark_gap,
    mark_heard,
    mark_observed,
    pending_segment,
)
from backend.library.indexing.versions import is_indexing, round_of
from backend.library.models import Segment, SegmentState
from backend.library.services.attribution import attribution_of, is_live
from backend.library.storage import thumbnail_key
from backend.observability.metrics import SEGMENTS_GIVEN_UP, count_gaps, observe_stages
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import Chunk, FrameRow, SegmentRecord, Span, chunk_spans
from gpu_workers.engine.indexing.container import DecoderUnavailable
from gpu_workers.engine.indexing.sampling import SourceUnreadable
from gpu_workers.engine.indexing.segments import Observation, observe_segment, spoken_language
from gpu_workers.engine.indexing.source import Piece, Source
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.tasks.failures import failing_job
from gpu_workers.tasks.recent_thumbnails import RECENT
from gpu_workers.tasks.sandbox import index_models_of
from workers.endings import without_decoder
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

URL_LIFETIME = timedelta(hours=2)
THUMBNAILS_AT_ONCE = 8


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        pending = pending_segment(work.lease.subject_id)
        if pending is not None:
            # This worker has taken one of the segments that wait; another free worker finds the next.
            open_next_segments(pending.video.id, pending.segment.index_version)
    if pending is None:
        work.finish()
        return None
    storage = work.objects()
    meter = work.meter()
    span = span_of(pending.segment)

    def observed_until(ms: int) -> None:
        work.require_lease()
        work.progress("observe", (ms - span.start_ms) // 1000, span.duration_ms // 1000)

    source = Source(
        tuple(
            Piece(
                storage.presign_get(piece.object_key, expires=URL_LIFETIME),
                Span(piece.start_ms, piece.end_ms),
                clock=piece.clock,
                tracks=piece.tracks,
            )
            for piece in pending.pieces
        ),
    )
    try:
        with failing_job(work):
            observation = observe_segment(
                source,
                span,
                index_models_of(work.lease.tenant_id),
                profile=pending.video.profile,
                instructions=pending.instructions,
                language=spoken_in(pending),
                meter=meter,
                on_progress=observed_until,
            )
    except DecoderUnavailable as error:
        raise without_decoder(work, error.code, str(error)) from error
    except SourceUnreadable as error:
        # Raises StorageAway if the store, and not the recording, is at fault.
        storage.head(pending.pieces[0].object_key)
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    for warning in observation.warnings:
        logger.warning("video %s, chunk %d: %s: %s", pending.video.id, warning.n, warning.code, warning.message)
    return commit(work, pending, observation, store_thumbnails(work, pending.segment, observation.record), meter)


def spoken_in(pending: PendingSegment) -> str:
    """Return the language to transcribe in, "" to detect it. What was heard on one track says nothing of another."""
    several = any(len(piece.tracks) > 1 for piece in pending.pieces)
    return str(pending.video.language if several else pending.video.spoken_language)


def store_thumbnails(work: Work, segment: Segment, record: SegmentRecord) -> dict[int, str]:
    """Store each frame's thumbnail, several at a time. Returns the object keys by frame time in milliseconds."""
    # A frame always has the same key: a second attempt overwrites the thumbnails of the first.
    keys = {
        frame.ms: thumbnail_key(work.lease.tenant_id, segment.video_id, segment.index_version, frame.ms)
        for frame in record.frames
    }

    work.stores_under(segment.video_id)
    sizes = {keys[frame.ms]: len(frame.jpeg) for frame in record.frames}
    put_object = work.objects().putter(sizes, content_type="image/jpeg")

    def put(frame: FrameRow) -> None:
        # Thumbnails of a video that is deleted meanwhile must not appear after its purge.
        work.require_lease()
        put_object(keys[frame.ms], frame.jpeg)

    with ThreadPoolExecutor(THUMBNAILS_AT_ONCE, "thumbnails") as pool:
        deque(pool.map(put, record.frames), maxlen=0)  # raises the first error of a put
    RECENT.keep({keys[frame.ms]: frame.jpeg for frame in record.frames})
    return keys


def commit(
    work: Work, pending: PendingSegment, observation: Observation, keys: dict[int, str], meter: Meter
) -> FollowUp | None:
    """Store the observation with usage and checkpoint. Returns the assembly job that follows."""
    segment, models = pending.segment, index_models_of(work.lease.tenant_id)
    belongs = attribution_of(pending.video)

    def store() -> UUID | None:
        if not is_indexing(segment.video_id, segment.index_version) and not reopen(segment):
            work.complete()
            return None
        writer = VersionWriter(
            segment.video_id,
            segment.index_version,
            text_model=models.text_embedder.name,
            frame_model=models.frame_embedder.name,
        )
        writer.store_segment(segment.n, observation.record, thumbnail_keys=keys)
        mark_heard(segment.video_id, spoken_language(observation.record))
        mark_observed(segment.id, stage_ms=asdict(observation.times), damage=observation.damage)
        seconds = described_seconds(observation.record.chunks)
        if seconds:
            record_media_seconds(
                segment_id=segment.id,
                video_id=segment.video_id,
                seconds=seconds,
                live=is_live(pending.video),
                stages=FULL if ModelSettings.from_env().describer.url else OBSERVER,
                attribution=belongs,
            )
        calls = work.bill(meter)
        work_id = round_of(segment.video_id, segment.index_version, segment.id)
        record_model_calls(source_type="observe", source_id=work_id, calls=calls, attribution=belongs)
        assembly = enqueue_assembly(segment.video_id, segment.index_version)
        work.complete()
        return UUID(str(assembly.id))

    assembly_id = work.commit(store)
    count_gaps(chunk.gap for chunk in observation.record.chunks)
    observe_stages("index", asdict(observation.times))
    return FollowUp(assembly_id) if assembly_id is not None else None


def described_seconds(chunks: Sequence[Chunk]) -> Decimal:
    """Return the seconds of the chunks that have a description: what a segment is billed for."""
    return Decimal(sum(chunk.span.duration_ms for chunk in chunks if chunk.description is not None)) / 1000


def failed(lease: Lease, error: JobFailed) -> None:
    """Store explicit gaps for a segment that cannot be observed, so that the rest of the video is still answered."""
    pending = pending_segment(lease.subject_id)
    if pending is None:
        return
    if mark_gap(pending, code=error.code):
        logger.error(
            "video %s, segment %d failed after its last retry: %s", pending.video.id, pending.segment.n, error.code
        )
        SEGMENTS_GIVEN_UP.inc()
    if pending.segment.state == SegmentState.PENDING:
        leave_out(pending.segment, code=error.code)


def leave_out(segment: Segment, *, code: str) -> None:
    """Store gaps in place of the segment's chunks, and go on with the recording."""
    gaps = tuple(Chunk(n, span, None, gap=code) for n, span in chunk_spans(span_of(segment)))
    VersionWriter(segment.video_id, segment.index_version, text_model="", frame_model="").store_segment(
        segment.n, SegmentRecord(span_of(segment), gaps, ()), thumbnail_keys={}
    )
    count_gaps(chunk.gap for chunk in gaps)
    open_next_segments(segment.video_id, segment.index_version)
    enqueue_assembly(segment.video_id, segment.index_version)


def span_of(segment: Segment) -> Span:
    return Span(segment.start_ms, segment.end_ms)
