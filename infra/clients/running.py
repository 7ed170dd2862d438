"""Running a generator."""

from __future__ import annotations

import subprocess
from pathlib import Path


class GenerationFailed(Exception):
    """A generator failed. The message has its output."""


def run(*command: str | Path) -> None:
    """Run a command and wait for its end. Raises GenerationFailed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise GenerationFailed(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
