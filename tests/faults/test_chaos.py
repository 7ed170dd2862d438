"""A few runs of `make chaos`: whatever breaks, the result is that of a calm day."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3_600)]

PROJECT = Path(__file__).resolve().parents[2]
RUNS, SEED = 3, 7


def chaos(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `make chaos` in a process of its own, because Django is set up there for the service under test."""
    command = [sys.executable, "-m", "tests.faults.chaos", *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)


def test_random_faults_change_neither_graphs_nor_bills_and_leave_nothing_behind() -> None:
    done = chaos("--runs", str(RUNS), "--seed", str(SEED))
    assert done.stdout.rstrip().endswith(f"{RUNS} passed, 0 failed"), done.stdout[-4000:] + done.stderr[-2000:]
    assert done.returncode == 0
