"""The supervisor over a small application: order, restarts, deaths, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.local.child_process import Identity
from infra.local.stack import Stack
from infra.local.state import State

PROJECT = Path(__file__).parents[3]
_MANAGE = """
import os, sys, time
if sys.argv[1] == "guarded":
    os.execv(sys.argv[2], sys.argv[2:])
print("ran", *sys.argv[1:], "as superuser" if "DATABASE_SUPERUSER_URL" in os.environ else "as restricted", flush=True)
if sys.argv[1] == "create_tenant":
    print('{"api_key": "a key"}')
if sys.argv[1] == "sign_objects":
    print("signer ready", flush=True)
while sys.argv[1] in ("relay", "send_webhooks", "sign_objects"):
    time.sleep(600)
sys.exit(os.path.exists("fail-" + sys.argv[1]))
"""
_ASGI = """
async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"ok"})
"""
_CONNECTIONS = "from uvicorn.protocols.http.h11_impl import H11Protocol as BoundedConnection"
_CELERY = """
import os
from celery import Celery
app = Celery("workers", broker=os.environ["REDIS_URL"])
"""


class Run:
    """One ``supervisor up`` in its own process, over the small application."""

    def __init__(self, folder: Path) -> None:
        self.root, self.project, self.output = folder / "root", folder / "app", folder / "output"
        for path, text in (
            ("manage.py", _MANAGE),
            ("backend/asgi.py", _ASGI),
            ("workers/app.py", _CELERY),
            ("backend/api/server/connections.py", _CONNECTIONS),
        ):
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(text)
        # The API server logs by the project's own formatter.
        (self.project / "backend" / "observability").symlink_to(PROJECT / "backend" / "observability")
        self.process: subprocess.Popen[bytes] | None = None

    def command(self, action: str) -> list[str]:
        line = [sys.executable, "-m", "infra.local.supervisor", action, "--root", str(self.root)]
        return [*line, "--project", str(self.project)]

    def env(self) -> dict[str, str]:
        # The reasoner is not needed here.
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return kept | {"REASONER_URL": "http://127.0.0.1:9/v1", "REASONER_MODEL": "none"}

    def up(self) -> subprocess.Popen[bytes]:
        with self.output.open("wb") as out:
            self.process = subprocess.Popen(self.command("up"), stdout=out, stderr=subprocess.STDOUT, env=self.env())
        return self.process

    def say(self) -> str:
        return self.output.read_text()

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.say())

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < deadline, self.say()
            time.sleep(0.05)

    def processes(self) -> dict[str, Identity]:
        raw: dict[str, Any] = json.loads((self.root / "state.json").read_text())
        return {name: Identity(**entry) for name, entry in raw["processes"].items()}

    def finish(self) -> int:
        assert self.process is not None
        return self.process.wait(120)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path)
    yield run
    if run.process is not None and run.process.poll() is None:
        run.process.terminate()
        run.process.wait(120)
    Stack(run.root, environ={"PATH": os.environ["PATH"]}).erase()


def test_it_starts_in_order_and_ctrl_c_leaves_nothing(run: Run) -> None:
    process = run.up()
    run.wait_for("AVA Cloud is ready")
    started = run.processes()

    names = [
        "postgres",
        "pgbouncer",
        "valkey",
        "seaweedfs",
        "supervisor",
        "api",
        "console",
        "relay",
        "webhooks",
        "signer",
        "worker-probe",
        "worker-fetch",
        "worker-delete",
        "worker-sweep",
        "worker-render",
        "worker-index",
        "worker-query",
    ]
    assert list(started) == names
    lines = [line for line in run.say().splitlines() if line.endswith(("ready", "done"))]
    assert [line.split(" is ")[0] for line in lines] == [
        *("postgres", "pgbouncer", "valkey", "seaweedfs"),
        *("manage.py provision", "manage.py migrate", "manage.py ensure_console_admin"),
        *("api", "console", "relay", "webhooks", "signer", "worker-probe", "worker-fetch"),
        *("worker-delete", "worker-sweep", "worker-render", "worker-index", "worker-query", "AVA Cloud"),
    ]
    assert (run.root / "api_key").read_text() == "a key"
    assert (run.root / "api_key").stat().st_mode & 0o777 == 0o600
    log = run.root / "log"
    assert (log / "manage-provision.log").read_text() == "ran provision as superuser\n"
    assert (log / "manage-migrate.log").read_text() == "ran migrate --noinput --database owner as restricted\n"
    assert (log / "relay.log").read_text() == "ran relay as restricted\n"

    process.send_signal(signal.SIGINT)

    assert run.finish() == 0
    assert run.processes() == {}
    run.wait_until(lambda: not any(identity.alive() for identity in started.values()))


@pytest.mark.long
def test_a_dead_worker_is_restarted_loudly_and_a_dead_api_ends_it(run: Run) -> None:
    run.up()
    run.wait_for("AVA Cloud is ready")
    worker = run.processes()["worker-index"]
    os.kill(worker.pid, signal.SIGKILL)
    run.wait_for("RESTART worker-index, number 1 of this run\nworker-index is ready")
    assert "ERROR worker-index died with status -9" in run.say()
    started = run.processes()
    assert started["worker-index"] != worker
    assert started["worker-index"].alive()

    os.kill(started["api"].pid, signal.SIGKILL)

    assert run.finish() == 1
    assert "ERROR service_failed: api ended with status -9" in run.say()
    run.wait_until(lambda: not any(identity.alive() for identity in started.values()))


def test_a_failing_migration_stops_everything(run: Run) -> None:
    (run.project / "fail-migrate").touch()

    run.up()

    assert run.finish() == 1
    assert "manage.py migrate failed" in run.say()
    assert "api is ready" not in run.say()
    assert run.processes() == {}


@pytest.mark.long
def test_an_api_whose_port_is_taken_takes_another(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        State(run.root).set_port("api", taken)

        run.up()
        run.wait_for("AVA Cloud is ready")

        port = State(run.root).port("api")
        assert port != taken
        url = f"http://127.0.0.1:{port}/v1/videos"
        assert url in run.say()
        assert httpx.get(url, timeout=10, trust_env=False).text == "ok"


@pytest.mark.long
def test_the_printed_address_of_the_console_is_served(run: Run) -> None:
    run.up()
    run.wait_for("AVA Cloud is ready")

    url = next(word for word in run.say().split() if word.endswith("/console/"))
    assert httpx.get(url, timeout=10, trust_env=False).text == "ok"


@pytest.mark.long
def test_a_second_up_is_refused_and_does_not_disturb_the_first(run: Run) -> None:
    run.up()
    run.wait_for("AVA Cloud is ready")
    started = run.processes()

    second = subprocess.run(run.command("up"), env=run.env(), capture_output=True, text=True, check=False)

    assert second.returncode == 1
    assert "already_running" in second.stdout
    assert run.processes() == started
    assert all(identity.alive() for identity in started.values())
    down = subprocess.run(run.command("down"), env=run.env(), capture_output=True, text=True, check=False)
    assert (down.returncode, down.stdout) == (0, "stopped\n")
    assert run.finish() == 0


@pytest.mark.long
def test_after_kill_9_of_the_supervisor_nothing_runs_and_up_works_again(run: Run) -> None:
    process = run.up()
    run.wait_for("AVA Cloud is ready")
    started = run.processes()
    process.kill()
    run.finish()
    run.wait_until(lambda: not any(identity.alive() for name, identity in started.items() if name != "supervisor"))

    run.up()
    run.wait_for("AVA Cloud is ready")

    answer = httpx.get(next(word for word in run.say().split() if word.endswith("/v1/videos")), timeout=10)
    assert answer.text == "ok"
