"""The paths of the deployment's files, and the tools that read them."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


def tool(name: str) -> str | None:
    """Return a program next to this Python (wheels put theirs there), or else on the path."""
    beside = Path(sysconfig.get_path("scripts")) / name
    return str(beside) if beside.exists() else shutil.which(name)
