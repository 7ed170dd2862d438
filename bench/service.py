"""The service as it is deployed, for measurements: real servers, the API, the relay and the workers' own processes.

    with service(index_worker=(...), DESCRIBER_URL=server.url) as client:
        video = index(client, path)

python -m bench.service ROOT COMMAND… runs it in the foreground; COMMAND is the index worker's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.figures import show_progress
from infra.local.api_key import key_file
from infra.local.app_processes import MALLOC_ARENAS, AppProcess, app_processes
from infra.local.demo.client import Client, Json, sha256_of
from infra.local.heartbeat import Heartbeat
from infra.local.stack import Stack
from infra.local.supervisor import PROJECT, Supervisor, say

SERVERS = frozenset({"postgres", "valkey", "seaweedfs"})
START_S, INDEX_S, POLL_S = 600.0, 3_600.0, 0.5
_NO_REASONER = {"REASONER_URL": "http://127.0.0.1:9/v1", "REASONER_MODEL": "none"}
_NOT_INHERITED = ("DATABASE_", "REDIS_URL", "S3_", "REASONER_", "DESCRIBER_", "AVA_PUBLIC_URL", "AVA_API_PORT")
_QUESTIONS = "AVA_BENCH_QUESTIONS"


@contextmanager
def service(index_worker: Sequence[str] = (), *, questions: bool = False, **settings: str) -> Iterator[Client]:
    """Yield a client of a service that runs in a folder of its own.

    index_worker: command that replaces the local stack's index worker, () for the local stack's own. questions: whether
    a worker for questions runs; the settings must then name a reasoner. settings: environment of all processes.
    """
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
    port = Stack(root, SERVERS, environ={}).api_port()
    log = root / "service.log"
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.service", str(root), *index_worker],
            cwd=PROJECT,
            env=inherited | _NO_REASONER | settings | {"AVA_API_PORT": str(port), _QUESTIONS: str(int(questions))},
            stdout=out,
            stderr=out,
        )
    try:
        _wait_until_ready(port, process, log)
        yield Client(f"http://127.0.0.1:{port}", key_file(root).read_text())
    finally:
        process.terminate()
        process.wait(timeout=120)
        shutil.rmtree(root, ignore_errors=True)


def index(client: Client, path: Path) -> Json:
    """Upload a recording and return its video once it is ready. Raises AssertionError if it fails."""
    video: Json = client.upload(path, sha256=sha256_of(path), on_sent=lambda sent: None)
    deadline = time.monotonic() + INDEX_S
    while video["status"] != "ready":
        if video["status"] == "failed" or time.monotonic() > deadline:
            raise AssertionError(f"{path.name} is not indexed: {video['status']} {video.get('error')}")
        time.sleep(POLL_S)
        video = client.call("GET", f"/videos/{video['id']}")
    return video


def _wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"the service did not start:\n{log.read_text()[-3000:]}")
        try:
            answer = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5, trust_env=False)
            if answer.status_code == 200 and "AVA Cloud is ready" in log.read_text():
                return
        except httpx.TransportError:
            show_progress("the service starts")
        time.sleep(1.0)


def _processes(port: int, index_worker: Sequence[str]) -> list[AppProcess]:
    """Return the local stack's processes, with the given index worker, and without the worker for questions if it is
    not wanted."""
    chosen = []
    for process in app_processes(port):
        if process.name == "worker-query" and os.environ.get(_QUESTIONS) != "1":
            continue
        if process.name == "worker-index" and index_worker:
            arenas = (("MALLOC_ARENA_MAX", str(MALLOC_ARENAS)),)
            chosen.append(AppProcess(process.name, tuple(index_worker), ready_line=process.ready_line, env=arenas))
        else:
            chosen.append(process)
    return chosen


def main(root: str, *index_worker: str) -> int:
    stack = Stack(Path(root), SERVERS, heartbeat=Heartbeat(say))
    return Supervisor(stack, processes=_processes(stack.api_port(), index_worker)).run()


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
