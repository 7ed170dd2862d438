"""One full frame of the source: an answer shows it as evidence, since the index keeps only thumbnails."""

from __future__ import annotations

import subprocess

import ffmpeg

from gpu_workers.engine.indexing.container import FORMATS, input_options
from gpu_workers.engine.indexing.sampling import SourceUnreadable

MAX_WIDTH = 1280
JPEG_QUALITY = 3
"""Quality on ffmpeg's scale, 2 (best) to 31."""


def still(url_or_path: str, ms: int, ffmpeg_binary: str, *, timeout_s: float = 60.0) -> bytes:
    """Return the frame shown at ms as JPEG, at most MAX_WIDTH wide; the aspect ratio is kept.

    Reads only the part of the file around ms. Raises SourceUnreadable when ffmpeg finds no frame there or takes longer.
    """
    options = input_options(url_or_path) | {"format_whitelist": ",".join(FORMATS)}
    # ffmpeg gives the first frame at or after the mark; rounding of timestamps can cost a millisecond.
    command = (
        ffmpeg.input(url_or_path, ss=max(0, ms - 1) / 1000, **options)
        .filter("scale", f"min({MAX_WIDTH},iw)", "-2")
        .output("pipe:", format="image2pipe", vcodec="mjpeg", vframes=1, **{"q:v": JPEG_QUALITY})
        .global_args("-nostdin", "-hide_banner", "-loglevel", "error")
        .compile(cmd=ffmpeg_binary)
    )
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise SourceUnreadable(f"reading a frame took longer than {timeout_s:g} s") from error
    if done.returncode or not done.stdout.startswith(b"\xff\xd8"):
        raise SourceUnreadable(f"there is no frame to read at {ms} ms")
    return done.stdout
