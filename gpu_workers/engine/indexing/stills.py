"""One full frame of the source: an answer shows it as evidence, since the index keeps only thumbnails."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.sampling import SourceUnreadable, sample_frames

MAX_SIDE = 1280
JPEG_QUALITY = 90
_AHEAD_MS = 60_000
"""Distance after the mark within which the next frame is taken, if none lies there."""
_EVERY_FRAME_FPS = 1000


def still(url_or_path: str, ms: int, *, clock: FileClock | None = None) -> bytes:
    """Return the frame shown at ms as JPEG, no side above MAX_SIDE; the aspect ratio is kept. clock: of the file.

    Reads only the part of the file around ms. Raises SourceUnreadable if there is no frame.
    """
    # Rounding of timestamps can cost a millisecond.
    begin = max(0, ms - 1)
    span = Span(begin, begin + _AHEAD_MS)
    with sample_frames(url_or_path, span, fps=_EVERY_FRAME_FPS, max_side=MAX_SIDE, clock=clock) as frames:
        frame = next(frames, None)
    if frame is None:
        raise SourceUnreadable(f"there is no frame to read at {ms} ms")
    jpeg = BytesIO()
    Image.fromarray(frame.picture).save(jpeg, "JPEG", quality=JPEG_QUALITY)
    return jpeg.getvalue()
