"""Assembles events out of observed segments in time order; each step commits all segments that are ready by then."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from backend.billing.services.usage.ledger import record_model_calls
from backend.ekg.index_reads import chunks_of, frames_between
from backend.ekg.object_memory import StagedObjects, object_numbers, store_objects, unlinked_tracks
from backend.ekg.writer import StagedEntities, VersionWriter
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.activation import set_indexed_until
from backend.library.indexing.failure import fail_version
from backend.library.indexing.follow_ups import enqueue_assembly, enqueue_summary, summary_is_due
from backend.library.indexing.segments import ObservedSegments, mark_assembled, observed_segments
from backend.library.indexing.versions import is_indexing, round_of, version_of
from backend.library.models import Video
from backend.library.services.attribution import attribution_of
from backend.observability.metrics import observe_stages
from backend.tenancy.context import tenant_scope
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import EventRecord, Span
from gpu_workers.engine.indexing.assembly import EventAssembler
from gpu_workers.engine.indexing.objects import LinkedTracks, ObjectLinker, numbers_of, with_objects
from gpu_workers.tasks.failures import failing_job
from gpu_workers.tasks.recent_thumbnails import StoredFrames
from gpu_workers.tasks.sandbox import index_models_of
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

SEGMENTS_PER_STEP = 32
"""Maximum number of ready segments that one step assembles and commits. Their summaries are requested together, so that
slow models do not hold up a backlog segment by segment."""
TURN_SECONDS = 300.0
"""Maximum seconds for which a run starts further segments: well inside a task's time limit, however long the video."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the assembly. chunks: of the observed segments. pending: earlier chunks without an event."""

    observed: ObservedSegments
    chunks: list[ekg.Chunk]
    pending: list[ekg.Chunk]
    next_event_n: int


class _Staging:
    """Collects the assembler's events until their commit, and lets later events of the step link to their entities."""

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
            # A segment that becomes ready from now on wakes the job; if one became ready meanwhile, the job runs again.
            work.finish()
            return summary
        summary = assemble(work, step)
        if time.monotonic() >= turn_ends:
            # Another run of this same job gives the remaining segments their own time limit and attempts.
            work.commit(partial(_run_again, work, step))
            return None


def _run_again(work: Work, step: Step) -> None:
    enqueue_assembly(step.observed.video.id, step.observed.version)
    work.complete()


def next_step(work: Work) -> Step | None:
    """Return the earliest observed segments with their chunks; None if there is nothing to assemble now."""
    with tenant_scope(work.lease.tenant_id):
        ready = observed_segments(work.lease.subject_id, limit=SEGMENTS_PER_STEP)
        if ready is None:
            return None
        # It only reads here; the models are loaded outside of the transaction.
        writer = VersionWriter(ready.video.id, ready.version, text_model="", frame_model="")
        return Step(
            observed=ready,
            chunks=chunks_of(ready.segments),
            pending=writer.pending_chunks(before_segment=ready.segments[0].n),
            next_event_n=writer.next_event_n(),
        )


def _writer(video: Video, version: int) -> VersionWriter:
    models = index_models_of(video.tenant_id)
    return VersionWriter(
        video.id,
        version,
        text_model=models.text_embedder.name,
        frame_model=models.frame_embedder.name,
    )


def assemble(work: Work, step: Step) -> FollowUp | None:
    """Make the segments' events outside any transaction, then commit rows, graph, usage and checkpoint together.

    Returns the summary job that ends the version, if the step held the version's last segment.
    """
    video, version, segments = step.observed.video, step.observed.version, step.observed.segments
    meter = work.meter()
    with failing_job(work):
        models = index_models_of(video.tenant_id)
    directory = StagedEntities(video.tenant_id, video.id, version)
    staging = _Staging(directory)

    begin_ms = min([segments[0].start_ms, *(chunk.span.start_ms for chunk in step.pending)])
    with tenant_scope(video.tenant_id):
        frames = frames_between(video.id, version, Span(begin_ms, segments[-1].end_ms))
    started = time.monotonic()
    linked = link_objects(step.observed)
    numbers = {track: n for result in linked for track, n in result.numbers.items()}
    if step.pending:
        with tenant_scope(video.tenant_id):
            numbers = object_numbers(video.id, version, step.pending[0].span.start_ms) | numbers
    with failing_job(work):
        assembler = EventAssembler(
            video.id,
            version,
            models,
            directory,
            staging,
            profile=video.profile,
            meter=meter,
            frames_for=StoredFrames(frames, work.objects()),
            next_event_n=step.next_event_n,
            pending_chunks=with_objects(step.pending, numbers),
        )
        assembler.push(with_objects(step.chunks, numbers), ends=step.observed.last or step.observed.newest)
    for warning in assembler.warnings:
        logger.warning(
            "video %s, event %s: %s: %s: %s", video.id, warning.event_id, warning.stage, warning.code, warning.message
        )
    wall_ms = round((time.monotonic() - started) * 1000)

    def store() -> UUID | None:
        if not is_indexing(video.id, version):
            return None
        # The summary's job is locked before the video's row, see LOCK_ORDER.
        due = step.observed.last or any(summary_is_due(segment.n) for segment in segments)
        summary = enqueue_summary(video.id, version) if due else None
        _writer(video, version).store_events(staging.records)
        for result in linked:
            name = models.describer.name
            store_objects(result.objects, result.track_ids, video_id=video.id, version=version, model=name)
        mark_assembled(segments, wall_ms=wall_ms)
        work_id = round_of(video.id, version, segments[0].id)
        calls = work.bill(meter)
        record_model_calls(source_type="assemble", source_id=work_id, calls=calls, attribution=attribution_of(video))
        if staging.records:
            set_indexed_until(video_id=video.id, version=version, ms=staging.records[-1].event.span.end_ms)
        return UUID(str(summary.id)) if summary is not None and step.observed.last else None

    summary_id = work.advance(store)
    observe_stages("index", {"assemble": wall_ms})
    return FollowUp(summary_id) if summary_id is not None else None


@dataclass(frozen=True, slots=True)
class Linked:
    """Objects linked from one segment.

    track_ids: ids of the linked tracks, in their order. numbers: the object's number by the track's.
    """

    objects: LinkedTracks
    track_ids: list[UUID]
    numbers: dict[int, int]


def link_objects(observed: ObservedSegments) -> list[Linked]:
    """Join the tracks of each segment to the video's objects; segments without tracks are left out."""
    video, version = observed.video, observed.version
    staged = StagedObjects(video.tenant_id, video.id, version, model=index_models_of(video.tenant_id).describer.name)
    linker = ObjectLinker(video.id, version, staged)
    linked = []
    for segment in observed.segments:
        with tenant_scope(video.tenant_id):
            track_ids, tracks = unlinked_tracks(video.id, version, segment.n)
        if tracks:
            joined = linker.link(segment.n, tracks)
            linked.append(Linked(joined, track_ids, numbers_of(joined, tracks)))
            staged.stage(linked[-1].objects)
    return linked


def failed(lease: Lease, error: JobFailed) -> None:
    """End the version: it cannot be read without its events."""
    built = version_of(lease.subject_id)
    if built is not None:
        fail_version(video_id=built.video_id, version=built.n, code=error.code, message=str(error))
