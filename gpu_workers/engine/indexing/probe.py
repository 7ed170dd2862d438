"""Probing a file before any work is spent on it: container, streams, true duration.

The parsing of a stranger's file happens in a child process with hard limits on CPU, memory and time
(gpu_workers.engine.indexing.probe_child); this module sniffs the container, starts the child and turns its answer into
types.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import httpx

from gpu_workers.engine.indexing.container import HEAD_BYTES, ProbeError, is_url, sniff_container

__all__ = ["ProbeError", "ProbeLimits", "ProbeResult", "probe", "sniff_container"]


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """max_duration_ms, max_bytes: of the video. The others are the child process's."""

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

    duration_ms: end of the last video packet, counted from source_start_ms, at least 1; it is read from the packets,
    not from the header. source_start_ms: the container's first timestamp, which is time 0 of the video everywhere else.
    fps: mean rate, from timestamps where the header has none, None for a single frame. bitrate, size: None if unknown.
    """

    container: str
    codec: str
    duration_ms: int
    width: int
    height: int
    fps: Fraction | None
    rotation: int
    has_audio: bool
    has_video: bool
    source_start_ms: int
    bitrate: int | None
    size: int | None


def probe(url_or_path: str, *, ffprobe: str, limits: ProbeLimits | None = None) -> ProbeResult:
    """Describe the video at a path or an http(s) URL, or raise ProbeError with the reason it cannot be indexed.

    ffprobe: path or name of the binary; without it FileNotFoundError is raised, since the file is not at fault. An MP4
    or MOV without an index, or whose index names packets that are not in the file, is `truncated`. Containers without a
    complete index (MKV, TS, AVI, FLV, Ogg) may be cut: then the readable part gives the duration.
    """
    limits = limits or ProbeLimits()
    binary = shutil.which(ffprobe)
    if binary is None:
        raise FileNotFoundError(f"there is no ffprobe called {ffprobe!r}")
    head, size = _head(url_or_path)
    if size is not None and size > limits.max_bytes:
        raise ProbeError("too_large", f"The file has {size} bytes; at most {limits.max_bytes} are accepted.")
    container = sniff_container(head)
    answer = _run_child(url_or_path, container, binary, limits)
    if "code" in answer:
        raise ProbeError(str(answer["code"]), str(answer["message"]), retryable=bool(answer["retryable"]))
    fps = answer.pop("fps")
    result = ProbeResult(**answer, fps=Fraction(fps) if fps else None, size=size)
    if result.duration_ms > limits.max_duration_ms:
        raise ProbeError(
            "too_long", f"The video lasts {result.duration_ms} ms; at most {limits.max_duration_ms} ms are accepted."
        )
    return result


def _head(source: str) -> tuple[bytes, int | None]:
    """Return the first bytes and the size of the whole file, if it is known."""
    if not is_url(source):
        try:
            with open(source, "rb") as file:
                return file.read(HEAD_BYTES), os.fstat(file.fileno()).st_size
        except OSError as error:
            raise ProbeError("unreachable", f"The file cannot be opened: {error.strerror}.") from error
    try:
        with httpx.stream("GET", source, headers={"Range": f"bytes=0-{HEAD_BYTES - 1}"}, timeout=30.0) as response:
            if response.status_code == 416:  # a range of an empty object
                return b"", 0
            if response.status_code >= 400:
                retryable = response.status_code >= 500 or response.status_code in (408, 429)
                raise ProbeError("unreachable", f"The URL answers {response.status_code}.", retryable=retryable)
            if response.status_code >= 300:
                raise ProbeError("unreachable", "The URL redirects; give the final address.")
            head = b""
            # A server without ranges sends the whole file; only its beginning is read.
            for piece in response.iter_raw():
                head += piece
                if len(head) >= HEAD_BYTES:
                    break
            total = response.headers.get("content-range", "").rpartition("/")[2] or response.headers.get(
                "content-length", ""
            )
            return head[:HEAD_BYTES], int(total) if total.isdigit() else None
    except httpx.HTTPError as error:
        raise ProbeError("unreachable", f"The URL cannot be read: {type(error).__name__}.", retryable=True) from error


def _run_child(source: str, container: str, ffprobe: str, limits: ProbeLimits) -> dict[str, Any]:
    request = {
        "source": source,
        "container": container,
        "ffprobe": ffprobe,
        "cpu_s": limits.cpu_s,
        "memory_bytes": limits.memory_bytes,
    }
    # The environment is bare on purpose: the parser of a stranger's file must not hold our credentials.
    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"}
    child = subprocess.Popen(
        [sys.executable, "-m", "gpu_workers.engine.indexing.probe_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # so that ffprobe, its child, is killed with it
    )
    try:
        out, _ = child.communicate(json.dumps(request).encode(), timeout=limits.wall_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        message = f"The file could not be examined within {limits.wall_s:g} s."
        raise ProbeError("probe_timeout", message, retryable=is_url(source)) from None
    if child.returncode == 0:
        answer = json.loads(out)
        if isinstance(answer, dict):
            return answer
    # A limit or a fault in the parser killed the child. The file caused it, and would cause it again.
    raise ProbeError("not_a_video", "The file could not be parsed within the limits.")
