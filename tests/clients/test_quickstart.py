"""docs/quickstart.md by the command line and by Python, as a reader would run it; TypeScript is in test_packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.servers import PROJECT, ServerProcess
from tests.api.test_documented_calls import QUICKSTART, answering
from tests.clients.test_packages import indexing, snippets
from tests.clients.test_python_client import url
from tests.conftest import Cast

pytestmark = pytest.mark.long

COMMAND = f"""
set -euo pipefail
ava() {{  # listening goes on until it is interrupted
  if [[ "$*" == *listen* ]]; then timeout -s INT 10 {sys.executable} -m ava_cloud "$@" || [[ $? == 124 ]]
  else {sys.executable} -m ava_cloud "$@"; fi
}}
"""

RECEIVED = """
import time

from standardwebhooks import Webhook

body, now = b'{"type": "video.ready", "data": {"id": "vid_1"}}', datetime.datetime.now(datetime.UTC)
signature = Webhook(endpoint.secret).sign("msg_1", now, body.decode())
receive(body, {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp())), "webhook-signature": signature})
"""


def ran(*command: str, cast: Cast, server: ServerProcess, folder: Path) -> list[str]:
    """Run a reader's program in a folder with a video while the service works. Returns its lines."""
    (folder / "clip.mp4").write_bytes(os.urandom(5_000))
    environment = os.environ | {
        "PYTHONPATH": str(PROJECT / "frontend_api_schema" / "python" / "src"),
        "AVA_API_KEY": cast.key,
        "AVA_BASE_URL": url(server),
    }
    with indexing(cast), answering(cast):
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout.splitlines()


def test_the_steps_of_the_command_line(acme: Cast, server: ServerProcess, tmp_path: Path) -> None:
    lines = ran("bash", "-c", COMMAND + snippets(QUICKSTART, "sh"), cast=acme, server=server, folder=tmp_path)

    video, answer, evidence, link = lines
    assert (video[:4], answer) == ("vid_", "a red car")
    assert evidence.split(" ", 3) == ["3000", "9000", "supported", "A red car parks."]
    assert "/share" in link


def test_the_steps_in_python(acme: Cast, server: ServerProcess, tmp_path: Path) -> None:
    program = snippets(QUICKSTART, "python") + RECEIVED
    lines = ran(sys.executable, "-c", program, cast=acme, server=server, folder=tmp_path)

    answer, evidence, link, event = lines
    assert (answer, evidence) == ("a red car", "3000 9000 supported A red car parks.")
    assert "/share" in link
    assert event == "video.ready vid_1"
