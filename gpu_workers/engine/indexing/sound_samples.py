"""The sound of a span of a video, decoded in this process; audio.read_audio() runs this in a box."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain, islice

import av
import av.error
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.filter import Graph
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.clock_reading import mend_times, read_clock
from gpu_workers.engine.indexing.container import SourceUnreadable
from gpu_workers.engine.indexing.entering import enter, entries
from gpu_workers.engine.indexing.file_clock import FileClock, Stretch
from gpu_workers.engine.indexing.opening import Media, open_video

SAMPLE_RATE = 16_000
_EARLIER_MS = 500
"""Time before the span at which decoding begins, since a decoder's first packets may give nothing."""


def sound_samples(source: Media, span: Span, *, track: int = 1, clock: FileClock | None = None) -> NDArray[np.float32]:
    """Return mono samples at 16 kHz of an audio track in span, up to its last sound; empty without any.

    track: its number, from 1. clock: of the file; read from it when None. Raises SourceUnreadable if the file cannot be
    opened or read.
    """
    heard = np.zeros(span.duration_ms * SAMPLE_RATE // 1000, dtype=np.float32)
    end = 0
    try:
        if clock is None:
            read = read_clock(source)
            if read is None:
                raise SourceUnreadable("the source has no pictures with a time; it is not what was probed")
            clock = read.clock
        for stretch, part in clock.within(span):
            for at, samples in _stretch_samples(source, track, stretch, part):
                at += (part.start_ms - span.start_ms) * SAMPLE_RATE // 1000
                samples = samples[: len(heard) - at]
                if samples.size:
                    heard[at : at + samples.size] = samples
                    end = max(end, at + samples.size)
    except av.error.FFmpegError as error:
        raise SourceUnreadable(f"the sound cannot be read: {error.strerror}") from error
    return heard[:end]


def _stretch_samples(
    source: Media, track: int, stretch: Stretch, part: Span
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield (index of the first sample in part, samples) of a part of one stretch."""
    most = part.duration_ms * SAMPLE_RATE // 1000
    for at, samples in _resampled(_frames(source, track, stretch, part)):
        if at < 0:
            at, samples = 0, samples[-at:]
        samples = samples[: max(0, most - at)]
        if samples.size:
            yield at, samples


def _frames(source: Media, track: int, stretch: Stretch, part: Span) -> Iterator[AudioFrame]:
    """Yield decoded frames that touch part; pts is set to samples since the beginning of part."""
    for entry in entries(stretch, max(stretch.span.start_ms, part.start_ms - _EARLIER_MS)):
        with open_video(source) as container:
            stream = next(islice(container.streams.audio, track - 1, None), None)
            if stream is None or stream.codec_context is None:
                return
            if not enter(container, stream, entry):
                continue
            frames = _timed_frames(container, stream, stretch)
            first = next(frames, None)
            if not entry.is_beginning and (first is None or first[0] * 1000 > part.start_ms):
                continue
            yield from _touching(chain(() if first is None else (first,), frames), part)
            return


def _touching(frames: Iterable[tuple[Fraction, AudioFrame]], part: Span) -> Iterator[AudioFrame]:
    begin, end = Fraction(part.start_ms, 1000), Fraction(part.end_ms, 1000)
    for start, frame in frames:
        if start >= end:
            return
        if start + Fraction(frame.samples, frame.sample_rate) > begin:
            frame.pts = round((start - begin) * frame.sample_rate)
            frame.time_base = Fraction(1, frame.sample_rate)
            yield frame


def _timed_frames(
    container: InputContainer, stream: AudioStream, stretch: Stretch
) -> Iterator[tuple[Fraction, AudioFrame]]:
    """Yield the frames of a stretch with their times in the video, in seconds."""
    base = stream.time_base or Fraction(1, stream.rate or SAMPLE_RATE)
    origin = Fraction(stretch.origin_ms, 1000)
    expected: Fraction | None = None
    for packet in _packets(container, stream, stretch):
        try:
            frames = packet.decode()
        except av.error.FFmpegError:
            continue  # a damaged packet is a hole, whatever a decoder calls it
        for frame in frames:
            start = frame.pts * base - origin if frame.pts is not None else expected
            if start is None or not frame.sample_rate:
                continue
            expected = start + Fraction(frame.samples, frame.sample_rate)
            yield start, frame


def _packets(container: InputContainer, stream: AudioStream, stretch: Stretch) -> Iterator[av.Packet[AudioStream]]:
    """Yield the packets of a stretch. A packet without a position follows the one before it."""
    inside = not stretch.begin_byte
    ms_per_tick = float((stream.time_base or Fraction(1, stream.rate or SAMPLE_RATE)) * 1000)
    try:
        for packet in container.demux(stream):
            if packet.pos is not None:
                inside = packet.pos >= stretch.begin_byte
                if stretch.end_byte is not None and packet.pos >= stretch.end_byte:
                    return
            if inside:
                mend_times(container, packet, ms_per_tick, stretch.middle_stamp_ms)
                yield packet
    except (av.error.InvalidDataError, av.error.EOFError):
        return  # the demuxer cannot continue: the sound ends here


def _resampled(frames: Iterator[AudioFrame]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield (index of the first sample at SAMPLE_RATE, samples). Holes in time become silence."""
    graph, form = None, None
    for frame in frames:
        now = frame.sample_rate, frame.layout.name, frame.format.name
        if graph is None or form != now:
            if graph is not None:
                yield from _pulled(graph, end=True)
            graph, form = _graph(frame), now
        graph.push(frame)
        yield from _pulled(graph)
    if graph is not None:
        yield from _pulled(graph, end=True)


def _graph(frame: AudioFrame) -> Graph:
    graph = Graph()
    source = graph.add_abuffer(
        format=frame.format.name,
        sample_rate=frame.sample_rate,
        layout=frame.layout.name,
        time_base=Fraction(1, frame.sample_rate),
    )
    resample = graph.add("aresample", f"{SAMPLE_RATE}:async=1")
    form = graph.add("aformat", f"sample_fmts=flt:sample_rates={SAMPLE_RATE}:channel_layouts=mono")
    graph.link_nodes(source, resample, form, graph.add("abuffersink")).configure()
    return graph


def _pulled(graph: Graph, *, end: bool = False) -> Iterator[tuple[int, NDArray[np.float32]]]:
    if end:
        graph.push(None)
    while True:
        try:
            frame = graph.pull()
        except (BlockingIOError, EOFError):
            return
        if isinstance(frame, AudioFrame) and frame.pts is not None:
            base = frame.time_base or Fraction(1, SAMPLE_RATE)
            yield round(frame.pts * base * SAMPLE_RATE), np.asarray(frame.to_ndarray(), dtype=np.float32).reshape(-1)
