"""A process does not start on a database that lets tenants meet, and one that runs stops serving."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connections

from backend.api import middleware
from backend.env import SIGNER_KEYS
from backend.tenancy import guard
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser

ROOT = Path(__file__).parents[2]
STARTS = {
    "api": ["manage.py", "guarded", sys.executable, "-c", "print('started')"],
    "relay": ["manage.py", "relay"],
    "webhooks": ["manage.py", "send_webhooks"],
    "signer": ["manage.py", "sign_objects", "--port", "0"],
    "metrics": ["manage.py", "publish_metrics"],
    "worker": ["-m", "celery", "--quiet", "-A", "workers.app", "worker", "--pool=solo", "--queues=system.sweep"],
}

ENVIRONMENT = {
    "signer": {"AVA_PROCESS": "signer", **{name: secrets.token_hex(32) for name in SIGNER_KEYS.values()}},
    "metrics": {"AVA_CLOUDWATCH_NAMESPACE": "Test", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
}


@pytest.fixture
def wounded(database: None) -> Iterator[None]:
    with superuser() as connection:
        connection.execute("ALTER TABLE library_video DISABLE ROW LEVEL SECURITY")
        try:
            yield
        finally:
            connection.execute("ALTER TABLE library_video ENABLE ROW LEVEL SECURITY")


def started(name: str, **environment: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *STARTS[name]],
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT.get(name, {}), **environment},
        stdout=pipe,
        stderr=pipe,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a process that ends by itself."""
    try:
        stdout, stderr = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, stdout, stderr


@pytest.mark.long
def test_no_process_starts_on_a_wounded_database(wounded: None) -> None:
    for name, (code, stdout, stderr) in {n: ended(p) for n, p in {n: started(n) for n in STARTS}.items()}.items():
        assert code == guard.EXIT_CODE, (name, stderr)
        assert "tenants are not kept apart: public.library_video is not under forced" in stderr, name
        assert "started" not in stdout


def test_every_process_of_the_workers_is_started_here() -> None:
    commands = {path.stem for path in (ROOT / "workers/management/commands").glob("[a-z]*.py")}
    assert commands - {command[1] for command in STARTS.values()} == {"drain"}, "drain ends after one answer"


def test_a_process_starts_on_a_whole_database_and_while_the_database_is_away(database: None) -> None:
    whole, away = started("api"), started("api", DATABASE_URL="postgresql://app_rw:x@127.0.0.1:9/x")

    assert ended(whole)[:2] == (0, "started\n")
    assert ended(away)[:2] == (0, "started\n")


def test_a_process_that_runs_notices_a_wound_and_its_cure(database: None) -> None:
    noticed = threading.Event()
    watch = guard.Watch(seconds=0.05, on_fault=noticed.set).start()
    try:
        with superuser() as connection:
            connection.execute("ALTER TABLE library_video NO FORCE ROW LEVEL SECURITY")
            try:
                assert noticed.wait(60)
                assert watch.faulty
            finally:
                connection.execute("ALTER TABLE library_video FORCE ROW LEVEL SECURITY")
        while watch.faulty:
            threading.Event().wait(0.05)
    finally:
        watch.stop()


def test_an_api_that_noticed_a_wound_answers_probes_alone(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    assert acme.client.get("/v1/videos").status_code == 200
    monkeypatch.setattr(middleware.WATCH, "faulty", True)

    refused = acme.client.get("/v1/videos")
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.headers["Retry-After"] == "30"
    assert acme.client.get("/healthz").status_code == 200
    assert acme.client.get("/readyz").status_code == 200
    connections.close_all()
