"""Requests that schemathesis makes out of openapi.yaml: none ends as 5xx, and every response is one of the document.

AVA_SCHEMA_EXAMPLES sets the requests per operation. Without it a few hundred requests are sent; `make test-schema`
sends 10,000, some in chains that follow the ids of earlier replies.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.servers import ServerProcess
from tests.conftest import Cast

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("AVA_SCHEMA_EXAMPLES", "1"))
OPERATIONS = 90
"""Lower bound of the operations of the document."""
LONGEST_S = 3_600
"""Time for the requests with a key, and for those without; by far the longest test."""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.fixture
def server(acme: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerProcess]:
    monkeypatch.setenv("AVA_RATE_LIMIT_PER_MINUTE", "1000000000")
    monkeypatch.setenv("AVA_FREE_REQUESTS_PER_MINUTE", "1000000000")
    monkeypatch.setenv("AVA_REQUESTS_PER_CALLER", "100000")
    process = ServerProcess(tmp_path)
    try:
        process.wait(process.is_ready)
        yield process
    finally:
        process.stop()


@pytest.mark.timeout(LONGEST_S + 300)
@pytest.mark.parametrize("with_key", [True, False])
def test_generated_requests_get_replies_of_the_document(server: ServerProcess, acme: Cast, with_key: bool) -> None:
    phases = "fuzzing,stateful" if with_key and EXAMPLES > 1 else "fuzzing"
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file=tests/schema/schemathesis.toml",
        "run", "frontend_api_schema/openapi.yaml",
        f"--url=http://127.0.0.1:{server.port}", f"--phases={phases}", f"--checks={CHECKS}", "--seed=1",
        f"--max-examples={EXAMPLES}", "--no-shrink", "--continue-on-failure", "--generation-database=none",
        "--suppress-health-check=all", "--warnings=off", "--workers=2", "--request-timeout=60",
    ]  # fmt: skip
    if with_key:
        command.append(f"--header=Authorization: Bearer {acme.key}")

    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_S)

    report = run.stdout + run.stderr
    assert run.returncode == 0, report[-8_000:]
    generated = re.search(
        r"(\d+) generated, (\d+) passed", report.replace(",", "").replace("generated ", "generated, ")
    )
    assert generated is not None, report[-3_000:]
    assert int(generated[1]) >= OPERATIONS * EXAMPLES * 0.9
    # A server that was gone would refuse nothing either.
    assert server.is_ready()
    log = server.log.read_text()
    assert log.count('"logger": "ava.requests"') >= int(generated[1]) * 0.9
    assert not re.findall(r'"status": 5\d\d', log)
    if "stateful" in phases:
        covered = re.search(r"API Links:\s+(\d+) covered / (\d+) selected", report)
        assert covered is not None, report[-3_000:]
        assert int(covered[1]) > 1, covered[0]
        print(f"{covered[1]} of {covered[2]} links followed")
    print(f"{generated[1]} requests {'with' if with_key else 'without'} a key")
