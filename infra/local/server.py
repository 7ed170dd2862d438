"""What every server of the local stack has in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.local.child_process import Child
from infra.local.state import State


@dataclass(frozen=True)
class StackHome:
    """Where a stack lives. durable=False trades crash safety for speed; for test suites."""

    root: Path
    cache: Path
    state: State
    durable: bool = True

    def log(self, name: str) -> Path:
        """The log file of one process."""
        return self.root / "log" / f"{name}.log"


class Server(Protocol):
    """One server. start() returns when it answers; env() is valid from then on."""

    name: str
    child: Child | None

    def start(self) -> None:
        """Start the server and wait until it is ready. Raises a StackError."""

    def env(self) -> dict[str, str]:
        """What applications need to reach it."""

    def stop(self) -> None:
        """Stop it; nothing happens if it does not run."""

    def forget_ports(self) -> None:
        """Choose other ports at the next start."""

    def erase(self) -> None:
        """Delete its data. Only while it is stopped."""
