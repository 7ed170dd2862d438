"""Two vLLM servers on free ports: the tiny vision-language model and the small text model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from infra.local import ports
from infra.local.child_process import Child, Command, wait_until
from infra.local.state import State
from infra.vllm.environment import OFFLINE

_PROJECT = Path(__file__).resolve().parents[2]
_START_S = 600.0
VISION_TOKENS, TEXT_TOKENS = 8_192, 8_192
"""Context windows of the servers, in tokens."""
IMAGES = 32
"""Maximum pictures in one prompt."""
_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Served:
    """One running server. start_s: seconds until it answered. pid: id of its process group."""

    url: str
    model: str
    start_s: float
    pid: int


@contextmanager
def serving(interpreter: Path, vision: Path, text: Path) -> Iterator[tuple[dict[str, str], tuple[Served, Served]]]:
    """Run both servers for the block, and yield the variables that name them to the engine.

    The launcher is the same as in production. Raises AlreadyRunning, or ServiceFailed with the end of the log. At the
    end of the block, for any reason, both servers stop with all processes that they started.
    """
    state = State(_PROJECT / ".local" / "vllm")
    state.lock()
    with ExitStack() as running:
        running.callback(state.unlock)
        see = ["--images", str(IMAGES), "--max-model-len", str(VISION_TOKENS)]
        read = ["--max-model-len", str(TEXT_TOKENS)]
        starting = [
            _start(running, state, interpreter, "vlm", vision, "tiny-qwen2.5-vl", see),
            _start(running, state, interpreter, "llm", text, "smollm2-135m", read),
        ]
        seeing, reading = (wait() for wait in starting)
        key = state.secret("api")
        env = {
            "DESCRIBER_URL": seeing.url,
            "DESCRIBER_MODEL": seeing.model,
            "DESCRIBER_API_KEY": key,
            "DESCRIBER_CONTEXT_TOKENS": str(VISION_TOKENS),
            "REASONER_URL": reading.url,
            "REASONER_MODEL": reading.model,
            "REASONER_API_KEY": key,
            "REASONER_CONTEXT_TOKENS": str(TEXT_TOKENS),
        }
        yield env, (seeing, reading)


def _start(
    running: ExitStack, state: State, interpreter: Path, role: str, folder: Path, name: str, options: list[str]
) -> Callable[[], Served]:
    """Start one server. Returns a function that waits until the server answers."""
    port = ports.claim(state, role)
    arguments = [
        str(interpreter),
        "-m",
        "gpu_workers.engine.models.served.vllm_server",
        "--role",
        role,
        "--cpu",
        "--compact-json",
    ]
    arguments += ["--model", str(folder), "--served-name", name, "--port", str(port)]
    arguments += ["--max-num-seqs", str(_SAMPLES), *options]
    env = {**os.environ, **OFFLINE}
    env |= {
        "VLLM_API_KEY": state.secret("api"),
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        # The two servers share the cores with each other and with the tests.
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 2) // 2)),
        "VLLM_CACHE_ROOT": str(_PROJECT / ".local" / "vllm" / "cache"),
    }
    log = _PROJECT / ".local" / "log" / f"vllm-{role}.log"
    started = time.monotonic()
    # A short grace: a server has nothing to save, and does not heed signals while it loads a model.
    child = Child(Command(f"vLLM ({role})", arguments, log, env=env, cwd=_PROJECT, grace_s=5))
    running.callback(child.stop)
    url = f"http://127.0.0.1:{port}/v1"

    def wait() -> Served:
        wait_until(lambda: _serves(url, name, env["VLLM_API_KEY"]), child, _START_S, every_s=1.0)
        return Served(url, name, time.monotonic() - started, child.identity.pid)

    return wait


def _serves(url: str, name: str, key: str) -> bool:
    """Whether our server answers at url: it is asked with our key for our model, which no other server accepts."""
    try:
        answer = httpx.get(f"{url}/models", headers={"Authorization": f"Bearer {key}"}, timeout=5, trust_env=False)
        return answer.status_code == 200 and [model["id"] for model in answer.json()["data"]] == [name]
    except (httpx.TransportError, ValueError, KeyError):
        return False
