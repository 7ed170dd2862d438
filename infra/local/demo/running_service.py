"""The service that the demo uses: a service that already runs, or one started for the time of the demo."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

import httpx

from infra.local.api_key import key_file
from infra.local.demo.progress import Stages
from infra.local.errors import StackError
from infra.local.stack import Stack

PROJECT = Path(__file__).resolve().parents[3]
READY_S = 1_200


class RunningService:
    """A service that answers at url inside the context. Stops only what it started. stages: shows how far it is."""

    def __init__(self, stages: Stages, root: Path = PROJECT / ".local") -> None:
        self._stages = stages
        self._root = root
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """The URL of the API. The port is not known before the first start, and a start may choose another one."""
        return f"http://127.0.0.1:{Stack(self._root).known_api_port() or 0}"

    def __enter__(self) -> RunningService:
        if self._answers():
            self._stages.say(f"using the running service at {self.url}")
            return self
        self._stages.say("starting the local stack")
        # Without its welcome, which would stand in the middle of the demo's own lines.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "infra.local.supervisor", "up", "--no-welcome"],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._pass_on, args=(self._process,), name="supervisor", daemon=True).start()
        deadline = time.monotonic() + READY_S
        with self._stages.during("starting the local stack"):
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

    def _pass_on(self, process: subprocess.Popen[str]) -> None:
        """Print the supervisor's lines between the demo's own."""
        for line in process.stdout or ():
            self._stages.say(line.rstrip("\n"))

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

    def api_key(self) -> str:
        """Return the local tenant's key, which the supervisor made."""
        return key_file(self._root).read_text()
