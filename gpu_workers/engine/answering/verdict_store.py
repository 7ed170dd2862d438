"""Verdicts about events that were paid for: kept for the next question, and for the worker that takes over."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol
from uuid import UUID


class VerdictStore(Protocol):
    """Keeps which events a statement is true of. It is bound to the tenant and to the index versions of a scope."""

    def verdicts(self, key: str) -> Mapping[UUID, bool]:
        """Return the verdicts kept under key about events of the scope's videos; other events have none."""
        ...

    def keep(self, key: str, video_id: UUID, verdicts: Mapping[UUID, bool]) -> None:
        """Keep verdicts about events of one video for good, in a transaction of its own. Called from the question's
        thread as soon as a batch ends."""
        ...


class VerdictsInMemory:
    """A VerdictStore of one process. batches: number of calls of keep()."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[UUID, bool]] = {}
        self._lock = threading.Lock()
        self.batches = 0

    def verdicts(self, key: str) -> Mapping[UUID, bool]:
        with self._lock:
            return dict(self._kept.get(key, {}))

    def keep(self, key: str, video_id: UUID, verdicts: Mapping[UUID, bool]) -> None:
        with self._lock:
            self._kept.setdefault(key, {}).update(verdicts)
            self.batches += 1
