"""The whole service under one root: servers that can be hurt, and application processes that are started again."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import httpx

from backend.env import SIGNER_KEYS
from infra.local import ports
from infra.local.app_processes import WORKERS, AppProcess, Worker, app_processes, worker_process
from infra.local.child_process import Child, Command, Identity, wait_until
from infra.local.metrics_targets import metrics_env
from infra.local.pgbouncer import PgBouncer
from infra.local.postgres import Postgres
from infra.local.seaweedfs import SeaweedFS
from infra.local.stack import Stack
from infra.local.valkey import Valkey
from tests.faults.chaos.doors import Door
from tests.faults.chaos.scratch import Scratch

S = TypeVar("S")

PROJECT = Path(__file__).resolve().parents[3]
SERVERS = frozenset({"postgres", "pgbouncer", "valkey", "seaweedfs"})
NOT_INHERITED = ("DATABASE_", "REDIS_URL", "S3_", "REASONER_", "DESCRIBER_", "AVA_PUBLIC_URL", "AVA_API_PORT")
START_S = 300.0
SCALED = {
    "AVA_LEASE_SECONDS": "4",
    "AVA_HEARTBEAT_SECONDS": "1",
    "AVA_SEGMENT_MS": "3000",
    "AVA_SUMMARY_EVERY_SEGMENTS": "3",
    "AVA_TASK_SECONDS": "120",
    "AVA_RATE_LIMIT_PER_MINUTE": "100000",
    "AVA_TRACKS": "off",
    "MODEL_TIMEOUT_S": "5",
}
"""Settings that make a minute of production a few seconds here."""


POOLS = ("prefork", "threads")
"""Pools of the workers that call models: the local stack gives each task a process, deployments a thread."""
WORKER_NAMES = frozenset(worker.name for worker in WORKERS)


@dataclass
class Running:
    process: AppProcess
    child: Child
    paused_until: float = 0.0


class Service:
    """Servers and processes under root. All methods belong to the main thread, because a child dies with the thread
    that started it.

    models: environment that names the model servers. clocks: shared library that moves the clock of a process, None to
    leave all clocks alone. durable: False for a service whose PostgreSQL is never crashed. workers: those to start.
    """

    def __init__(
        self,
        root: Path,
        models: Mapping[str, str],
        *,
        clocks: Path | None,
        chance: random.Random,
        durable: bool = True,
        workers: tuple[Worker, ...] = WORKERS,
    ) -> None:
        self.root = root
        self.scratch = Scratch(root / "scratch")
        self._stack = Stack(root, SERVERS, durable=durable, environ={})
        self._models, self._clocks, self._chance, self._workers = models, clocks, chance, workers
        self._running: dict[str, Running] = {}
        self.storage: Door | None = None
        self.env: dict[str, str] = {}
        self.restarts = 0

    # --- start and stop -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything and wait until each process is ready."""
        self._stack.start()
        servers = self._stack.env()
        self.storage = Door(servers["S3_ENDPOINT_URL"])
        self.scratch.make()
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_INHERITED)}
        self.env = {
            **inherited,
            **servers,
            **SCALED,
            **self._models,
            "S3_ENDPOINT_URL": self.storage.url,
            "TMPDIR": str(self.scratch.folder),
            "AVA_WORKER_STATE": str(self.scratch.folder / "state"),
            "PYTHONUNBUFFERED": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            **{variable: secrets.token_urlsafe(32) for variable in SIGNER_KEYS.values()},
            "DJANGO_SETTINGS_MODULE": "backend.settings",
        }
        for command in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
            self.manage(*command)
        # Only provisioning may create roles.
        self.superuser_url = self.env.pop("DATABASE_SUPERUSER_URL")
        self._signer_port = ports.claim(self._stack.state, "signer")
        workers = {worker.name: worker for worker in self._workers}
        for process in app_processes(self._stack.api_port(), signer_port=self._signer_port):
            if process.name in workers:
                self._start_process(worker_process(workers[process.name], self._signer_port))
            elif process.name not in WORKER_NAMES:
                self._start_process(process)
        for name in list(self._running):
            self._wait_until_ready(name)

    def use_pool(self, pool: str) -> None:
        """Give each task of the workers that call models a process or a thread; replace workers of another pool."""
        pooled = (worker for worker in self._workers if worker.queues[0].startswith("gpu."))
        processes = [worker_process(replace(worker, pool=pool), self._signer_port) for worker in pooled]
        changed = [each for each in processes if self._running[each.name].process != each]
        for process in changed:
            self.terminate(process.name)
        for process in changed:
            self._running[process.name].child.stop()
            self._start_process(process)
        for process in changed:
            self._wait_until_ready(process.name)

    def manage(self, *arguments: str) -> str:
        """Run a command of manage.py and return what it printed. Raises AssertionError if it fails."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=PROJECT, env=self.env, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise AssertionError(f"manage.py {arguments[0]} failed: {done.stderr[-2000:]}")
        return done.stdout

    def new_key(self, slug: str) -> tuple[str, str]:
        """Make a tenant. Returns its id and an API key."""
        made = json.loads(self.manage("create_tenant", "--name", slug.title(), "--slug", slug).splitlines()[-1])
        return made["tenant_id"], made["api_key"]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._stack.api_port()}"

    def _start_process(self, process: AppProcess) -> None:
        command = Command(
            process.name,
            process.arguments,
            self.root / "log" / f"{process.name}.log",
            process.environment(self.env | metrics_env(self._stack.state, process.name)) | self._clock(),
            cwd=PROJECT,
            grace_s=30,
        )
        self._running[process.name] = Running(process, Child(command))

    def _clock(self) -> dict[str, str]:
        """Return the environment of a host whose clock is up to 15 s early or late."""
        if self._clocks is None:
            return {}
        offset = self._chance.uniform(-15, 15)
        return {
            "LD_PRELOAD": str(self._clocks),
            "FAKETIME": f"{offset:+.1f}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_NO_CACHE": "1",
        }

    def _wait_until_ready(self, name: str) -> None:
        running = self._running[name]
        line = running.process.ready_line
        if line is not None:
            wait_until(lambda: line in running.child.log_since_start(), running.child, timeout_s=START_S)
        elif name == "api":
            wait_until(self._api_answers, running.child, timeout_s=START_S)

    def _api_answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=5, trust_env=False, verify=False).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        """Stop all processes, then all servers."""
        self.heal()
        for running in self._running.values():
            running.child.identity.send(signal.SIGTERM)
        for running in self._running.values():
            running.child.stop()
        if self.storage is not None:
            self.storage.close()
        self._stack.stop()
        self.scratch.remove()

    # --- while it runs ------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        return list(self._running)

    def tend(self) -> None:
        """Start what died again, as a supervisor does, and wake what was paused for long enough."""
        for name, running in list(self._running.items()):
            if running.child.exit_code() is not None:
                running.child.stop()
                self.restarts += 1
                self._start_process(running.process)
            elif running.paused_until and time.monotonic() >= running.paused_until:
                self._wake(name)

    def heal(self) -> None:
        """Wake what is paused."""
        for name in self._running:
            self._wake(name)

    def family(self, name: str) -> list[Identity]:
        """Return a process and all processes below it."""
        return [self._running[name].child.identity, *below(self._running[name].child.identity)]

    def kill(self, name: str) -> None:
        """Kill a process and all its children."""
        for identity in reversed(self.family(name)):
            identity.send(signal.SIGKILL)

    def kill_child(self, name: str) -> None:
        """Kill one child of a process, such as a process of a worker's pool."""
        children = below(self._running[name].child.identity)
        if children:
            self._chance.choice(children).send(signal.SIGKILL)

    def terminate(self, name: str) -> None:
        self._running[name].child.identity.send(signal.SIGTERM)

    def pause(self, name: str, seconds: float) -> None:
        """Stop a process and its children for some seconds, as a host that stands still does."""
        self._running[name].paused_until = time.monotonic() + seconds
        for identity in self.family(name):
            identity.send(signal.SIGSTOP)

    def _wake(self, name: str) -> None:
        if self._running[name].paused_until:
            self._running[name].paused_until = 0.0
            for identity in self.family(name):
                identity.send(signal.SIGCONT)

    def crash_postgres(self) -> None:
        """Restart PostgreSQL as after a crash: immediate shutdown, then recovery."""
        server = self._server(Postgres)
        assert server.child is not None
        server.child.identity.send(signal.SIGQUIT)
        _wait_until_gone(server.child)
        server.start()

    def kill_pooler(self) -> None:
        """Kill the pooler of database connections and start it again."""
        server = self._server(PgBouncer)
        assert server.child is not None
        server.child.identity.send(signal.SIGKILL)
        _wait_until_gone(server.child)
        server.start()

    def empty_broker(self) -> None:
        """Kill the broker and start it again with nothing in it."""
        server = self._server(Valkey)
        assert server.child is not None
        server.child.identity.send(signal.SIGKILL)
        _wait_until_gone(server.child)
        server.start()

    def pause_broker(self, paused: bool) -> None:
        child = self._server(Valkey).child
        assert child is not None
        child.identity.send(signal.SIGSTOP if paused else signal.SIGCONT)

    def servers(self) -> dict[str, list[Identity]]:
        """Return each server's process with all processes below it."""
        own = {server.name: server.child.identity for server in self._stack.servers if server.child is not None}
        return {name: [identity, *below(identity)] for name, identity in own.items()}

    def server_processes(self) -> list[Identity]:
        """Return the processes of the servers."""
        own = [server.child.identity for server in self._stack.servers if server.child is not None]
        return [*own, *(each for identity in own for each in below(identity))]

    def bucket(self) -> SeaweedFS:
        return self._server(SeaweedFS)

    def _server(self, kind: type[S]) -> S:
        return next(server for server in self._stack.servers if isinstance(server, kind))


def below(identity: Identity) -> list[Identity]:
    """Return the processes below this one, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [identity.pid]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return [each for pid in found[1:] if (each := Identity.of(pid)) is not None]


def _wait_until_gone(child: Child) -> None:
    deadline = time.monotonic() + 60
    while child.exit_code() is None:
        if time.monotonic() > deadline:
            raise AssertionError(f"{child.name} does not end")
        time.sleep(0.02)
