"""Assembles events out of observed segments in order of time, one commit per segment; ends the video with the last."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from backend.billing.services import record_model_calls, record_wasted_calls
from backend.ekg.models import Chunk
from backend.ekg.reader import frames_between, read_chunk, transcript_between
from backend.ekg.writer import StagedEntities, VersionWriter
from backend.jobs.index_flow import enqueue_assembly
from backend.jobs.models import Segment, SegmentState
from backend.jobs.services import JobFailed, Lease
from backend.library.models import Video, VideoStatus
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from backend.webhooks.payloads import video_data
from backend.webhooks.services import emit
from gpu_workers import ekg
from gpu_workers.ekg import EventRecord, Span
from gpu_workers.indexing.assembly import EventAssembler
from gpu_workers.models.roles import Meter, ModelError
from gpu_workers.tasks.models import index_models
from workers.probe_video import fail_video
from workers.runner import FollowUp, Work

TURN_SECONDS = 300.0
"""How long a run goes on to the next segment: well inside a task's time limit, however long the video is."""


@dataclass(frozen=True, slots=True)
class Step:
    """One observed segment to assemble. chunks: its own; pending: those of earlier segments without an event."""

    video: Video
    segment_id: UUID
    segment_n: int
    last: bool
    chunks: list[ekg.Chunk]
    pending: list[ekg.Chunk]
    next_event_n: int


class _Staging:
    """Takes the assembler's events until their commit, and lets later ones of the step link to their entities."""

    def __init__(self, directory: StagedEntities) -> None:
        self.records: list[EventRecord] = []
        self._directory = directory

    def append(self, record: EventRecord) -> None:
        self.records.append(record)
        self._directory.stage(record)


def handle(work: Work) -> FollowUp | None:
    turn_ends = time.monotonic() + TURN_SECONDS
    while True:
        work.require_lease()
        step = next_step(work)
        if step is None:
            # Segments that become ready from now on ring again; one that did meanwhile has set rerun.
            with work.checkpoint():
                work.complete()
            return None
        assemble(work, step)
        if time.monotonic() >= turn_ends:
            # Ringing for itself gives the rest its own time limit and attempts.
            with work.checkpoint():
                enqueue_assembly(work.lease.subject_id, step.video.building_index_version)
                work.complete()
            return None


def next_step(work: Work) -> Step | None:
    """The earliest segment that is not assembled, if it is observed; None if there is nothing to do now."""
    with tenant_scope(work.lease.tenant_id):
        video = Video.objects.get(id=work.lease.subject_id)
        version = video.building_index_version
        segments = Segment.objects.filter(video_id=video.id, index_version=version)
        segment = segments.exclude(state=SegmentState.ASSEMBLED).order_by("n").first()
        if segment is None or segment.state != SegmentState.OBSERVED or video.status != VideoStatus.INDEXING:
            return None
        writer = _writer(video)
        rows = Chunk.objects.filter(video_id=video.id, index_version=version, segment_n=segment.n).order_by("n")
        lines = transcript_between(video.id, version, segment.start_ms, segment.end_ms)
        return Step(
            video=video,
            segment_id=segment.id,
            segment_n=segment.n,
            last=not segments.filter(n__gt=segment.n).exists(),
            chunks=[read_chunk(row, lines) for row in rows],
            pending=writer.pending_chunks(before_segment=segment.n),
            next_event_n=writer.next_event_n(),
        )


def _writer(video: Video) -> VersionWriter:
    models = index_models()
    return VersionWriter(
        video.id,
        video.building_index_version,
        text_model=models.text_embedder.name,
        frame_model=models.frame_embedder.name,
    )


def assemble(work: Work, step: Step) -> None:
    """Make the segment's events outside any transaction, then commit rows, graph, usage and checkpoint together."""
    video, version = step.video, step.video.building_index_version
    meter = Meter()
    directory = StagedEntities(video.tenant_id, video.id, version)
    staging = _Staging(directory)

    def frames_for(span: Span, limit: int) -> list[tuple[int, bytes]]:
        with tenant_scope(video.tenant_id):
            keys = frames_between(video.id, version, span, limit=limit)
        return [(ms, ObjectStorage().get(key)) for ms, key in keys]

    started = timezone.now()
    try:
        assembler = EventAssembler(
            video.id,
            version,
            index_models(),
            directory,
            staging,
            profile=video.profile,
            meter=meter,
            frames_for=frames_for,
            next_event_n=step.next_event_n,
            pending_chunks=step.pending,
        )
        assembler.push(step.chunks)
        if step.last:
            assembler.flush()
    except ModelError as error:
        with tenant_scope(video.tenant_id):
            record_wasted_calls(calls=meter.calls, reason=error.code, video_id=video.id)
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    wall_ms = round((timezone.now() - started).total_seconds() * 1000)
    with work.checkpoint():
        _writer(video).store_events(staging.records)
        segment = Segment.objects.get(id=step.segment_id)
        Segment.objects.filter(id=segment.id).update(
            state=SegmentState.ASSEMBLED,
            assembled_at=timezone.now(),
            stage_ms={**segment.stage_ms, "assemble": wall_ms},
        )
        record_model_calls(source_type="assemble", source_id=step.segment_id, calls=meter.calls, video_id=video.id)
        if staging.records:
            Video.objects.filter(id=video.id).update(indexed_until_ms=staging.records[-1].event.span.end_ms)
        if step.last:
            finish_video(video.id)


def finish_video(video_id: UUID) -> None:
    """The last segment is in: the version becomes the one that questions read, and customers are told.

    A video that is being deleted stays so.
    """
    video: Video = Video.objects.select_for_update().get(id=video_id)
    version = video.building_index_version
    if video.status != VideoStatus.INDEXING:
        return
    described = Chunk.objects.filter(video_id=video_id, index_version=version, gap=None)
    if not described.exists():
        gaps = Counter(Chunk.objects.filter(video_id=video_id, index_version=version).values_list("gap", flat=True))
        code = gaps.most_common(1)[0][0] if gaps else "nothing_described"
        fail_video(video_id, JobFailed(str(code), "no part of the video could be described", retryable=False))
        return
    stages: Counter[str] = Counter()
    for stage_ms in Segment.objects.filter(video_id=video_id, index_version=version).values_list("stage_ms", flat=True):
        stages.update(stage_ms)
    video.status = VideoStatus.READY
    video.ready_at = timezone.now()
    video.active_index_version = version
    video.indexed_until_ms = video.duration_ms or 0
    video.stage_ms = dict(stages)
    video.version += 1
    video.save()
    emit(type="video.ready", resource_id=video.id, data=video_data(video), sequence=version)


def failed(lease: Lease, error: JobFailed) -> None:
    """Without its events a video cannot be answered: its failure is the video's."""
    fail_video(lease.subject_id, error)
