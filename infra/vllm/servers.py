"""vLLM servers on free ports, each a server of a preset with a tiny model in place of the table's."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from gpu_workers.engine.models.model_table import preset
from infra.local import ports
from infra.local.child_process import Child, Command, wait_until
from infra.local.state import State
from infra.vllm.environment import OFFLINE

_PROJECT = Path(__file__).resolve().parents[2]
_START_S = 900.0
PRESET = "gpu-80gb"
"""The preset whose servers are started: it has one of each kind."""
CONTEXT_TOKENS: Mapping[str, int] = {"vlm": 8_192, "llm": 8_192, "text-embedder": 512, "reranker": 512}
"""Windows of the tiny models; the others have the table's."""
IMAGES = 32
"""Maximum pictures in one prompt."""
_SAMPLES = 8
_AT_ONCE = 2
"""Servers that start at the same time; each needs a core while it starts."""


@dataclass(frozen=True, slots=True)
class Served:
    """One running server. url: with /v1. model: the name under which clients ask for it. key: what they must send.
    start_s: seconds until it answered. pid: id of its process group."""

    url: str
    model: str
    key: str
    start_s: float
    pid: int


@contextmanager
def serving(interpreter: Path, models: Mapping[str, Path]) -> Iterator[dict[str, Served]]:
    """Run a server of PRESET for each model, by name, for the block.

    models: the folder of each server's model. The launcher and its settings are those of production. Raises
    AlreadyRunning, or ServiceFailed with the end of the log. At the end of the block, for any reason, all servers stop
    with all processes that they started.
    """
    state = State(_PROJECT / ".local" / "vllm")
    state.lock()
    with ExitStack() as running:
        running.callback(state.unlock)
        served: dict[str, Served] = {}
        names = list(models)
        for at in range(0, len(names), _AT_ONCE):
            starting = {
                name: _start(running, state, interpreter, name, models[name]) for name in names[at : at + _AT_ONCE]
            }
            served |= {name: wait() for name, wait in starting.items()}
        yield served


def environment_of(served: Mapping[str, Served]) -> dict[str, str]:
    """Return the variables that an operator sets for workers that call these servers."""
    chosen = preset(PRESET)
    urls = {f"{role.upper()}_URL": served[name].url for role, name in chosen.roles.items() if name in served}
    key = next(iter(served.values())).key
    return {"MODEL_PRESET": PRESET, "MODEL_API_KEY": key, **urls, "DESCRIBER_IMAGES": str(IMAGES)}


def launcher_command(interpreter: Path, server: str, action: Sequence[str] = ()) -> list[str]:
    """Return the command that starts or checks a server, whose settings are in server_environment()."""
    command = [str(interpreter), "-m", "gpu_workers.engine.models.served.vllm_server", "--server", server]
    # A random model fills its answer with blanks where it may.
    return [*command, *(["--compact-json"] if server == "vlm" else []), *action]


def server_environment(server: str, folder: Path, port: int, key: str) -> dict[str, str]:
    """Return the environment of a server, as its container has it, and what a CPU needs."""
    env = {
        "MODEL_PRESET": PRESET,
        "MODEL_API_KEY": key,
        "MODEL_SERVER_HOST": "127.0.0.1",
        "MODEL_SERVER_PORT": str(port),
        "MODEL_SERVER_MODEL": str(folder),
        "MODEL_SERVER_SEQUENCES": str(_SAMPLES),
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        # The engine computes in its own process; another one would take half of the start and 600 MB.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        # The servers share the cores with each other and with the tests.
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 2) // 2)),
        "VLLM_CACHE_ROOT": str(_PROJECT / ".local" / "vllm" / "cache"),
    }
    if server in CONTEXT_TOKENS:
        env["MODEL_SERVER_CONTEXT_TOKENS"] = str(CONTEXT_TOKENS[server])
    if server == "vlm":
        env["MODEL_SERVER_IMAGES"] = str(IMAGES)
    return {**os.environ, **OFFLINE, **env}


def _start(running: ExitStack, state: State, interpreter: Path, server: str, folder: Path) -> Callable[[], Served]:
    """Start one server. Returns a function that waits until the server answers."""
    port, key = ports.claim(state, server), state.secret("api")
    env = server_environment(server, folder, port, key)
    log = _PROJECT / ".local" / "log" / f"vllm-{server}.log"
    started = time.monotonic()
    # A short grace: a server has nothing to save, and does not heed signals while it loads a model.
    command = Command(f"vLLM ({server})", launcher_command(interpreter, server), log, env=env, cwd=_PROJECT, grace_s=5)
    child = Child(command)
    running.callback(child.stop)
    url, name = f"http://127.0.0.1:{port}/v1", preset(PRESET).servers[server].model

    def wait() -> Served:
        wait_until(lambda: serves(url, name, key), child, _START_S, every_s=1.0)
        return Served(url, name, key, time.monotonic() - started, child.identity.pid)

    return wait


def serves(url: str, name: str, key: str) -> bool:
    """Whether our server answers at url: it is asked with our key for our model, which no other server accepts.

    A server without a key heeds none.
    """
    try:
        answer = httpx.get(f"{url}/models", headers={"Authorization": f"Bearer {key}"}, timeout=5, trust_env=False)
        return answer.status_code == 200 and [model["id"] for model in answer.json()["data"]] == [name]
    except (httpx.TransportError, ValueError, KeyError):
        return False
