"""What a relay costs while nothing waits: processor time of the real process over its wall time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import Figures, at_most
from bench.stack import NOT_USED
from infra.local.stack import Stack

SECONDS = 30.0


def idle_relay() -> Figures:
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    try:
        with Stack(root, frozenset({"postgres", "valkey"}), durable=False, environ={**os.environ}) as stack:
            env = {**os.environ, **NOT_USED, **stack.env(), "DJANGO_SETTINGS_MODULE": "backend.settings"}
            for command in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
                subprocess.run([sys.executable, "manage.py", *command], check=True, env=env, stdout=2)
            yield at_most(
                "idle_relay_share_of_core",
                _share(env),
                0.05,
                f"one process with an empty queue, processor time over {SECONDS:.0f} s of wall time",
            )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _share(env: dict[str, str]) -> float:
    relay = subprocess.Popen([sys.executable, "manage.py", "relay"], env=env, stderr=subprocess.PIPE, text=True)
    try:
        assert relay.stderr is not None
        if '"relay ready"' not in relay.stderr.readline():
            raise RuntimeError("the relay did not start")
        time.sleep(2.0)
        began, spent = time.perf_counter(), _processor_seconds(relay.pid)
        time.sleep(SECONDS)
        return (_processor_seconds(relay.pid) - spent) / (time.perf_counter() - began)
    finally:
        relay.terminate()
        relay.wait()


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
