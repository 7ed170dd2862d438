"""Opening a video with PyAV: only the containers and protocols we take, the stream that is shown, the clock's zero."""

from __future__ import annotations

import av
from av.codec.hwaccel import HWAccel
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from gpu_workers.engine.indexing.container import FORMATS, input_options, is_url

OPEN_TIMEOUT_S, READ_TIMEOUT_S = 30.0, 60.0


def open_video(source: str, *, container: str | None = None, hwaccel: HWAccel | None = None) -> InputContainer:
    """Open source for reading, as the named container or as any of FORMATS. Raises av.error.FFmpegError.

    hwaccel: the hardware decoder to use.
    """
    options = input_options(source) | {"format_whitelist": container or ",".join(FORMATS)}
    if is_url(source):
        options["max_redirects"] = "0"  # no option of the command line tools, so not in input_options()
    timeout = (OPEN_TIMEOUT_S, READ_TIMEOUT_S) if is_url(source) else None
    return av.open(source, format=container, options=options, timeout=timeout, hwaccel=hwaccel)


def shown_stream(container: InputContainer) -> VideoStream | None:
    """Return the first video stream that is not cover art."""
    return next((s for s in container.streams.video if not s.disposition & Disposition.attached_pic), None)


def origin_ms(container: InputContainer, stream: VideoStream) -> int:
    """Return the timestamp that counts as 0: the container's first, as in a player's clock."""
    if container.start_time is not None:
        return round(container.start_time / 1000)
    if stream.start_time is not None and stream.time_base is not None:
        return round(stream.start_time * stream.time_base * 1000)
    return 0
