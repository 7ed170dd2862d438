"""A whole service for one test: the supervisor in a child process, seen only through the API and its state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from infra.local.api_key import key_file
from infra.local.child_process import Identity
from infra.local.demo.client import Client, sha256_of
from infra.local.stack import Stack

PROJECT = Path(__file__).resolve().parents[2]
START_S, INDEX_S = 600, 600
# A test names its own scripted or local server; no variable of the suite's shared stack may reach it.
_NOT_INHERITED = ("DATABASE_", "REDIS_URL", "S3_", "REASONER_", "DESCRIBER_", "AVA_PUBLIC_URL", "AVA_API_PORT")


class Service:
    def __init__(self, root: Path, **settings: str) -> None:
        self.root = root
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{Stack(self.root, environ={}).known_api_port() or 0}"

    def start(self) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
        with (self.root / "supervisor.out").open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "infra.local.supervisor", "up", "--root", str(self.root)],
                cwd=PROJECT,
                env={**inherited, **self._settings},
                stdout=out,
                stderr=out,
            )
        wait_for(lambda: self._ready() or self._process is None or self._process.poll() is not None, START_S)
        if not self._ready():
            raise AssertionError((self.root / "supervisor.out").read_text()[-3000:])

    def _ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=120)

    def client(self) -> Client:
        return Client(self.url, key_file(self.root).read_text())

    def kill(self, name: str) -> None:
        """Kill a process of the supervisor's table and all its children with SIGKILL."""
        identity = Stack(self.root).state.processes()[name]
        for pid in [*_children(identity), identity.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def upload(self, file: Path, *, external_id: str = "") -> str:
        video = self.client().upload(file, sha256=sha256_of(file), external_id=external_id, on_sent=lambda sent: None)
        return str(video["id"])

    def wait_until_indexed(self, video_id: str, *, meanwhile: Callable[[dict[str, Any]], None] | None = None) -> Any:
        """Return the video once it is ready or failed. meanwhile: called with each earlier state of the video."""
        client = self.client()
        deadline = time.monotonic() + INDEX_S
        while time.monotonic() < deadline:
            video = client.call("GET", f"/videos/{video_id}")
            if video["status"] in ("ready", "failed"):
                return video
            if meanwhile is not None:
                meanwhile(video)
            time.sleep(0.2)
        raise AssertionError(f"{video_id} was not indexed in {INDEX_S} s: {json.dumps(video)}")


def _children(identity: Identity) -> list[int]:
    """Return the processes below this one, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [identity.pid]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def wait_for(condition: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


@contextmanager
def running_service(root: Path, **settings: str) -> Iterator[Service]:
    root.mkdir(parents=True, exist_ok=True)
    root.chmod(0o755)
    service = Service(root, **settings)
    try:
        service.start()
        yield service
    finally:
        service.stop()
