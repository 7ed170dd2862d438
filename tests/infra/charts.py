"""The rendered chart, once per process for each set of files of values."""

from __future__ import annotations

import functools
from typing import Any

from infra.rehearsal import chart
from infra.rehearsal.chart import Pod

KUBERNETES = "1.37.0"
"""Version whose schemas the objects must keep to."""


@functools.cache
def objects(*files: str) -> list[dict[str, Any]]:
    return chart.render(chart.values_of(*files))


@functools.cache
def pods(*files: str) -> dict[str, Pod]:
    return chart.pods(objects(*files))


def of_kind(kind: str, *files: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a kind by their names."""
    return {each["metadata"]["name"]: each for each in objects(*files) if each["kind"] == kind}
