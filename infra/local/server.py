"""The common interface of the local stack's servers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.local.child_process import Child
from infra.local.state import State


@dataclass(frozen=True)
class StackHome:
    """The folders and the state of a stack. durable=False trades crash safety for speed, for test suites."""

    root: Path
    cache: Path
    state: State
    durable: bool = True

    def log(self, name: str) -> Path:
        """Return the log file of one process."""
        return self.root / "log" / f"{name}.log"


class Server(Protocol):
    """One server of the stack. start() returns when it answers; env() is valid from then on."""

    name: str
    child: Child | None

    def start(self) -> None:
        """Start the server and wait until it is ready. Raises a StackError."""

    def env(self) -> dict[str, str]:
        """Return the environment variables that applications need to reach the server."""

    def stop(self) -> None:
        """Stop the server; do nothing if it does not run."""

    def forget_ports(self) -> None:
        """Choose other ports at the next start."""

    def erase(self) -> None:
        """Delete the server's data. Only while it is stopped."""
