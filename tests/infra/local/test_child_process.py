"""Children are stopped whole and by id, and die with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.local.child_process import Child, Command, Identity, wait_until
from infra.local.errors import ServiceFailed

_ENV = {"PATH": os.environ["PATH"]}


def _eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _child(tmp_path: Path, script: str, grace_s: float = 10) -> Child:
    return Child(Command("child", ["sh", "-c", script], tmp_path / "log" / "child.log", _ENV, grace_s=grace_s))


def test_a_stopped_child_leaves_no_grandchild(tmp_path: Path) -> None:
    child = _child(tmp_path, "sleep 600 & echo $!; wait")
    assert _eventually(lambda: child.log_since_start().endswith("\n"))
    grandchild = Identity.of(int(child.log_since_start()))
    assert grandchild is not None

    child.stop()

    assert child.exit_code() is not None
    assert _eventually(lambda: not grandchild.alive())


def test_a_child_that_ignores_the_signal_is_killed_after_its_grace(tmp_path: Path) -> None:
    child = _child(tmp_path, "trap '' TERM; echo up; while :; do sleep 0.1; done", grace_s=0.2)
    assert _eventually(lambda: "up" in child.log_since_start())

    child.stop()

    assert child.exit_code() == -signal.SIGKILL


def test_a_child_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from infra.local.child_process import Child, Command\n"
        "child = Child(Command('c', ['sleep', '600'], Path(sys.argv[1]), {'PATH': '/usr/bin:/bin'}))\n"
        "print(child.identity.pid, flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "c.log")], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = Identity.of(int(parent.stdout.readline()))
        assert child is not None
        assert child.alive()
        parent.kill()

    assert _eventually(lambda: not child.alive())


def test_a_reused_pid_is_not_ours() -> None:
    own = Identity.of(os.getpid())
    assert own is not None
    assert own.alive()

    stranger = Identity(own.pid, own.started - 1)

    assert not stranger.alive()
    stranger.stop(signal.SIGKILL, grace_s=0)  # the test process survives


def test_waiting_for_a_dead_child_raises_with_its_last_log_lines(tmp_path: Path) -> None:
    child = _child(tmp_path, "echo no such table; exit 3")

    with pytest.raises(ServiceFailed, match=r"status 3(.|\n)*no such table"):
        wait_until(lambda: False, child, timeout_s=20)
