"""The service that the demo is a customer of: the one that runs already, or one started for the demo's time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import httpx

from infra.local.errors import StackError
from infra.local.stack import Stack

PROJECT = Path(__file__).resolve().parents[3]
READY_S = 600


class RunningService:
    """As a context manager: url answers inside it. Stops only what it started."""

    def __init__(self, root: Path = PROJECT / ".local") -> None:
        self._stack = Stack(root)
        self.url = f"http://127.0.0.1:{self._stack.api_port()}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> RunningService:
        if self._answers():
            print(f"using the service that runs at {self.url}", flush=True)
            return self
        print("starting the local stack", flush=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "infra.local.supervisor", "up"],
            cwd=PROJECT,
            env={**os.environ, "AVA_API_PORT": self.url.rpartition(":")[2]},
        )
        deadline = time.monotonic() + READY_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._stop()
                raise StackError("the local stack did not come up; see .local/log")
            time.sleep(0.5)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=90)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def tenant_key(self, *, name: str, slug: str) -> str:
        """An API key of the tenant, created if absent; the key is kept in .local, readable by its owner only."""
        kept = PROJECT / ".local" / "demo" / "api_key"
        if kept.exists() and self._accepts(kept.read_text()):
            return kept.read_text()
        done = subprocess.run(
            [sys.executable, "manage.py", "create_tenant", "--name", name, "--slug", slug, "--if-absent"],
            cwd=PROJECT,
            env={**os.environ, **self._stack.env()},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise StackError(f"create_tenant failed: {done.stderr.strip()[-500:]}")
        key = str(json.loads(done.stdout)["api_key"])
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.touch(mode=0o600)
        kept.write_text(key)
        return key

    def _accepts(self, key: str) -> bool:
        answer = httpx.get(
            f"{self.url}/v1/videos", headers={"Authorization": f"Bearer {key}"}, timeout=30, trust_env=False
        )
        return answer.status_code == 200
