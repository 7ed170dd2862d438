"""The database of a backup: PostgreSQL's own dump, and what Apache AGE needs after a restore.

PGHOST, PGPORT, PGUSER and PGPASSWORD reach the server as superuser; PGDATABASE is the database.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from infra.backups.places import Reader

REPAIR = """
BEGIN;
SET LOCAL search_path = ag_catalog, public;
SET LOCAL session_replication_role = replica;
UPDATE ag_label AS label SET graph = graph.namespace::oid FROM ag_graph AS graph WHERE label.graph = graph.graphid;
UPDATE ag_graph SET graphid = namespace::oid;
COMMIT;
ANALYZE;
"""
"""A dump carries the object ids that AGE's catalog had on the old server. Labels go first: they name it by them."""
_BLOCK = 1024 * 1024


class DatabaseFailed(Exception):
    """A program of PostgreSQL failed; the message is its own."""


def name() -> str:
    """Return the name of the database."""
    return os.environ.get("PGDATABASE", "ava")


@contextmanager
def dumped() -> Iterator[IO[bytes]]:
    """Yield a dump of the database as of one moment: rows, graph, policies and grants, but no roles."""
    with subprocess.Popen(
        ["pg_dump", "--format=custom", f"--dbname={name()}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        yield program.stdout
        said = program.stderr.read().decode()
        if program.wait() != 0:
            raise DatabaseFailed(f"pg_dump: {said.strip()}")


def tenants() -> int:
    """Return the number of tenants of the database, 0 if there is no database or no table yet."""
    if name() not in _sql("SELECT datname FROM pg_database", database="postgres").splitlines():
        return 0
    if not _sql("SELECT to_regclass('public.tenancy_tenant')"):
        return 0
    return int(_sql("SELECT count(*) FROM tenancy_tenant"))


def load(dump: Reader) -> None:
    """Replace the database by the one of a dump. The roles must be there (`manage.py provision`)."""
    if _sql("SELECT 1 FROM pg_roles WHERE rolname = 'app_owner'", database="postgres") != "1":
        raise DatabaseFailed("the server has no role app_owner: run `manage.py provision` first")
    _sql(f'DROP DATABASE IF EXISTS "{name()}" WITH (FORCE)', database="postgres")
    _sql(f'CREATE DATABASE "{name()}" OWNER app_owner TEMPLATE template0', database="postgres")
    with subprocess.Popen(
        ["pg_restore", "--exit-on-error", f"--dbname={name()}"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdin is not None
        assert program.stderr is not None
        try:
            shutil.copyfileobj(dump, program.stdin, _BLOCK)
            program.stdin.close()
        except BrokenPipeError:
            pass  # it ended, and says why
        said = program.stderr.read().decode()
        if program.wait() != 0:
            raise DatabaseFailed(f"pg_restore: {said.strip()}")
    _sql(REPAIR)


def _sql(statements: str, *, database: str = "") -> str:
    plain = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
    command = ["psql", *plain, f"--dbname={database or name()}"]
    done = subprocess.run(command, input=statements, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DatabaseFailed(f"psql: {done.stderr.strip()}")
    return done.stdout.strip()
