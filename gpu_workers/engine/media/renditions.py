"""What browsers play of a recording, piece by piece: packets as they are where every browser takes them, else H.264.

Every piece is a fragmented MP4 in the video's own time, so that pieces follow each other without a join.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ffmpeg

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.container import DecodingFailed
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.picture_format import PictureFormat
from gpu_workers.engine.media import storyboards
from gpu_workers.engine.media.cutting import Cut, cut
from gpu_workers.engine.media.encoding import THREADS, EncodingLimits, encode, made, source, workspace
from gpu_workers.engine.media.fragments import FragmentedFile, NoFragments, fragments_of
from gpu_workers.engine.media.storyboards import Sheet

SAFE_SIDE, SAFE_SHORT_SIDE, SAFE_BITRATE, SAFE_KEYFRAME_MS = 1920, 1088, 8_000_000, 10_000
"""Pictures up to full HD, bits per second and keyframes with which a recording is played as it is. Coded heights are
multiples of 16."""
COPIED_CONTAINERS = frozenset({"mov", "matroska", "mpegts", "flv"})
SHORT_SIDE, LONG_SIDE, CRF, GREATEST_FPS, LEAST_FPS = 540, 1280, 26, 60, 2
KEYFRAME_S, FRAGMENT_US = 2, 6_000_000
AUDIO_RATE, AUDIO_BITS, AUDIO_FRAME = 48_000, 96_000, 1024
_EARLY = 2 * AUDIO_FRAME
"""Samples before a piece that the encoder hears, so that the first ones of the piece are whole."""
_TIME_SLACK_US = 10_000
FRAGMENTED: dict[str, Any] = {
    "format": "mp4",
    "movflags": "+frag_keyframe+empty_moov+default_base_moof+negative_cts_offsets+frag_discont",
    "min_frag_duration": FRAGMENT_US - _TIME_SLACK_US,
    "use_editlist": 0,
    "avoid_negative_ts": "disabled",
    "map_metadata": -1,
    "fflags": "+bitexact",
}
"""Options under which the times in the file are those of the video."""
ENCODED_PICTURES: dict[str, Any] = {
    "vcodec": "libx264", "profile:v": "high", "preset": "veryfast", "crf": CRF, "pix_fmt": "yuv420p",
    "threads": THREADS, "g": 600, "force_key_frames": f"expr:gte(t,n_forced*{KEYFRAME_S})",
    "fps_mode": "passthrough",
    # In the order of showing, so that a picture before a pause has the length of the pause.
    "bf": 0,
}  # fmt: skip
ENCODED_SOUND: dict[str, Any] = {"acodec": "aac", "ac": 2, "ar": AUDIO_RATE, "b:a": AUDIO_BITS}
_TO_SDR = (
    "zscale=tin={transfer}:min=bt2020nc:pin=bt2020:rin=tv:t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,"
    "tonemap=mobius:param=0.75,zscale=t=bt709:m=bt709:r=tv,format=yuv420p"
)
_TRANSFER_NAMES = {"pq": "smpte2084", "hlg": "arib-std-b67"}


@dataclass(frozen=True, slots=True)
class Recording:
    """A file to play. width, height: as shown. rotation: clockwise degrees that turn its pictures upright.

    track, audio_codec: number and codec of the audio track to hear; None and "" without any. clock: of the file, in the
    video's time.
    """

    url: str
    clock: FileClock
    container: str
    codec: str
    width: int
    height: int
    fps: float | None
    rotation: int
    bitrate: int | None
    pictures: PictureFormat
    track: int | None = None
    audio_codec: str = ""

    @property
    def is_safe(self) -> bool:
        """Whether every browser plays the packets as they are."""
        form, sides = self.pictures, sorted((self.width, self.height))
        return (
            self.codec == "h264"
            and (form.pixel_format in ("yuv420p", "yuvj420p") and form.bit_depth == 8)
            and not (form.is_interlaced or form.transfer or self.rotation)
            and (sides[0] <= SAFE_SHORT_SIDE and sides[1] <= SAFE_SIDE)
            and form.keyframe_ms is not None
            and form.keyframe_ms <= SAFE_KEYFRAME_MS
            and (self.bitrate is None or self.bitrate <= SAFE_BITRATE)
            and self.container in COPIED_CONTAINERS
            and len(self.clock.stretches) == 1
            and self.audio_codec in ("", "aac", "mp3", "mp3float")
        )


@dataclass(frozen=True, slots=True)
class RenderedPiece:
    """A piece of a rendition. begin_ms, end_ms: its part of the video; a copy begins and ends at keyframes.

    data: the file, empty if the span has no pictures of its own. sheets: of the storyboard.
    """

    data: bytes
    begin_ms: int
    end_ms: int
    file: FragmentedFile
    is_copy: bool
    sheets: tuple[Sheet, ...] = ()


EMPTY = FragmentedFile(0, ())


def render_piece(
    recording: Recording, span: Span, *, tile_ms: int, on_progress: Callable[[], None] | None = None
) -> RenderedPiece:
    """Return what plays the span. tile_ms: time between two pictures of the storyboard.

    on_progress: called at least every few seconds; it raises to cancel. Raises SourceUnreadable and its kinds, and
    EncodingFailed.
    """
    is_copy = recording.is_safe
    with workspace() as folder:
        done = cut(
            recording.url, span, folder / "in.nut", clock=recording.clock, track=recording.track,
            edges="keyframes" if is_copy else "around", on_progress=on_progress,
        )  # fmt: skip
        if not done.packets:
            return RenderedPiece(b"", span.start_ms, span.start_ms if is_copy else span.end_ms, EMPTY, is_copy)
        part = Span(done.begin_ms, max(done.end_ms, done.begin_ms + 1)) if is_copy else span
        graph = _copied(recording, part, tile_ms) if is_copy else _encoded(recording, part, done, tile_ms)
        encode(graph, folder, limits=_limits(span), on_progress=on_progress)
        data = made(folder, "piece.mp4")
        sheets = storyboards.sheets_of(folder, part, tile_ms)
    try:
        file = fragments_of(data)
    except NoFragments as error:
        raise DecodingFailed(f"the rendition cannot be read: {error}") from error
    return RenderedPiece(data, part.start_ms, part.end_ms, file, is_copy, sheets)


def _limits(span: Span) -> EncodingLimits:
    seconds = span.duration_ms // 1000
    return EncodingLimits(cpu_s=300 + 30 * seconds, wall_s=600.0 + 60 * seconds)


def _copied(recording: Recording, part: Span, tile_ms: int) -> Any:
    packets = source("in.nut")
    # Sound other than AAC is not played everywhere in a fragmented MP4.
    sound: dict[str, Any] = {"acodec": "copy"} if recording.audio_codec in ("", "aac") else dict(ENCODED_SOUND)
    if recording.container == "mpegts" and recording.audio_codec == "aac":
        sound["bsf:a"] = "aac_adtstoasc"
    streams = [packets.video] if recording.track is None else [packets.video, packets.audio]
    played = ffmpeg.output(*streams, "piece.mp4", vcodec="copy", **sound, **FRAGMENTED)
    keyframes_ms = recording.pictures.keyframe_ms or 0
    looked = source("in.nut", keyframes_only=keyframes_ms <= tile_ms)
    board = storyboards.output(looked.video, part, tile_ms)
    return played if board is None else ffmpeg.merge_outputs(played, board)


def _encoded(recording: Recording, span: Span, done: Cut, tile_ms: int) -> Any:
    packets = source("in.nut")
    pictures = turned(recording, timed(recording, span, done, packets.video))
    pictures = pictures.filter("scale", *shown_size(recording.width, recording.height)).filter("setsar", 1)
    pictures = with_usual_range(recording, pictures)
    board = None
    if storyboards.tiles_within(span, tile_ms):
        both = pictures.split()
        pictures, board = both[0], storyboards.output(both[1], span, tile_ms)
    streams = [pictures] if recording.track is None else [pictures, _sound(packets.audio, span)]
    options = {**ENCODED_PICTURES, **FRAGMENTED}
    if recording.track is not None:
        # Frames of sound lie on a grid that begins at the piece: those before it belong to the piece before.
        begin = span.start_ms / 1000 - 0.001
        options |= {**ENCODED_SOUND, "bsf:a": f"noise=drop='lt(pts*tb,{begin})'"}
    played = ffmpeg.output(*streams, "piece.mp4", **options)
    return played if board is None else ffmpeg.merge_outputs(played, board)


def timed(recording: Recording, span: Span, done: Cut, pictures: Any) -> Any:
    """Return the pictures of the span, the first of which is shown from its beginning, and the last one to its end."""
    begin, end = span.start_ms / 1000, span.end_ms / 1000
    fps = recording.fps or 25.0
    if done.is_counted:
        pictures = pictures.filter("setpts", f"({done.begin_ms / 1000}+N/{Fraction(fps).limit_denominator(1001)})/TB")
    if recording.pictures.is_interlaced:
        pictures = pictures.filter("bwdif", mode="send_frame", deint="interlaced")
    if fps < LEAST_FPS:
        pictures = pictures.filter("fps", fps=LEAST_FPS, round="up")
        pictures = pictures.filter("trim", start=begin)
    elif fps > GREATEST_FPS:
        pictures = pictures.filter("fps", fps=GREATEST_FPS, round="up").filter("trim", start=begin)
    elif done.is_counted:
        # From the picture on that is shown at the beginning.
        pictures = pictures.filter("trim", start=begin - 1 / fps + 0.001)
    else:
        pictures = pictures.filter("trim", start_frame=done.held)
    pictures = pictures.filter("setpts", f"if(eq(N,0),{begin}/TB,PTS)")
    return pictures.filter("tpad", stop_mode="clone", stop=-1).filter("trim", end=end)


def turned(recording: Recording, pictures: Any) -> Any:
    """Return the pictures upright."""
    turns = {90: ["clock"], 180: ["clock", "clock"], 270: ["cclock"]}.get(recording.rotation, [])
    for turn in turns:
        pictures = pictures.filter("transpose", turn)
    return pictures


def with_usual_range(recording: Recording, pictures: Any) -> Any:
    """Return the pictures with a standard dynamic range."""
    if recording.pictures.transfer:
        for step in _TO_SDR.format(transfer=_TRANSFER_NAMES[recording.pictures.transfer]).split(","):
            name, _, arguments = step.partition("=")
            first, *named = arguments.split(":")
            options = dict(one.split("=") for one in ([first, *named] if "=" in first else named))
            pictures = pictures.filter(name, *([] if "=" in first else [first]), **options)
    return pictures


def shown_size(width: int, height: int) -> tuple[int, int]:
    """Return even sides for pictures of this size: the short one at most SHORT_SIDE, the long one at most LONG_SIDE."""
    shrink = min(1.0, SHORT_SIDE / min(width, height), LONG_SIDE / max(width, height))
    return max(2, round(width * shrink / 2) * 2), max(2, round(height * shrink / 2) * 2)


def _sound(sound: Any, span: Span) -> Any:
    """Return the sound of the span at AUDIO_RATE, with silence where there is none, on the grid of AAC's frames."""
    first = span.start_ms * AUDIO_RATE // 1000 - _EARLY
    end = span.end_ms / 1000
    same_rate = sound.filter("aresample", AUDIO_RATE)
    cut_off = same_rate.filter("atrim", start=first / AUDIO_RATE, end=end)
    return (
        cut_off.filter("aresample", AUDIO_RATE, **{"async": 1, "first_pts": first})
        .filter("apad")
        .filter("atrim", end=end)
    )
