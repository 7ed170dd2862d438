"""PgBouncer in transaction mode before PostgreSQL, so that what runs here meets what runs in production.

It serves the roles of requests, workers and console. The owner, the superuser and LISTEN reach PostgreSQL itself.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from infra.local import pgbouncer_program, ports, postgres_installation
from infra.local.child_process import Child, Command, wait_until
from infra.local.postgres import Postgres
from infra.local.server import StackHome

POOLED = (
    "DATABASE_URL", "DATABASE_DISPATCH_URL", "DATABASE_CONSOLE_URL", "DATABASE_PEOPLE_URL", "DATABASE_STAFF_URL",
)  # fmt: skip
"""Variables whose URLs lead to the pooler."""
POOL_SIZE = 40
"""Maximum number of server connections per database and role."""
_CLIENTS = 1_000


class PgBouncer:
    """One pooler for all databases of the cluster."""

    name = "pgbouncer"

    def __init__(self, home: StackHome, postgres: Postgres) -> None:
        self._home = home
        self._postgres = postgres
        self.child: Child | None = None
        self._port = 0

    def start(self) -> None:
        """Write the configuration, start the pooler and wait until it hands on a statement."""
        user = postgres_installation.account()
        program, libraries = pgbouncer_program.find(user, self._home.cache)
        self._port = ports.claim(self._home.state, self.name)
        # The account reaches the folder of PostgreSQL's data, and the users file is nobody else's.
        folder = postgres_installation.data_folder(self._home, user) / self.name
        folder.mkdir(mode=0o700, exist_ok=True)
        urls = {variable: urlsplit(url) for variable, url in self._postgres.env().items() if variable in POOLED}
        server = urls["DATABASE_URL"]
        users = "".join(f'"{url.username}" "{url.password}"\n' for url in urls.values())
        settings = {
            "listen_addr": "127.0.0.1",
            "listen_port": self._port,
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": folder / "users.txt",
            "pool_mode": "transaction",
            "max_client_conn": _CLIENTS,
            "default_pool_size": POOL_SIZE,
            "server_idle_timeout": 60,
            "server_login_retry": 1,
            "tcp_keepalive": 1,
            "log_connections": 0,
            "log_disconnections": 0,
            "log_pooler_errors": 1,
        }
        lines = "".join(f"{key} = {value}\n" for key, value in settings.items())
        for name, text in (
            ("users.txt", users),
            ("pgbouncer.ini", f"[databases]\n* = host={server.hostname} port={server.port}\n[pgbouncer]\n{lines}"),
        ):
            path = folder / name
            path.touch(mode=0o600)
            path.write_text(text)
        if user is not None:
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, user.uid, user.gid)
        self.child = Child(
            Command(
                self.name,
                [str(program), str(folder / "pgbouncer.ini")],
                self._home.log(self.name),
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "LD_LIBRARY_PATH": str(libraries or "")},
                cwd=Path("/"),
                account=user,
                grace_s=5,
            )
        )
        wait_until(self._listens, self.child, timeout_s=30)

    def _listens(self) -> bool:
        # Roles are made later, by `manage.py provision`; the pooler answers before PostgreSQL knows them.
        url = self.env()["DATABASE_URL"]
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            return "password authentication failed" in str(error) or "does not exist" in str(error)
        return True

    def env(self) -> dict[str, str]:
        """Return the pooled URLs, and PostgreSQL's own for LISTEN."""
        direct = self._postgres.env()
        host = f"127.0.0.1:{self._port}"

        def pooled(url: str) -> str:
            parts = urlsplit(url)
            return urlunsplit(parts._replace(netloc=f"{parts.username}:{parts.password}@{host}"))

        return {variable: pooled(direct[variable]) for variable in POOLED} | {
            "DATABASE_LISTEN_URL": direct["DATABASE_URL"]
        }

    def stop(self) -> None:
        """Stop the pooler; its clients are disconnected."""
        if self.child is not None:
            self.child.stop()
            self.child = None

    def forget_ports(self) -> None:
        """Choose another port at the next start."""
        self._home.state.set_port(self.name, None)

    def erase(self) -> None:
        """Do nothing: the configuration lies in PostgreSQL's folder."""
