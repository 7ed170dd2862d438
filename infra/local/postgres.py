"""PostgreSQL with AGE and pgvector on 127.0.0.1, run from the wheel's programs.

The server is started directly (not through pg_ctl), so that it is a child of this process and dies with it. SIGINT is
its fast shutdown; SIGTERM would wait for every client to leave. ``manage.py provision`` makes roles and extensions, and
reads the passwords from the URLs in env().
"""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import psycopg

from infra.local import ports, postgres_installation
from infra.local.child_process import Account, Child, Command, wait_until
from infra.local.errors import ServiceFailed, StackError
from infra.local.server import StackHome

DATABASE = "ava"
ROLES = {
    "DATABASE_URL": "app_rw",
    "DATABASE_OWNER_URL": "app_owner",
    "DATABASE_DISPATCH_URL": "app_dispatch",
    "DATABASE_CONSOLE_URL": "app_admin_ro",
    "DATABASE_PEOPLE_URL": "app_people",
    "DATABASE_STAFF_URL": "app_console",
    "DATABASE_SUPERUSER_URL": "postgres",
}
"""Role by environment variable. The superuser is for ``manage.py provision`` only."""

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_preload_libraries": "age",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %u ",
    "log_checkpoints": "off",
}
_FAST_AND_LOSSY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_START_ATTEMPTS = 20


class Postgres:
    """One cluster with the database ``ava``."""

    name = "postgres"

    def __init__(self, home: StackHome) -> None:
        self._home = home
        self.child: Child | None = None
        self._port = 0

    def start(self) -> None:
        """Create the cluster on the first start, start the server, create the database."""
        user = postgres_installation.account()
        programs = postgres_installation.programs(self._home, user)
        folder = postgres_installation.data_folder(self._home, user)
        data = folder / "data"
        if not data.exists():
            self._create_cluster(programs, folder, user)
        self._port = ports.claim(self._home.state, self.name)
        settings = _SETTINGS | ({} if self._home.durable else _FAST_AND_LOSSY) | {"port": str(self._port)}
        command = Command(
            self.name,
            [str(programs / "postgres"), "-D", str(data), *(f"--{key}={value}" for key, value in settings.items())],
            self._home.log(self.name),
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            cwd=Path("/"),
            account=user,
            stop_signal=signal.SIGINT,
            grace_s=60,
        )
        self._start_server(command)
        self._create_database()

    def _create_cluster(self, programs: Path, folder: Path, user: Account | None) -> None:
        # initdb works next to the final folder, so an interrupted initdb is never taken for a cluster.
        fresh, password = folder / "data.new", folder / "password"
        shutil.rmtree(fresh, ignore_errors=True)
        password.touch(mode=0o600)
        password.write_text(self._home.state.secret("postgres"))
        if user is not None:
            shutil.chown(password, user.uid, user.gid)
        try:
            done = postgres_installation.run_as(
                user,
                [str(programs / "initdb"), "-D", str(fresh), "-U", "postgres", "--auth=scram-sha-256"]
                + [f"--pwfile={password}", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
                + ["--no-instructions"]
                + ([] if self._home.durable else ["--no-sync"]),
                {"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            )
        finally:
            password.unlink()
        if done.returncode != 0:
            raise ServiceFailed(f"initdb failed:\n{(done.stdout + done.stderr)[-2000:]}")
        fresh.rename(folder / "data")

    def _start_server(self, command: Command) -> None:
        # After a kill -9 the old cluster's last processes hold its shared memory for up to a second, and a start
        # in that time fails on the lock file.
        for attempt in range(_START_ATTEMPTS):
            child = self.child = Child(command)
            try:
                # Crash recovery of a few GB of WAL takes some 15 s.
                wait_until(self._answers, child, timeout_s=120)
            except ServiceFailed:
                log = child.log_since_start()
                stale = "pre-existing shared memory block" in log or "lock file" in log
                self.stop()
                if not stale or attempt + 1 == _START_ATTEMPTS:
                    raise
                time.sleep(0.5)
            else:
                return

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self._url("postgres", "postgres"), connect_timeout=5) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise StackError(
                    "PostgreSQL refuses the password of the state file: data and state do not match (make reset)"
                ) from error
            return False
        return True

    def _create_database(self) -> None:
        with psycopg.connect(self._url("postgres", "postgres"), autocommit=True) as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                connection.execute(f'CREATE DATABASE "{DATABASE}"')

    def _url(self, role: str, database: str) -> str:
        return f"postgresql://{role}:{self._home.state.secret(role)}@127.0.0.1:{self._port}/{database}"

    def env(self) -> dict[str, str]:
        """Return one URL per role (see ROLES)."""
        return {variable: self._url(role, DATABASE) for variable, role in ROLES.items()}

    def stop(self) -> None:
        """Stop the server by fast shutdown: clients are disconnected, committed data is safe."""
        if self.child is not None:
            self.child.stop()
            self.child = None

    def forget_ports(self) -> None:
        """Choose another port at the next start."""
        self._home.state.set_port(self.name, None)

    def erase(self) -> None:
        """Delete the cluster."""
        for folder in (self._home.root / "postgres", self._home.state.location("postgres")):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
        self._home.state.set_location("postgres", None)
