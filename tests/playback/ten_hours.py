"""A recording of ten hours whose pictures show their time modulo 100 s, with its index at the end of the file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.engine.indexing.media import run_ffmpeg
from tests.engine.media.burnt_in import made

ROUND_S, SECONDS = 100, 36_000


def ten_hours() -> bytes:
    """Return an MP4 of one picture a second, made of copies of its first 100 s."""
    with TemporaryDirectory() as folder:
        part, whole = Path(folder) / "part.mp4", Path(folder) / "whole.mp4"
        part.write_bytes(
            made("part.mp4", "-c:v", "libx264", "-bf", "0", "-g", "5", seconds=ROUND_S, rate="1", sound=False)
        )
        run_ffmpeg("-stream_loop", str(SECONDS // ROUND_S - 1), "-i", str(part), "-c", "copy", str(whole))
        content = whole.read_bytes()
    assert content.index(b"mdat") < content.index(b"moov")
    return content
