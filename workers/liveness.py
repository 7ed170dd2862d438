"""What workers and relays say of themselves: files that they keep up to date.

The parent of a pool answers `celery inspect ping` whether or not a child can run a task. So each child writes its own
state, a thread of the parent collects the states, and workers.health reads the collection. Only the standard library is
imported here: a health check starts every half minute.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

logger = logging.getLogger("ava.workers")

BEAT_SECONDS = 2.0
STALE_SECONDS = 60.0
"""Age from which a beat counts as missing. One call into C code may keep Python's lock for many seconds."""
LOADING, WAITING, READY, FAILED = "loading", "waiting", "ready", "failed"


def state_folder() -> Path:
    """Return the folder of the state files: AVA_WORKER_STATE, else one per user in the folder for temporary files."""
    named = os.environ.get("AVA_WORKER_STATE")
    return Path(named) if named else Path(tempfile.gettempdir()) / f"ava-worker-{os.getuid()}"


@dataclass(frozen=True, slots=True)
class ChildState:
    """The state of a process that runs tasks. since, at: when the state began and was confirmed last.

    state: loading its models, waiting for a model server, ready to run tasks, or failed to load. detail: the reason.
    Times are of the monotonic clock, which all processes of a machine share.
    """

    pid: int
    state: str
    since: float
    at: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """The state of a worker. at: last beat of the parent. consumed_at: last turn of its consumer's event loop.

    draining: whether it takes no more jobs.
    """

    pid: int
    at: float
    consumed_at: float
    load_seconds: float
    children: tuple[ChildState, ...] = field(default=())
    draining: bool = False

    @classmethod
    def read(cls, file: Path) -> WorkerState | None:
        """Read the state of a worker that is alive; None without such a worker."""
        values = _read(file)
        if values is None or not _is_alive(values["pid"]):
            return None
        return cls(**{**values, "children": tuple(ChildState(**child) for child in values["children"])})

    def fault(self, now: float, *, broker_answers: bool) -> str:
        """Return why this worker can run no task, "" if it can.

        A lost broker is no fault of the worker. A worker that does not read from a broker that answers is at fault.
        """
        if now - self.at > STALE_SECONDS:
            return f"the worker's own process has stood still for {now - self.at:.0f} s"
        loading = [child for child in self.children if child.state == LOADING]
        if any(child.state == READY and now - child.at <= STALE_SECONDS for child in self.children):
            if now - self.consumed_at > STALE_SECONDS and broker_answers:
                return f"the worker has read nothing from the broker for {now - self.consumed_at:.0f} s"
            return ""
        if loading and all(now - child.since <= self.load_seconds for child in loading):
            return ""
        reasons = [f"{child.pid} is {child.state} {child.detail}".strip() for child in self.children]
        return f"no process can run a task: {'; '.join(reasons) or 'there is none'}"


@dataclass(frozen=True, slots=True)
class RelayState:
    """The state of a relay. passed_at: end of the last pass of its loop in which nothing failed."""

    pid: int
    passed_at: float

    @classmethod
    def read(cls, file: Path) -> RelayState | None:
        """Read the state of a relay that is alive; None without such a relay."""
        values = _read(file)
        return cls(**values) if values is not None and _is_alive(values["pid"]) else None

    def fault(self, now: float) -> str:
        """Return why this relay publishes nothing, "" if it does."""
        silent = now - self.passed_at
        return f"every pass of the relay has failed for {silent:.0f} s" if silent > STALE_SECONDS else ""


class Passes:
    """Records that passes of this process's relay succeed."""

    def __init__(self, folder: Path) -> None:
        self._file = relay_file(folder, os.getpid())
        self._written_at = -BEAT_SECONDS
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def record(self) -> None:
        """Record a pass in which nothing failed, at most once in BEAT_SECONDS."""
        now = time.monotonic()
        if now - self._written_at >= BEAT_SECONDS:
            self._written_at = now
            write(self._file, asdict(RelayState(os.getpid(), now)))


class Beat:
    """Keeps the state file of this process up to date, from a thread."""

    def __init__(self, folder: Path, *, state: str = LOADING) -> None:
        self._file = child_file(folder, os.getpid())
        self._lock = threading.Lock()
        self._state = ChildState(os.getpid(), state, time.monotonic(), time.monotonic())
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._write()
        threading.Thread(target=self._run, name="liveness", daemon=True).start()

    def set(self, state: str, detail: str = "") -> None:
        """Record a new state at once."""
        now = time.monotonic()
        with self._lock:
            self._state = ChildState(os.getpid(), state, now, now, detail)
            self._write()

    def _run(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            with self._lock:
                kept = self._state
                self._state = ChildState(kept.pid, kept.state, kept.since, time.monotonic(), kept.detail)
                self._write()

    def _write(self) -> None:
        write(self._file, asdict(self._state))


def child_file(folder: Path, pid: int) -> Path:
    return folder / f"child-{pid}.json"


def worker_file(folder: Path, pid: int) -> Path:
    return folder / f"worker-{pid}.json"


def relay_file(folder: Path, pid: int) -> Path:
    return folder / f"relay-{pid}.json"


def drain_file(folder: Path, pid: int) -> Path:
    return folder / f"drain-{pid}.json"


def living_workers(folder: Path) -> list[WorkerState]:
    """Return the states of the workers that are alive."""
    found = [WorkerState.read(file) for file in sorted(folder.glob("worker-*.json"))]
    return [state for state in found if state is not None]


def ask_to_drain(folder: Path, finish_seconds: float) -> None:
    """Ask each worker that is alive to take no more jobs, and to hand back those that still run after this time."""
    for state in living_workers(folder):
        write(drain_file(folder, state.pid), {"until": time.monotonic() + finish_seconds})


def asked_to_drain(folder: Path, pid: int) -> float | None:
    """Return the time of the monotonic clock until which this worker's jobs may run; None if nobody asked for it."""
    values = _read(drain_file(folder, pid))
    return values["until"] if values else None


def states_of(folder: Path, pids: Sequence[int], *, forked_at: float) -> tuple[ChildState, ...]:
    """Return the states of these processes. One that has not written yet is loading since forked_at."""
    states = []
    for pid in pids:
        values = _read(child_file(folder, pid))
        states.append(ChildState(**values) if values else ChildState(pid, LOADING, forked_at, forked_at))
    return tuple(states)


def forget_dead(folder: Path) -> None:
    """Remove the files of processes that are gone."""
    for file in [file for kind in ("child", "worker", "relay", "drain") for file in folder.glob(f"{kind}-*.json")]:
        if not _is_alive(int(file.stem.partition("-")[2])):
            file.unlink(missing_ok=True)


def write(file: Path, values: dict[str, Any]) -> None:
    """Replace a file as a whole, so that no reader sees half of it.

    A disk that is full for a while ends no thread that writes: the old state stays, and grows stale.
    """
    fresh = file.with_suffix(f".{os.getpid()}")
    try:
        fresh.write_text(json.dumps(values))
        fresh.replace(file)
    except OSError as error:
        logger.warning("%s cannot be written: %s", file, error)
        fresh.unlink(missing_ok=True)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        values: dict[str, Any] = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    return values


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
