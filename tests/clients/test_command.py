"""The command `ava` as a process: what it prints, and what it exits with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from ava_cloud import webhooks

from backend.library.models import Upload
from tests.api.servers import PROJECT, ServerProcess
from tests.api.test_documented_calls import answering, indexed_video
from tests.clients.test_python_client import MIB, large, url
from tests.conftest import Cast

__all__ = ("large",)

pytestmark = pytest.mark.long

COMMAND = [sys.executable, "-m", "ava_cloud"]


@pytest.fixture
def environment(acme: Cast, server: ServerProcess, tmp_path: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(PROJECT / "frontend_api_schema" / "python" / "src"),
        "AVA_API_KEY": acme.key,
        "AVA_BASE_URL": url(server),
        "AVA_CREDENTIALS": str(tmp_path / "credentials.json"),
        "COLUMNS": "200",
    }


def ava(environment: dict[str, str], *arguments: str, status: int = 0) -> str:
    done = subprocess.run([*COMMAND, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_a_question_is_asked_and_shown_with_its_evidence(acme: Cast, environment: dict[str, str]) -> None:
    video = indexed_video(acme)
    with answering(acme):
        text = ava(environment, "ask", "What does the man do?", "-v", video)
        answer = json.loads(ava(environment, "ask", "What does the man do?", "-v", video, "--json"))

    first, *evidence = text.splitlines()
    assert first == answer["answer"]
    assert [line.split("\t")[2] for line in evidence] == [video] * len(answer["evidence"])
    assert evidence


def test_lists_are_lines_that_other_programs_read(acme: Cast, environment: dict[str, str]) -> None:
    video = indexed_video(acme)

    assert json.loads(ava(environment, "videos", "--json"))["id"] == video
    assert ava(environment, "videos").split("\t")[:2] == [video, "ready"]
    assert ava(environment, "status", video).startswith("ready: ")
    assert ava(environment, "transcript", video, "--format", "srt").strip() == ""
    for line in ava(environment, "usage", "--json").splitlines():
        assert "meter" in json.loads(line)
    assert ava(environment, "events", video, "--json") == ""


def test_failures_have_statuses_and_sentences(acme: Cast, globex: Cast, environment: dict[str, str]) -> None:
    others = indexed_video(globex)

    assert "not_found" in ava(environment, "status", others, status=3)
    assert "not_found" in ava(environment, "status", "vid_1111111111111111111111", status=3)
    assert "invalid" in ava(environment, "ask", "Who?", "-v", "nonsense", status=2)
    assert "No such option" in ava(environment, "ask", "--nonsense", status=2)
    assert "--collection" in ava(environment, "ask", "Who?", status=2)
    assert "name files" in ava(environment, "upload", status=2)
    assert "invalid_api_key" in ava(environment | {"AVA_API_KEY": "vk_live_no"}, "videos", status=4)
    assert "run `ava login`" in ava(environment | {"AVA_API_KEY": ""}, "videos", status=1)


def test_a_service_that_is_away_is_said_to_be(environment: dict[str, str], acme: Cast) -> None:
    program = (
        "from ava_cloud.cli import commands, main\nfrom ava_cloud import Ava, Retries\n"
        "commands.client = lambda: Ava('k', base_url='http://127.0.0.1:9', retries=Retries(attempts=1))\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "videos"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert "no reply from 127.0.0.1" in done.stderr


def test_a_login_is_kept_for_its_owner_alone(acme: Cast, server: ServerProcess, environment: dict[str, str]) -> None:
    nobody = environment | {"AVA_API_KEY": "", "AVA_BASE_URL": ""}
    assert "invalid_api_key" in ava(nobody, "login", "--url", url(server), "--key", "vk_live_no", status=4)

    ava(nobody, "login", "--url", f"{url(server)}/v1", "--key", acme.key)

    kept = Path(environment["AVA_CREDENTIALS"])
    assert kept.stat().st_mode & 0o777 == 0o600
    video = indexed_video(acme)
    assert ava(nobody, "videos").startswith(video)


def test_a_closed_pipe_ends_a_list_without_a_word(acme: Cast, environment: dict[str, str]) -> None:
    indexed_video(acme)
    script = f"{' '.join(COMMAND)} videos --json | true"

    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("times", [1, 3])
def test_an_upload_goes_on_after_ctrl_c(acme: Cast, environment: dict[str, str], large: Path, times: int) -> None:
    """Further presses, of a person who does not want to wait, end it at once."""
    program = (
        "import os, signal, sys\nfrom ava_cloud._sync import uploads\nfrom ava_cloud.cli import main\n"
        "moved, pressed = uploads.Uploader._moved, []\n"
        "def stop(self, size):\n"
        "    moved(self, size)\n"
        f"    if self._sent > {20 * MIB} and len(pressed) < {times}:\n"
        "        pressed.append(True)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "uploads.Uploader._moved = stop\nmain()"
    )
    stopped = subprocess.run(
        [sys.executable, "-c", program, "upload", str(large)],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert stopped.returncode == 130
    assert times > 1 or f"ava upload {large}" in stopped.stderr.replace("\n", "")
    assert "Traceback" not in stopped.stderr

    video = ava(environment, "upload", str(large)).strip()

    assert ava(environment, "status", video).split(":")[0] in ("queued", "probing", "failed", "indexing")
    with acme.scope():
        assert Upload.objects.count() == 1


@pytest.fixture
def own_program() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A program of a customer that gets events."""
    got: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    program = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=program.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{program.server_port}/hook", got
    program.shutdown()
    thread.join()
    program.server_close()


def test_events_are_handed_to_a_program_on_this_machine(
    acme: Cast, environment: dict[str, str], own_program: tuple[str, list[tuple[dict[str, str], bytes]]]
) -> None:
    address, got = own_program
    listening = subprocess.Popen(
        [*COMMAND, "webhooks", "listen", "--forward", address, "--type", "question.completed"],
        env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert listening.stderr is not None
        secret = listening.stderr.readline().split()[-1]
        listening.stderr.readline()
        video = indexed_video(acme)
        with answering(acme):
            ava(environment, "ask", "What does the man do?", "-v", video)
        line = listening.stderr.readline()
    finally:
        listening.send_signal(signal.SIGINT)
        assert listening.wait(30) == 130

    assert line.startswith("question.completed ")
    assert webhooks.unwrap(got[0][1], got[0][0], secret)["type"] == "question.completed"
