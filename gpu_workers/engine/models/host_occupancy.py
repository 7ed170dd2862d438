"""Shares the time of a device of this machine between the calls that run on it at once, in all processes.

Models inside the workers have no rate per token: their calls are timed, each moment divided by the number of calls that
run in it. The count of running calls lies in a small file that the machine's processes share. A process that dies loses
its lock on its own part of the file, so its calls are not counted for ever.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gpu_workers.engine.models.occupancy import Occupancy, Share

logger = logging.getLogger("ava.models")

DEVICE_FILE = "ava-device-"
"""Beginning of the file's name, in the folder for temporary files. One per user and device; it stays."""
_HEADER = struct.Struct("dd")
"""Time of the last change in seconds, and the integral of 1 / running over the busy time up to it."""
_SLOT = struct.Struct("q")
"""Number of calls that one process runs now."""
_SLOTS = 512


class HostOccupancy:
    """The calls that run on one device now, over all processes that open the same file. Safe to share between threads.

    clock: seconds that never go back and are the same in all processes, such as time.monotonic on Linux.
    Raises OSError if the file cannot be opened, or if all of its parts are in use.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # A file of record locks must never be closed while it is in use: that would give up all locks on it.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with self._alone():
            if os.fstat(self._file).st_size < _HEADER.size + _SLOTS * _SLOT.size:
                os.ftruncate(self._file, _HEADER.size + _SLOTS * _SLOT.size)
            self._map = mmap.mmap(self._file, _HEADER.size + _SLOTS * _SLOT.size)
            self._own = self._claim()

    @contextmanager
    def call(self, share: Share) -> Iterator[None]:
        """Count a call from here to the end of the block, also if it fails. The share is set after the block."""
        began = self._change(+1)
        try:
            yield
        finally:
            share.ms = round((self._change(-1) - began) * 1000, 3)

    def _change(self, by: int) -> float:
        with self._lock, self._alone():
            at, shared_s = _HEADER.unpack_from(self._map, 0)
            now, running = self._clock(), self._running()
            if running and now > at:
                shared_s += (now - at) / running
            _HEADER.pack_into(self._map, 0, now, shared_s)
            self._put(self._own, self._at(self._own) + by)
            return float(shared_s)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        fcntl.lockf(self._file, fcntl.LOCK_EX, _HEADER.size, 0)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _HEADER.size, 0)

    def _running(self) -> int:
        """Return the number of calls of all processes, and clear the parts of processes that died."""
        total = 0
        for slot in range(_SLOTS):
            calls = self._at(slot)
            if calls and slot != self._own and self._hold(slot):
                self._put(slot, 0)
                fcntl.lockf(self._file, fcntl.LOCK_UN, _SLOT.size, _offset(slot))
                continue
            total += calls
        return total

    def _claim(self) -> int:
        for slot in range(_SLOTS):
            if self._hold(slot):
                self._put(slot, 0)
                return slot
        raise OSError(f"more than {_SLOTS} processes share a device")

    def _hold(self, slot: int) -> bool:
        """Whether this process now has the lock of a part, which its owner keeps as long as it lives."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SLOT.size, _offset(slot))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _at(self, slot: int) -> int:
        return int(_SLOT.unpack_from(self._map, _offset(slot))[0])

    def _put(self, slot: int, calls: int) -> None:
        _SLOT.pack_into(self._map, _offset(slot), calls)


def _offset(slot: int) -> int:
    return _HEADER.size + slot * _SLOT.size


_devices: dict[str, HostOccupancy | Occupancy] = {}
_devices_lock = threading.Lock()


@contextmanager
def on_device(device: str) -> Iterator[Share]:
    """Yield the share of a call that occupies a device of this machine; its ms are set after the block.

    device: torch's name, such as "cpu" or "cuda:0". Enter it inside the model's lock, so that no call pays for another.
    """
    share = Share()
    with _occupancy(device).call(share):
        yield share


def _occupancy(device: str) -> HostOccupancy | Occupancy:
    with _devices_lock:
        known = _devices.get(device)
        if known is None:
            path = Path(tempfile.gettempdir()) / f"{DEVICE_FILE}{os.getuid()}-{device.replace(':', '-')}"
            try:
                known = HostOccupancy(path)
            except OSError as error:
                logger.warning("device %s is shared inside this process only: %s", device, error)
                known = Occupancy()
            _devices[device] = known
        return known


def _after_fork() -> None:
    # A child inherits neither the locks nor a lock that another thread held.
    global _devices_lock
    _devices_lock = threading.Lock()
    _devices.clear()


os.register_at_fork(after_in_child=_after_fork)
