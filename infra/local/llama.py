"""The reasoner: a llama.cpp server process over weights from the cache."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_REASONER, SMALL_REASONERS
from infra.local import ports
from infra.local.child_process import Child, Command, wait_until
from infra.local.errors import Misconfigured, ServiceFailed
from infra.local.server import StackHome

_PROGRAM = "gpu_workers.engine.models.served.llama_server"
_PROJECT = Path(__file__).resolve().parents[2]
REASONERS = (EMBEDDED_REASONER, *SMALL_REASONERS)
"""Values of AVA_REASONER; the first is the default. smollm2 is for protocol tests, never for an answer. The engine
looks its calibration up by these names, which env() passes on as REASONER_MODEL."""


class Llama:
    """One llama.cpp server. It reads AVA_REASONER, AVA_LLM_THREADS, AVA_LLM_SLOTS and AVA_LLM_CONTEXT from environ."""

    name = "llama"

    def __init__(self, home: StackHome, environ: Mapping[str, str], key: str | None = None) -> None:
        """key: the API key that the server asks for; by default a secret of the state."""
        self._home = home
        self._given_key = key
        self._environ = environ
        self._model = environ.get("AVA_REASONER") or REASONERS[0]
        if self._model not in REASONERS:
            raise Misconfigured(f"AVA_REASONER is {self._model!r}; it may be {', '.join(REASONERS)}")
        # With more threads than free cores llama.cpp waits for itself, so the index worker, the other heavy load of
        # this machine, runs at a lower priority (infra.local.app_processes). On a machine shared with others, set 1.
        self._threads = self._number("AVA_LLM_THREADS", min(4, os.cpu_count() or 1))
        self._slots = self._number("AVA_LLM_SLOTS", 8)
        self._context = self._number("AVA_LLM_CONTEXT", 32768)
        self.child: Child | None = None
        self._port = 0

    @property
    def _key(self) -> str:
        return self._given_key or self._home.state.secret(self.name)

    def _number(self, name: str, default: int) -> int:
        text = self._environ.get(name) or str(default)
        if not text.isdigit() or int(text) < 1:
            raise Misconfigured(f"{name} is {text!r}; it must be a whole number from 1")
        return int(text)

    def start(self) -> None:
        """Fetch the weights if they are not cached, start the server, wait until the model is loaded."""
        try:
            model = weights.fetch(self._model, progress=_report)
        except weights.WeightsError as error:
            raise ServiceFailed(f"{error} (or set REASONER_URL)") from error
        self._port = ports.claim(self._home.state, self.name)
        arguments = [sys.executable, "-m", _PROGRAM, f"--model={model}", f"--alias={self._model}"]
        arguments += [f"--port={self._port}", f"--threads={self._threads}", f"--parallel={self._slots}"]
        arguments += [f"--context={self._context}"]
        # The key goes through the environment, because every user of the machine can read arguments.
        env = dict(self._environ) | {"MODEL_API_KEY": self._key}
        log = self._home.log(self.name)
        self.child = Child(Command(self.name, arguments, log, env=env, cwd=_PROJECT, grace_s=10))
        wait_until(self._ready, self.child, timeout_s=180, every_s=0.25)

    def _ready(self) -> bool:
        headers = {"Authorization": f"Bearer {self._key}"}
        try:
            # Asked with this server's key: llama.cpp lets two servers share one port, and only this one knows the key.
            models = httpx.get(f"{self._url()}/models", headers=headers, timeout=5, trust_env=False)
            health = httpx.get(f"http://127.0.0.1:{self._port}/health", timeout=5, trust_env=False)
        except httpx.TransportError:
            return False
        return models.status_code == 200 and health.status_code == 200

    def _url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def env(self) -> dict[str, str]:
        """Return REASONER_URL, REASONER_MODEL and REASONER_API_KEY."""
        return {
            "REASONER_URL": self._url(),
            "REASONER_MODEL": self._model,
            "REASONER_API_KEY": self._key,
        }

    def stop(self) -> None:
        """Stop the server."""
        if self.child is not None:
            self.child.stop()
            self.child = None

    def forget_ports(self) -> None:
        """Choose another port at the next start."""
        self._home.state.set_port(self.name, None)

    def erase(self) -> None:
        """Do nothing: the server keeps no data, and the weights belong to the cache."""


def _report(name: str, done: int, total: int) -> None:
    print(f"{name}: {done >> 20} of {total >> 20} MiB", flush=True)
