"""Indexing a whole recording in one process: for notebooks, the evaluation harness and measurements.

The service runs the same steps as jobs, one per segment (gpu_workers.tasks).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import astuple, dataclass, field
from itertools import count
from typing import Protocol
from uuid import UUID

from gpu_workers.engine.ekg import SegmentRecord, Span
from gpu_workers.engine.indexing.assembly import AssemblySettings, AssemblyWarning, EventAssembler
from gpu_workers.engine.indexing.frame_stream import Damage
from gpu_workers.engine.indexing.objects import LinkedTracks, ObjectLinker, numbers_of, with_objects
from gpu_workers.engine.indexing.segments import Observation, StageTimes, plan_segments
from gpu_workers.engine.models.roles import IndexModels, Meter
from gpu_workers.engine.ports import EntityDirectory, EventSink, ObjectDirectory
from gpu_workers.engine.threads import ContextPool

Observe = Callable[[Span], Observation]


class IndexStore(EntityDirectory, ObjectDirectory, EventSink, Protocol):
    """The store of an index while it is made."""

    def add_segment(self, segment: SegmentRecord) -> None: ...

    def put_objects(self, linked: LinkedTracks) -> None: ...

    def frames_for(self, span: Span, limit: int) -> list[tuple[int, bytes]]: ...


@dataclass(slots=True)
class IndexingReport:
    """times: summed over segments, which overlap. damage: of the recording."""

    times: StageTimes = field(default_factory=StageTimes)
    damage: Damage = field(default_factory=Damage)
    warnings: list[AssemblyWarning] = field(default_factory=list)


def index_recording(
    observe: Observe,
    duration_ms: int,
    models: IndexModels,
    store: IndexStore,
    *,
    video_id: UUID,
    index_version: int = 1,
    profile: str = "general",
    meter: Meter,
    segment_ms: int = 30_000,
    in_flight: int = 2,
    settings: AssemblySettings | None = None,
) -> IndexingReport:
    """Index 0..duration_ms into store.

    observe: returns the observation of a span, as observe_segment() does. in_flight: maximum number of segments that
    are observed at once; at most twice as many are held in memory. Events are made in order of time while later
    segments are being observed. All ready segments are made into events together, so that the batches grow if summaries
    are slow. Raises what observe and the models raise; nothing is left running.
    """
    report = IndexingReport()
    assembler = EventAssembler(
        video_id,
        index_version,
        models,
        store,
        store,
        profile=profile,
        meter=meter,
        frames_for=store.frames_for,
        settings=settings,
    )
    linker, segments = ObjectLinker(video_id, index_version, store), count()
    for ready in _in_order(observe, plan_segments(duration_ms, segment_ms=segment_ms), in_flight):
        numbers: dict[int, int] = {}
        for observation in ready:
            store.add_segment(observation.record)
            linked = linker.link(next(segments), observation.record.tracks)
            store.put_objects(linked)
            numbers |= numbers_of(linked, observation.record.tracks)
            report.damage += observation.damage
            _add(report.times, observation.times)
        assembler.push(with_objects([chunk for observation in ready for chunk in observation.record.chunks], numbers))
    assembler.flush()
    report.warnings = assembler.warnings
    return report


def _in_order(observe: Observe, spans: list[Span], in_flight: int) -> Iterator[list[Observation]]:
    """Yield observations in order of time, all that are ready at once, at least one."""
    with ContextPool(in_flight, "observe") as pool:
        waiting: deque[Future[Observation]] = deque()
        rest = iter(spans)

        def fill() -> None:
            while len(waiting) < 2 * in_flight and (span := next(rest, None)) is not None:
                waiting.append(pool.submit(observe, span))

        try:
            fill()
            while waiting:
                ready = [waiting.popleft().result()]
                while waiting and waiting[0].done():
                    ready.append(waiting.popleft().result())
                fill()
                yield ready
        finally:
            pool.shutdown(cancel_futures=True)


def _add(total: StageTimes, more: StageTimes) -> None:
    for name, ms in zip(total.__slots__, astuple(more), strict=True):
        setattr(total, name, getattr(total, name) + ms)
