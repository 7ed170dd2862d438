"""Opening a video with PyAV: only the containers we take, the stream that is shown, the clock's zero."""

from __future__ import annotations

from typing import Protocol

import av
import av.logging
from av.codec.hwaccel import HWAccel
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from gpu_workers.engine.indexing.container import FORMATS

BUFFER_BYTES = 256 * 1024
MAX_SIDE, MAX_PIXELS = 8192, 36_000_000
"""Largest side and area of a picture that is decoded: 8K, and 36 megapixels."""


class Recording(Protocol):
    """An open recording. size: in bytes, None if unknown."""

    size: int | None

    def read(self, count: int = -1, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...


Media = str | Recording
"""A path, or an open recording."""


def open_video(source: Media, *, container: str | None = None, hwaccel: HWAccel | None = None) -> InputContainer:
    """Open source for reading, as the named container or as any of FORMATS. Raises av.error.FFmpegError.

    hwaccel: the hardware decoder to use.
    """
    options = {"format_whitelist": container or ",".join(FORMATS), "protocol_whitelist": "file"}
    if not isinstance(source, str):
        source.seek(0)
    av.logging.set_level(av.logging.ERROR)  # so that errors carry the demuxer's last words
    try:
        return av.open(source, "r", format=container, options=options, buffer_size=BUFFER_BYTES, hwaccel=hwaccel)
    finally:
        # A decoder's thread that logs waits for Python, which waits for that thread while the decoder is closed.
        av.logging.set_level(None)


def bound_pictures(stream: VideoStream) -> None:
    """Let the stream's decoder refuse pictures above MAX_PIXELS, also where their size changes in the middle."""
    stream.codec_context.options = {**stream.codec_context.options, "max_pixels": str(MAX_PIXELS)}


STILLS = frozenset({"bmp", "gif", "mjpeg", "png", "tiff", "webp"})
"""Codecs in which files hold covers that they do not mark as covers."""


def video_tracks(container: InputContainer) -> list[VideoStream]:
    """Return the video streams that are no cover art. Stills count only if there is nothing else."""
    streams = [one for one in container.streams.video if not one.disposition & Disposition.attached_pic]
    moving = [one for one in streams if one.codec_context is None or one.codec_context.name not in STILLS]
    return moving or streams


def shown_stream(container: InputContainer) -> VideoStream | None:
    """Return the video stream that is indexed: the first one."""
    return next(iter(video_tracks(container)), None)
