"""Probing a file before any work is spent on it: container, streams, true duration.

The file is parsed in a box (gpu_workers.engine.indexing.box, examination); this module sniffs the container, starts the
box and turns its answer into types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gpu_workers.engine.indexing.audio_tracks import MAX_TAG, MAX_TITLE, AudioTrack, language_of, shown_title
from gpu_workers.engine.indexing.box.boxes import Box, BoxEnded, BoxLost, BoxSilent, BoxUnavailable
from gpu_workers.engine.indexing.box.decoding import JOBS
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.box.supply import Supply
from gpu_workers.engine.indexing.container import (
    FORMATS,
    HEAD_BYTES,
    MAX_STREAMS,
    ProbeError,
    SourceUnreachable,
    sniff_container,
)
from gpu_workers.engine.indexing.file_clock import MAX_STRETCHES, ROW_NUMBERS, FileClock
from gpu_workers.engine.indexing.picture_format import TRANSFERS, UNKNOWN_FORMAT, PictureFormat

__all__ = ["ProbeError", "ProbeLimits", "ProbeResult", "probe", "sniff_container"]

_VERDICTS = frozenset({
    "not_a_video", "truncated", "no_video_stream", "no_frames", "duration_unknown", "too_many_pixels",
    "too_many_streams", "frame_rate_too_high", "too_few_packets",
})  # fmt: skip
"""Refusals that a box may give."""
LACKS = frozenset({"truncated", "damaged", "video_not_seen"})
"""Codes of what a file may lack: it ends before its header says, more than 1 % of its packets are damaged, or only the
first of several video tracks is indexed."""
_MESSAGE_CHARACTERS = 300
_CLOCK_BYTES = MAX_STRETCHES * ROW_NUMBERS * 8
_FIELDS = {
    "container": str, "codec": str, "duration_ms": int, "width": int, "height": int, "fps": str | None, "rotation": int,
    "audio_tracks": list, "has_video": bool, "source_start_ms": int, "bitrate": int | None, "degraded": list,
    "pictures": dict,
}  # fmt: skip


_TRACK_FIELDS = {
    "number": int, "language": str, "title": str, "codec": str, "channels": int, "is_default": bool,
}  # fmt: skip
_RANGES = {
    "duration_ms": (0, 2**53), "width": (0, 2**20), "height": (0, 2**20), "rotation": (0, 270),
    "source_start_ms": (-(2**53), 2**53), "bitrate": (0, 2**53),
}  # fmt: skip
"""Least and greatest number of each field that has one. A decoder that was taken over may say anything."""
_GREATEST_FPS = 100_000
_FPS = re.compile(r"[0-9]{1,9}(/[0-9]{1,9})?")
"""The text of a frame rate. Fraction() itself also takes exponents, and computes a large one without an end."""
_CODEC = re.compile(r"[a-z0-9_]{1,32}")


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """max_duration_ms, max_bytes: of the video. The others are the box's."""

    max_duration_ms: int = 24 * 3_600_000
    max_bytes: int = 64 * 2**30
    cpu_s: int = 60
    memory_bytes: int = 4 * 2**30
    wall_s: float = 120.0


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Properties of a probed video.

    width, height: as shown, that is upright and with square pixels. rotation: clockwise degrees that turn the stored
    picture upright (0, 90, 180 or 270).

    duration_ms: of what the file holds, the longer of pictures and sound, at least 1; it is read from the packets, not
    from the header. source_start_ms: timestamp in the file at 0 of the video. clock: every timestamp's time.
    audio_tracks: in the order of the file. degraded: codes of what the file lacks (LACKS).
    fps: mean rate, from timestamps where the header has none, None for a single frame. bitrate, size: None if unknown.
    """

    container: str
    codec: str
    duration_ms: int
    width: int
    height: int
    fps: Fraction | None
    rotation: int
    has_video: bool
    source_start_ms: int
    bitrate: int | None
    size: int | None
    clock: FileClock
    audio_tracks: tuple[AudioTrack, ...] = ()
    degraded: tuple[str, ...] = ()
    pictures: PictureFormat = UNKNOWN_FORMAT

    @property
    def has_audio(self) -> bool:
        return bool(self.audio_tracks)


def probe(url_or_path: str, *, limits: ProbeLimits | None = None) -> ProbeResult:
    """Describe the video at a path or an http(s) URL, or raise ProbeError with the reason it cannot be indexed.

    An MP4 or MOV without an index, or whose index names packets that are not in the file, is `truncated`. Containers
    without a complete index (MKV, TS, PS, AVI, FLV, Ogg, GIF) may be cut: then the readable part gives the duration.
    """
    limits = limits or ProbeLimits()
    try:
        supply = Supply(url_or_path)
    except SourceUnreachable as error:
        raise ProbeError("unreachable", error.message, retryable=error.retryable) from error
    try:
        container = _sniffed(supply, limits)
        answer, clock = _examined(supply, container, limits)
    except SourceUnreachable as error:
        raise ProbeError("unreachable", error.message, retryable=error.retryable) from error
    finally:
        supply.close()
    fps, degraded, pictures = answer.pop("fps"), tuple(answer.pop("degraded")), answer.pop("pictures")
    result = ProbeResult(
        **answer | {"audio_tracks": tuple(_track(fields) for fields in answer["audio_tracks"])},
        fps=Fraction(fps) if fps else None,
        size=supply.size,
        clock=clock,
        degraded=degraded,
        pictures=PictureFormat.of_fields(pictures),
    )
    if result.duration_ms > limits.max_duration_ms:
        raise ProbeError(
            "too_long", f"The video lasts {result.duration_ms} ms; at most {limits.max_duration_ms} ms are accepted."
        )
    return result


def _sniffed(supply: Supply, limits: ProbeLimits) -> str:
    if supply.size is not None and supply.size > limits.max_bytes:
        raise ProbeError("too_large", f"The file has {supply.size} bytes; at most {limits.max_bytes} are accepted.")
    return sniff_container(supply.head(HEAD_BYTES))


def _examined(supply: Supply, container: str, limits: ProbeLimits) -> tuple[dict[str, Any], FileClock]:
    """Return the fields of ProbeResult without size and clock, and the clock.

    Raises ProbeError, and SourceUnreachable if bytes are missing.
    """
    bounds = BoxLimits(cpu_s=limits.cpu_s, memory_bytes=limits.memory_bytes)
    try:
        with Box(
            f"{JOBS}:probe", {"container": container}, supply, limits=bounds, memory_bytes=_CLOCK_BYTES,
            wall_s=limits.wall_s,
        ) as box:  # fmt: skip
            answer = box.receive()
            clock = _clock(box, answer)
    except BoxSilent as error:
        message = f"The file could not be examined within {limits.wall_s:g} s."
        raise ProbeError("probe_timeout", message, retryable=supply.remote) from error
    except (BoxLost, BoxUnavailable) as error:
        message = "The file could not be examined: our decoder was not available."
        raise ProbeError("decoder_unavailable", message, retryable=True) from error
    except BoxEnded as error:
        if supply.failure is not None:
            raise supply.failure from error
        # The file caused it, and would cause it again.
        raise ProbeError("not_a_video", "The file could not be parsed within the limits.") from error
    if supply.failure is not None:
        raise supply.failure
    if answer.get("refused") in _VERDICTS:
        raise ProbeError(str(answer["refused"]), str(answer.get("message"))[:_MESSAGE_CHARACTERS])
    found = answer.get("result")
    if not isinstance(found, dict) or found.keys() != _FIELDS.keys():
        raise ProbeError("not_a_video", "The file could not be parsed.")
    if not all(isinstance(found[name], kind) for name, kind in _FIELDS.items()) or not _is_possible(found):
        raise ProbeError("not_a_video", "The file could not be parsed.")
    if clock is None or (clock.duration_ms, clock.stretches[0].stamp_ms) != (
        found["duration_ms"], found["source_start_ms"],
    ):  # fmt: skip
        raise ProbeError("not_a_video", "The file could not be parsed.")
    return found, clock


def _clock(box: Box, answer: Mapping[str, Any]) -> FileClock | None:
    """Return the clock that the box shares, None if it is none. A decoder that was taken over may say anything."""
    count = answer.get("stretches")
    if not isinstance(count, int) or not 0 < count <= MAX_STRETCHES:
        return None
    rows = box.shared(np.int64, count * ROW_NUMBERS, 0).reshape(count, ROW_NUMBERS)
    if np.abs(rows).max() > 2**53:
        return None
    try:
        return FileClock.of_rows(rows.tolist())
    except ValueError:
        return None


def _track(fields: Mapping[str, Any]) -> AudioTrack:
    return AudioTrack.of_fields(
        {**fields, "language": language_of(fields["language"]), "title": shown_title(fields["title"])}
    )


def _is_possible_track(fields: object, number: int) -> bool:
    """Whether an audio track may have these properties. number: its index, from 1."""
    if not isinstance(fields, dict) or fields.keys() != _TRACK_FIELDS.keys():
        return False
    if any(type(fields[name]) is not kind for name, kind in _TRACK_FIELDS.items()) or fields["number"] != number:
        return False
    if len(fields["language"]) > MAX_TAG or len(fields["title"]) > MAX_TITLE or not 0 <= fields["channels"] <= 1_024:
        return False
    return fields["codec"] == "" or _CODEC.fullmatch(fields["codec"]) is not None


def _is_possible_format(fields: dict[str, Any]) -> bool:
    """Whether coded pictures may have these properties."""
    if fields.keys() != UNKNOWN_FORMAT.as_fields().keys() or not isinstance(fields["pixel_format"], str):
        return False
    keyframe_ms = fields["keyframe_ms"]
    if keyframe_ms is not None and (type(keyframe_ms) is not int or not 0 <= keyframe_ms <= 2**53):
        return False
    if type(fields["bit_depth"]) is not int or type(fields["is_interlaced"]) is not bool:
        return False
    return (
        0 <= fields["bit_depth"] <= 32
        and fields["transfer"] in ("", *TRANSFERS.values())
        and (_CODEC.fullmatch(fields["pixel_format"]) is not None)
    )


def _is_possible(found: Mapping[str, Any]) -> bool:
    """Whether a file may have these properties."""
    for name, (least, greatest) in _RANGES.items():
        number = found[name]
        if number is not None and (isinstance(number, bool) or not least <= number <= greatest):
            return False
    if not all(isinstance(code, str) and code in LACKS for code in found["degraded"]):
        return False
    tracks = found["audio_tracks"]
    if len(tracks) > MAX_STREAMS or not all(_is_possible_track(one, n) for n, one in enumerate(tracks, 1)):
        return False
    if not _is_possible_format(found["pictures"]):
        return False
    if found["container"] not in FORMATS or not _CODEC.fullmatch(found["codec"]):
        return False
    if found["fps"] is None:
        return True
    if not _FPS.fullmatch(found["fps"]):
        return False
    numerator, _, denominator = found["fps"].partition("/")
    return 0 < int(numerator) <= _GREATEST_FPS * int(denominator or 1)
