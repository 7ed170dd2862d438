"""The sound of a span of a video, decoded in this process; audio.read_audio() runs this in a box."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import av
import av.error
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.filter import Graph
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.container import SourceUnreadable
from gpu_workers.engine.indexing.opening import Media, open_video

SAMPLE_RATE = 16_000
_SEEK_BACK_MS = 500
"""Distance before the span at which decoding begins, since a decoder's first packets may give nothing."""


def sound_samples(source: Media, span: Span) -> NDArray[np.float32]:
    """Return mono samples at 16 kHz of the first audio stream in span, up to its last sound; empty without any.

    Time counts from the container's first timestamp. Raises SourceUnreadable if the file cannot be opened or read.
    """
    heard = np.zeros(span.duration_ms * SAMPLE_RATE // 1000, dtype=np.float32)
    end = 0
    try:
        with open_video(source) as container:
            stream = next(iter(container.streams.audio), None)
            if stream is None or stream.codec_context is None:
                return heard[:0]
            for at, samples in _resampled(_frames(container, stream, span), span):
                if at < 0:
                    at, samples = 0, samples[-at:]
                samples = samples[: len(heard) - at]
                if samples.size:
                    heard[at : at + samples.size] = samples
                    end = max(end, at + samples.size)
    except av.error.FFmpegError as error:
        raise SourceUnreadable(f"the sound cannot be read: {error.strerror}") from error
    return heard[:end]


def _frames(container: InputContainer, stream: AudioStream, span: Span) -> Iterator[AudioFrame]:
    """Yield decoded frames that touch span; pts is set to samples since the beginning of span."""
    origin = Fraction(container.start_time or 0, av.time_base)
    base = stream.time_base or Fraction(1, stream.rate or SAMPLE_RATE)
    begin, end = origin + Fraction(span.start_ms, 1000), origin + Fraction(span.end_ms, 1000)
    if span.start_ms:
        _seek(container, stream, begin - Fraction(_SEEK_BACK_MS, 1000))
    expected: Fraction | None = None
    for packet in _packets(container, stream):
        try:
            frames = packet.decode()
        except av.error.FFmpegError:
            continue  # a damaged packet is a hole, whatever a decoder calls it
        for frame in frames:
            start = frame.pts * base if frame.pts is not None else expected
            if start is None or not frame.sample_rate:
                continue
            expected = start + Fraction(frame.samples, frame.sample_rate)
            if start >= end:
                return
            if expected > begin:
                frame.pts = round((start - begin) * frame.sample_rate)
                frame.time_base = Fraction(1, frame.sample_rate)
                yield frame


def _packets(container: InputContainer, stream: AudioStream) -> Iterator[av.Packet[AudioStream]]:
    try:
        yield from container.demux(stream)
    except (av.error.InvalidDataError, av.error.EOFError):
        return  # the demuxer cannot continue: the sound ends here


def _seek(container: InputContainer, stream: AudioStream, at: Fraction) -> None:
    """Seek to the last packet at or before `at`; a container that cannot seek is read from its beginning."""
    base = stream.time_base or Fraction(1, 1000)
    try:
        container.seek(max(0, int(at / base)), stream=stream, backward=True)
    except av.error.FFmpegError:
        container.seek(0)


def _resampled(frames: Iterator[AudioFrame], span: Span) -> Iterator[tuple[int, NDArray[np.float32]]]:
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
