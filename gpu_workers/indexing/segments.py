"""A video's segments, the unit of work and checkpoint, and what is observed in one of them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from gpu_workers.ekg import CHUNK_MS, Chunk, FrameRow, SampledFrame, SegmentRecord, Span, TranscriptLine, chunk_spans
from gpu_workers.indexing.audio import read_audio
from gpu_workers.indexing.sampling import FrameSamples, SamplingGrid, sample_frames
from gpu_workers.indexing.thumbnails import thumbnail
from gpu_workers.models.roles import ChunkView, IndexModels, Meter, ModelRefused, SegmentDescription, SegmentView

SHORTEST_SEGMENT_MS = 2 * CHUNK_MS
QUEUED_FRAMES = 16
"""Decoded pictures that may wait for the models."""
EMBEDDING_BATCH = 16


def plan_segments(duration_ms: int, *, segment_ms: int = 30_000) -> list[Span]:
    """Spans that cover 0..duration_ms exactly, each beginning on the chunk grid.

    A remainder shorter than SHORTEST_SEGMENT_MS joins the segment before it. Raises ValueError when duration_ms is
    below 1 or segment_ms is not a positive multiple of CHUNK_MS.
    """
    if duration_ms < 1 or segment_ms < 1 or segment_ms % CHUNK_MS:
        raise ValueError(f"cannot cut {duration_ms} ms into segments of {segment_ms} ms")
    starts = list(range(0, duration_ms, segment_ms))
    if len(starts) > 1 and duration_ms - starts[-1] < SHORTEST_SEGMENT_MS:
        starts.pop()
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], duration_ms], strict=True)]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a video is read from. url: a path or an http(s) URL. source_start_ms, has_audio: as probed."""

    url: str
    source_start_ms: int | None = None
    has_audio: bool = True
    ffmpeg: str = "ffmpeg"


@dataclass(slots=True)
class StageTimes:
    """Milliseconds spent in each stage of a segment; decode runs beside the others."""

    decode: int = 0
    embed_frames: int = 0
    thumbnails: int = 0
    transcribe: int = 0
    describe: int = 0


@dataclass(frozen=True, slots=True)
class Observation:
    """record: what to store. skipped: corrupt packets passed over."""

    record: SegmentRecord
    times: StageTimes
    skipped: int


def observe_segment(
    source: Source,
    span: Span,
    models: IndexModels,
    *,
    profile: str,
    instructions: str = "",
    meter: Meter,
    frame_fps: float = 1.0,
    max_side: int = 768,
    on_progress: Callable[[int], None] | None = None,
) -> Observation:
    """Decode span once; describe its chunks, embed and keep its frames, transcribe its sound.

    frame_fps: frames per second that are kept with thumbnail and embedding. max_side: of the pictures that models see.
    on_progress: called with the video time reached, from this thread; what it raises ends the work.
    A chunk that the describer refuses is a gap; any other ModelError, and SourceUnreadable, is raised. Memory is
    bounded by the span: the describer's frames and one queue.
    """
    times = StageTimes()
    rate = max(models.describer.sample_fps, frame_fps)
    seen: list[SampledFrame] = []
    rows = _FrameKeeper(models, meter, times)
    shown, kept = SamplingGrid(models.describer.sample_fps, span.start_ms), SamplingGrid(frame_fps, span.start_ms)
    samples = sample_frames(
        source.url, span, fps=rate, max_side=max_side, source_start_ms=source.source_start_ms, hold_ms=CHUNK_MS
    )
    with _decoding(samples, times) as frames:
        for frame in frames:
            if shown.takes(frame.ms):
                seen.append(frame)
            if kept.takes(frame.ms):
                rows.add(frame)
            if on_progress is not None:
                on_progress(frame.ms)
    transcript = _transcribe(source, span, models, meter, times)
    views = chunk_views(span, seen, transcript)
    described = _describe(SegmentView(span, views, profile, instructions), models, meter, times)
    if [chunk.n for chunk in described.chunks] != [view.n for view in views]:
        raise ValueError(f"{models.describer.name} described other chunks than it was shown")
    record = SegmentRecord(span, described.chunks, rows.finish(), described.tracks, tuple(transcript))
    return Observation(record, times, samples.skipped)


def chunk_views(
    span: Span, frames: Sequence[SampledFrame], transcript: Sequence[TranscriptLine]
) -> tuple[ChunkView, ...]:
    """The frames of each chunk of span, and the lines that are spoken during it."""
    return tuple(
        ChunkView(
            n,
            chunk,
            tuple(frame for frame in frames if chunk.contains(frame.ms)),
            tuple(
                line for line in transcript if line.span.start_ms < chunk.end_ms and chunk.start_ms < line.span.end_ms
            ),
        )
        for n, chunk in chunk_spans(span)
    )


def _describe(view: SegmentView, models: IndexModels, meter: Meter, times: StageTimes) -> SegmentDescription:
    with _timed(times, "describe"):
        try:
            return models.describer.describe(view, meter=meter)
        except ModelRefused as refusal:
            return SegmentDescription(
                tuple(Chunk(c.n, c.span, None, gap=refusal.code, transcript=c.transcript) for c in view.chunks)
            )


def _transcribe(
    source: Source, span: Span, models: IndexModels, meter: Meter, times: StageTimes
) -> Sequence[TranscriptLine]:
    if models.transcriber is None or not source.has_audio:
        return ()
    with _timed(times, "transcribe"):
        samples = read_audio(source.url, span, source.ffmpeg)
        if not samples.size:
            return ()
        return models.transcriber.transcribe(samples, offset_ms=span.start_ms, meter=meter)


@dataclass(slots=True)
class _FrameKeeper:
    """Thumbnails and embeddings of frames, in batches as they come."""

    models: IndexModels
    meter: Meter
    times: StageTimes
    _waiting: list[SampledFrame] = field(default_factory=list)
    _rows: list[FrameRow] = field(default_factory=list)

    def add(self, frame: SampledFrame) -> None:
        self._waiting.append(frame)
        if len(self._waiting) == EMBEDDING_BATCH:
            self._keep()

    def finish(self) -> tuple[FrameRow, ...]:
        if self._waiting:
            self._keep()
        return tuple(self._rows)

    def _keep(self) -> None:
        with _timed(self.times, "thumbnails"):
            jpegs = [thumbnail(frame.picture) for frame in self._waiting]
        with _timed(self.times, "embed_frames"):
            pictures = [frame.picture for frame in self._waiting]
            vectors = self.models.frame_embedder.embed_frames(pictures, meter=self.meter)
        for frame, jpeg, vector in zip(self._waiting, jpegs, vectors, strict=True):
            self._rows.append(FrameRow(frame.ms, jpeg, vector))
        self._waiting.clear()


@contextmanager
def _decoding(samples: FrameSamples, times: StageTimes) -> Iterator[Iterator[SampledFrame]]:
    """The samples, decoded by a thread of their own that runs at most QUEUED_FRAMES ahead."""
    waiting: queue.Queue[SampledFrame | BaseException | None] = queue.Queue(QUEUED_FRAMES)
    stopped = threading.Event()

    def put(item: SampledFrame | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.2)
                return
            except queue.Full:
                continue  # look again whether the reader has gone

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
