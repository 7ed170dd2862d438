"""The pictures of a span of a video, by timestamp and without reading the rest.

Which frames are chosen depends on the video and the rates alone: a frame is chosen when it is the first one at or after
a point k/fps of the video's clock. Cutting the video into other segments chooses the same frames. Only chosen frames
and the frames they refer to are decoded.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import av
import av.error
import numpy as np
from av.codec.hwaccel import HWAccel
from av.container import InputContainer
from av.video.reformatter import Colorspace, VideoReformatter
from av.video.stream import VideoStream

from gpu_workers.engine.ekg import Picture, SampledFrame, Span
from gpu_workers.engine.indexing.clock_reading import decoding_delay, mend_times, read_clock
from gpu_workers.engine.indexing.container import SourceUnreadable
from gpu_workers.engine.indexing.deinterlacing import deinterlaced
from gpu_workers.engine.indexing.entering import enter, entries
from gpu_workers.engine.indexing.file_clock import FileClock, Stretch
from gpu_workers.engine.indexing.foresight import Foresight
from gpu_workers.engine.indexing.frame_stream import Damage, FrameStream
from gpu_workers.engine.indexing.hardware import HardwareFailed, Look, accelerator, look_of
from gpu_workers.engine.indexing.hdr import is_hdr, is_untagged_hd, to_sdr
from gpu_workers.engine.indexing.opening import Media, bound_pictures, open_video, shown_stream
from gpu_workers.engine.models.frame_grid import SamplingGrid

DECODER_THREADS = 4


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
        clock: FileClock | None = None,
        hold_ms: int | None = None,
    ) -> None:
        if max_side < 1:
            raise ValueError(f"max_side is above 0, got {max_side}")
        self.skipped, self.damage = 0, Damage()
        self.hardware_failure: str | None = None
        self._source, self._span, self._max_side = source, span, max_side
        self._clock, self._hold_ms = clock, hold_ms
        self._fps = fps
        self._pixel = Fraction(1)
        self._delay: int | None = None
        self._begin()
        # Kept, since making a new one for each frame takes half as long as shrinking the frame.
        self._reformatter = VideoReformatter()
        self._frames = self._sample()

    def _begin(self, look: Look | None = None) -> None:
        """Take the state of before the first frame. look: of the pictures, if the hardware decodes them."""
        self.skipped, self._look = 0, look
        self.damage = Damage()
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
        span, cells = self._span, _Cells(self._span, self._hold_ms)
        if self._clock is None:
            self._clock = _read_clock(self._source)
        self._delay = _decoding_delay(self._source)
        for stretch, part in self._clock.within(span):
            yield from self._sample_stretch(hardware, stretch, part, cells)

    def _sample_stretch(
        self, hardware: HWAccel | None, stretch: Stretch, part: Span, cells: _Cells
    ) -> Generator[SampledFrame, None, None]:
        """Yield the chosen frames of a part of one stretch, and the held picture of each cell without any."""
        shown: _Shown | None = None
        before, entered = None, False
        for ms, frame in self._decode_part(hardware, stretch, part):
            yield from self._held(shown, cells, min(ms, part.end_ms), stretch)
            if ms >= part.end_ms:
                return
            shown = _Shown(frame, ms, self.skipped)
            if ms < part.start_ms:
                before = ms
                continue
            if not entered:
                passed = self._foresight.last_before if self._foresight is not None else None
                before = max((one for one in (before, passed) if one is not None), default=None)
                if before is not None:
                    self._grid.skip(before)
            entered = True
            if self._grid.takes(ms):
                cells.fill(ms)
                yield SampledFrame(ms, self._picture(frame))
        yield from self._held(shown, cells, part.end_ms, stretch, cut=part.end_ms == self._span.end_ms)

    def _held(
        self, shown: _Shown | None, cells: _Cells, until_ms: int, stretch: Stretch, *, cut: bool = False
    ) -> Iterator[SampledFrame]:
        """Yield the picture that is shown at the beginning of each cell without a frame that ends by until_ms."""
        # A packet lost between two pictures may have been a change: then the old picture is not held.
        if shown is None or self.skipped != shown.skipped:
            return
        for empty_ms in cells.empty_before(until_ms, cut=cut):
            if shown.ms <= empty_ms < stretch.pictures_end_ms:
                since_ms = shown.ms if shown.ms < empty_ms else None
                yield SampledFrame(empty_ms, self._picture(shown.frame), since_ms)

    def _decode_part(
        self, hardware: HWAccel | None, stretch: Stretch, part: Span
    ) -> Iterator[tuple[int, av.VideoFrame]]:
        """Yield frames with their times, the first of them at or before the part if the stretch has one there."""
        for entry in entries(stretch, part.start_ms):
            with _open(self._source, hardware) as container:
                stream = _video_stream(container)
                if not enter(container, stream, entry):
                    continue
                frames = self._decode(container, stream, stretch, part)
                first = next(frames, None)
                if entry.is_beginning or (first is not None and first[0] <= part.start_ms):
                    if first is not None:
                        yield first
                        yield from frames
                    return

    def _decode(
        self, container: InputContainer, stream: VideoStream, stretch: Stretch, part: Span
    ) -> Iterator[tuple[int, av.VideoFrame]]:
        """Yield good frames with their rising times in the video, among them all that the grid chooses."""
        base = stream.time_base or Fraction(1, 1000)
        step = 1000 / (stream.average_rate or stream.guessed_rate or 25)
        self._pixel = stream.sample_aspect_ratio or Fraction(1)
        last: int | None = None
        for frames in self._decoded(container, stream, stretch, part):
            for frame in frames:
                if not isinstance(frame, av.VideoFrame):
                    continue
                stamp = frame.pts if frame.pts is not None else frame.dts
                if self._delay is not None:
                    # The decoder gives a picture with the time of the packet that it read last.
                    stamp = None if frame.dts is None else frame.dts - self._delay
                if stamp is None:
                    ms = stretch.span.start_ms if last is None else round(last + step)
                else:
                    ms = max(stretch.span.start_ms, round(stamp * base * 1000) - stretch.origin_ms)
                if frame.is_corrupt and part.contains(ms):
                    self.damage += Damage(damaged=1)
                if frame.is_corrupt or (last is not None and ms <= last):
                    self.skipped += 1
                    continue
                last = ms
                yield ms, frame

    def _decoded(
        self, container: InputContainer, stream: VideoStream, stretch: Stretch, part: Span
    ) -> Iterator[Sequence[av.VideoFrame]]:
        """Yield the frames that each packet brings out of the decoder, and in the end those that it still holds."""
        decoder = stream.codec_context
        ms_per_tick = (stream.time_base or Fraction(1, 1000)) * 1000
        self._foresight = Foresight(
            part,
            SamplingGrid(self._fps, self._span.start_ms),
            hold_ms=self._hold_ms,
            origin=stretch.origin_ms,
            ms_per_tick=ms_per_tick,
        )
        for packet, wanted in self._foresight.sift(self._packets(container, stream, stretch)):
            if not wanted and decoder.codec.intra_only and not packet.is_corrupt:
                continue
            inside = packet.dts is None or part.contains(round(packet.dts * ms_per_tick) - stretch.origin_ms)
            self.damage += Damage(packets=int(inside))
            if packet.is_corrupt:
                self._lose(inside)
                continue
            decoder.skip_frame = "DEFAULT" if wanted else "NONREF"
            try:
                yield decoder.decode(packet)
            except av.error.InvalidDataError:
                self._lose(inside)
            except av.error.FFmpegError as error:
                if self._look is not None:
                    raise HardwareFailed(f"decoding stopped: {error.strerror}") from error
                self._lose(inside)  # some decoders have codes of their own for damaged packets
        try:
            yield decoder.decode(None)
        except (av.error.EOFError, av.error.InvalidDataError):
            return

    def _lose(self, inside: bool) -> None:
        """Count a packet that cannot be decoded. inside: whether it belongs to the part that is read."""
        self.skipped += 1
        self.damage += Damage(damaged=int(inside))

    def _packets(
        self, container: InputContainer, stream: VideoStream, stretch: Stretch
    ) -> Iterator[av.Packet[av.VideoStream]]:
        """Yield the packets of a stretch."""
        ms_per_tick = float((stream.time_base or Fraction(1, 1000)) * 1000)
        for packet in self._demuxed(container, stream):
            mend_times(container, packet, ms_per_tick, stretch.middle_stamp_ms)
            if packet.pos is not None and packet.pos < stretch.begin_byte:
                continue
            if packet.pos is not None and stretch.end_byte is not None and packet.pos >= stretch.end_byte:
                return
            if self._delay is not None:
                packet.pts = None  # a guess of the demuxer's
            yield _shown_from(packet, stream, stretch.stamp_ms)

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

    def _picture(self, frame: av.VideoFrame) -> Picture:
        """Return frame as upright RGB with square pixels, no side above max_side."""
        wide, high = float(frame.width * self._pixel), float(frame.height)
        shrink = min(1.0, self._max_side / max(wide, high))
        size = max(1, round(wide * shrink)), max(1, round(high * shrink))
        if self._look is not None:
            frame = self._look.complete(frame)
        if frame.interlaced_frame:
            frame = deinterlaced(frame)
        if is_hdr(frame):
            shown = to_sdr(frame, *size)
        else:
            colours = Colorspace.ITU709 if is_untagged_hd(frame) else None
            rgb = self._reformatter.reformat(frame, *size, format="rgb24", src_colorspace=colours)
            shown = np.asarray(rgb.to_ndarray(), dtype=np.uint8)
        turned = np.rot90(shown, k=round(frame.rotation / 90) % 4)
        return np.ascontiguousarray(turned, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The picture that is on the screen. skipped: number of losses before it."""

    frame: av.VideoFrame
    ms: int
    skipped: int


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


def _shown_from(packet: av.Packet[av.VideoStream], stream: VideoStream, ms: int) -> av.Packet[av.VideoStream]:
    """Return a packet that an edit hides with a visible picture from ms on, if the edit begins within it at ms.

    The demuxer hides every picture that begins before the edit.
    """
    if not packet.is_discard or packet.pts is None or not packet.duration:
        return packet
    at = Fraction(ms, 1000) / (stream.time_base or Fraction(1, 1000))
    if not packet.pts <= at < packet.pts + packet.duration:
        return packet
    shown = cast("av.Packet[av.VideoStream]", av.Packet(bytes(packet)))
    shown.pts, shown.dts, shown.time_base = math.ceil(at), packet.dts, packet.time_base
    shown.is_keyframe = packet.is_keyframe
    return shown


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


def _decoding_delay(source: Media) -> int | None:
    try:
        return decoding_delay(source)
    except av.error.FFmpegError as error:
        raise SourceUnreadable(f"the source cannot be opened: {error.strerror}") from error


def _read_clock(source: Media) -> FileClock:
    try:
        read = read_clock(source)
    except av.error.FFmpegError as error:
        raise SourceUnreadable(f"the source cannot be opened: {error.strerror}") from error
    if read is None:
        raise SourceUnreadable("the source has no pictures with a time; it is not what was probed")
    return read.clock
