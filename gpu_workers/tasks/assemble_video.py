"""Assembles events out of observed segments in order of time; each step commits what has become ready meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from backend.billing.services.ledger import record_model_calls, record_wasted_calls
from backend.ekg.models import Chunk
from backend.ekg.object_memory import StagedObjects, store_objects, unlinked_tracks
from backend.ekg.reader import frames_between, read_chunk, transcript_between
from backend.ekg.writer import StagedEntities, VersionWriter
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.flow import enqueue_assembly, enqueue_summary, is_indexing
from backend.library.indexing.versions import activate, fail_version, set_indexed_until
from backend.library.models import IndexVersion, Segment, SegmentState, Video
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import EventRecord, Span
from gpu_workers.engine.indexing.assembly import EventAssembler
from gpu_workers.engine.indexing.objects import LinkedTracks, ObjectLinker
from gpu_workers.engine.models.observer.clock import Clock, fit_clock
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.tasks.models import index_models
from workers.runner import FollowUp, Work

SEGMENTS_PER_STEP = 4
"""Segments that are assembled and committed together when that many are ready: their summaries are in flight together,
so that slow models do not hold up a backlog segment by segment."""
TURN_SECONDS = 300.0
"""How long a run goes on to the next segment: well inside a task's time limit, however long the video is."""


@dataclass(frozen=True, slots=True)
class Step:
    """Observed segments to assemble, one behind the other. chunks: theirs; pending: earlier ones without an event."""

    video: Video
    version: int
    segments: list[Segment]
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
    summary: FollowUp | None = None
    while True:
        work.require_lease()
        step = next_step(work)
        if step is None:
            # Segments that become ready from now on ring again; one that did meanwhile has set rerun.
            with work.checkpoint():
                work.complete()
            return summary
        summary = assemble(work, step)
        if time.monotonic() >= turn_ends:
            # Ringing for itself gives the rest its own time limit and attempts.
            with work.checkpoint():
                enqueue_assembly(step.video.id, step.version)
                work.complete()
            return None


def next_step(work: Work) -> Step | None:
    """The earliest segments that are not assembled, as far as they are observed; None if there is nothing to do now."""
    with tenant_scope(work.lease.tenant_id):
        built = IndexVersion.objects.filter(id=work.lease.subject_id).first()
        if built is None or not is_indexing(built.video_id, built.n):
            return None
        version = built.n
        segments = Segment.objects.filter(video_id=built.video_id, index_version=version)
        waiting = segments.exclude(state=SegmentState.ASSEMBLED).order_by("n")[:SEGMENTS_PER_STEP]
        ready = list(takewhile(lambda segment: segment.state == SegmentState.OBSERVED, waiting))
        if not ready:
            return None
        first, last = ready[0], ready[-1]
        # After the segments: the duration of a growing video is at least what it was when they were made.
        video = Video.objects.get(id=built.video_id)
        writer = _writer(video, version)
        rows = Chunk.objects.filter(
            video_id=video.id, index_version=version, segment_n__gte=first.n, segment_n__lte=last.n
        ).order_by("n")
        lines = transcript_between(video.id, version, first.start_ms, last.end_ms)
        return Step(
            video=video,
            version=version,
            segments=ready,
            # No other segment ends where the recording does (backend.library.indexing.plan).
            last=last.end_ms == video.duration_ms,
            chunks=[read_chunk(row, lines) for row in rows],
            pending=writer.pending_chunks(before_segment=first.n),
            next_event_n=writer.next_event_n(),
        )


def _writer(video: Video, version: int) -> VersionWriter:
    models = index_models()
    return VersionWriter(
        video.id,
        version,
        text_model=models.text_embedder.name,
        frame_model=models.frame_embedder.name,
    )


def assemble(work: Work, step: Step) -> FollowUp | None:
    """Make the segments' events outside any transaction, then commit rows, graph, usage and checkpoint together.

    Returns the summary that ends the version after its last segment.
    """
    video, version = step.video, step.version
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
    linked = link_objects(step)
    wall_ms = round((timezone.now() - started).total_seconds() * 1000)
    with work.checkpoint():
        if not is_indexing(video.id, version):
            return None
        # Before the video's row is locked, see backend.library.indexing.versions.
        due = step.last or any(summary_is_due(segment.n) for segment in step.segments)
        summary = enqueue_summary(video.id, version) if due else None
        _writer(video, version).store_events(staging.records)
        for one in linked:
            describer = index_models().describer.name
            store_objects(one.objects, one.track_ids, video_id=video.id, version=version, model=describer)
        for segment in step.segments:
            segment.state, segment.assembled_at = SegmentState.ASSEMBLED, timezone.now()
            segment.stage_ms = {**segment.stage_ms, "assemble": wall_ms // len(step.segments)}
        Segment.objects.bulk_update(step.segments, ["state", "assembled_at", "stage_ms"])
        first = step.segments[0].id
        record_model_calls(source_type="assemble", source_id=first, calls=meter.calls, video_id=video.id)
        if staging.records:
            set_indexed_until(video_id=video.id, version=version, ms=staging.records[-1].event.span.end_ms)
    return FollowUp(summary.id) if summary is not None and step.last else None


def summary_is_due(segment_n: int) -> bool:
    """Whether the summary is told anew after this segment: half as often each time that the video doubles in length."""
    every = settings.SUMMARY_EVERY_SEGMENTS
    while segment_n >= 40 * every:
        every *= 2
    return bool((segment_n + 1) % every == 0)


@dataclass(frozen=True, slots=True)
class Linked:
    """track_ids: of the tracks that were linked, in their order."""

    objects: LinkedTracks
    track_ids: list[UUID]


def link_objects(step: Step) -> list[Linked]:
    """The tracks of each segment that has some, joined to the video's objects."""
    video, version = step.video, step.version
    known = StagedObjects(video.tenant_id, video.id, version, model=index_models().describer.name)
    linker = ObjectLinker(video.id, version, known)
    linked = []
    for segment in step.segments:
        with tenant_scope(video.tenant_id):
            track_ids, tracks = unlinked_tracks(video.id, version, segment.n)
        if tracks:
            linked.append(Linked(linker.link(segment.n, tracks), track_ids))
            known.stage(linked[-1].objects)
    return linked


def read_clock(video_id: UUID, version: int) -> Clock | None:
    """The clock in the picture, from everything that was read on screen."""
    rows = Chunk.objects.filter(video_id=video_id, index_version=version).exclude(on_screen_text=[])
    shown = rows.order_by("n").values_list("start_ms", "end_ms", "on_screen_text").iterator()
    return fit_clock(((start_ms + end_ms) // 2, text) for start_ms, end_ms, texts in shown for text in texts)


def finish_version(video_id: UUID, version: int) -> None:
    """All is in and told: the version becomes the one that questions read, unless nothing of it was described."""
    described = Chunk.objects.filter(video_id=video_id, index_version=version, gap=None)
    if not described.exists():
        gaps = Counter(Chunk.objects.filter(video_id=video_id, index_version=version).values_list("gap", flat=True))
        code = gaps.most_common(1)[0][0] if gaps else "nothing_described"
        message = "no part of the video could be described"
        fail_version(video_id=video_id, version=version, code=str(code), message=message)
        return
    stages: Counter[str] = Counter()
    for stage_ms in Segment.objects.filter(video_id=video_id, index_version=version).values_list("stage_ms", flat=True):
        stages.update(stage_ms)
    clock = read_clock(video_id, version)
    if clock is not None:
        IndexVersion.objects.filter(video_id=video_id, n=version).update(
            clock={"at_zero": clock.at_zero, "readings": clock.readings}
        )
    activate(video_id=video_id, version=version, stage_ms=stages)


def failed(lease: Lease, error: JobFailed) -> None:
    """Without its events a version cannot be read: its assembly's failure is the version's."""
    built = IndexVersion.objects.get(id=lease.subject_id)
    fail_version(video_id=built.video_id, version=built.n, code=error.code, message=str(error))
