"""Run the whole of AVA Cloud on this machine: ``python -m infra.local.supervisor up|down|reset|status``.

``up`` runs in the foreground: servers, ``manage.py provision``, ``manage.py migrate``, then API, relay and workers.
Ctrl-C or SIGTERM stops everything in the reverse order. ``down`` stops an ``up`` that runs
elsewhere, ``reset`` deletes its data.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import httpx

from backend.env import SIGNER_KEYS
from infra.local import ports
from infra.local.api_key import ensure_api_key, key_file
from infra.local.app_processes import AppProcess, app_processes
from infra.local.child_process import Child, Command, Identity, wait_until
from infra.local.errors import ServiceFailed, StackError
from infra.local.heartbeat import Heartbeat
from infra.local.metrics_targets import metrics_env, targets_file
from infra.local.stack import SERVERS, Stack

PROJECT = Path(__file__).resolve().parents[2]
ADMIN = "operator@localhost"
_SUPERVISOR = "supervisor"
_POLL_S = 0.3
_READY_S = 600.0
"""A process that has not ended may still fetch weights, or wait for a busy machine."""
# A worker that dies this often within this time of its start is broken, not unlucky.
_SHORT_LIFE_S, _SHORT_LIVES = 60.0, 5


class _StopRequested(BaseException):
    """Raised in the main thread by the first SIGINT, SIGTERM or SIGHUP."""


class Supervisor:
    """One run of the stack with its application processes.

    project: the folder with manage.py, backend/ and workers/. processes: the processes to run; by default the table.
    welcome: whether to say at the end where everything is.
    """

    def __init__(
        self,
        stack: Stack,
        project: Path = PROJECT,
        processes: Sequence[AppProcess] | None = None,
        *,
        welcome: bool = True,
    ) -> None:
        self._stack = stack
        self._say, self._during = stack.heartbeat.say, stack.heartbeat.during
        self._welcomes = welcome
        self._project = project
        self._given = None if processes is None else tuple(processes)
        self._running: dict[str, tuple[AppProcess, Child, float]] = {}
        self._short_lives: dict[str, int] = {}
        self.restarts: dict[str, int] = {}
        self._env: dict[str, str] = {}

    def run(self) -> int:
        """Start, watch until asked to stop, then stop. Returns the exit status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _request_stop)
        status = 0
        try:
            self._start()
            self._watch()
        except _StopRequested:
            self._say("stopping")
        except StackError as error:
            self._say(f"ERROR {error.code}: {error}")
            status = 1
        finally:
            # From here on nothing interrupts, because a second Ctrl-C must not leave processes behind.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, lambda *_: self._say("still stopping"))
            with self._during("stopping"):
                self._stop()
        self._say("stopped")
        return status

    def _start(self) -> None:
        self._stack.start()
        own = Identity.of(os.getpid())
        self._stack.state.set_process(_SUPERVISOR, own)
        self._env = {**os.environ, **self._stack.env(), "PYTHONUNBUFFERED": "1"}
        for variable in SIGNER_KEYS.values():
            self._env.setdefault(variable, self._stack.state.secret(variable.lower().replace("_", "-")))
        # The stack's own client libraries must never go through a proxy to reach 127.0.0.1.
        self._env["NO_PROXY"] = ",".join(filter(None, [os.environ.get("NO_PROXY"), "127.0.0.1", "localhost"]))
        if "DATABASE_SUPERUSER_URL" in self._env:
            self._manage("provision")
        # The URL of the role that can create roles is only for provisioning.
        superuser = self._env.pop("DATABASE_SUPERUSER_URL", None)
        self._manage("migrate", "--noinput", "--database", "owner")
        if superuser is not None:
            self._ensure_admin()
            with self._during("making a tenant and its API key"):
                ensure_api_key(self._stack.home.root, self._project, self._env)
        api, *others = self._given or self._table()
        try:
            self._start_process(api)
        except ServiceFailed as error:
            self._start_process(self._on_another_port(api, error))
        # At once, because each imports for seconds. They are stopped in the reverse order of the table.
        for process in others:
            self._spawn(process)
        for process in others:
            self._wait_until_ready(process)
        if self._welcomes:
            self._say(self.welcome())

    def _manage(self, *arguments: str, **extra: str) -> None:
        name = f"manage-{arguments[0]}"
        command = Command(
            name,
            [sys.executable, "manage.py", *arguments],
            self._stack.home.log(name),
            env=self._env | extra,
            cwd=self._project,
        )
        child = Child(command)
        try:
            with self._during(f"manage.py {arguments[0]}"):
                while child.exit_code() is None:
                    time.sleep(0.05)
        finally:
            child.stop()
        if child.exit_code() != 0:
            raise ServiceFailed(f"manage.py {arguments[0]} failed; {command.log} says:\n{child.last_lines()}")
        self._say(f"manage.py {arguments[0]} is done")

    def _ensure_admin(self) -> None:
        state = self._stack.state
        if not state.is_done("admin"):
            secrets = {"AVA_CONSOLE_PASSWORD": state.secret("admin"), "AVA_CONSOLE_CODE": state.secret("admin-code")}
            self._manage("ensure_console_admin", "--email", ADMIN, **secrets)
            state.set_done("admin")

    def _start_process(self, process: AppProcess) -> None:
        self._spawn(process)
        self._wait_until_ready(process)

    def _spawn(self, process: AppProcess) -> None:
        log = self._stack.home.log(process.name)
        env = process.environment(self._env | metrics_env(self._stack.state, process.name))
        child = Child(Command(process.name, process.arguments, log, env, cwd=self._project, grace_s=30))
        self._running[process.name] = (process, child, time.monotonic())
        self._stack.state.set_process(process.name, child.identity)

    def _wait_until_ready(self, process: AppProcess) -> None:
        _, child, _ = self._running[process.name]
        with self._during(f"starting {process.name}"):
            if process.name == "api":
                wait_until(self._api_answers, child, timeout_s=_READY_S)
            elif process.ready_line is not None:
                lines = [line for line in (process.ready_line, process.waiting_line) if line is not None]
                wait_until(lambda: any(line in child.log_since_start() for line in lines), child, timeout_s=_READY_S)
        if process.ready_line is not None and process.ready_line not in child.log_since_start():
            self._say(f"{process.name} waits for a model server; {child.command.log} says for which")
            return
        self._say(f"{process.name} is ready")

    def _on_another_port(self, process: AppProcess, error: ServiceFailed) -> AppProcess:
        """Return the API on a port that is free now, if another process holds its port; else raise error.

        The port was chosen a while ago, or at an earlier start, and nothing reserves it.
        """
        taken = process.name == "api" and "in use" in str(error)
        if not taken or self._given is not None or not self._stack.forget_api_port():
            raise error
        _, child, _ = self._running.pop(process.name)
        child.stop()
        self._env["AVA_PUBLIC_URL"] = self._stack.env()["AVA_PUBLIC_URL"]
        return next(other for other in self._table() if other.name == process.name)

    def _table(self) -> tuple[AppProcess, ...]:
        signer_port = ports.claim(self._stack.state, "signer")
        console_port = ports.claim(self._stack.state, "console")
        return app_processes(self._stack.api_port(), console_port, signer_port=signer_port)

    def _api_answers(self) -> bool:
        try:
            answer = httpx.get(f"http://127.0.0.1:{self._stack.api_port()}/healthz", timeout=10, trust_env=False)
        except httpx.TransportError:
            return False
        return answer.status_code == 200

    def _watch(self) -> None:
        while True:
            for server in self._stack.servers:
                if server.child is not None:
                    server.child.require_running()
            for process, child, since in list(self._running.values()):
                if child.exit_code() is not None:
                    self._after_death(process, child, since)
            time.sleep(_POLL_S)

    def _after_death(self, process: AppProcess, child: Child, since: float) -> None:
        if not process.restarted:
            child.require_running()
        lived = time.monotonic() - since
        self.restarts[process.name] = self.restarts.get(process.name, 0) + 1
        short = self._short_lives[process.name] = (
            self._short_lives.get(process.name, 0) + 1 if lived < _SHORT_LIFE_S else 0
        )
        self._say(
            f"ERROR {process.name} died with status {child.exit_code()} after {lived:.0f} s; "
            f"{child.command.log} says:\n{child.last_lines()}"
        )
        child.stop()
        if short >= _SHORT_LIVES:
            raise ServiceFailed(
                f"{process.name} died {short} times within {_SHORT_LIFE_S:.0f} s of its start; giving up"
            )
        self._say(f"RESTART {process.name}, number {self.restarts[process.name]} of this run")
        self._start_process(process)

    def _stop(self) -> None:
        # All are signalled first and waited for afterwards, so workers finish their tasks in parallel.
        children = [child for _, child, _ in self._running.values()]
        for child in reversed(children):
            child.identity.send(child.command.stop_signal)
        for child in reversed(children):
            child.stop()
            self._stack.state.set_process(child.name, None)
        if self._stack.state.locked:
            self._stack.state.set_process(_SUPERVISOR, None)
        self._stack.stop()

    def welcome(self) -> str:
        """Return the lines for a person once everything is ready."""
        url, key = self._env["AVA_PUBLIC_URL"], key_file(self._stack.home.root)
        curl = f"curl -s -H \"Authorization: Bearer $(cat '{key}')\""
        lines = [
            "AVA Cloud is ready",
            f"  API       {url}/v1        (schema: {url}/v1/openapi.json)",
            f"  app       {url}/app/        (for an account, open the link that this returns: {curl} --json "
            f'\'{{"email":"you@example.org","role":"owner"}}\' {url}/v1/invitations)',
            f"  console   http://127.0.0.1:{self._stack.state.port('console')}/console/  "
            f"(login: {ADMIN}, password: {self._stack.state.secret('admin')}, then an authenticator app, "
            f"set up within 24 hours with the operator's code {self._stack.state.secret('admin-code')})",
            f"  logs      {self._stack.home.root / 'log'}",
            f"  metrics   {targets_file(self._stack.home.root)}",
            f"  try       {curl} {url}/v1/videos",
            "  stop      Ctrl-C, or make down",
        ]
        return "\n".join(lines)


def say(line: str) -> None:
    """Print a line for the person at the terminal."""
    print(line, flush=True)


def _request_stop(number: int, frame: FrameType | None) -> None:
    raise _StopRequested


def up(root: Path, project: Path = PROJECT, *, welcome: bool = True) -> int:
    """Run everything until stopped; ``project`` holds the application."""
    stack = Stack(root, frozenset(SERVERS), heartbeat=Heartbeat(say))
    return Supervisor(stack, project, welcome=welcome).run()


def down(root: Path) -> int:
    """Stop the stack in ``root``: the supervisor first, then its leftovers. Only by recorded id and start time."""
    stack = Stack(root, frozenset(SERVERS))
    supervisor = stack.state.processes().get(_SUPERVISOR)
    if supervisor is not None and supervisor.alive():
        supervisor.send(signal.SIGTERM)
        deadline = time.monotonic() + 120
        while supervisor.alive():
            if time.monotonic() > deadline:
                say(f"ERROR the supervisor (pid {supervisor.pid}) does not stop; see {root / 'log'}")
                return 1
            time.sleep(0.1)
        say("stopped")
    # A process that holds the lock now is no recorded supervisor, and what it runs must not be stopped here.
    stack.state.lock()
    try:
        for name in stack.stop_leftovers():
            say(f"stopped {name}, which an earlier run had left running")
    finally:
        stack.state.unlock()
    return 0


def reset(root: Path) -> int:
    """Stop the stack, then delete its data, logs, secrets and ports."""
    if down(root):
        return 1
    stack = Stack(root, frozenset(SERVERS), environ={})
    stack.erase()
    shutil.rmtree(root)
    say(f"deleted {root}")
    return 0


def status(root: Path) -> int:
    """Print the running processes. Exit status: 0 if all that was started runs, 3 if nothing runs, 1 otherwise."""
    processes = Stack(root, frozenset(SERVERS)).state.processes()
    alive = {name: identity.alive() for name, identity in processes.items()}
    for name, identity in processes.items():
        say(f"{name:16} {'running' if alive[name] else 'DEAD':8} pid {identity.pid}")
    if not any(alive.values()):
        say("nothing runs")
        return 3
    return 0 if all(alive.values()) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of the command line."""
    parser = argparse.ArgumentParser(prog="python -m infra.local.supervisor", description=__doc__)
    parser.add_argument("action", choices=("up", "down", "reset", "status"))
    parser.add_argument("--root", type=Path, default=PROJECT / ".local", help="state, logs and data (default: .local)")
    parser.add_argument("--project", type=Path, default=PROJECT, help="the folder with manage.py (default: this one)")
    parser.add_argument("--no-welcome", action="store_true", help="do not say at the end where everything is")
    options = parser.parse_args(arguments)
    try:
        if options.action == "up":
            return up(options.root, options.project, welcome=not options.no_welcome)
        return {"down": down, "reset": reset, "status": status}[options.action](options.root)
    except StackError as error:
        say(f"ERROR {error.code}: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
