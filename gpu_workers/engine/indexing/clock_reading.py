"""Read the clock of an open file from its packets. Runs in a box.

Headers, indexes and single packets are all wrong in some file. So the clock is read from all packets of picture and
sound where a container has no index, or where its header and its last packets disagree.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import av
import av.error
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Stream
from av.video.stream import VideoStream

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.file_clock import MAX_STRETCHES, FileClock, Stretch
from gpu_workers.engine.indexing.opening import Media, open_video, shown_stream

JOINABLE = frozenset({"mpegts", "mpeg", "flv", "ogg"})
"""Demuxers of containers without an index, whose files stay readable when several are joined to one."""
WRAPPING, CLOCK_TICKS = frozenset({"mpegts", "mpeg"}), 2**33
"""Demuxers of containers whose clock begins again after CLOCK_TICKS, that is after 26.5 hours."""
FALL_MS, LEAP_MS = 200.0, 60_000.0
"""Distances by which the decoding times of a joinable file fall back, or leap ahead of all its streams, where another
recording begins. A shorter leap is a pause: a camera may take one picture a minute."""
OUTAGE_MS, RUNNING_MS = 3_000.0, 1_000.0
"""Shortest pause of pictures and sound together that is an outage of the recorder, and longest time for which a track
may have had no packet before it. The last picture is not held over an outage, and its time passes."""
SLACK_MS = 100.0
"""Time by which sound may reach over the first and the last picture without a time of its own: encoders pad it by one
block, and a cut falls between blocks. The longest block (HE-AAC at 22 kHz) has 93 ms."""
READING_S = 75.0
"""Time after which a file is no longer read to its end; what its end says counts then."""
REORDERED, MANY = 32, 10_000
"""Number of packets in which the first picture to be shown lies, and number after which a track is no longer waited
for."""
ONE_PICTURE_MS = 40.0
"""Duration of a picture if the file does not state one (25 per second)."""


@dataclass(frozen=True, slots=True)
class ReadClock:
    """clock: of the file. packets, damaged: number of its packets that were read, and of those marked as damaged.

    stated_ms: duration that the header claims, None without one. reached_ms: end of the last packet of any stream, also
    of subtitles, from the beginning of the clock. whole: whether all packets were read.
    """

    clock: FileClock
    packets: int
    damaged: int
    stated_ms: int | None
    reached_ms: int
    whole: bool


def read_clock(source: Media, container: str | None = None) -> ReadClock | None:
    """Return the clock of a file; None if it has no pictures, or none with a timestamp. container: its name, if known.

    Raises av.error.FFmpegError for a file that cannot be opened.
    """
    with open_video(source, container=container) as opened:
        if not is_joinable(opened):
            ends = _Reading(opened)
            ends.read_ends()
            if ends.has_pictures and not ends.disagrees():
                return ends.result(whole=False)
    # Opened again: some files cannot be positioned at their beginning.
    with open_video(source, container=container) as opened:
        reading = _Reading(opened)
        whole = reading.read_all()
        return reading.result(whole=whole) if reading.has_pictures else None


def is_joinable(container: InputContainer) -> bool:
    return container.format.name in JOINABLE


def is_without_pts(container: InputContainer) -> bool:
    """Whether a container has decoding times only: the n-th picture shown has the n-th decoding time."""
    return container.format.name == "avi"


def decoding_delay(source: Media) -> int | None:
    """Return the number of ticks by which a decoder runs behind, for a file without times of its pictures.

    None for a file with times, or without reordered pictures. Decodes the first picture.
    """
    with open_video(source) as container:
        stream = shown_stream(container)
        if stream is None or not is_without_pts(container) or stream.codec_context.codec.intra_only:
            return None
        begins: int | None = None
        for packet in readable_packets(container, stream):
            begins = packet.dts if begins is None else begins
            packet.pts = None
            try:
                frames = stream.codec_context.decode(packet if packet.size else None)
            except av.error.FFmpegError:
                continue
            if frames and begins is not None:
                return 0 if frames[0].dts is None else frames[0].dts - begins
    return None


def mend_times(container: InputContainer, packet: av.Packet[Any], ms_per_tick: float, near_ms: float | None) -> None:
    """Put a packet's times onto the clock of its stretch.

    near_ms: a timestamp of the stretch: of the times that a clock of 33 bits may mean, the nearest one counts. The
    decoding time is removed if the demuxer guessed it from the timestamps before a join.
    """
    if near_ms is not None and container.format.name in WRAPPING:
        near = near_ms / ms_per_tick
        if packet.pts is not None:
            packet.pts += round((near - packet.pts) / CLOCK_TICKS) * CLOCK_TICKS
        if packet.dts is not None:
            packet.dts += round((near - packet.dts) / CLOCK_TICKS) * CLOCK_TICKS
    if packet.pts is None or packet.dts is None:
        return
    if not 0 <= (packet.pts - packet.dts) * ms_per_tick <= LEAP_MS:
        packet.dts = None


def readable_packets(container: InputContainer, *tracks: Stream) -> Iterator[av.Packet[Any]]:
    """Yield packets up to the end of the readable part."""
    try:
        yield from container.demux(*tracks)
    except av.error.FFmpegError:
        return


@dataclass(slots=True)
class _Times:
    """Times of one track in one stretch, in ms of the file. last: newest decoding time. tail: duration of the packet
    that was decoded last; another one's is only the distance to a packet that may be shown earlier."""

    first: float
    last: float
    end: float
    newest: float
    tail: float
    first_delay: float


@dataclass(slots=True)
class _Part:
    """A stretch while it is read. tracks: times by index of the stream. after_outage: whether it goes on with the clock
    of the stretch before it, after a time in which nothing was recorded."""

    begin_byte: int
    after_outage: bool = False
    tracks: dict[int, _Times] = field(default_factory=dict)

    @property
    def latest(self) -> float:
        return max(times.last for times in self.tracks.values())

    @property
    def longest_pause_ms(self) -> float:
        """Return how far ahead of all tracks a packet may be. Without sound, a camera may take one picture a minute."""
        running = [times for times in self.tracks.values() if self.latest - times.last <= RUNNING_MS]
        return OUTAGE_MS if len(running) > 1 else LEAP_MS


@dataclass(frozen=True, slots=True)
class _Stamp:
    track: int
    pts: float
    dts: float
    duration: float
    at_byte: int


class _Reading:
    """Adds up the packets of an open file to its clock."""

    def __init__(self, container: InputContainer) -> None:
        self._container, self._joinable = container, is_joinable(container)
        self._shown = shown_stream(container)
        self._tracks: list[VideoStream | AudioStream] = [] if self._shown is None else [self._shown]
        self._tracks += [one for one in container.streams.audio if one.codec_context is not None]
        self._pictures = -1 if self._shown is None else self._shown.index
        self._scale = {one.index: float((one.time_base or Fraction(1, 1000)) * 1000) for one in self._tracks}
        self._parts: list[_Part] = []
        self._doubtful: dict[int, _Stamp] = {}
        self._others_end = -math.inf
        self._hides_pictures = False
        self._packets = self._damaged = 0

    @property
    def has_pictures(self) -> bool:
        return any(self._pictures in part.tracks for part in self._parts)

    def read_all(self) -> bool:
        """Read all packets. Return False if the time ended before the file."""
        ends = time.monotonic() + READING_S
        for packet in readable_packets(self._container):
            self._count(packet)
            if self._packets % 1_000 == 0 and time.monotonic() > ends:
                self._read_end()
                return False
        return True

    def read_ends(self) -> None:
        """Read the first packets of all tracks, and the packets from the last keyframe of each track on."""
        missing, kept = {track.index for track in self._tracks}, 0
        for packet in readable_packets(self._container, *self._tracks):
            self._count(packet)
            if not packet.is_discard:
                missing.discard(packet.stream_index)
                kept += 1
            if (kept >= REORDERED and not missing) or self._packets >= MANY:
                break
        self._read_end()

    def disagrees(self) -> bool:
        """Whether the header states another end than the packets at the end have."""
        times, track = self._parts[0].tracks[self._pictures], self._shown
        if track is None:
            return True
        own = self._pictures_end(times) - times.first
        whole = max(one.end for one in self._parts[0].tracks.values()) - times.first
        claimed_by_file = (self._container.duration or 0) / 1000
        stated = track.duration * self._scale[track.index] if track.duration else claimed_by_file
        return min(abs(own - stated), abs(whole - stated)) > max(self._rate_ms(), SLACK_MS)

    def result(self, *, whole: bool) -> ReadClock:
        """Return the clock of what was read. whole: whether all packets were read."""
        stretches: list[Stretch] = []
        at = 0
        parts = self._parts[:MAX_STRETCHES]
        for part, following in zip(parts, [*self._parts[1 : len(parts)], None], strict=True):
            begin, pictures_end, end = self._bounds(part)
            if following is not None and following.after_outage:
                end = max(end, self._bounds(following)[0])
            length = max(1, round(end - begin))
            shown_until = at + min(length, max(0, round(pictures_end - begin)))
            last_byte = self._container.size if len(parts) > 1 else None
            end_byte = last_byte if following is None else following.begin_byte
            stretches.append(Stretch(Span(at, at + length), round(begin), shown_until, part.begin_byte, end_byte))
            at += length
        # Without an index, the demuxer takes the duration from the last timestamps, which joins make meaningless.
        stated = None if self._container.duration is None or len(parts) > 1 else round(self._container.duration / 1000)
        others = 0 if self._others_end < 0 else round(self._others_end - stretches[0].stamp_ms)
        return ReadClock(FileClock(tuple(stretches)), self._packets, self._damaged, stated, max(at, others), whole)

    def _read_end(self) -> None:
        for track in self._container.streams:
            try:
                self._container.seek(2**62, stream=track, backward=True)
            except av.error.FFmpegError:
                continue
            for packet in readable_packets(self._container, track):
                self._count(packet)

    def _count(self, packet: av.Packet[Any]) -> None:
        if not packet.size:
            return
        if packet.stream_index not in self._scale:
            if packet.pts is not None and packet.time_base is not None:
                end = (packet.pts + (packet.duration or 0)) * float(packet.time_base) * 1000
                self._others_end = max(self._others_end, end)
            return
        self._packets += 1
        if packet.is_corrupt:
            self._damaged += 1
        latest = self._parts[-1].latest if self._parts else None
        mend_times(self._container, packet, self._scale[packet.stream_index], latest)
        pts, dts = packet.pts, packet.dts
        if is_without_pts(self._container) and dts is not None:
            pts = dts
        pts, dts = (dts if pts is None else pts), (pts if dts is None else dts)
        if packet.is_discard:
            self._hides_pictures |= packet.stream_index == self._pictures
        elif pts is not None and dts is not None:
            scale = self._scale[packet.stream_index]
            at_byte = -1 if packet.pos is None else packet.pos
            self._add(_Stamp(packet.stream_index, pts * scale, dts * scale, (packet.duration or 0) * scale, at_byte))

    def _add(self, stamp: _Stamp) -> None:
        if not self._parts:
            self._parts.append(_Part(0))
        part = self._parts[-1]
        if self._joinable and len(self._parts) > 1 and 0 <= stamp.at_byte < part.begin_byte:
            self._put(self._parts[-2], stamp)
            return
        if not self._joinable or not self._is_jump(part, stamp):
            self._doubtful.pop(stamp.track, None)
            self._put(part, stamp)
            return
        before = self._doubtful.get(stamp.track)
        if before is None or not -FALL_MS <= stamp.dts - before.dts <= LEAP_MS:
            self._doubtful[stamp.track] = stamp  # one damaged timestamp is no new clock; two in a row are
            return
        del self._doubtful[stamp.track]
        self._begin(before)
        self._put(self._parts[-1], stamp)

    def _begin(self, first: _Stamp) -> None:
        """Begin a stretch with the packet `first`, and with those of other streams that run on the same clock."""
        fellows = [one for one in self._doubtful.values() if abs(one.dts - first.dts) <= LEAP_MS]
        begin_byte = min(one.at_byte for one in (first, *fellows) if one.at_byte >= 0 or one is first)
        part = _Part(begin_byte, after_outage=0 <= first.dts - self._parts[-1].latest <= LEAP_MS)
        self._parts.append(part)
        self._put(part, first)
        for one in fellows:
            del self._doubtful[one.track]
            self._put(part, one)

    def _is_jump(self, part: _Part, stamp: _Stamp) -> bool:
        if not part.tracks:
            return False
        own = part.tracks.get(stamp.track)
        if own is None:
            return abs(stamp.dts - part.latest) > LEAP_MS
        return own.last - stamp.dts > FALL_MS or stamp.dts - part.latest > part.longest_pause_ms

    def _put(self, part: _Part, stamp: _Stamp) -> None:
        times = part.tracks.get(stamp.track)
        if times is None:
            part.tracks[stamp.track] = _Times(
                stamp.pts, stamp.dts, stamp.pts + stamp.duration, stamp.pts, stamp.duration, stamp.pts - stamp.dts
            )
            return
        times.first = min(times.first, stamp.pts)
        times.last = stamp.dts
        times.end = max(times.end, stamp.pts + stamp.duration)
        times.newest = max(times.newest, stamp.pts)
        times.tail = stamp.duration

    def _rate_ms(self) -> float:
        """Return the mean duration of a picture as the header states it."""
        rate = self._shown and (self._shown.average_rate or self._shown.guessed_rate)
        return float(1000 / rate) if rate else ONE_PICTURE_MS

    def _pictures_end(self, times: _Times) -> float:
        return times.newest + (times.tail or self._rate_ms())

    def _bounds(self, part: _Part) -> tuple[float, float, float]:
        """Return where a stretch begins, where its pictures end, and where it ends, in ms of the file."""
        sounds = [times for track, times in part.tracks.items() if track != self._pictures]
        pictures = part.tracks.get(self._pictures)
        if pictures is None:
            begin = min(times.first for times in sounds)
            return begin, begin, max(times.end for times in sounds)
        pictures_end = self._pictures_end(pictures)
        begin = pictures.first - self._cut_picture_ms(pictures_end - pictures.first)
        earliest = min((times.first for times in sounds), default=begin)
        if begin - earliest > SLACK_MS + pictures.first_delay:
            begin = earliest
        latest = max((times.end for times in sounds), default=pictures_end)
        end = latest if latest - pictures_end > SLACK_MS else pictures_end
        # A single picture with sound stands to the end, as the cover of a podcast does.
        return begin, (end if pictures.newest == pictures.first else pictures_end), end

    def _cut_picture_ms(self, shown_ms: float) -> float:
        """Return for how long the picture before the first whole one is shown, where an edit begins within it."""
        stream = self._shown
        if stream is None or not stream.duration or not self._hides_pictures:
            return 0.0
        missing = stream.duration * self._scale[stream.index] - shown_ms
        return missing if 0.5 < missing < self._rate_ms() else 0.0
