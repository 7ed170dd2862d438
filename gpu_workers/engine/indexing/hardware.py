"""Decoding by NVDEC through PyAV. The CPU decodes wherever that is not possible, with the same frames.

AVA_HWACCEL chooses: "auto" uses NVDEC where the machine has an NVIDIA device, "cuda" tries it on any machine, "off"
never.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import av
import av.error
from av.codec.hwaccel import HWAccel

from gpu_workers.engine.indexing.opening import Media, open_video, shown_stream

logger = logging.getLogger("ava.indexing")

CHOICES = ("auto", "off", "cuda")
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
_UNSPECIFIED = 2
"""Colour matrix, transfer or primaries that a stream does not name (ITU-T H.273)."""


class HardwareFailed(Exception):
    """The hardware decoder cannot go on with a file; the CPU can."""


@dataclass(frozen=True, slots=True)
class Look:
    """Properties of a file's pictures that the hardware decoder does not hand on. rotation: as VideoFrame.rotation."""

    rotation: float
    colorspace: int
    color_range: int
    color_trc: int
    color_primaries: int

    def complete(self, frame: av.VideoFrame) -> None:
        """Set the colours of a frame that does not name its own."""
        for name in ("colorspace", "color_trc", "color_primaries"):
            if getattr(frame, name) == _UNSPECIFIED:
                setattr(frame, name, getattr(self, name))
        if not frame.color_range:
            frame.color_range = self.color_range


def chosen() -> str:
    """Return AVA_HWACCEL. Raises ValueError, naming it, unless it is one of CHOICES."""
    name = os.environ.get("AVA_HWACCEL") or "auto"
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


def look_of(source: Media) -> Look:
    """Decode the first picture of source on the CPU and return its look. Raises HardwareFailed without a picture."""
    try:
        with open_video(source) as container:
            stream = shown_stream(container)
            frame = next(container.decode(stream), None) if stream is not None else None
            if not isinstance(frame, av.VideoFrame):
                raise HardwareFailed("there is no picture to read")
            return Look(frame.rotation, frame.colorspace, frame.color_range, frame.color_trc, frame.color_primaries)
    except av.error.FFmpegError as error:
        # Not the whole error: it names the source, which may be a presigned URL.
        raise HardwareFailed(f"{type(error).__name__}: {error.strerror}") from error


@cache
def report_failure(reason: str) -> None:
    """Log once per process and reason that the CPU decodes instead."""
    logger.warning("the hardware decoder cannot be used, the CPU decodes: %s", reason)
