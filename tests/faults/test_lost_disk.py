"""The database's disk is lost: its contents come back from the archive, or a standby has them.

The servers start as in their containers: by the image's entry point, with the image's programs for the archive.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import boto3
import psycopg
import pytest

from backend.tenancy.management.commands.provision import provision_replication
from infra.local import ports
from infra.local.seaweedfs import REGION
from tests.infra.conftest import ROOT

pytestmark = pytest.mark.slow

IMAGE = ROOT / "infra" / "images"
PATIENCE_S = 300
PASSWORD = "secret"


def wheel() -> Path:
    spec = importlib.util.find_spec("pgserver")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def unprivileged(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root; in a user namespace root has another number."""
    return command if os.geteuid() else ["unshare", "--user", "--map-user=1000", "--map-group=1000", *command]


@dataclass
class Server:
    """One PostgreSQL server in a folder of its own, with the archive that all servers of a test share."""

    folder: Path
    port: int
    bucket: str
    extra: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def env(self) -> dict[str, str]:
        return {
            "PATH": f"{wheel()}:{self.folder.parent / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "PGDATA": str(self.folder),
            "HOME": str(self.folder.parent),
            "WAL_ARCHIVE_URL": f"s3://{self.bucket}/log",
            "WAL_ARCHIVE_ENDPOINT": os.environ["S3_ENDPOINT_URL"],
            "WAL_ARCHIVE_ACCESS_KEY_ID": os.environ["S3_ACCESS_KEY_ID"],
            "WAL_ARCHIVE_SECRET_ACCESS_KEY": os.environ["S3_SECRET_ACCESS_KEY"],
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": "postgres",
            "PGPASSWORD": PASSWORD,
            "AVA_BACKUP_STATE": str(self.folder.parent / "backup"),
            "WAL_ARCHIVE_SPOOL": str(self.folder.parent / f"{self.folder.name}-spool"),
            "AWS_DEFAULT_REGION": "us-east-1",
            **self.extra,
        }

    def start(self) -> None:
        command = ["sh", str(self.folder.parent / "bin" / "entrypoint"), "-c", f"port={self.port}"]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.folder.parent}"]
        # Only the wait is shorter than the entry point's.
        command += ["-c", "archive_timeout=2", "-c", "wal_keep_size=0"]
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                unprivileged(command), env=self.env(), stdout=log, stderr=log, start_new_session=True
            )
        self.wait(self.takes_connections, "the server does not start")

    def log(self) -> str:
        return (self.folder.parent / f"{self.folder.name}.log").read_text()

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            ended = self.process is not None and self.process.poll() is not None
            hopeless = ended or time.monotonic() > deadline
            assert not hopeless, f"{what}: {self.log()[-4000:]}"
            time.sleep(0.25)

    def takes_connections(self) -> bool:
        try:
            self.rows("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def url(self, role: str = "postgres") -> str:
        return f"postgresql://{role}:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def rows(self, query: str) -> list[tuple[object, ...]]:
        path = "-c search_path=public,ag_catalog"
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=5, options=path) as connection:
            cursor = connection.execute(query)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def value(self, query: str) -> object:
        return self.rows(query)[0][0]

    def archive(self, *arguments: str) -> str:
        """Run the image's program of the archive, as in the server's container."""
        done = subprocess.run(
            unprivileged(["ava-archive", *arguments]),
            env=self.env(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commit(self, text: str) -> None:
        self.rows(f"INSERT INTO ledger VALUES ('{text}')")

    def ledger(self) -> list[object]:
        return [row[0] for row in self.rows("SELECT entry FROM ledger ORDER BY entry")]

    def kill(self) -> None:
        """End all processes of the server at once."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=PATIENCE_S)
        # The server's children lead sessions of their own; all work in its folder.
        for link in Path("/proc").glob("[0-9]*/cwd"):
            try:
                if link.readlink() == self.folder:
                    os.kill(int(link.parent.name), signal.SIGKILL)
            except OSError:
                continue

    def lose_disk(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)


def free_port(servers: Sequence[Server]) -> int:
    taken = {server.port for server in servers}
    return next(port for port in range(22800, 23800) if port not in taken and ports.is_free(port))


@pytest.fixture
def make(database: None) -> Iterator[Callable[..., Server]]:
    folder = Path(tempfile.mkdtemp(prefix="ava-disk-"))
    (folder / "bin").mkdir()
    (folder / "bin" / "ava-archive").symlink_to(IMAGE / "ava-archive")
    # This build of PostgreSQL has no TLS.
    (folder / "bin" / "entrypoint").write_text(
        (IMAGE / "postgres-entrypoint.sh").read_text().replace("ssl=on", "ssl=off")
    )
    bucket = f"ava-disk-{uuid4().hex}"
    boto3.client(
        "s3",
        endpoint_url=os.environ["S3_ENDPOINT_URL"],
        aws_access_key_id=os.environ["S3_ACCESS_KEY_ID"],
        aws_secret_access_key=os.environ["S3_SECRET_ACCESS_KEY"],
        region_name=REGION,
    ).create_bucket(Bucket=bucket)
    servers: list[Server] = []

    def made(name: str, **extra: str) -> Server:
        server = Server(folder / name, free_port(servers), bucket, {"POSTGRES_PASSWORD": PASSWORD, **extra})
        servers.append(server)
        return server

    yield made
    for server in servers:
        server.kill()
    shutil.rmtree(folder)


def in_archive(server: Server) -> Callable[[], bool]:
    """Return whether everything that is committed by now lies in the archive; nothing forces a segment to end."""
    segment = server.value("SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
    return lambda: bool(server.value(f"SELECT last_archived_wal >= '{segment}' FROM pg_stat_archiver"))


def test_a_lost_disk_costs_no_more_than_the_segment_that_was_being_written(make: Callable[..., Server]) -> None:
    primary = make("primary")
    primary.start()
    primary.rows("CREATE TABLE ledger (entry text)")
    primary.rows("CREATE EXTENSION age")
    primary.rows("SELECT ag_catalog.create_graph('ekg')")
    primary.rows("SELECT * FROM ag_catalog.cypher('ekg', $$ CREATE (:Event {n: 7}) $$) AS (a ag_catalog.agtype)")
    primary.archive("backup")
    primary.commit("after the backup")
    primary.wait(in_archive(primary), "the log does not reach the archive by itself")
    before = primary.value("SELECT now()")
    primary.commit("by mistake")
    primary.wait(in_archive(primary), "the log does not reach the archive by itself")
    primary.lose_disk()

    restored = make("restored")
    restored.archive("restore")
    restored.start()
    restored.wait(lambda: not restored.value("SELECT pg_is_in_recovery()"), "the server takes no writes")
    assert restored.ledger() == ["after the backup", "by mistake"]
    # A copy of the files needs no repair of the graph's catalog.
    counted = "SELECT * FROM ag_catalog.cypher('ekg', $$ MATCH (a:Event) RETURN a.n $$) AS (n ag_catalog.agtype)"
    assert restored.rows(counted) == [("7",)]
    # The next step of the runbook. Its checkpoint also wakes the server's clock of the archive, which a recovery stops.
    restored.archive("backup")
    restored.commit("on the restored server")
    restored.wait(in_archive(restored), "the restored server's log does not reach the archive")

    # At a moment before the mistake, from the same archive, in which two time lines lie now.
    earlier = make("earlier")
    earlier.archive("restore", str(before))
    earlier.start()
    earlier.wait(lambda: not earlier.value("SELECT pg_is_in_recovery()"), "the server takes no writes")
    assert earlier.ledger() == ["after the backup"]


def test_a_standby_takes_over_with_what_was_committed_a_moment_ago(make: Callable[..., Server]) -> None:
    primary = make("primary")
    primary.start()
    provision_replication(primary.url(), primary.url("app_replication"))
    primary.rows("CREATE TABLE ledger (entry text)")
    primary.commit("before the standby")
    standby = make("standby", PRIMARY_URL=primary.url("app_replication"))
    standby.start()
    primary.commit("after the standby")
    committed = primary.value("SELECT pg_current_wal_lsn()")
    standby.wait(
        lambda: bool(standby.value(f"SELECT pg_last_wal_replay_lsn() >= '{committed}'")), "the standby does not follow"
    )
    assert standby.value("SELECT pg_is_in_recovery()") is True
    standby.wait(
        lambda: primary.rows("SELECT slot_name, active FROM pg_replication_slots") == [("standby", True)],
        "the standby does not read from the primary",
    )
    primary.lose_disk()

    standby.rows("SELECT pg_promote()")
    standby.commit("on the standby")
    assert standby.ledger() == ["after the standby", "before the standby", "on the standby"]
    # A restart makes it no standby again.
    standby.kill()
    standby.start()
    assert standby.value("SELECT pg_is_in_recovery()") is False

    # The lost server's place is taken by a standby of the one that took over.
    successor = make("successor", PRIMARY_URL=standby.url("app_replication"))
    successor.start()
    assert successor.ledger() == standby.ledger()


def test_a_folder_that_holds_a_cluster_is_never_restored_over(make: Callable[..., Server]) -> None:
    server = make("server")
    server.folder.mkdir()
    (server.folder / "PG_VERSION").write_text("18\n")
    with pytest.raises(AssertionError, match="holds a cluster already"):
        server.archive("restore")
