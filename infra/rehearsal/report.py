"""The output of a rehearsal: one JSON line per check, and what differs from a real deployment."""

from __future__ import annotations

import json
import sys
import time
from typing import TextIO


class Report:
    """Prints checks as they are made, and remembers whether all hold."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._began = time.monotonic()
        self.failed: list[str] = []
        self.made = 0
        self.unwell: set[str] = set()
        """Names of services that did not start or are not healthy."""

    def check(self, name: str, holds: bool, detail: str = "") -> bool:
        """Print one check and return whether it holds. detail: the reason, or what was seen."""
        self.made += 1
        if not holds:
            self.failed.append(name)
        self._print({"name": name, "holds": holds, "detail": detail})
        return holds

    def substitution(self, detail: str) -> None:
        """Print what stands in place of something that this machine does not have. It is no check."""
        self._print({"name": "substitution", "holds": None, "detail": detail})

    def say(self, line: str) -> None:
        """Print progress for a person."""
        print(f"rehearsal: {time.monotonic() - self._began:6.1f} s  {line}", file=sys.stderr, flush=True)

    def _print(self, line: dict[str, object]) -> None:
        print(json.dumps(line, ensure_ascii=False), file=self._out, flush=True)
