"""What a service must not leave behind once all work has ended: leases, uploads, objects, files, processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from infra.local.child_process import Identity
from infra.local.seaweedfs import BUCKET, SeaweedFS
from tests.faults.chaos.service import Service
from workers.liveness import BEAT_SECONDS

LATER = ("retire_version", "deliver_webhook")
"""Kinds of jobs that wait for hours by design."""
FRESH_S = 30.0
OPEN_JOBS = (
    "SELECT kind, state, attempt, error_code, error_message FROM jobs_job WHERE state IN ('queued', 'running') "
    "AND NOT (state = 'queued' AND queue LIKE 'system%%' AND not_before > now() + interval '20 seconds') "
    "AND NOT (state = 'queued' AND kind = ANY(%s) AND not_before > now() + interval '20 seconds')"
)
ENDED_BADLY = (
    "SELECT kind, state, error_code, error_message FROM jobs_job WHERE state IN ('failed', 'dead') "
    "AND completed_at > now() - %s * interval '1 second'"
)


class Database:
    """The whole database, past row-level security, for what no tenant may see."""

    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._url, autocommit=True) as server:
            cursor = server.execute(statement, values)
            return list(cursor.fetchall()) if cursor.description else []


def open_jobs(database: Database) -> list[str]:
    """Return the jobs that still have work to do now."""
    rows = database.rows(OPEN_JOBS, list(LATER))
    return [f"job {kind} is {state} at attempt {attempt}: {code} {text}" for kind, state, attempt, code, text in rows]


def failed_jobs(database: Database, seconds: float) -> list[str]:
    """Return the jobs of the last so many seconds that ended without success."""
    return [f"job {kind} is {state}: {code} {text}" for kind, state, code, text in database.rows(ENDED_BADLY, seconds)]


def objects(bucket: SeaweedFS, prefix: str = "t/") -> set[str]:
    """Return the keys of the bucket."""
    pages = bucket.client().get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    return {item["Key"] for page in pages for item in page.get("Contents", [])}


def open_uploads(bucket: SeaweedFS, database: Database) -> list[str]:
    """Return the multipart uploads that are open though their upload is over.

    An upload that was begun in storage and whose row was never committed is nobody's: the bucket's rule aborts it after
    two days.
    """
    found = bucket.client().list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
    over = {row[0] for row in database.rows("SELECT object_key FROM library_upload WHERE status <> 'open'")}
    return [f"multipart upload of {upload['Key']} is open" for upload in found if upload["Key"] in over]


def strangers(service: Service) -> list[str]:
    """Return the processes that belong to the service's root and to none of its children."""
    own = {identity.pid for name in service.names() for identity in service.family(name)}
    own |= {os.getpid(), *(identity.pid for identity in service.server_processes())}
    found = []
    for pid, root in _by_root():
        if root == str(service.scratch.folder) and pid not in own and Identity.of(pid) is not None:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found.append(f"process {pid} was left behind: {command[:200]}")
    return found


def silent(service: Service) -> list[str]:
    """Return the live processes whose sign of life is old, after giving each some time for a new one."""
    deadline = time.monotonic() + FRESH_S
    while True:
        old = [file.name for file in _states(service) if not _is_fresh(file)]
        if not old or time.monotonic() > deadline:
            return [f"{name} has shown no sign of life since the faults" for name in old]
        time.sleep(1.0)


def _states(service: Service) -> list[Path]:
    """Return the state files of processes that run: `worker-PID.json` and the like."""
    found = (service.scratch.folder / "state").glob("*-*.json")
    return [file for file in found if Identity.of(int(file.stem.partition("-")[2])) is not None]


def _is_fresh(file: Path) -> bool:
    """Whether the file was written within three beats."""
    return time.time() - file.stat().st_mtime <= 3 * BEAT_SECONDS


def _by_root() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for variable in environment:
            if variable.startswith(b"TMPDIR="):
                yield int(entry.name), variable.removeprefix(b"TMPDIR=").decode(errors="replace")
