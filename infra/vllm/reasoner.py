"""The embedded reasoner's weights served by vLLM in 8 bits on this CPU, for evaluations that ask thousands of calls."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from gpu_workers.engine.models.calibration import EMBEDDED_REASONER
from infra.local import ports
from infra.local.child_process import Child, Command, wait_until
from infra.local.state import State
from infra.vllm import environment
from infra.vllm.servers import serves

_PROJECT = Path(__file__).resolve().parents[2]
_START_S = 600.0
CONTEXT_TOKENS = 8_192
SEQUENCES = 48
"""Maximum requests at once, samples of one request counted one by one."""
CACHE_GIB = 4


def serve() -> None:
    """Serve until the process is stopped. Raises AlreadyRunning, BootstrapFailed, ServiceFailed, WeightsError."""
    interpreter = environment.python()
    model = environment.eight_bit_reasoner(interpreter)
    state = State(_PROJECT / ".local" / "vllm-reasoner")
    state.lock()
    port = ports.claim(state, "reasoner")
    log = _PROJECT / ".local" / "log" / "vllm-reasoner.log"
    child = Child(Command("vLLM (reasoner)", command(interpreter, model, port), log, env=variables(), grace_s=5))
    url = f"http://127.0.0.1:{port}/v1"
    try:
        wait_until(lambda: serves(url, EMBEDDED_REASONER, "none"), child, _START_S, every_s=1.0)
        print(f"REASONER_URL={url} REASONER_MODEL={EMBEDDED_REASONER}", flush=True)
        while True:
            child.require_running()
            time.sleep(1)
    finally:
        child.stop()
        state.unlock()


def command(interpreter: Path, model: Path, port: int) -> list[str]:
    """Return the command of the server. It has no key, so it listens on this machine alone.

    Prompts are read whole: where a request with a seed is read in parts, vLLM 0.32 ends ("CPU Generator does not use
    offset").
    """
    return [
        *(str(interpreter), "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)),
        *("--served-model-name", EMBEDDED_REASONER, "--host", "127.0.0.1", "--port", str(port)),
        *("--max-model-len", str(CONTEXT_TOKENS), "--max-num-seqs", str(SEQUENCES), "--max-logprobs", "50"),
        *("--max-num-batched-tokens", str(CONTEXT_TOKENS), "--no-enable-chunked-prefill"),
        "--enable-prompt-tokens-details",
    ]


def variables() -> Mapping[str, str]:
    """Return the environment of the server, which takes all cores."""
    return {
        **os.environ,
        **environment.OFFLINE,
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_CPU_KVCACHE_SPACE": str(CACHE_GIB),
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(os.cpu_count() or 1),
        "VLLM_CACHE_ROOT": str(_PROJECT / ".local" / "vllm" / "cache"),
    }
