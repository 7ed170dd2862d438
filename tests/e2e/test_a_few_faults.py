"""A small run of `make chaos` in the normal suite: a child of a pool, the broker and the pooler die during an index."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S, LONGEST_S = 240, 800


@pytest.fixture
def temporary() -> Iterator[Path]:
    # Not tmp_path: another user's PostgreSQL must be able to enter it.
    folder = Path(tempfile.mkdtemp(prefix="ava-few-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.long
def test_a_few_faults_change_neither_the_index_nor_the_bill_and_leave_nothing_behind(temporary: Path) -> None:
    command = ["--runs=1", "--seed=1", "--extent=small", "--scenario=a-few", f"--patience={PATIENCE_S}"]
    # A process of its own, because Django is set up there for the service under test.
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.chaos", *command],
        cwd=PROJECT,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said, _ = running.communicate(timeout=LONGEST_S)
    except BaseException:
        # It stops its servers first.
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        raise
    assert said.rstrip().endswith("1 passed, 0 failed"), said[-4000:]
    assert running.returncode == 0
    assert list(temporary.iterdir()) == []
    assert processes_of(temporary) == []


def processes_of(folder: Path) -> list[str]:
    """Return the command lines of the processes that have the folder in their command or their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                command, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
            except OSError:
                continue
            if os.fsencode(folder) in command + environment:
                found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found
