"""The memory of a query worker whose models are all served: the deployed worker process, after it has answered."""

from __future__ import annotations

import base64
import json
import struct
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.figures import Figures, at_most
from bench.model_server import ModelServer, Rates
from bench.service import index, service
from bench.videos import Recipe, video
from infra.local.demo.client import Client

MOST_MIB = 300
WIDTH = 384
QUESTIONS = 3
WAIT_S = 300.0
RATES = Rates(latency_s=0.0, prefill=1e6, decode=1e5)
VIDEO = Recipe("short", 12, size="320x180", fps=5, kilobits=200)


def query_worker() -> Figures:
    """Measure the proportional set size (PSS) of the worker's processes, in which shared pages count once."""
    with ModelServer(RATES, slots=16) as chat, vector_server() as vectors:
        settings = {
            "DESCRIBER_URL": chat.url,
            "REASONER_URL": chat.url,
            "TEXT_EMBEDDER_URL": vectors,
            "FRAME_EMBEDDER_URL": vectors,
            "TOKEN_EMBEDDER_URL": vectors,
            **dict.fromkeys(("DESCRIBER_MODEL", "REASONER_MODEL"), "scripted"),
            **dict.fromkeys(("DESCRIBER_CONTEXT_TOKENS", "REASONER_CONTEXT_TOKENS"), "32768"),
            **dict.fromkeys(("TEXT_EMBEDDER_MODEL", "FRAME_EMBEDDER_MODEL", "TOKEN_EMBEDDER_MODEL"), "vectors"),
        }
        with service(questions=True, **settings) as client:
            indexed = index(client, video(VIDEO))
            for _ in range(QUESTIONS):
                _answer(client, indexed["id"])
            processes = _processes("--queues=gpu.query")
            mib = sum(map(_pss_bytes, processes)) / 2**20
    reference = (
        f"PSS of {len(processes)} processes (Celery's and its child) after {QUESTIONS} questions about an indexed "
        f"video, with describer, reasoner and embedders behind HTTP; limit {MOST_MIB} MiB"
    )
    yield at_most("worker_memory", mib, MOST_MIB, reference)


def _answer(client: Client, video_id: str) -> None:
    body = {"question": "Who walks across the square?", "video_ids": [video_id]}
    question = client.call("POST", "/questions", body)
    deadline = time.monotonic() + WAIT_S
    while question["status"] not in {"succeeded", "failed", "canceled"}:
        if time.monotonic() > deadline:
            raise AssertionError(f"the question is still {question['status']}")
        time.sleep(0.5)
        question = client.call("GET", f"/questions/{question['id']}")
    if question["status"] != "succeeded":
        raise AssertionError(f"the question ended as {question['status']}: {question.get('error')}")


def _processes(argument: str) -> list[Path]:
    """Return the /proc folders of this user's processes with this argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue  # it has ended
        if argument in arguments:
            found.append(folder)
    return found


def _pss_bytes(process: Path) -> int:
    lines = (process / "smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


# --- a server of vectors --------------------------------------------------------------------------------------------


@contextmanager
def vector_server() -> Iterator[str]:
    """Yield the URL of a server of /v1/embeddings and vLLM's /pooling; a text's vector depends on its words alone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Vectors)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Vectors(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "vectors", "object": "model", "max_model_len": 8192}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/tokenize"):
            words = request["prompt"].split()
            tokens = [*map(_number, words)]
            self._send({"tokens": [101, *tokens, 102] if request["add_special_tokens"] else tokens})
            return
        given = request.get("input") or [json.dumps(messages) for messages in request["messages"]]
        texts = [given] if isinstance(given, str) else given
        self._send({"data": [self._row(k, text, request) for k, text in enumerate(texts)]})

    def _row(self, index: int, text: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if request.get("task") == "token_embed":
            return {"index": index, "data": [_vector(word) for word in ("[", *text.split(), "]")]}
        vector = _vector(text)
        if request.get("encoding_format") == "base64":
            return {"index": index, "embedding": base64.b64encode(struct.pack(f"<{WIDTH}f", *vector)).decode()}
        return {"index": index, "embedding": vector}

    def _send(self, body: Mapping[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing: stdout is for figures alone."""


def _number(word: str) -> int:
    return zlib.crc32(word.encode()) % 30_000 + 1_000


def _vector(text: str) -> list[float]:
    vector = [0.01] * WIDTH
    for word in text.lower().split():
        vector[_number(word) % WIDTH] += 1.0
    return vector
