"""The servers that AVA Cloud needs, on this machine, started in order and stopped in the reverse order.

    with Stack(Path(".local")) as stack:
        subprocess.run([...], env=os.environ | stack.env())

The test suite uses the same class with its own root. If the environment already names a server's URL (DATABASE_URL,
REDIS_URL, S3_ENDPOINT_URL, REASONER_URL), the stack does not start this server and hands the URL on.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from gpu_workers.engine.models.weights import cache_dir
from infra.local import ports
from infra.local.errors import Misconfigured, NotInstalled, ServiceFailed, StackError
from infra.local.heartbeat import Heartbeat
from infra.local.llama import Llama
from infra.local.pgbouncer import PgBouncer
from infra.local.postgres import ROLES, Postgres
from infra.local.seaweedfs import REGION, SeaweedFS
from infra.local.server import Server, StackHome
from infra.local.state import State
from infra.local.valkey import Valkey

SERVERS = ("postgres", "pgbouncer", "valkey", "seaweedfs", "llama")
"""All servers, in the order of starting."""

# Server: (the variable that replaces it, variables required with it, variables allowed with it).
_EXTERNAL: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "postgres": (
        "DATABASE_URL",
        tuple(name for name in ROLES if name not in ("DATABASE_URL", "DATABASE_SUPERUSER_URL")),
        ("DATABASE_SUPERUSER_URL", "DATABASE_LISTEN_URL"),
    ),
    "valkey": ("REDIS_URL", (), ()),
    "seaweedfs": ("S3_ENDPOINT_URL", ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "S3_BUCKET"), ("S3_REGION",)),
    "llama": ("REASONER_URL", ("REASONER_MODEL",), ("REASONER_API_KEY",)),
}
# A server that stands before another one: it runs only where the other one does.
_BEFORE = {"pgbouncer": "postgres"}
_DEFAULTS = {"S3_REGION": REGION, "REASONER_API_KEY": "none"}


class Stack:
    """A set of servers that belongs to one root folder.

    root: holds state.json, log/ and the servers' data; created if absent. One process at a time may run it.
    servers: which of SERVERS to run. durable=False trades crash safety for speed. environ: by default os.environ.
    heartbeat: says what is started and what is ready; by default nobody does.
    """

    def __init__(
        self,
        root: Path,
        servers: frozenset[str] = frozenset(SERVERS),
        *,
        durable: bool = True,
        environ: Mapping[str, str] | None = None,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        unknown = servers - set(SERVERS)
        if unknown:
            raise ValueError(f"unknown servers: {', '.join(sorted(unknown))}")
        self._environ = os.environ if environ is None else environ
        self.heartbeat = heartbeat or Heartbeat(lambda line: None)
        self.state = State(root.resolve())
        self.home = StackHome(root.resolve(), cache_dir(), self.state, durable)
        self._external = {name: self._external_env(name) for name in _EXTERNAL if self._environ.get(_EXTERNAL[name][0])}
        postgres = Postgres(self.home)
        makers: dict[str, Callable[[], Server]] = {
            "postgres": lambda: postgres,
            "pgbouncer": lambda: PgBouncer(self.home, postgres),
            "valkey": lambda: Valkey(self.home),
            "seaweedfs": lambda: SeaweedFS(self.home),
            "llama": lambda: Llama(self.home, self._environ),
        }
        wanted = servers & {name for name in SERVERS if name not in _BEFORE or _BEFORE[name] in servers}
        self.servers = [
            makers[name]()
            for name in SERVERS
            if name in wanted and not {name, _BEFORE.get(name)} & self._external.keys()
        ]
        self._wanted = servers

    def _external_env(self, server: str) -> dict[str, str]:
        first, required, optional = _EXTERNAL[server]
        missing = [name for name in required if not self._environ.get(name)]
        if missing:
            raise Misconfigured(f"{first} is set, so {', '.join(missing)} must be set too")
        names = (first, *required, *optional)
        values = {name: self._environ[name] for name in names if self._environ.get(name)}
        return {name: value for name, value in _DEFAULTS.items() if name in optional} | values

    def start(self) -> None:
        """Start every server and wait until each is ready. Raises StackError; then nothing is left running."""
        self.state.lock()
        try:
            self.stop_leftovers()
            for server in list(self.servers):
                try:
                    with self.heartbeat.during(f"starting {server.name}"):
                        self._start(server)
                except NotInstalled as error:
                    if server.name not in _BEFORE:
                        raise
                    self.servers.remove(server)
                    self.heartbeat.say(f"{server.name} is left out: {error}")
        except BaseException:
            self.stop()
            raise

    def _start(self, server: Server) -> None:
        try:
            server.start()
        except ServiceFailed as error:
            # Another process can take a port between our check and the server's bind: one more try with others.
            server.stop()
            if "in use" not in str(error):
                raise
            server.forget_ports()
            server.start()
        if server.child is not None:
            self.state.set_process(server.name, server.child.identity)
        self.heartbeat.say(f"{server.name} is ready")

    def env(self) -> dict[str, str]:
        """Return everything that an application process needs besides the inherited environment."""
        external: dict[str, str] = {}
        for name in _EXTERNAL:
            if name in self._external and name in self._wanted:
                external |= self._external[name]
        for server in self.servers:
            external |= server.env()
        secrets = self.state
        own = {
            "AVA_CACHE_DIR": str(self.home.cache),
            "AVA_SECRET_KEY": secrets.secret("django"),
            "AVA_CONSOLE_SECRET_KEY": secrets.secret("console"),
            "AVA_CACHE_SALT_KEY": secrets.secret("cache-salt"),
            "AVA_KEY_PEPPERS": f"1:{secrets.secret_hex('pepper')}",
            "AVA_ENCRYPTION_KEYS": f"1:{secrets.secret_fernet('encryption')}",
            "AVA_PUBLIC_URL": f"http://127.0.0.1:{self.api_port()}",
            # Developers test webhooks with a receiver on this machine.
            "AVA_WEBHOOK_ALLOW_PRIVATE": "true",
            # The work of a killed worker resumes sooner than in production.
            "AVA_LEASE_SECONDS": "20",
            "AVA_HEARTBEAT_SECONDS": "4",
        }
        values = {name: self._environ[name] for name in own if self._environ.get(name)}
        return external | own | values

    def api_port(self) -> int:
        """Return the port of the API: AVA_API_PORT, or else a free port that the state remembers."""
        return self.known_api_port() or ports.claim(self.state, "api")

    def known_api_port(self) -> int | None:
        """Return the port of the API without choosing one, which only the process that starts the API may do."""
        port = self._environ.get("AVA_API_PORT")
        if not port:
            return self.state.port("api")
        if not port.isdigit():
            raise Misconfigured(f"AVA_API_PORT is {port!r}; it must be a number")
        return int(port)

    def forget_api_port(self) -> bool:
        """Choose another port for the API from now on. Returns whether that is possible: not with AVA_API_PORT."""
        if self._environ.get("AVA_API_PORT"):
            return False
        self.state.set_port("api", None)
        return True

    def stop(self) -> None:
        """Stop every server, the last started first, and let others use the root; no-op if it never started."""
        # Without the lock the state file belongs to another process.
        if not self.state.locked:
            return
        for server in reversed(self.servers):
            server.stop()
            self.state.set_process(server.name, None)
        self.state.unlock()

    def stop_leftovers(self) -> list[str]:
        """Stop the processes that a killed supervisor left behind, by id; return their names. Needs the lock."""
        stopped = []
        for name, identity in reversed(self.state.processes().items()):
            if identity.alive():
                first = signal.SIGINT if name == "postgres" else signal.SIGTERM
                identity.stop(first, grace_s=30)
                stopped.append(name)
            self.state.set_process(name, None)
        return stopped

    def erase(self) -> None:
        """Delete all data of this stack; secrets and ports stay. Raises AlreadyRunning while it runs."""
        self.state.lock()
        try:
            self.stop_leftovers()
            for server in self.servers:
                server.erase()
        finally:
            self.state.unlock()

    def __enter__(self) -> Stack:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


__all__ = ["SERVERS", "Stack", "StackError"]
