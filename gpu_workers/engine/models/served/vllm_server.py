"""Start vLLM's OpenAI-compatible server with the settings that the engine's calls need.

python -m gpu_workers.engine.models.served.vllm_server --role vlm --port 8001
python -m gpu_workers.engine.models.served.vllm_server --role llm --print
python -m gpu_workers.engine.models.served.vllm_server --role llm --cpu --model some/folder --served-name small
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import httpx


@dataclass(frozen=True, slots=True)
class ServedRole:
    """Defaults of one role. images: maximum number of pictures in one prompt, 0 for a text model."""

    model: str
    max_model_len: int
    images: int


ROLES = {
    "vlm": ServedRole("Qwen/Qwen2.5-VL-7B-Instruct-AWQ", 32_768, 64),
    "llm": ServedRole("Qwen/Qwen2.5-32B-Instruct-AWQ", 32_768, 0),
}


def server_argv(
    role: str,
    *,
    model: str | None = None,
    port: int = 8000,
    host: str = "127.0.0.1",
    max_model_len: int | None = None,
    gpu_memory_utilization: float = 0.90,
    tensor_parallel: int = 1,
    max_num_seqs: int = 64,
    served_name: str | None = None,
    images: int | None = None,
    compact_json: bool = False,
    cpu: bool = False,
) -> list[str]:
    """Return the command line of the server. Raises ValueError for an unknown role or a share of memory outside 0..1.

    served_name: name of the model for clients, instead of the hub id or folder. images: instead of the role's limit.
    compact_json: no blanks between the parts of structured outputs; a small model can fill its answer with them.
    cpu: for a CPU build of vLLM, whose memory is set by VLLM_CPU_KVCACHE_SPACE (GiB); nothing is compiled.
    """
    if role not in ROLES:
        raise ValueError(f"no role {role!r}; known: {', '.join(ROLES)}")
    if not 0 < gpu_memory_utilization <= 1:
        raise ValueError(f"gpu_memory_utilization is between 0 and 1, got {gpu_memory_utilization}")
    served = ROLES[role]
    argv = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    argv += ["--model", model or served.model, "--host", host, "--port", str(port)]
    argv += ["--max-model-len", str(max_model_len or served.max_model_len)]
    argv += ["--enforce-eager"] if cpu else ["--gpu-memory-utilization", f"{gpu_memory_utilization:g}"]
    if served_name:
        argv += ["--served-model-name", served_name]
    argv += ["--tensor-parallel-size", str(tensor_parallel), "--max-num-seqs", str(max_num_seqs)]
    # Samples of one question share their prompt; chunks share their instructions.
    argv += ["--enable-prefix-caching", "--enable-prompt-tokens-details"]
    # Structured outputs use xgrammar, or another back end for schemas that it lacks; only a named back end can be
    # compact.
    outputs = {"backend": "xgrammar", "disable_any_whitespace": True} if compact_json else {"backend": "auto"}
    argv += ["--structured-outputs-config", json.dumps(outputs)]
    if served.images:
        argv += ["--limit-mm-per-prompt", json.dumps({"image": images or served.images, "video": 0})]
    return argv


def wait_healthy(
    url: str,
    timeout: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Return when GET /health of the server at url answers 200; raise TimeoutError after timeout seconds.

    url: with or without /v1.
    """
    address = url.rstrip("/").removesuffix("/v1") + "/health"
    deadline = clock() + timeout
    while True:
        try:
            if httpx.get(address, timeout=5.0).status_code == httpx.codes.OK:
                return
            failure = "it answers, but is not ready"
        except httpx.HTTPError as error:
            failure = type(error).__name__
        if clock() >= deadline:
            raise TimeoutError(f"no healthy server at {address} after {timeout:g} s ({failure})")
        sleep(1.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Replace this process by the server, or print its command line."""
    parser = argparse.ArgumentParser(
        prog="python -m gpu_workers.engine.models.served.vllm_server", description=main.__doc__
    )
    parser.add_argument("--role", choices=sorted(ROLES), required=True)
    parser.add_argument("--model", help="a hub id or a folder; the role's default otherwise")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--max-model-len", type=int)
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.90)
    parser.add_argument("--tensor-parallel", type=int, default=1)
    parser.add_argument("--max-num-seqs", type=int, default=64)
    parser.add_argument("--served-name", help="what clients call the model")
    parser.add_argument("--images", type=int, help="most pictures in one prompt")
    parser.add_argument("--compact-json", action="store_true", help="structured outputs without blanks between parts")
    parser.add_argument("--cpu", action="store_true", help="for a CPU build of vLLM")
    parser.add_argument("--print", action="store_true", dest="show", help="print the command line and exit")
    options = vars(parser.parse_args(arguments))
    show = options.pop("show")
    try:
        argv = server_argv(options.pop("role"), **options)
    except ValueError as error:
        parser.error(str(error))
    if show:
        print(shlex.join(argv))
        return 0
    if importlib.util.find_spec("vllm") is None:
        print("vllm is not installed here; install the gpu extra (pip install 'ava-cloud[gpu]')", file=sys.stderr)
        return 1
    os.execv(argv[0], argv)  # noqa: S606 - the argv is built above from parsed options, without a shell


if __name__ == "__main__":
    sys.exit(main())
