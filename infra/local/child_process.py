"""A child process that cannot be lost: it has its own group, dies with its parent, logs to a file, is stopped by id."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.local.errors import ServiceFailed

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Identity:
    """A process on this machine. Pids are reused; a pair of pid and start time (clock ticks since boot) is not."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """Read the identity of a running process; None if there is none, or only a zombie."""
        try:
            # The second field is the command in parentheses and may itself hold spaces and parentheses.
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[0] in "ZX" else cls(pid, int(fields[19]))

    def alive(self) -> bool:
        """Whether exactly this process still runs."""
        return Identity.of(self.pid) == self

    def send(self, number: signal.Signals) -> None:
        """Signal this process; do nothing if it is gone or its pid belongs to another process now."""
        if self.alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def stop(self, first: signal.Signals, grace_s: float) -> None:
        """Send ``first``, wait up to grace_s, then kill the whole group; the process need not be a child."""
        self.send(first)
        deadline = time.monotonic() + grace_s
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        if self.alive():
            _kill_group(self.pid)


@dataclass(frozen=True)
class Account:
    """The unprivileged user that a child runs as."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Command:
    """The way to start and stop one child. name is also the name of its log file."""

    name: str
    arguments: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 15.0


class Child:
    """One started Command."""

    def __init__(self, command: Command) -> None:
        self.command = command
        command.log.parent.mkdir(parents=True, exist_ok=True)
        parent = os.getpid()

        def die_with_parent() -> None:
            # Runs after the change of user, which would clear the setting. If the parent is already gone, the signal
            # would never come, so the child leaves at once.
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(command.stop_signal), 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

        account = command.account
        with command.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                list(command.arguments),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(command.env),
                cwd=command.cwd,
                start_new_session=True,
                # Children are started from the main thread: PDEATHSIG fires when the starting thread ends.
                preexec_fn=die_with_parent,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
        identity = Identity.of(self._process.pid)
        self.identity = identity or Identity(self._process.pid, -1)

    @property
    def name(self) -> str:
        """Return the command's name."""
        return self.command.name

    def exit_code(self) -> int | None:
        """Return None while the process runs, then its status, negative for the signal that ended it."""
        return self._process.poll()

    def log_since_start(self) -> str:
        """Return everything that this run has written so far."""
        with self.command.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def last_lines(self, count: int = 20) -> str:
        """Return the end of this run's log, for a person to read."""
        return "\n".join(self.log_since_start().splitlines()[-count:])

    def require_running(self) -> None:
        """Raise ServiceFailed with the last log lines if the process has ended."""
        code = self.exit_code()
        if code is not None:
            raise ServiceFailed(f"{self.name} ended with status {code}; {self.command.log} says:\n{self.last_lines()}")

    def stop(self) -> None:
        """Stop the process as its Command says, wait until it is gone, and leave no process of its group behind."""
        if self.exit_code() is None:
            self._process.send_signal(self.command.stop_signal)
            try:
                self._process.wait(self.command.grace_s)
            except subprocess.TimeoutExpired:
                _kill_group(self._process.pid)
                self._process.wait()
        _kill_group(self._process.pid)


def wait_until(ready: Callable[[], bool], child: Child, timeout_s: float, every_s: float = 0.1) -> None:
    """Call ``ready()`` until it is true. Raises ServiceFailed if the child ends first, or after timeout_s."""
    deadline = time.monotonic() + timeout_s
    while not ready():
        child.require_running()
        if time.monotonic() > deadline:
            raise ServiceFailed(f"{child.name} is not ready after {timeout_s:.0f} s; last lines:\n{child.last_lines()}")
        time.sleep(every_s)


def _kill_group(pid: int) -> None:
    # Every child leads its own group, so this signal reaches only the child and its descendants.
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
