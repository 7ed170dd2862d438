"""The pictures of a span of a video, by timestamp and without reading the rest.

Which frames are chosen depends on the video and the rates alone: a frame is chosen when it is the first one at or after
a point k/fps of the video's clock. Cutting the video into other segments chooses the same frames. Only chosen frames
and the frames they refer to are decoded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from fractions import Fraction

import av
import av.error
import numpy as np
from av.codec.hwaccel import HWAccel
from av.container import InputContainer
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from gpu_workers.engine.ekg import Picture, SampledFrame, Span
from gpu_workers.engine.indexing.container import SourceUnreadable
from gpu_workers.engine.indexing.foresight import Foresight
from gpu_workers.engine.indexing.frame_stream import FrameStream
from gpu_workers.engine.indexing.hardware import HardwareFailed, Look, accelerator, look_of
from gpu_workers.engine.indexing.hdr import is_hdr, to_sdr
from gpu_workers.engine.indexing.opening import Media, bound_pictures, open_video, origin_ms, shown_stream
from gpu_workers.engine.models.frame_grid import SamplingGrid

DECODER_THREADS = 4
SEEK_BACK_MS = (0, 2_000, 10_000, 60_000)
"""Distances to seek back if a seek lands behind its mark (MPEG-TS has no index); after these, the beginning."""

JUMP_MS = 1_000
"""Distance by which decoding times fall back where recordings were joined; a damaged packet falls back by less."""


class FrameSamples(FrameStream):
    """Iterator over the chosen frames of a span, in order of time, decoded in this process.

    skipped: packets and frames lost to corruption. hardware_failure: the reason for which the hardware decoder was
    given up, if it was. The arguments are those of sampling.sample_frames(), which runs this
    in a box.
    """

    def __init__(
        self,
        source: Media,
        span: Span,
        *,
        fps: float | Sequence[float],
        max_side: int,
        source_start_ms: int | None = None,
        hold_ms: int | None = None,
    ) -> None:
        if max_side < 1:
            raise ValueError(f"max_side is above 0, got {max_side}")
        self.skipped = 0
        self.hardware_failure: str | None = None
        self._source, self._span, self._max_side = source, span, max_side
        self._start_ms, self._hold_ms = source_start_ms, hold_ms
        self._fps = fps
        self._begin()
        # Kept, since making a new one for each frame takes half as long as shrinking the frame.
        self._reformatter = VideoReformatter()
        self._frames = self._sample()

    def _begin(self, look: Look | None = None) -> None:
        """Take the state of before the first frame. look: of the pictures, if the hardware decodes them."""
        self.skipped, self._look = 0, look
        self._grid = SamplingGrid(self._fps, self._span.start_ms)
        self._foresight: Foresight[av.Packet[av.VideoStream]] | None = None

    def _sample(self) -> Generator[SampledFrame, None, None]:
        """Decode by the hardware as far as it goes, and by the CPU from there."""
        reached, hardware = -1, accelerator()
        if hardware is not None:
            try:
                look = look_of(self._source)
                if look is not None:
                    self._begin(look)
                    for frame in self._sample_by(hardware):
                        reached = frame.ms
                        yield frame
                    return
            except HardwareFailed as error:
                self.hardware_failure = str(error)
                self._begin()
        for frame in self._sample_by(None):
            if frame.ms > reached:
                yield frame

    def _sample_by(self, hardware: HWAccel | None) -> Generator[SampledFrame, None, None]:
        span = self._span
        cells = _Cells(span, self._hold_ms)
        shown: av.VideoFrame | None = None
        lost, entered = 0, False
        with _open(self._source, hardware) as container:
            stream = _video_stream(container)
            pixel = stream.sample_aspect_ratio or Fraction(1)
            for ms, frame in self._decode_from(container, stream, span.start_ms):
                # A packet lost between two pictures may have been a change: then the old picture is not held.
                if shown is not None and self.skipped == lost:
                    for empty_ms in cells.empty_before(min(ms, span.end_ms)):
                        yield SampledFrame(empty_ms, self._picture(shown, pixel))
                if ms >= span.end_ms:
                    return
                shown, lost = frame, self.skipped
                if ms < span.start_ms:
                    continue
                if not entered and self._foresight is not None and self._foresight.last_before is not None:
                    self._grid.skip(self._foresight.last_before)
                entered = True
                if self._grid.takes(ms):
                    cells.fill(ms)
                    yield SampledFrame(ms, self._picture(frame, pixel))
            if shown is not None and self.skipped == lost:
                for empty_ms in cells.empty_before(span.end_ms, cut=True):
                    yield SampledFrame(empty_ms, self._picture(shown, pixel))

    def _decode_from(
        self, container: InputContainer, stream: VideoStream, start_ms: int
    ) -> Iterator[tuple[int, av.VideoFrame]]:
        """Yield frames with their times, the first of them at or before start_ms if the video has one there."""
        origin = origin_ms(container, stream) if self._start_ms is None else self._start_ms
        if start_ms == 0:
            yield from self._decode(container, stream, origin)
            return
        for back in SEEK_BACK_MS:
            mark = max(0, start_ms - back)
            if not _seek(container, stream, mark + origin):
                break
            frames = self._decode(container, stream, origin)
            first = next(frames, None)
            if first is not None and first[0] <= start_ms:
                yield first
                yield from frames
                return
            if mark == 0:
                break
        _seek(container, stream, None)
        yield from self._decode(container, stream, origin)

    def _decode(
        self, container: InputContainer, stream: VideoStream, origin: int
    ) -> Iterator[tuple[int, av.VideoFrame]]:
        """Yield good frames with their rising times in the video, among them all that the grid chooses."""
        base = stream.time_base or Fraction(1, 1000)
        step = 1000 / (stream.average_rate or stream.guessed_rate or 25)
        last: int | None = None
        for frames in self._decoded(container, stream, origin):
            for frame in frames:
                if not isinstance(frame, av.VideoFrame):
                    continue
                stamp = frame.pts if frame.pts is not None else frame.dts
                if stamp is None:
                    ms = 0 if last is None else round(last + step)
                else:
                    ms = max(0, round(stamp * base * 1000) - origin)
                if frame.is_corrupt or (last is not None and ms <= last):
                    self.skipped += 1
                    continue
                last = ms
                yield ms, frame

    def _decoded(
        self, container: InputContainer, stream: VideoStream, origin: int
    ) -> Iterator[Sequence[av.VideoFrame]]:
        """Yield the frames that each packet brings out of the decoder, and in the end those that it still holds."""
        decoder = stream.codec_context
        self._foresight = Foresight(
            self._span,
            SamplingGrid(self._fps, self._span.start_ms),
            hold_ms=self._hold_ms,
            origin=origin,
            ms_per_tick=(stream.time_base or Fraction(1, 1000)) * 1000,
        )
        for packet, wanted in self._foresight.sift(self._packets(container, stream)):
            if packet.is_corrupt:
                self.skipped += 1
                continue
            if not wanted and decoder.codec.intra_only:
                continue
            decoder.skip_frame = "DEFAULT" if wanted else "NONREF"
            try:
                yield packet.decode()
            except av.error.InvalidDataError:
                self.skipped += 1
            except av.error.FFmpegError as error:
                if self._look is not None:
                    raise HardwareFailed(f"decoding stopped: {error.strerror}") from error
                self.skipped += 1  # some decoders have codes of their own for damaged packets
        try:
            yield decoder.decode(None)
        except (av.error.EOFError, av.error.InvalidDataError):
            return

    def _packets(self, container: InputContainer, stream: VideoStream) -> Iterator[av.Packet[av.VideoStream]]:
        """Yield packets whose times never jump back, as they do where files or broadcasts were joined."""
        base = stream.time_base or Fraction(1, 1000)
        step = round(1 / (stream.average_rate or stream.guessed_rate or 25) / base)
        shift, last = 0, None
        for packet in self._demuxed(container, stream):
            if packet.dts is not None:
                if last is not None and (last - packet.dts - shift) * base * 1000 > JUMP_MS:
                    shift = last + step - packet.dts
                packet.dts += shift
                last = packet.dts
            if packet.pts is not None:
                packet.pts += shift
            yield packet

    def _demuxed(self, container: InputContainer, stream: VideoStream) -> Iterator[av.Packet[av.VideoStream]]:
        packets = container.demux(stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except av.error.InvalidDataError:
                self.skipped += 1
                return  # the demuxer cannot continue: the rest cannot be read
            except av.error.FFmpegError as error:
                raise SourceUnreadable(f"reading stopped: {error.strerror}") from error
            if packet.size:  # the demuxer ends with an empty packet
                yield packet

    def _picture(self, frame: av.VideoFrame, pixel: Fraction) -> Picture:
        """Return frame as upright RGB with square pixels, no side above max_side. pixel: its width by its height."""
        wide, high = float(frame.width * pixel), float(frame.height)
        shrink = min(1.0, self._max_side / max(wide, high))
        size = max(1, round(wide * shrink)), max(1, round(high * shrink))
        if self._look is not None:
            frame = self._look.complete(frame)
        if is_hdr(frame):
            shown = to_sdr(frame, *size)
        else:
            shown = np.asarray(self._reformatter.reformat(frame, *size, format="rgb24").to_ndarray(), dtype=np.uint8)
        turned = np.rot90(shown, k=round(frame.rotation / 90) % 4)
        return np.ascontiguousarray(turned, dtype=np.uint8)


class _Cells:
    """Stretches of hold_ms, aligned to time 0, that lie in a span and have no frame yet."""

    def __init__(self, span: Span, hold_ms: int | None) -> None:
        self._hold = hold_ms
        self._next = span.start_ms

    def fill(self, ms: int) -> None:
        if self._hold is not None:
            self._next = ms // self._hold * self._hold + self._hold

    def empty_before(self, ms: int, *, cut: bool = False) -> Iterator[int]:
        """Yield the beginnings of cells that end at or before ms, each once; with cut also of the cell that ms ends."""
        while self._hold is not None and self._next < ms:
            end = self._next // self._hold * self._hold + self._hold
            if end > ms and not cut:
                return
            yield self._next
            self._next = end


def _open(source: Media, hardware: HWAccel | None) -> InputContainer:
    try:
        return open_video(source, hwaccel=hardware)
    except av.error.FFmpegError as error:
        if hardware is not None:
            raise HardwareFailed(f"{type(error).__name__}: {error.strerror}") from error
        raise SourceUnreadable(f"the source cannot be opened: {error.strerror}") from error


def _video_stream(container: InputContainer) -> VideoStream:
    stream = shown_stream(container)
    if stream is None:
        raise SourceUnreadable("the source has no video stream; it is not what was probed")
    stream.thread_type = "AUTO"
    stream.codec_context.thread_count = DECODER_THREADS
    bound_pictures(stream)
    return stream


def _seek(container: InputContainer, stream: VideoStream, ms: int | None) -> bool:
    """Seek to the last keyframe at or before ms (None: the beginning). Return False if the container cannot seek."""
    base = stream.time_base or Fraction(1, 1000)
    offset = min(0, stream.start_time or 0) if ms is None else int(Fraction(ms, 1000) / base)
    try:
        container.seek(offset, stream=stream, backward=True)
    except av.error.FFmpegError:
        return False
    return True
