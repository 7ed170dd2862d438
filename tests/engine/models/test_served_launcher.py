"""The launcher of model servers: its command line for every server of the table, and a stub of vLLM started by it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gpu_workers.engine.models import model_table
from gpu_workers.engine.models.model_table import find_model
from gpu_workers.engine.models.roles import Message, Meter, ModelError
from gpu_workers.engine.models.served import vllm_server
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.vllm_guard import KeyGuard
from gpu_workers.engine.models.settings import ModelSettings
from tests.scripted_openai import Fault, ScriptedOpenAIServer
from tests.scripted_speech import ScriptedSpeechServer

ROOT = Path(__file__).resolve().parents[3]
LAUNCHER = "gpu_workers.engine.models.served.vllm_server"
SERVERS = [(name, server) for name, preset in model_table.table().presets.items() for server in preset.servers]
ANOTHER_ADDRESS = "127.0.0.2"
"""An address of this machine that a server on 127.0.0.1 alone does not answer."""


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MODEL_") or name in {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "VLLM_API_KEY"}:
            monkeypatch.delenv(name)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """Return the options of the command line that the launcher prints."""
    assert vllm_server.main([*arguments, "--print"]) == 0
    words = shlex.split(capsys.readouterr().out)
    assert words[:3] == [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    found: dict[str, str] = {}
    for word, following in zip(words, [*words[1:], "--"], strict=True):
        if word.startswith("--"):
            found[word] = "" if following.startswith("--") else following
    return found


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("preset", "server"), SERVERS)
def test_a_server_listens_for_other_machines_under_the_name_that_its_clients_ask_for(
    preset: str, server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODEL_PRESET", preset)
    options = printed(capsys, "--server", server)
    assert options["--host"] == "0.0.0.0"
    urls = {f"{role.upper()}_URL": f"http://{role.replace('_', '-')}:8000/v1" for role in model_table.ROLES}
    clients = ModelSettings.from_env({"MODEL_PRESET": preset, **urls})
    roles = [role for role, name in model_table.preset(preset).roles.items() if name == server]
    assert roles
    assert {clients.role(role).model for role in roles} == {options["--served-model-name"]}
    known = find_model(options["--model"])
    assert known is not None
    assert options["--revision"] == options["--tokenizer-revision"] == known.revision
    assert "--trust-remote-code" not in options
    assert "--api-key" not in options, "every user of the machine sees a command line"
    assert options["--middleware"] == f"{KeyGuard.__module__}.{KeyGuard.__name__}"
    row = model_table.preset(preset).servers[server]
    assert options["--max-model-len"] == str(row.context_tokens)
    assert options["--tensor-parallel-size"] == str(row.tensor_parallel)
    assert options["--gpu-memory-utilization"] == f"{row.memory_share:g}"
    if {"describer", "checker", "reasoner"} & set(roles):
        assert "--enable-prefix-caching" in options
        assert "--runner" not in options
    elif row.task == "transcribe":
        assert not {"--runner", "--enable-prefix-caching"} & set(options), "an encoder and decoder has neither"
    else:
        assert options["--runner"] == "pooling"
    if row.images or row.video:
        limits = {"image": row.images, "video": int(row.video)}
        assert json.loads(options["--limit-mm-per-prompt"]) == limits
    else:
        assert "--limit-mm-per-prompt" not in options
    assert int(options["--max-num-batched-tokens"]) == row.batched_tokens
    if row.task == "generate" and row.picture_pixels:
        kwargs = json.loads(options["--mm-processor-kwargs"])
        assert kwargs["images_kwargs"] == {"max_pixels": row.picture_pixels}
        assert kwargs["videos_kwargs"] == {"max_pixels": row.video_pixels} == {"max_pixels": 6 * 576 * 1024}
    else:
        assert "--mm-processor-kwargs" not in options


def test_flags_win_over_variables_and_variables_over_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {
        "MODEL_PRESET": "gpu-80gb",
        "MODEL_SERVER_HOST": "10.0.0.7",
        "MODEL_SERVER_PORT": "8123",
        "MODEL_SERVER_MODEL": "someone/another-vlm",
        "MODEL_SERVER_REVISION": "a" * 40,
        "MODEL_SERVER_CONTEXT_TOKENS": "4096",
        "MODEL_SERVER_MEMORY_SHARE": "0.5",
        "MODEL_SERVER_SEQUENCES": "3",
        "MODEL_SERVER_IMAGES": "5",
        "MODEL_SERVER_VIDEOS": "0",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    options = printed(capsys, "--server", "vlm", "--port", "8124", "--sequences", "4")
    assert (options["--host"], options["--port"], options["--max-num-seqs"]) == ("10.0.0.7", "8124", "4")
    # Clients call another hub model by its own name; the table's revision is of another repository.
    assert options["--model"] == options["--served-model-name"] == "someone/another-vlm"
    assert options["--revision"] == "a" * 40
    assert (options["--max-model-len"], options["--gpu-memory-utilization"]) == ("4096", "0.5")
    assert json.loads(options["--limit-mm-per-prompt"]) == {"image": 5, "video": 0}
    monkeypatch.delenv("MODEL_SERVER_REVISION")
    assert "--revision" not in printed(capsys, "--server", "vlm")
    # A folder holds the weights of the table's model.
    monkeypatch.setenv("MODEL_SERVER_MODEL", str(tmp_path))
    options = printed(capsys, "--server", "vlm")
    table_name = model_table.preset("gpu-80gb").servers["vlm"].model
    assert (options["--model"], options["--served-model-name"]) == (str(tmp_path), table_name)
    assert "--revision" not in options
    monkeypatch.setenv("MODEL_SERVER_NAME", "eyes")
    assert printed(capsys, "--server", "vlm")["--served-model-name"] == "eyes"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODEL_PRESET", "huge"),
        ("MODEL_SERVER_PORT", "http"),
        ("MODEL_SERVER_MEMORY_SHARE", "1.5"),
        ("MODEL_SERVER_SEQUENCES", "-1"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODEL_PRESET", "gpu-48gb")
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as left:
        vllm_server.main(["--server", "vlm", "--print"])
    assert left.value.code == 2
    assert name in capsys.readouterr().err


def test_a_server_that_the_preset_does_not_have_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODEL_PRESET", "gpu-24gb")
    with pytest.raises(SystemExit):
        vllm_server.main(["--server", "llm", "--print"])
    assert "gpu-24gb has no server 'llm'; its servers: vlm, text-embedder, frame-embedder" in capsys.readouterr().err


def test_a_server_takes_the_visible_cards_up_to_the_tables_number(tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\nfor n in 0 1 2 3; do echo "GPU $n: NVIDIA L40S (UUID: GPU-$n)"; done\n')
    program.chmod(0o755)
    four = {"MODEL_PRESET": "four-gpus"}

    def taken(**env: str) -> tuple[int, tuple[int, ...]]:
        settings = vllm_server.settings_of("llm", {}, {**four, "PATH": "", **env})
        return settings.tensor_parallel, settings.cards

    assert taken() == (2, ()), "nothing says how many there are"
    assert taken(PATH=str(tmp_path)) == (2, (2, 3)), "the preset's own machine: its other servers take 0 and 1"
    assert taken(PATH=str(tmp_path), NVIDIA_VISIBLE_DEVICES="all") == (2, (2, 3))
    assert taken(PATH=str(tmp_path), NVIDIA_VISIBLE_DEVICES="2,3") == (2, ()), "a container with two cards"
    assert taken(PATH=str(tmp_path), CUDA_VISIBLE_DEVICES="3") == (1, ())
    env = vllm_server.server_env(vllm_server.settings_of("llm", {}, {**four, "PATH": str(tmp_path)}), "k", {})
    assert env["CUDA_VISIBLE_DEVICES"] == "2,3"
    with pytest.raises(ValueError, match="MODEL_SERVER_TENSOR_PARALLEL is 4, but 1 cards are visible"):
        taken(CUDA_VISIBLE_DEVICES="0", MODEL_SERVER_TENSOR_PARALLEL="4")


def test_no_server_starts_without_a_key(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MODEL_PRESET", "gpu-48gb")
    with pytest.raises(SystemExit) as left:
        vllm_server.main(["--server", "llm"])
    assert left.value.code == 2
    assert "MODEL_API_KEY is not set" in capsys.readouterr().err


# --- a started server -------------------------------------------------------------------------------------------------

STUB = """
import argparse, http.server, json, os
parser = argparse.ArgumentParser()
for name in ("--host", "--port", "--served-model-name", "--model", "--middleware"):
    parser.add_argument(name)
options, _ = parser.parse_known_args()
module, _, guard = options.middleware.rpartition(".")
assert hasattr(__import__(module, fromlist=[guard]), guard)
class Answer(http.server.BaseHTTPRequestHandler):
    def reply(self, path, body):
        if self.headers["Authorization"] != "Bearer " + os.environ["VLLM_API_KEY"]:
            return 401, {"error": "Unauthorized"}
        if path == "/v1/models":
            return 200, {"data": [{"id": options.served_model_name}]}
        if body.get("model") != options.served_model_name:
            return 404, {"error": {"message": "no such model"}}
        message = {"role": "assistant", "content": "yes"}
        return 200, {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"],
                     "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    def do_GET(self):
        self.answer(*self.reply(self.path, {}))
    def do_POST(self):
        self.answer(*self.reply(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
    def answer(self, status, payload):
        data = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer((options.host, int(options.port)), Answer).serve_forever()
"""


@contextmanager
def started(tmp_path: Path, *arguments: str, **env: str) -> Iterator[Mapping[str, str]]:
    """Start the launcher with a stub of vLLM, in a folder that does not hold the project. Yields its environment."""
    package = tmp_path / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").touch()
    (package / "api_server.py").write_text(STUB)
    with socket.socket() as free:
        free.bind(("", 0))
        port = str(free.getsockname()[1])
    environment = {
        "PATH": "",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
        "MODEL_SERVER_PORT": port,
        **env,
    }
    command = [sys.executable, "-m", LAUNCHER, *arguments]
    server = subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and server.poll() is None:
            try:
                socket.create_connection((ANOTHER_ADDRESS, int(port)), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        else:
            pytest.fail(f"no server at {ANOTHER_ADDRESS}:{port}: {server.poll()}")
        yield environment
    finally:
        server.kill()
        server.communicate()


def test_a_client_on_another_address_reaches_the_server_with_its_own_name_and_key(tmp_path: Path) -> None:
    with started(tmp_path, "--server", "llm", MODEL_PRESET="gpu-48gb", MODEL_API_KEY="sesame") as env:
        url = f"http://{ANOTHER_ADDRESS}:{env['MODEL_SERVER_PORT']}/v1"
        client = {"MODEL_PRESET": "gpu-48gb", "MODEL_API_KEY": "sesame", "REASONER_URL": url}

        def ask(settings: ModelSettings) -> str:
            role = settings.reasoner
            chat = OpenAIChatModel(base_url=role.url, model=role.model, api_key=role.api_key)
            return chat.sample([Message("user", ("hello",))], stage="answer", meter=Meter())[0].text

        assert ask(ModelSettings.from_env(client)) == "yes"
        for wrong in ({"MODEL_API_KEY": "open"}, {"REASONER_MODEL": "another"}):
            with pytest.raises(ModelError):
                ask(ModelSettings.from_env({**client, **wrong}))

        def check(**more: str) -> int:
            command = [sys.executable, "-m", LAUNCHER, "--server", "llm", "--check"]
            return subprocess.run(command, env={**env, **more}, capture_output=True, check=False).returncode

        assert check() == 0
        assert check(MODEL_API_KEY="open") == 1
        assert check(MODEL_SERVER_NAME="another") == 1


# --- the check --------------------------------------------------------------------------------------------------------


def settings_at(url: str, server: str = "llm") -> vllm_server.ServerSettings:
    env = {"MODEL_PRESET": "gpu-80gb", "PATH": "", "MODEL_SERVER_PORT": str(httpx.URL(url).port)}
    return vllm_server.settings_of(server, {}, env)


def test_the_check_asks_the_model_for_one_token_before_all_other_requests() -> None:
    with ScriptedOpenAIServer("yes") as server:
        assert vllm_server.answers(settings_at(server.url), "sesame", timeout_s=10) == ""
        (request,) = server.requests
    assert request.headers["Authorization"] == "Bearer sesame"
    assert (request.body["model"], request.body["max_tokens"]) == (settings_at(server.url).name, 1)
    assert request.body["priority"] < 0


def test_the_check_of_a_transcriber_sends_a_second_of_silence() -> None:
    with ScriptedSpeechServer(lambda request: {"text": "", "usage": {"type": "duration", "seconds": 1}}) as server:
        assert vllm_server.answers(settings_at(server.url, "transcriber"), "sesame", timeout_s=10) == ""
        (request,) = server.requests
    assert request.seconds == 1
    assert request.authorization == "Bearer sesame"
    assert (request.fields["model"], request.fields["max_completion_tokens"]) == ("openai/whisper-large-v3-turbo", "1")
    with ScriptedSpeechServer(lambda request: (404, {"error": {"message": "no such model"}})) as server:
        assert vllm_server.answers(settings_at(server.url, "transcriber"), "sesame", timeout_s=10)


def test_the_check_fails_when_the_model_does_not_answer() -> None:
    faults = (Fault(500), Fault(401), Fault(body=b'{"choices": []}'), Fault(body=b"<html>"), Fault(drop=True))
    for fault in faults:
        with ScriptedOpenAIServer(fault) as server:
            assert vllm_server.answers(settings_at(server.url), "sesame", timeout_s=10)
    # Its process accepts connections, and its model hangs.
    with socket.create_server(("127.0.0.1", 0)) as hung:
        url = f"http://127.0.0.1:{hung.getsockname()[1]}/v1"
        assert "timed out" in vllm_server.answers(settings_at(url), "sesame", timeout_s=0.3)
    assert vllm_server.answers(settings_at(url), "sesame", timeout_s=5)


# --- the guard --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ("/pooling", None, 401),
        ("/classify", "wrong", 401),
        ("/invocations", None, 401),
        ("/tokenize", "sesame", 200),
        ("/v1/chat/completions", None, 401),
        ("/v1/chat/completions", "sesame", 200),
        ("/health", None, 200),
        ("/metrics", None, 200),
        ("/health/../pooling", None, 401),
    ],
)
def test_the_guard_asks_for_the_key_on_every_path_that_reads_or_writes_text(
    path: str, key: str | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "sesame")
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [] if key is None else [(b"authorization", f"Bearer {key}".encode())]
    asyncio.run(KeyGuard(app)({"type": "http", "path": path, "headers": headers}, receive, send))
    assert sent[0]["status"] == expected
