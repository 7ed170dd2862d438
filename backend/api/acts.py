"""Administrative acts: views name them, and the audit log, which stands above this package, records them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rest_framework.request import Request


@dataclass(frozen=True, slots=True)
class Act:
    """What was done. action: `resource.verb`. object_id: public id of the resource, if it has one. details: JSON."""

    action: str
    object_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


Recorder = Callable[[Request, Act], None]
_recorders: list[Recorder] = []


def register(recorder: Recorder) -> None:
    """Let a function record the acts of all views, in the transaction of each act."""
    if recorder not in _recorders:
        _recorders.append(recorder)


def note(request: Request, act: Act) -> None:
    """Record an act in the open transaction of its tenant. Without its record the act is rolled back."""
    for recorder in _recorders:
        recorder(request, act)
