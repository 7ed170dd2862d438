"""Runs a graph of ffmpeg-python in a box: ffmpeg sees one folder, and neither network nor secrets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ffmpeg

from gpu_workers.engine.indexing.box.boxes import (
    Box,
    BoxEnded,
    BoxLost,
    BoxSilent,
    BoxUnavailable,
    Program,
)
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.container import DecoderUnavailable
from gpu_workers.engine.media.binary import ffmpeg_binary
from gpu_workers.engine.media.cut_format import LATER_MS

HEARTBEAT_S = 1.0
"""Longest time between two calls of `on_progress`."""
THREADS = 2
"""Number of threads of each decoder, filter graph and encoder, so that a clip takes no large host for itself."""
_GLOBAL = (
    "-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1", "-y", "-copyts",
    "-filter_threads", str(THREADS), "-filter_complex_threads", str(THREADS),
)  # fmt: skip
_WORDS_KEPT = 500
_FILES = 64
_FILE_BYTES = 2 * 2**30

Progress = Callable[[], None]
"""What it raises ends the program."""


class EncodingFailed(Exception):
    """ffmpeg refused the file, or ended at its limits: the same file would end it again."""

    code = "source_undecodable"
    retryable = False


@dataclass(frozen=True, slots=True)
class EncodingLimits:
    """cpu_s: CPU time of all threads. wall_s: time in all. file_bytes: size of each file that is written."""

    cpu_s: int = 600
    wall_s: float = 900.0
    memory_bytes: int = 4 * 2**30
    file_bytes: int = _FILE_BYTES


@contextmanager
def workspace() -> Iterator[Path]:
    """Yield an empty folder for the files of one encoding; it is deleted in the end."""
    with tempfile.TemporaryDirectory(prefix="ava-media-") as folder:
        yield Path(folder)


def source(name: str, *, keyframes_only: bool = False, turned_by: int = 0) -> Any:
    """Return the input of a graph: a file of the folder that cutting.cut() wrote, in the video's time.

    turned_by: clockwise degrees by which a player shall turn packets that are copied.

    Output keeps that time: subtract the start by the filters setpts and asetpts, or by output_ts_offset for copies.
    """
    options: dict[str, Any] = {"skip_frame": "nokey"} if keyframes_only else {}
    if turned_by:
        options["display_rotation"] = -turned_by
    options |= {"threads": THREADS, "protocol_whitelist": "file", "itsoffset": -LATER_MS / 1000}
    return ffmpeg.input(name, format="nut", **options)


def encode(
    graph: Any,
    folder: Path,
    *,
    limits: EncodingLimits | None = None,
    on_progress: Progress | None = None,
    readable: tuple[str, ...] = (),
) -> None:
    """Run a graph of ffmpeg-python on the files of folder, by names relative to it.

    on_progress: called at least once a second, for the heart-beat of a lease; it raises to cancel. readable: paths
    outside the folder that ffmpeg may read, such as fonts. The program is gone when this returns or raises. Raises
    EncodingFailed, and DecoderUnavailable when this host ended it or cannot confine it.
    """
    limits = limits or EncodingLimits()
    binary = ffmpeg_binary()
    argv = ("ffmpeg", *_GLOBAL, *ffmpeg.get_args(graph))
    bounds = BoxLimits(limits.cpu_s, limits.memory_bytes, _FILES, limits.file_bytes)
    words = ""
    try:
        with Box(
            "", {}, limits=bounds, wall_s=limits.wall_s, program=Program(binary, str(folder), argv, readable)
        ) as box:
            while (said := box.output(HEARTBEAT_S)) is not None:
                words = (words + _without_progress(said))[-_WORDS_KEPT:]
                if on_progress is not None:
                    on_progress()
            status = box.exit_status()
    except BoxSilent as error:
        raise EncodingFailed("ffmpeg took too long") from error
    except BoxEnded as error:
        raise EncodingFailed(str(error)) from error
    except (BoxLost, BoxUnavailable) as error:
        raise DecoderUnavailable(str(error)) from error
    if status:
        raise EncodingFailed(f"ffmpeg ended with status {status}: {words.strip()}")


def made(folder: Path, name: str) -> bytes:
    """Return the content of a file that a graph wrote. Raises EncodingFailed if there is no such plain file."""
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise EncodingFailed(f"ffmpeg wrote no {name}") from error
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _without_progress(said: str) -> str:
    return "" if "progress=" in said else said
