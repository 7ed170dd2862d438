"""`vllm_server --fetch`: a mirror of the hub on this machine, asked by the hub's own library."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gpu_workers.engine.models.model_table import find_model, preset
from gpu_workers.engine.models.served.prefetch import HubFile, wanted

MODEL = preset("gpu-24gb").servers["token-embedder"].model
FILES = {
    "config.json": b"{}",
    "model.safetensors": b"w" * 3000,
    "pytorch_model.bin": b"b" * 3000,
    "onnx/model.onnx": b"o" * 3000,
}


class Hub(BaseHTTPRequestHandler):
    """Answers for one model as the Hugging Face hub does."""

    fetched: list[str]

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        revision = find_model(MODEL).revision  # type: ignore[union-attr]
        name = self.path.partition(f"/resolve/{revision}/")[2]
        if self.path.startswith(f"/api/models/{MODEL}/revision/{revision}"):
            siblings = [{"rfilename": each, "size": len(content)} for each, content in FILES.items()]
            content = json.dumps({"id": MODEL, "sha": revision, "siblings": siblings}).encode()
        elif name in FILES:
            content = FILES[name]
            if body:
                self.fetched.append(name)
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", revision)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Keep the output of the tests clean."""


@pytest.fixture
def hub() -> Iterator[tuple[str, list[str]]]:
    fetched: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Mirror", (Hub,), {"fetched": fetched}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", fetched
    server.shutdown()
    server.server_close()


def fetch(folder: Path, endpoint: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpu_workers.engine.models.served.vllm_server"]
    env = {"PATH": os.environ["PATH"], "HF_HOME": str(folder), "HF_ENDPOINT": endpoint, "MODEL_PRESET": "gpu-24gb"}
    return subprocess.run(
        [*command, "--server", "token-embedder", "--fetch"],
        env=env | {"HF_HUB_DISABLE_XET": "1"} | more,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_weights_are_fetched_from_a_mirror_once(tmp_path: Path, hub: tuple[str, list[str]]) -> None:
    endpoint, fetched = hub

    first = fetch(tmp_path, endpoint)
    second = fetch(tmp_path, endpoint)

    assert first.returncode == second.returncode == 0, first.stderr
    assert fetched == ["config.json", "model.safetensors"]
    assert "file 2 of 2: model.safetensors" in first.stdout
    assert first.stdout.splitlines()[-1] == f"token-embedder: {MODEL} is complete, 0.0 GiB"
    (stored,) = tmp_path.glob("hub/*/snapshots/*/model.safetensors")
    assert stored.read_bytes() == FILES["model.safetensors"]


def test_a_hub_that_does_not_answer_is_named(tmp_path: Path) -> None:
    done = fetch(tmp_path, "http://127.0.0.1:9")

    assert done.returncode == 1
    assert f"token-embedder: {MODEL} cannot be fetched" in done.stderr


def test_a_folder_needs_no_fetch(tmp_path: Path) -> None:
    done = fetch(tmp_path, "http://127.0.0.1:9", MODEL_SERVER_MODEL=str(tmp_path))

    assert done.returncode == 0
    assert "is a folder" in done.stdout


def test_weights_of_torch_are_fetched_where_there_are_no_others() -> None:
    files = [HubFile("pytorch_model.bin", 9), HubFile("config.json", 1), HubFile("onnx/a.onnx", 5)]

    assert [each.name for each in wanted(files)] == ["config.json", "pytorch_model.bin"]
