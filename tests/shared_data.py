"""Recordings and question sets of ../shared/data, which are too large for the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def needs(path: Path) -> pytest.MarkDecorator:
    """Skip a test without this file or folder of SHARED_DATA. The summary of the run names what is missing."""
    name = path.relative_to(SHARED_DATA)
    return pytest.mark.skipif(not path.exists(), reason=f"needs ../shared/data/{name}, which is not there")
