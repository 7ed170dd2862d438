"""A video's segments, the unit of work and checkpoint, and the observation of one segment."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Chunk,
    FrameRow,
    SampledFrame,
    SegmentRecord,
    Span,
    TrackObservation,
    TranscriptLine,
    chunk_spans,
)
from gpu_workers.engine.indexing.crops import with_crops
from gpu_workers.engine.indexing.frame_stream import Damage
from gpu_workers.engine.indexing.sampling import BoxedFrames, sample_frames
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.indexing.thumbnails import thumbnail
from gpu_workers.engine.indexing.transcription import transcribe_span
from gpu_workers.engine.models.frame_grid import SamplingGrid
from gpu_workers.engine.models.roles import (
    ChunkView,
    Describer,
    DescriptionWarning,
    IndexModels,
    ManyRates,
    Meter,
    ModelRefused,
    SegmentDescription,
    SegmentView,
)
from gpu_workers.engine.threads import ContextPool

SHORTEST_SEGMENT_MS = 2 * CHUNK_MS
FIRST_SEGMENT_MS, FIRST_MS = 12_000, 120_000
"""Longest segment in the first FIRST_MS of a recording. Short segments let every worker take part in a short recording.
They begin at the beginning, since no cut may depend on how much is recorded later."""
QUEUED_FRAMES = 16
"""Maximum number of decoded pictures that wait for the models."""
EMBEDDING_BATCH = 16


def plan_segments(duration_ms: int, *, segment_ms: int = 30_000, begin_ms: int = 0) -> list[Span]:
    """Return spans that cover begin_ms..duration_ms exactly, each beginning on the chunk grid.

    Segments that begin in the first FIRST_MS have at most FIRST_SEGMENT_MS, later ones segment_ms. A remainder shorter
    than SHORTEST_SEGMENT_MS joins the segment before it. begin_ms: 0 or the end of an earlier segment.
    Raises ValueError when duration_ms is not above begin_ms or segment_ms is not a positive multiple of CHUNK_MS.
    """
    if duration_ms <= begin_ms or segment_ms < 1 or segment_ms % CHUNK_MS:
        raise ValueError(f"cannot cut {begin_ms} to {duration_ms} ms into segments of {segment_ms} ms")
    starts = [begin_ms]
    while (begin := starts[-1] + length_at(starts[-1], segment_ms)) < duration_ms:
        starts.append(begin)
    if len(starts) > 1 and duration_ms - starts[-1] < SHORTEST_SEGMENT_MS:
        starts.pop()
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], duration_ms], strict=True)]


def length_at(start_ms: int, segment_ms: int) -> int:
    """Return the length of the segment that begins at start_ms, if the recording goes on after it."""
    return min(segment_ms, FIRST_SEGMENT_MS) if start_ms < FIRST_MS else segment_ms


@dataclass(slots=True)
class StageTimes:
    """Milliseconds spent in each stage of a segment. Stages overlap, so their sum is above the segment's own time."""

    decode: int = 0
    embed_frames: int = 0
    thumbnails: int = 0
    transcribe: int = 0
    describe: int = 0


@dataclass(frozen=True, slots=True)
class Observation:
    """Result of observing a segment. record: to be stored. warnings: what descriptions lack."""

    record: SegmentRecord
    times: StageTimes
    damage: Damage
    warnings: tuple[DescriptionWarning, ...] = ()


def observe_segment(
    source: Source,
    span: Span,
    models: IndexModels,
    *,
    profile: str,
    instructions: str = "",
    language: str = "",
    meter: Meter,
    frame_fps: float = 1.0,
    max_side: int = 768,
    on_progress: Callable[[int], None] | None = None,
) -> Observation:
    """Decode span once; describe its chunks, embed and keep its frames, transcribe its sound.

    language: ISO 639-1 code of the speech, "" if it is not known yet (spoken_language() of an earlier observation).
    frame_fps: frames per second that are kept with thumbnail and embedding. max_side: of the pictures that models see.
    on_progress: called with the video time reached, from this thread; its exceptions end the work.
    A chunk that the describer refuses is a gap; any other ModelError, and SourceUnreadable, is raised. Memory is
    bounded by the span: the describer's frames and one queue.
    """
    times = StageTimes()
    rates = (*sample_rates(models.describer), frame_fps)
    shown: list[SampledFrame] = []
    shown_grid = SamplingGrid(sample_rates(models.describer), span.start_ms)
    stored_grid = SamplingGrid(frame_fps, span.start_ms)
    damage = Damage()
    # One thread hears and one keeps frames while this thread decodes, and then while the describer works.
    with ContextPool(1, "speech") as speech, ContextPool(1, "frames") as keeping:
        try:
            heard = speech.submit(_transcribe, source, span, models, meter, times, language)
            rows = _FrameKeeper(models, meter, times, keeping)
            for piece, part in source.within(span):
                samples = sample_frames(
                    piece.url,
                    part,
                    fps=rates,
                    max_side=max_side,
                    clock=piece.placed_clock,
                    hold_ms=CHUNK_MS,
                )
                with _decoding(samples, times) as frames:
                    for frame in frames:
                        if shown_grid.takes(frame.ms):
                            shown.append(frame)
                        if stored_grid.takes(frame.ms):
                            rows.add(frame)
                        if on_progress is not None:
                            on_progress(frame.ms)
                damage += samples.damage
            rows.send()
            transcript = heard.result()
            views = chunk_views(span, shown, transcript)
            described = _describe(SegmentView(span, views, profile, instructions), models, meter, times)
            tracks = _with_crops(described.tracks, shown, models, meter, times)
            kept = rows.finish()
        except BaseException:
            keeping.shutdown(wait=False, cancel_futures=True)
            raise
    if [chunk.n for chunk in described.chunks] != [view.n for view in views]:
        raise ValueError(f"{models.describer.name} described other chunks than it was shown")
    record = SegmentRecord(span, described.chunks, kept, tracks, transcript)
    return Observation(record, times, damage, described.warnings)


def spoken_language(record: SegmentRecord) -> str:
    """Return the language of the first line whose language is certain, "" if there is none."""
    return next((line.language for line in record.transcript if line.language), "")


def sample_rates(describer: Describer) -> tuple[float, ...]:
    """Return the frame rates whose grids a describer wants to see: several for a describer around another one."""
    return describer.sample_rates if isinstance(describer, ManyRates) else (describer.sample_fps,)


def chunk_views(
    span: Span, frames: Sequence[SampledFrame], transcript: Sequence[TranscriptLine]
) -> tuple[ChunkView, ...]:
    """Return the frames of each chunk of span, and the lines spoken during it."""
    return tuple(
        ChunkView(
            n,
            chunk,
            tuple(frame for frame in frames if chunk.contains(frame.ms)),
            tuple(line for line in transcript if line.span.overlaps(chunk)),
        )
        for n, chunk in chunk_spans(span)
    )


def _transcribe(
    source: Source, span: Span, models: IndexModels, meter: Meter, times: StageTimes, language: str
) -> tuple[TranscriptLine, ...]:
    if models.transcriber is None:
        return ()
    with _timed(times, "transcribe"):
        return transcribe_span(source, span, models.transcriber, models.text_embedder, meter=meter, language=language)


def _describe(view: SegmentView, models: IndexModels, meter: Meter, times: StageTimes) -> SegmentDescription:
    with _timed(times, "describe"):
        try:
            return models.describer.describe(view, meter=meter)
        except ModelRefused as refusal:
            return SegmentDescription(
                tuple(Chunk(c.n, c.span, None, gap=refusal.code, transcript=c.transcript) for c in view.chunks)
            )


def _with_crops(
    tracks: tuple[TrackObservation, ...],
    shown: Sequence[SampledFrame],
    models: IndexModels,
    meter: Meter,
    times: StageTimes,
) -> tuple[TrackObservation, ...]:
    if not models.frame_embedder.open_vocabulary:
        return tracks
    with _timed(times, "embed_frames"):
        return with_crops(tracks, shown, models.frame_embedder, meter=meter)


@dataclass(slots=True)
class _FrameKeeper:
    """Makes thumbnails and embeddings of frames, in batches, in the one thread of `pool`."""

    models: IndexModels
    meter: Meter
    times: StageTimes
    pool: ContextPool
    _waiting: list[SampledFrame] = field(default_factory=list)
    _batches: list[Future[list[FrameRow]]] = field(default_factory=list)

    def add(self, frame: SampledFrame) -> None:
        self._waiting.append(frame)
        if len(self._waiting) == EMBEDDING_BATCH:
            self.send()

    def finish(self) -> tuple[FrameRow, ...]:
        """Return all rows, once the last batch is embedded. Raises what embedding raised."""
        self.send()
        return tuple(row for batch in self._batches for row in batch.result())

    def send(self) -> None:
        """Begin the batch that waits, however small."""
        if not self._waiting:
            return
        self._batches.append(self.pool.submit(self._keep, tuple(self._waiting)))
        self._waiting.clear()

    def _keep(self, frames: Sequence[SampledFrame]) -> list[FrameRow]:
        with _timed(self.times, "thumbnails"):
            jpegs = [thumbnail(frame.picture) for frame in frames]
        with _timed(self.times, "embed_frames"):
            pictures = [frame.picture for frame in frames]
            vectors = self.models.frame_embedder.embed_frames(pictures, meter=self.meter)
        return [FrameRow(frame.ms, jpeg, vector) for frame, jpeg, vector in zip(frames, jpegs, vectors, strict=True)]


@contextmanager
def _decoding(samples: BoxedFrames, times: StageTimes) -> Iterator[Iterator[SampledFrame]]:
    """Yield the samples, decoded by a thread of their own that runs at most QUEUED_FRAMES ahead."""
    waiting: queue.Queue[SampledFrame | BaseException | None] = queue.Queue(QUEUED_FRAMES)
    stopped = threading.Event()

    def put(item: SampledFrame | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.2)
                return
            except queue.Full:
                continue  # check again whether the reader has stopped

    def decode() -> None:
        try:
            with samples:
                while not stopped.is_set():
                    with _timed(times, "decode"):
                        frame = next(samples, None)
                    put(frame)
                    if frame is None:
                        return
        except BaseException as error:  # noqa: BLE001 - handed to the reader, which raises it
            put(error)

    def read() -> Iterator[SampledFrame]:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    thread = threading.Thread(target=decode, name="decode", daemon=True)
    thread.start()
    try:
        yield read()
    finally:
        stopped.set()
        thread.join()


@contextmanager
def _timed(times: StageTimes, stage: str) -> Iterator[None]:
    begun = time.perf_counter_ns()
    try:
        yield
    finally:
        setattr(times, stage, getattr(times, stage) + (time.perf_counter_ns() - begun) // 1_000_000)
