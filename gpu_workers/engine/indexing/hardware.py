"""Decoding by NVDEC through PyAV. The CPU decodes wherever that is not possible, with the same frames.

AVA_HWACCEL chooses: "off" (the default) never uses NVDEC, "auto" does where the machine has an NVIDIA device, "cuda"
tries it on any machine.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from pathlib import Path

import av
import av.error
import numpy as np
from av.codec.hwaccel import HWAccel
from av.video.plane import VideoPlane
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from gpu_workers.engine.indexing.opening import Media, open_video, shown_stream

logger = logging.getLogger("ava.indexing")

CHOICES = ("auto", "off", "cuda")
EXACT = frozenset({"h264", "hevc", "vp9"})
"""Decoders that NVDEC replaces: their standards define every bit of a picture. MPEG-4 Part 2 and older ones do not, so
two decoders give two pictures. AV1 is decoded by libdav1d, which is fast enough."""
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))


class HardwareFailed(Exception):
    """The hardware decoder cannot go on with a file; the CPU can."""


class Look:
    """The form of a file's pictures, as the CPU decodes them. pattern: the first picture.

    The device hands on the same luma and chroma in a layout of its own, without rotation, colours and the position of
    chroma. Shrunk from there, hard edges of colour come out differently.
    """

    def __init__(self, pattern: av.VideoFrame) -> None:
        self.pattern = pattern
        self._relay = VideoReformatter()

    def complete(self, frame: av.VideoFrame) -> av.VideoFrame:
        """Return the picture that the device decoded in the form of the pattern, valid until the next call.

        Raises HardwareFailed if the pictures have another size than the first.
        """
        pattern = self.pattern
        if (frame.width, frame.height) != (pattern.width, pattern.height):
            raise HardwareFailed("the size of the pictures changes")
        same = self._relay.reformat(frame, format=pattern.format.name)
        for ours, theirs in zip(pattern.planes, same.planes, strict=True):
            width = min(ours.line_size, theirs.line_size)
            _rows(ours)[:, :width] = _rows(theirs)[:, :width]
        return pattern


def _rows(plane: VideoPlane) -> NDArray[np.uint8]:
    return np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)


def chosen() -> str:
    """Return AVA_HWACCEL. Raises ValueError, naming it, unless it is one of CHOICES."""
    name = os.environ.get("AVA_HWACCEL") or "off"
    if name not in CHOICES:
        raise ValueError(f"AVA_HWACCEL is one of {', '.join(CHOICES)}, got {name!r}")
    return name


def accelerator() -> HWAccel | None:
    """Return the hardware decoder to try, None to decode on the CPU."""
    name = chosen()
    if name == "off" or (name == "auto" and not any(device.exists() for device in _DEVICES)):
        return None
    # A codec or profile that the device does not know is decoded on the CPU by the same decoder.
    return HWAccel("cuda", allow_software_fallback=True)


def look_of(source: Media) -> Look | None:
    """Decode the first picture of source on the CPU and return its look, None for a codec that the CPU decodes.

    Raises HardwareFailed without a picture.
    """
    try:
        with open_video(source) as container:
            stream = shown_stream(container)
            if stream is not None and stream.codec_context.name not in EXACT:
                return None
            frame = next(container.decode(stream), None) if stream is not None else None
            if not isinstance(frame, av.VideoFrame):
                raise HardwareFailed("there is no picture to read")
            return Look(frame)
    except av.error.FFmpegError as error:
        # Not the whole error: it names the source, which may be a presigned URL.
        raise HardwareFailed(f"{type(error).__name__}: {error.strerror}") from error


@cache
def report_failure(reason: str) -> None:
    """Log once per process and reason that the CPU decodes instead."""
    logger.warning("the hardware decoder cannot be used, the CPU decodes: %s", reason)
