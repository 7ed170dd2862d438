"""One container of a rehearsal: started in its sandbox and network namespace, examined from inside, stopped by id."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.local.errors import ServiceFailed
from infra.rehearsal.dockerfile import HealthCheck
from infra.rehearsal.network import Network, children
from infra.rehearsal.sandbox import Sandbox

_POLL_S = 0.5
_LEAST_POLL_S = 1.0


@dataclass(frozen=True)
class Definition:
    """What a container is started with. grace_s: seconds between the stop signal and SIGKILL."""

    name: str
    sandbox: Sandbox
    command: tuple[str, ...]
    health_check: HealthCheck | None = None
    grace_s: float = 10.0
    stop_signal: signal.Signals = signal.SIGTERM


class Container:
    """A started Definition."""

    def __init__(self, definition: Definition, network: Network, logs: Path) -> None:
        self.definition = definition
        self._network = network
        self.log = logs / f"{definition.name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._init = 0
        self.starts = 0

    @property
    def name(self) -> str:
        """Return the container's name."""
        return self.definition.name

    def start(self) -> None:
        """Start the command. Raises ServiceFailed if the sandbox cannot be made."""
        self.starts += 1
        definition = self.definition
        if not definition.command:
            raise ServiceFailed(f"{self.name} has neither an entry point nor a command")
        reading, writing = os.pipe()
        line = definition.sandbox.arguments(definition.command, "--info-fd", str(writing))
        try:
            self._process = self._network.start(
                self.name, line, definition.sandbox.environment, self.log, pass_fds=(writing,)
            )
            os.close(writing)
            with os.fdopen(reading) as info:
                text = info.read()
        except BaseException:
            for descriptor in (reading, writing):
                try:
                    os.close(descriptor)
                except OSError:
                    continue
            raise
        if not text:
            raise ServiceFailed(f"{self.name} did not start: {self.last_lines()}")
        self._init = int(json.loads(text)["child-pid"])

    def exit_code(self) -> int | None:
        """Return None while the command runs, then its status."""
        if self._process is None:
            raise ServiceFailed(f"{self.name} was never started")
        return self._process.poll()

    def wait(self, timeout_s: float) -> int:
        """Return the status of a command that ends by itself. Raises ServiceFailed when it does not."""
        deadline = time.monotonic() + timeout_s
        while (code := self.exit_code()) is None:
            if time.monotonic() > deadline:
                raise ServiceFailed(f"{self.name} has not ended after {timeout_s:.0f} s: {self.last_lines()}")
            time.sleep(0.1)
        return code

    def execute(self, command: Sequence[str], timeout_s: float = 60.0) -> subprocess.CompletedProcess[str]:
        """Run a command inside the running container, as its user. Status 124: it took longer than timeout_s."""
        inside = f"cd {shlex.quote(self.definition.sandbox.workdir)} && exec {shlex.join(command)}"
        enter = [
            str(shutil.which("nsenter")),
            "--target",
            str(self._init),
            "--user",
            "--mount",
            "--net",
            "--pid",
            "--uts",
        ]
        line = [*enter, "--ipc", "--preserve-credentials", "--", "/bin/sh", "-c", inside]
        try:
            return subprocess.run(
                line,
                env=dict(self.definition.sandbox.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return subprocess.CompletedProcess(line, 124, "", f"no end after {error.timeout:.0f} s")

    def wait_healthy(self, limit_s: float) -> str | None:
        """Run the health check until it holds; return None, or after limit_s the reason why it does not."""
        check = self.definition.health_check
        deadline = time.monotonic() + limit_s
        while True:
            if self.exit_code() is not None:
                if self.starts > 2:
                    return f"ended {self.starts} times, last with status {self.exit_code()}: {self.last_lines()}"
                # restart: unless-stopped.
                self.stop()
                self.start()
            if check is None:
                return None
            asked = time.monotonic()
            done = self.execute(check.test, check.timeout_s)
            if done.returncode == 0:
                return None
            took_s = time.monotonic() - asked
            if time.monotonic() > deadline:
                said = (done.stdout + done.stderr).strip()[-300:]
                return f"unhealthy after {limit_s:.0f} s ({said}); its log ends: {self.last_lines()}"
            # A check takes processor time that the start needs: it has at most a quarter.
            time.sleep(max(_LEAST_POLL_S, min(check.interval_s, max(3.0, 3 * took_s))))

    def last_lines(self, count: int = 8) -> str:
        """Return the end of the log, for a person to read."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])[-1500:]
        except FileNotFoundError:
            return ""

    def stop(self) -> float:
        """Stop the command as an engine does, by its stop signal and after the grace by SIGKILL; return the seconds."""
        began = time.monotonic()
        if self._process is None:
            return 0.0
        if self._process.poll() is None:
            # The sandbox's first process only reaps; its child is the container's command.
            for child in children(self._init):
                try:
                    os.kill(child, self.definition.stop_signal)
                except ProcessLookupError:
                    continue
            try:
                self._process.wait(self.definition.grace_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        return time.monotonic() - began


def hosts_file(path: Path, addresses: Mapping[str, Sequence[str]]) -> Path:
    """Write a hosts file with the names of each address and return it."""
    lines = ["127.0.0.1 localhost", *(f"{address} {' '.join(names)}" for address, names in addresses.items())]
    path.write_text("\n".join(lines) + "\n")
    return path
