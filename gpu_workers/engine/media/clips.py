"""Makes one MP4 of a span of a recording, from the files that hold it: copied fast, or encoded to the frame."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import ffmpeg
from pymupdf_fonts import NotoSans_Regular

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.probe import ProbeError, probe
from gpu_workers.engine.media.cutting import Cut, cut
from gpu_workers.engine.media.encoding import THREADS, EncodingFailed, EncodingLimits, encode, source
from gpu_workers.engine.media.renditions import Recording, timed, turned, with_usual_range

ClipMode = Literal["fast", "exact"]
"""fast: the packets are copied, so the clip begins at the keyframe before the span. exact: the pictures are encoded
again, so the clip begins and ends with the span."""

CLIP, POSTER = "clip.mp4", "poster.jpg"
"""Names of the files that make_clip() leaves in its folder."""
LONGEST_SIDE, CRF = 1920, 21
POSTER_WIDTH = 480
_COPIED_SOUND = ("aac", "mp3", "mp3float", "ac3", "eac3", "alac")
"""Sound that players take in an MP4; other sound is encoded."""
_SOUND = {"acodec": "aac", "ac": 2, "ar": 48_000, "b:a": 128_000}
_JOINED, _BURNT, _FONT = "joined.nut", "burnt.srt", "font.ttf"
_NUT = b"nut/multimedia container\0"
_STYLE = "FontName=Noto Sans,FontSize=18,Outline=1,Shadow=0,MarginV=14"

Progress = Callable[[], None]


class NotCopyable(Exception):
    """The packets cannot be copied into one MP4: the format changes within the span, or pictures have no times."""


@dataclass(frozen=True, slots=True)
class ClipPiece:
    """A file of the recording, and the part of the span that it holds, in the video's time."""

    recording: Recording
    span: Span


@dataclass(frozen=True, slots=True)
class ClipWish:
    """What a clip shall be. burnt: captions as SubRip, counted from the clip's start, "" for none; mode exact only.

    fonts: folders with fonts for scripts other than Latin, Greek and Cyrillic. tags: metadata of the file.
    """

    mode: ClipMode
    burnt: str = ""
    fonts: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MadeClip:
    """A clip that was made. span: what it shows, in the video's time. size_bytes: of its file."""

    span: Span
    width: int
    height: int
    size_bytes: int


def make_clip(
    pieces: Sequence[ClipPiece], wish: ClipWish, folder: Path, *, on_progress: Progress | None = None
) -> MadeClip:
    """Write CLIP and POSTER into folder. pieces: in the order of time, each following the one before.

    on_progress: called at least every few seconds; it raises to cancel. Raises NotCopyable (mode fast), and what cut()
    and encode() raise.
    """
    parts: list[_Part] = []
    for piece in pieces:
        file, name = piece.recording, f"part{len(parts)}.nut"
        done = cut(
            file.url, piece.span, folder / name, clock=file.clock, track=file.track, on_progress=on_progress
        )  # fmt: skip
        if done.packets:
            parts.append(_Part(name, piece, done))
    if not parts:
        raise EncodingFailed("the span has no pictures")
    limits = _limits(sum(part.piece.span.duration_ms for part in parts))
    graph = _copied(parts, wish, folder) if wish.mode == "fast" else _encoded(parts, wish, folder)
    encode(graph, folder, limits=limits, on_progress=on_progress, readable=wish.fonts if wish.burnt else ())
    first = ffmpeg.input(CLIP, format="mov", protocol_whitelist="file").video.filter("scale", POSTER_WIDTH, -2)
    encode(ffmpeg.output(first, POSTER, vframes=1, qscale=4), folder, limits=limits, on_progress=on_progress)
    try:
        made = probe(str(folder / CLIP))
    except ProbeError as error:
        raise EncodingFailed(f"the clip cannot be read: {error}") from error
    begin_ms = parts[0].cut.begin_ms if wish.mode == "fast" else parts[0].piece.span.start_ms
    span = Span(begin_ms, begin_ms + made.duration_ms)
    return MadeClip(span, made.width, made.height, (folder / CLIP).stat().st_size)


@dataclass(frozen=True, slots=True)
class _Part:
    """What was cut out of one file, under a name in the folder."""

    name: str
    piece: ClipPiece
    cut: Cut


def _limits(duration_ms: int) -> EncodingLimits:
    seconds = duration_ms // 1000
    return EncodingLimits(cpu_s=300 + 12 * seconds, wall_s=300.0 + 3 * seconds)


def _copied(parts: Sequence[_Part], wish: ClipWish, folder: Path) -> Any:
    """Return the graph that joins the packets of all parts."""
    first = parts[0]
    if len({(part.cut.format, part.piece.recording.rotation) for part in parts}) > 1:
        raise NotCopyable
    # Pictures without times of their own get them from a decoder, which counts.
    if any(part.cut.is_counted for part in parts):
        raise NotCopyable
    _join([part.name for part in parts], folder)
    file = first.piece.recording
    packets = source(_JOINED, turned_by=file.rotation)
    streams = [packets.video] if file.track is None else [packets.video, packets.audio]
    options: dict[str, Any] = {"acodec": "copy"} if file.audio_codec in _COPIED_SOUND else dict(_SOUND)
    if file.container == "mpegts" and file.audio_codec == "aac":
        options["bsf:a"] = "aac_adtstoasc"
    if file.codec == "hevc":
        # Players of Apple take no other name.
        options["tag:v"] = "hvc1"
    begin = {"output_ts_offset": -first.cut.begin_ms / 1000}
    return ffmpeg.output(*streams, CLIP, vcodec="copy", **options, **begin, **_container(wish))


def _join(names: Sequence[str], folder: Path) -> None:
    """Put NUT files of the same tracks together: their headers repeat, and every time is that of the video."""
    with (folder / _JOINED).open("wb") as joined:
        for name in names:
            with (folder / name).open("rb") as file:
                # Only the first file begins with the name of the format.
                if joined.tell() and file.read(len(_NUT)) != _NUT:
                    raise EncodingFailed("what was cut is no NUT file")
                shutil.copyfileobj(file, joined)
            (folder / name).unlink()


def _encoded(parts: Sequence[_Part], wish: ClipWish, folder: Path) -> Any:
    """Return the graph that encodes the pictures of all parts that are shown in the span."""
    file = parts[0].piece.recording
    width, height = _bounded(file.width, file.height)
    is_heard = any(part.piece.recording.track is not None for part in parts)
    streams: list[Any] = []
    for part in parts:
        packets, span = source(part.name), part.piece.span
        pictures = timed(part.piece.recording, span, part.cut, packets.video)
        pictures = with_usual_range(part.piece.recording, turned(part.piece.recording, pictures))
        pictures = pictures.filter("scale", width, height, force_original_aspect_ratio="decrease")
        pictures = pictures.filter("pad", width, height, -1, -1).filter("setsar", 1).filter("format", "yuv420p")
        streams.append(pictures.filter("setpts", f"PTS-{span.start_ms / 1000}/TB"))
        if is_heard:
            streams.append(_sound(part, packets.audio))
    joined = ffmpeg.concat(*streams, v=1, a=int(is_heard)).node
    shown = joined[0]
    if wish.burnt:
        (folder / _BURNT).write_text(wish.burnt, encoding="utf-8")
        # Otherwise a host without fonts would burn nothing, and not say so.
        (folder / _FONT).write_bytes(NotoSans_Regular.fontbuffer)
        shown = shown.filter("subtitles", _BURNT, fontsdir=".", force_style=_STYLE)
    options = {
        "vcodec": "libx264", "profile:v": "high", "preset": "veryfast", "crf": CRF, "threads": THREADS,
        "fps_mode": "passthrough", "enc_time_base": "1:90000", "video_track_timescale": 90_000,
    }  # fmt: skip
    outputs = [shown, joined[1]] if is_heard else [shown]
    return ffmpeg.output(*outputs, CLIP, **options, **(_SOUND if is_heard else {}), **_container(wish))


def _sound(part: _Part, sound: Any) -> Any:
    """Return the sound of a part, as long as its span; silence if it has none."""
    span = part.piece.span
    if part.piece.recording.track is None:
        return ffmpeg.input("anullsrc=r=48000:cl=stereo", format="lavfi", t=span.duration_ms / 1000).audio
    return (
        sound.filter("asetpts", f"PTS-{span.start_ms / 1000}/TB")
        .filter("atrim", start=0)
        .filter("aresample", 48_000, **{"async": 1, "first_pts": 0})
        .filter("aformat", sample_fmts="fltp", channel_layouts="stereo")
        .filter("apad")
        .filter("atrim", end=span.duration_ms / 1000)
    )


def _bounded(width: int, height: int) -> tuple[int, int]:
    """Return even sides within LONGEST_SIDE."""
    shrink = min(1.0, LONGEST_SIDE / max(width, height))
    return max(2, round(width * shrink / 2) * 2), max(2, round(height * shrink / 2) * 2)


def _container(wish: ClipWish) -> dict[str, Any]:
    tags = {f"metadata:g:{n}": f"{name}={value}" for n, (name, value) in enumerate(wish.tags.items())}
    return {"format": "mp4", "movflags": "+faststart+use_metadata_tags", "map_metadata": -1, **tags}
