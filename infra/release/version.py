"""The version of the project. Standard library only: `infra/install` and `infra/ava-admin` read it."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def project_version() -> str:
    """Return the version that pyproject.toml names, the one place where it is written by hand."""
    found = re.search(r'^version = "(\d+\.\d+\.\d+)"$', (PROJECT / "pyproject.toml").read_text(), flags=re.M)
    if found is None:
        raise ValueError("pyproject.toml has no version of the form 1.2.3")
    return found[1]


def numbers(version: str) -> tuple[int, int, int]:
    """Return major, minor and patch of a version. Raises ValueError."""
    major, minor, patch = (int(part) for part in version.split("."))
    return major, minor, patch


VERSION = project_version()
