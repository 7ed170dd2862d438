"""Inside a box: the packets of a span, copied to a NUT file in the video's own time. cutting.cut() runs this."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias

import av
import av.error
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.box.channel import Channel
from gpu_workers.engine.indexing.box.supplied import Supplied
from gpu_workers.engine.indexing.clock_reading import decoding_delay, is_without_pts, mend_times, read_clock
from gpu_workers.engine.indexing.container import SourceUnreadable
from gpu_workers.engine.indexing.entering import Entry, enter, entries
from gpu_workers.engine.indexing.file_clock import FileClock, Stretch
from gpu_workers.engine.indexing.opening import open_video, shown_stream
from gpu_workers.engine.media.cut_format import LATER_MS

_LATE_PACKETS = 5_000
"""Number of packets that are read after the last picture for the sound that belongs to it."""
_HELD_MS = 10_000
"""Time of sound that is kept until the first picture is found."""

_RATE = 90_000
"""Ticks of the written file in a second."""
_DELAY_TICKS = 2 * _RATE
"""Time before its first picture at which the decoding of a file without decoding times begins."""

_WRITTEN_BASE = Fraction(1, _RATE)
_WRITTEN_BYTES = 2**20

_Packet: TypeAlias = "av.Packet[Any]"


def cut(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Share a NUT file in parts of `slot_bytes`. arguments: span, clock, track, edges, slots, slot_bytes."""
    if recording is None:
        raise ValueError("this job needs a recording")
    writer = _Slots(channel, arguments["slots"], arguments["slot_bytes"])
    try:
        copy = _Copy(recording, Span(*arguments["span"]), arguments["track"], arguments["edges"], writer)
        copy.run(_clock_of(recording, arguments))
    except SourceUnreadable as error:
        channel.send({"error": "unreadable", "message": str(error)})
        return
    except av.error.FFmpegError as error:
        channel.send({"error": "unreadable", "message": f"copying stopped: {error.strerror}"})
        return
    writer.flush()
    channel.send({
        "end": True, "begin_ms": max(0, copy.begin_ms or 0), "end_ms": copy.end_ms, "packets": copy.packets,
        "held": copy.held, "counted": copy.is_counted, "format": copy.format,
    })  # fmt: skip


def _clock_of(recording: Supplied, arguments: dict[str, Any]) -> FileClock:
    if arguments["clock"] is not None:
        return FileClock.of_rows(arguments["clock"])
    read = read_clock(recording)
    if read is None:
        raise SourceUnreadable("the source has no pictures with a time; it is not what was probed")
    return read.clock


class _Slots:
    """A file to write to, whose parts go to the worker."""

    def __init__(self, channel: Channel, slots: int, slot_bytes: int) -> None:
        self._channel, self._slots, self._slot_bytes = channel, slots, slot_bytes
        self._waiting, self._sent = bytearray(), 0

    def write(self, data: bytes) -> int:
        self._waiting += data
        while len(self._waiting) >= self._slot_bytes:
            self._send(self._slot_bytes)
        return len(data)

    def flush(self) -> None:
        if self._waiting:
            self._send(len(self._waiting))

    def _send(self, count: int) -> None:
        if self._sent >= self._slots:
            self._channel.wait()
        part = np.frombuffer(bytes(self._waiting[:count]), dtype=np.uint8)
        del self._waiting[:count]
        self._channel.share(part, self._sent % self._slots * self._slot_bytes)
        self._channel.send({"bytes": count})
        self._sent += 1


class _Copy:
    """Copies one span. begin_ms: time of its first picture. packets: number of pictures that were copied."""

    def __init__(self, recording: Supplied, span: Span, track: int | None, edges: str, writer: _Slots) -> None:
        self.begin_ms: int | None = None
        self.packets, self.end_ms = 0, span.end_ms
        self.format = ""
        self._before = 0
        self._shows_begin = False
        # In a file without times of its pictures: how far its decoder runs behind, and how much later than it is
        # decoded the first picture is shown.
        self._delay_ticks: int | None = None
        self._ahead_ms = 0
        self._recording, self._span, self._track = recording, span, track
        self._at_keyframes, self._writer = edges == "keyframes", writer
        self._output: OutputContainer | None = None
        self._last_dts: dict[int, int] = {}
        self._bases: dict[int, Fraction] = {}

    @property
    def is_counted(self) -> bool:
        return bool(self._delay_ticks)

    @property
    def held(self) -> int:
        """Return the number of pictures before the one that is shown when the span begins."""
        return max(0, self._before - (0 if self._shows_begin else 1))

    def run(self, clock: FileClock) -> None:
        """Copy the parts of all stretches that lie in the span."""
        try:
            for stretch, part in clock.within(self._span):
                self._copy_part(stretch, part)
        finally:
            if self._output is not None:
                self._output.close()

    def _copy_part(self, stretch: Stretch, part: Span) -> None:
        """Copy from the entry whose first keyframe lies early enough."""
        for entry in entries(stretch, part.start_ms):
            with open_video(self._recording) as container:
                tracks = self._tracks(container)
                self._bases = _bases_of(tracks)
                if self._delay_ticks is None and is_without_pts(container):
                    self._delay_ticks = decoding_delay(self._recording)
                if not enter(container, tracks[0], entry):
                    continue
                first_ms = self._first_shown(_timed(container, tracks, stretch), tracks[0])
                if first_ms is None or not (entry.is_beginning or first_ms <= part.start_ms):
                    continue
                # Read again from the same position, since sound may lie before the first picture.
                if not enter(container, tracks[0], entry) or entry == Entry(is_beginning=True):
                    container.seek(0)
                if self._output is None:
                    # One call of the writer for many packets.
                    options = {"flush_packets": "0"}
                    self._output = av.open(
                        self._writer, "w", format="nut", buffer_size=_WRITTEN_BYTES, container_options=options
                    )
                    self.format = _format_of(tracks)
                    for track in tracks:
                        self._output.add_stream_from_template(track).time_base = _WRITTEN_BASE
                self._write(tracks, _timed(container, tracks, stretch), stretch, part)
                return

    def _first_shown(self, packets: Iterator[tuple[int, _Packet]], track: VideoStream | AudioStream) -> int | None:
        """Return when the first picture is shown that can be decoded from here; None if there is none.

        In a file without times it is decoded: pictures that are decoded after it may have been shown before it.
        """
        decoder, key_ms = track.codec_context, None
        for ms, packet in packets:
            if packet.stream is not track or (key_ms is None and not packet.is_keyframe):
                continue
            if not self.is_counted:
                return ms
            key_ms = ms if key_ms is None else key_ms
            try:
                frames = decoder.decode(packet) if isinstance(decoder, VideoCodecContext) else []
            except av.error.FFmpegError:
                continue
            if frames and frames[0].dts is not None and packet.dts is not None:
                late_ticks = packet.dts - frames[0].dts + (self._delay_ticks or 0)
                self._ahead_ms = ms - round(late_ticks * (packet.time_base or Fraction(0)) * 1000) - key_ms
                return key_ms + self._ahead_ms
        return None

    def _tracks(self, container: InputContainer) -> tuple[VideoStream | AudioStream, ...]:
        shown = shown_stream(container)
        if shown is None:
            raise SourceUnreadable("the source has no video stream; it is not what was probed")
        number = self._track
        sound = None if number is None else next(islice(container.streams.audio, number - 1, None), None)
        return (shown,) if sound is None or sound.codec_context is None else (shown, sound)

    def _write(
        self,
        tracks: tuple[VideoStream | AudioStream, ...],
        packets: Iterator[tuple[int, _Packet]],
        stretch: Stretch,
        part: Span,
    ) -> None:
        """Copy pictures in the order of decoding, and the sound between the first and the last of them."""
        begin_ms: int | None = None
        end_ms: int | None = None if self._at_keyframes else part.end_ms
        is_last = part.end_ms >= stretch.span.end_ms
        held: deque[tuple[int, _Packet]] = deque()
        late = 0
        for ms, packet in packets:
            if packet.stream is not tracks[0]:
                held.append((ms, packet))
                if begin_ms is None:
                    while held and held[0][0] < ms - _HELD_MS:
                        held.popleft()
                    continue
                if self._flush(held, begin_ms, part.end_ms if end_ms is None else end_ms, stretch) and late:
                    break
            elif not late:
                if begin_ms is None:
                    if not self._begins(ms, packet, part, stretch):
                        continue
                    begin_ms = ms
                    self.begin_ms = ms + self._ahead_ms if self.begin_ms is None else self.begin_ms
                if self._ends(ms, packet, part) and not (self._at_keyframes and is_last):
                    end_ms = self.end_ms = ms if self._at_keyframes else part.end_ms
                    late = 1
                    if len(tracks) == 1:
                        return
                elif ms >= begin_ms:  # another picture needs the one before the cut
                    self._put(0, packet, stretch)
                    self._count(ms)
            if late and (late := late + 1) > _LATE_PACKETS:
                break
        if begin_ms is not None:
            self._flush(held, begin_ms, stretch.span.end_ms + _HELD_MS if end_ms is None else end_ms, stretch)

    def _count(self, ms: int) -> None:
        self.packets += 1
        if ms < self._span.start_ms:
            self._before += 1
        elif ms == self._span.start_ms:
            self._shows_begin = True

    def _begins(self, ms: int, packet: _Packet, part: Span, stretch: Stretch) -> bool:
        """Whether the copy begins with this picture."""
        if not packet.is_keyframe:
            return False
        return not self._at_keyframes or ms >= part.start_ms or part.start_ms <= stretch.span.start_ms

    def _ends(self, ms: int, packet: _Packet, part: Span) -> bool:
        """Whether the copy ends before this picture: in the order of decoding, none of the part follows."""
        if self._at_keyframes:
            return packet.is_keyframe and ms >= part.end_ms
        behind = (self._delay_ticks or 0) if packet.pts is None or packet.dts is None else packet.pts - packet.dts
        return ms - int(behind * (packet.time_base or Fraction(0)) * 1000) >= part.end_ms

    def _flush(self, held: deque[tuple[int, _Packet]], begin_ms: int, end_ms: int, stretch: Stretch) -> bool:
        """Copy the sound of begin_ms to end_ms. Return whether sound behind it was read."""
        while held and held[0][0] < end_ms:
            ms, packet = held.popleft()
            if ms >= begin_ms:
                self._put(1, packet, stretch)
        return bool(held)

    def _put(self, index: int, packet: _Packet, stretch: Stretch) -> None:
        """Write a packet with its time in the video, later than the one before it in the same track."""
        output = self._output
        stamp = packet.dts if packet.pts is None else packet.pts
        if output is None or stamp is None:
            return
        base = self._bases[packet.stream_index]
        offset = (LATER_MS - stretch.origin_ms) * (_RATE // 1000)
        pts = _scaled(stamp, base, _RATE) + offset
        least = self._last_dts.get(index, pts - _DELAY_TICKS) + 1
        dts = max(least, min(pts, least if packet.dts is None else _scaled(packet.dts, base, _RATE) + offset))
        self._last_dts[index] = dts
        copied = av.Packet(bytes(packet))
        copied.pts, copied.dts, copied.time_base = max(pts, dts), dts, _WRITTEN_BASE
        copied.duration, copied.is_keyframe = _scaled(packet.duration or 0, base, _RATE), packet.is_keyframe
        copied.stream = output.streams[index]
        output.mux(copied)


def _scaled(stamp: int, base: Fraction, rate: int) -> int:
    """Return a timestamp in units of base as one in units of 1/rate seconds, rounded; Fraction would be slow."""
    return (2 * stamp * base.numerator * rate + base.denominator) // (2 * base.denominator)


def _bases_of(tracks: tuple[VideoStream | AudioStream, ...]) -> dict[int, Fraction]:
    return {one.index: one.time_base or Fraction(1, 1000) for one in tracks}


def _format_of(tracks: tuple[VideoStream | AudioStream, ...]) -> str:
    """Return a digest of what a decoder has to know of the tracks before their first packets."""
    contexts = [track.codec_context for track in tracks]
    named = [(one.codec.canonical_name, one.codec_tag, bytes(one.extradata or b"")) for one in contexts]
    sizes = [(one.width, one.height) for one in contexts if isinstance(one, VideoCodecContext)]
    heard = [(one.sample_rate, one.channels) for one in contexts if isinstance(one, AudioCodecContext)]
    return hashlib.sha256(repr((named, sizes, heard)).encode()).hexdigest()


def _timed(
    container: InputContainer, tracks: tuple[VideoStream | AudioStream, ...], stretch: Stretch
) -> Iterator[tuple[int, _Packet]]:
    """Yield the packets of a stretch with their times in the video, in the order of the file."""
    inside = not stretch.begin_byte
    bases = _bases_of(tracks)
    scale = {index: float(base * 1000) for index, base in bases.items()}
    try:
        for packet in container.demux(*tracks):
            if packet.pos is not None:
                inside = packet.pos >= stretch.begin_byte
                if stretch.end_byte is not None and packet.pos >= stretch.end_byte:
                    return
            if not inside or not packet.size or packet.is_corrupt:
                continue
            mend_times(container, packet, scale[packet.stream_index], stretch.middle_stamp_ms)
            if is_without_pts(container):
                packet.pts = None  # a guess of the demuxer's
            stamp = packet.pts if packet.pts is not None else packet.dts
            if stamp is not None:
                yield _scaled(stamp, bases[packet.stream_index], 1000) - stretch.origin_ms, packet
    except (av.error.InvalidDataError, av.error.EOFError):
        return  # the demuxer cannot continue: the readable part ends here
