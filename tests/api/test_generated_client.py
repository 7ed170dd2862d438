"""A client that a public generator makes of openapi.yaml works: it uploads, asks, pages and reads batch results.

Needs the package index.
"""

from __future__ import annotations

import json
import os
import subprocess
import venv
from pathlib import Path

import pytest

from infra.api_lint.__main__ import DOCUMENT, PYTHON_PACKAGES
from tests.api.servers import PROJECT, ServerProcess
from tests.api.test_documented_calls import answering, indexed_video
from tests.conftest import Cast

FLOW = Path(__file__).with_name("generated_client_flow.py")


def run(*command: object, **environment: str) -> str:
    """Run a command and return its output. Fails with all that it said."""
    arguments = [str(part) for part in command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=400, env=os.environ | environment)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.long
def test_a_generated_client_uploads_asks_pages_and_reads_results(
    acme: Cast, server: ServerProcess, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    venv.create(tools, with_pip=True)
    run(tools / "bin" / "python", "-m", "pip", "install", "--quiet", *PYTHON_PACKAGES)
    run(
        tools / "bin" / "openapi-python-client", "generate", "--path", DOCUMENT, "--meta", "none",
        "--config", PROJECT / "infra" / "api_lint" / "python_client.yaml",
        "--output-path", tmp_path / "ava_cloud_client", "--fail-on-warning",
    )  # fmt: skip
    indexed = indexed_video(acme)

    with answering(acme):
        output = run(
            tools / "bin" / "python", FLOW, f"http://127.0.0.1:{server.port}", acme.key, indexed,
            PYTHONPATH=str(tmp_path),
        )  # fmt: skip

    found = json.loads(output)
    assert found["listed"] == [found["video"], indexed]
    assert (found["asked"], found["finish_reason"]) == ("succeeded", "answered")
    assert found["evidence"] > 0
    assert found["batch"] == ["Who comes?", "Who leaves?"]
