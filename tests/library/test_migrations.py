"""Rows from before index versions and growing input: the migrations carry them over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.conftest import ROLE_VARIABLES, _with_database

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@contextmanager
def empty_database() -> Iterator[dict[str, str]]:
    """The environment of a process that works on a database of its own, provisioned and without tables."""
    name = f"ava_migrations_{uuid4().hex[:8]}"
    server = os.environ["DATABASE_SUPERUSER_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    environ = {**os.environ, "DATABASE_SUPERUSER_URL": _with_database(server, name)}
    environ |= {variable: _with_database(os.environ[variable], name) for variable in ROLE_VARIABLES}
    try:
        manage(environ, "provision")
        yield environ
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def manage(environ: dict[str, str], *command: str) -> None:
    subprocess.run([sys.executable, "manage.py", *command], check=True, cwd=ROOT, env=environ)


def migrate(environ: dict[str, str], *target: str) -> None:
    manage(environ, "migrate", *target, "--noinput", "--database", "owner", "-v0")


def test_videos_of_before_have_a_version_and_a_closed_input() -> None:
    with empty_database() as environ:
        migrate(environ, "jobs", "0001")
        with psycopg.connect(environ["DATABASE_SUPERUSER_URL"], autocommit=True) as rows:
            tenants = [uuid4(), uuid4()]
            for tenant in tenants:
                rows.execute(
                    "INSERT INTO tenancy_tenant (id, name, slug, plan, placement, created_at) "
                    "VALUES (%s, 'x', %s, 'standard', 'shared', now())",
                    [tenant, str(tenant)],
                )
            ready = insert_video(rows, tenants[0], status="ready", version=2)
            failed = insert_video(rows, tenants[1], status="failed", version=1)
            growing = insert_video(rows, tenants[1], status="indexing", version=1)
            assembly = insert_job(rows, tenants[1], growing, f"assemble:{growing}:1")

        migrate(environ)

        with psycopg.connect(environ["DATABASE_SUPERUSER_URL"], autocommit=True) as rows:
            found = rows.execute(
                "SELECT video_id, tenant_id, n, state, indexed_until_ms, error_code FROM library_indexversion"
            ).fetchall()
            assert set(found) == {
                (ready, tenants[0], 2, "ready", 9_000, ""),
                (failed, tenants[1], 1, "failed", 9_000, "e"),
                (growing, tenants[1], 1, "building", 9_000, ""),
            }
            videos = rows.execute("SELECT source_type, input_closed_at = created_at FROM library_video").fetchall()
            assert videos == [("upload", True)] * 3
            subject = rows.execute(
                "SELECT j.subject_id = v.id FROM jobs_job j, library_indexversion v "
                "WHERE j.id = %s AND v.video_id = %s",
                [assembly, growing],
            ).fetchone()
            assert subject == (True,)
            forced = rows.execute(
                "SELECT relname, relforcerowsecurity FROM pg_class "
                "WHERE relname IN ('library_video', 'library_indexversion', 'jobs_job')"
            ).fetchall()
            assert len(forced) == 3
            assert all(force for _, force in forced), "the policies hold for the owner again"


def insert_video(rows: psycopg.Connection, tenant: UUID, *, status: str, version: int) -> UUID:
    values = {
        "id": uuid4(), "tenant_id": tenant, "status": status, "title": "t", "profile": "general", "external_id": "",
        "metadata": "{}", "object_key": "k", "size_bytes": 1, "content_sha256": "", "source_start_ms": 0,
        "rotation": 0, "container": "", "codec": "", "has_audio": False, "active_index_version": version,
        "building_index_version": version, "indexed_until_ms": 9_000, "stage_ms": "{}", "global_summary": "",
        "error_code": "e" if status == "failed" else "", "error_message": "", "version": 1,
        "created_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    insert(rows, "library_video", values)
    return values["id"]  # type: ignore[return-value]


def insert_job(rows: psycopg.Connection, tenant: UUID, video: UUID, dedupe_key: str) -> UUID:
    values = {
        "id": uuid4(), "tenant_id": tenant, "kind": "assemble_video", "queue": "gpu.index", "subject_id": video,
        "video_id": video, "dedupe_key": dedupe_key, "state": "queued", "priority": 1,
        "not_before": "2026-01-01T00:00:00Z", "attempt": 0, "max_attempts": 5, "lease_owner": "", "lease_token": 0,
        "progress_done": 0, "progress_total": 0, "progress_stage": "", "rerun_requested": False, "error_code": "",
        "error_message": "", "created_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    insert(rows, "jobs_job", values)
    return values["id"]  # type: ignore[return-value]


def insert(rows: psycopg.Connection, table: str, values: dict[str, object]) -> None:
    marks = ", ".join(["%s"] * len(values))
    rows.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))  # type: ignore[call-overload]
