"""A device's time is shared between the calls of all processes of a machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gpu_workers.engine.models.host_occupancy import HostOccupancy
from gpu_workers.engine.models.occupancy import Share

SPAWN = multiprocessing.get_context("spawn")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def busy(path: Path, go: Any, pipe: Any) -> None:
    """Run five overlapping calls of 20 ms, and send what they are attributed."""
    occupancy, shares = HostOccupancy(path), [Share() for _ in range(5)]
    pipe.send("ready")
    go.wait(60)
    with ExitStack() as running:
        for share in shares:
            running.enter_context(occupancy.call(share))
            time.sleep(0.02)
    pipe.send([share.ms for share in shares])


def hold(path: Path, pipe: Any) -> None:
    """Begin a call and never end it."""
    with HostOccupancy(path).call(Share()):
        pipe.send("running")
        time.sleep(600)


def test_shares_of_one_process_add_up_to_the_busy_time(tmp_path: Path) -> None:
    clock = Clock()
    occupancy = HostOccupancy(tmp_path / "device", clock=clock)
    first, second, third = Share(), Share(), Share()
    with occupancy.call(first):
        clock.now = 1.0
        with occupancy.call(second):
            clock.now = 3.0
        clock.now = 4.0
    clock.now = 10.0
    with occupancy.call(third):
        clock.now = 10.5
    assert (first.ms, second.ms, third.ms) == (3_000, 1_000, 500)


def test_calls_of_several_processes_are_attributed_no_more_than_the_device_was_busy(tmp_path: Path) -> None:
    path, go = tmp_path / "device", SPAWN.Event()
    pipes = [SPAWN.Pipe() for _ in range(3)]
    processes = [SPAWN.Process(target=busy, args=(path, go, theirs), daemon=True) for _, theirs in pipes]
    for process in processes:
        process.start()
    assert [ours.recv() for ours, _ in pipes] == ["ready"] * 3
    began = time.monotonic()
    go.set()
    shares = [ms for ours, _ in pipes for ms in ours.recv()]
    busy_ms = (time.monotonic() - began) * 1000
    for process in processes:
        process.join()
    assert len(shares) == 15
    # Each process alone would be attributed its 100 ms.
    assert 90 <= sum(shares) <= busy_ms + 1


def test_a_process_that_dies_in_a_call_does_not_occupy_the_device_for_ever(tmp_path: Path) -> None:
    path, (ours, theirs) = tmp_path / "device", SPAWN.Pipe()
    process = SPAWN.Process(target=hold, args=(path, theirs), daemon=True)
    process.start()
    assert ours.recv() == "running"
    assert process.pid is not None
    clock = Clock()
    clock.now = time.monotonic()
    occupancy, shared, alone = HostOccupancy(path, clock=clock), Share(), Share()
    with occupancy.call(shared):
        clock.now += 1.0
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with occupancy.call(alone):
        clock.now += 1.0
    assert shared.ms == pytest.approx(500, abs=1)
    assert alone.ms == pytest.approx(1_000, abs=1)
