"""llama.cpp's OpenAI-compatible server, on one port, until SIGTERM: the reasoner of a host without a GPU.

llama_server --model NAME --port 8080            serve weights of the registry, fetched if they are not there
llama_server --model NAME --port 8080 --fetch    fetch the weights, and end
llama_server --model NAME --port 8080 --check    exit status 0 if the server answers

MODEL_API_KEY is the key that clients must send.

What works (xllamacpp 2026.10.11549, tried with Qwen2.5-Coder 0.5B and 1.5B and SmolLM2):
  * ``n`` samples in one request, up to --parallel (more is a 400). The prompt is read once for all samples, and they
    are decoded as one batch.
  * ``response_format`` json_schema, also with n; the server always keeps an enum, and ``maxLength`` too.
  * Streaming, also with n, and ``stream_options.include_usage``; ``seed``; ``logprobs``; POST /tokenize.
  * ``usage.prompt_tokens_details.cached_tokens``: a repeated prompt costs one token. A shared beginning is not read
    again if the request reaches the slot that has it (the server picks the idle slot with the most similar prompt).
  * A prompt that does not fit is a 400 of type exceed_context_size_error; all slots share the context.

What does not work:
  * With n > 1, ``usage.completion_tokens`` (and ``timings``) count the first sample only. Count the others by their
    ``logprobs.content`` or with /tokenize; otherwise a question is billed too little.
  * Slots do not share a prompt while it is being read: simultaneous requests with one long common beginning each read
    all of it. Ask for samples with n, and send requests with a common beginning one after the other.
  * ``seed`` repeats an answer only if no other request is in the batch.
  * The server closes the connection after a streamed answer, without a header that says so. A client with a pool gets
    "disconnected without sending a response" and must send again (the openai client does so itself).

Measured on two cores, tokens/s read / decoded / decoded with n=4: 0.5B with two threads, quiet 120 / 36 / 48; 1.5B with
two threads, quiet 56 / 27 / 36, busy (load 5) 25 / 2.5 / 5.8; 1.5B with one thread, busy 18 / 9.6 / 9.5. At load 5, one
token at a time: one thread to decode 12.3, two 2.8; with a busy loop as well, 7.4 and 1.1. The 1.5B takes 2.8 GB with
32768 tokens of context.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def parameters(options: argparse.Namespace) -> Any:
    """Translate the command line into the server's parameter object."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights_of(options.model))
    params.model_alias = {options.alias or options.model}
    params.hostnames = [options.host]
    params.port = options.port
    params.api_keys = [os.environ["MODEL_API_KEY"]] if os.environ.get("MODEL_API_KEY") else []
    params.n_ctx = options.context
    params.n_parallel = options.parallel
    # One pool of context for all slots, so that a single long prompt may use all of it.
    params.kv_unified = True
    params.cont_batching = True
    params.cache_prompt = True
    # A token is a few milliseconds, after which the threads wait for each other: where one of them has no core of its
    # own, all stand still. So decoding leaves a core to the other work of the machine; reading a prompt does not.
    params.cpuparams.n_threads = min(options.threads, max(1, (os.cpu_count() or 1) - 1))
    params.cpuparams_batch.n_threads = options.threads
    # No spinning between steps, because decoding and indexing use the same cores.
    params.cpuparams.poll = 0
    params.cpuparams_batch.poll = 0
    params.ui = False
    params.endpoint_metrics = True
    params.endpoint_slots = True
    return params


def weights_of(model: str) -> Path:
    """Return a file of weights, after fetching it if the model is a name of the registry. Raises WeightsError."""
    from gpu_workers.engine.models import weights

    return Path(model) if os.sep in model else weights.fetch(model, progress=_report)


def answers(port: int) -> bool:
    """Whether the server on this machine has loaded its model and knows the key."""
    headers = {"Authorization": f"Bearer {os.environ.get('MODEL_API_KEY', '')}"}
    for path in ("/health", "/v1/models"):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=5) as reply:  # noqa: S310 - our own
                if reply.status != 200:
                    return False
        except (urllib.error.URLError, TimeoutError):
            return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m gpu_workers.engine.models.served.llama_server")
    parser.add_argument("--model", required=True, help="a name of the registry's weights, or a path")
    parser.add_argument("--alias", default="", help="the name that clients ask for; by default the model's")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--context", type=int, default=32768)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fetch", action="store_true", help="fetch the weights, and end")
    parser.add_argument("--check", action="store_true", help="ask a running server; exit status 0 if it answers")
    options = parser.parse_args(arguments)
    if options.check:
        return 0 if answers(options.port) else 1
    if options.fetch:
        weights_of(options.model)
        return 0

    import xllamacpp

    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    server = xllamacpp.Server(parameters(options))
    print(f"llama.cpp listens at {server.listening_address}", flush=True)
    stopping.wait()
    # The server's threads may be inside a long prompt. Nothing has to be saved, so the exit does not wait for them.
    os._exit(0)


def _report(name: str, done: int, total: int) -> None:
    print(f"{name}: {done >> 20} of {total >> 20} MiB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
