"""Acts of commands that concern no tenant. The log of the staff, which stands above this package, records them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Recorder = Callable[[str, str, Mapping[str, Any], str], None]
_recorders: list[Recorder] = []


def register(recorder: Recorder) -> None:
    """Let a function record what commands do, by action, author, details and the connection that writes."""
    if recorder not in _recorders:
        _recorders.append(recorder)


def record_command(action: str, *, author: str, reason: str, details: Mapping[str, Any], using: str) -> None:
    """Record an act of a command. action: `resource.verb`. using: the connection of what it records, for one commit."""
    for recorder in _recorders:
        recorder(action, author, {**details, "reason": reason}, using)
