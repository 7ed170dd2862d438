"""Several processes count, any of them answers for all, and a child does not hold the port of its parent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from infra.local import ports
from infra.local.state import State

PROJECT = Path(__file__).parents[2]
# A group like the API's: two processes that listen at one address and a child that a pool has forked.
COUNTS = """
import os, sys
import django
django.setup()
from backend.observability import exposition, metrics
metrics.count_gaps([None, "model_refused"])
assert exposition.serve() is not None
if not os.fork():
    metrics.count_gaps([None] * 3)
    os._exit(0)
os.wait()
print("ready", flush=True)
sys.stdin.read()
"""


def test_any_process_of_a_group_answers_for_all(tmp_path: Path) -> None:
    port = ports.claim(State(tmp_path), "metrics")
    folder = tmp_path / "numbers"
    env = {**os.environ, "AVA_METRICS_ADDRESS": f"127.0.0.1:{port}", "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    group = [
        subprocess.Popen(
            [sys.executable, "-c", COUNTS], env=env, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    try:
        for process in group:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        # A connection each: the kernel spreads them over the processes.
        answers = [httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text for _ in range(6)]
    finally:
        for process in group:
            process.communicate()
    for answer in answers:
        assert "ava_chunks_total 10.0\n" in answer
        assert 'ava_chunk_gaps_total{code="model_refused"} 2.0\n' in answer
    assert {path.stat().st_mode & 0o077 for path in [folder]} == {0}


@pytest.mark.parametrize("value", ["9464", ":9464", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:70000", "host:port"])
def test_an_address_that_is_none_stops_the_process_with_its_name(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.core.exceptions import ImproperlyConfigured

    from backend import env

    monkeypatch.setenv("AVA_METRICS_ADDRESS", value)
    with pytest.raises(ImproperlyConfigured, match="AVA_METRICS_ADDRESS needs host:port"):
        env.address("AVA_METRICS_ADDRESS", "")
