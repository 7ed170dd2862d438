"""A control database and two cells on the servers of the tests: each cell has databases, Redis and a bucket of its own.

Cell a is the database of the test process. Cell b is a second database, and inside_b() makes this process part of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import boto3
import psycopg
from django.conf import settings
from django.db import connections
from django.test import override_settings

from backend.cells.cells_file import Cell
from backend.tenancy.directory import Directory
from backend.tenancy.management.commands.provision_directory import provision_directory
from tests.conftest import ROLE_VARIABLES, TEMPLATE

S3_VARIABLES = ("S3_ENDPOINT_URL", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "S3_BUCKET", "S3_REGION")


def with_database(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def as_role(url: str, role: str) -> str:
    """Return the URL of the same server for a role of the control database; its password is its name."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}:{role}@{parts.hostname}:{parts.port}", path="/control"))


class Cells:
    """The two cells, and the control database that knows them."""

    def __init__(self, folder: Path) -> None:
        own = urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/")
        self.superuser = os.environ["DATABASE_SUPERUSER_URL"]
        self._other = f"{own}_b"
        self._control = f"{own}_control"
        with psycopg.connect(self.superuser, autocommit=True) as server:
            server.execute(f'CREATE DATABASE "{self._other}" TEMPLATE "{TEMPLATE}" OWNER app_owner')
        urls = {
            role: with_database(as_role(self.superuser, role), self._control) for role in ("app_directory", "app_mover")
        }
        provision_directory(self.superuser, urls)
        self.control_url, self.mover_url = urls["app_directory"], urls["app_mover"]
        names = [name for name in (*ROLE_VARIABLES, *S3_VARIABLES, "REDIS_URL") if os.environ.get(name)]
        a = {name: os.environ[name] for name in names}
        b = {name: with_database(a[name], self._other) if name in ROLE_VARIABLES else a[name] for name in a}
        b["REDIS_URL"] = urlunsplit(urlsplit(a["REDIS_URL"])._replace(path="/9"))
        b["S3_BUCKET"] = f"{a['S3_BUCKET']}-b-{self._other.replace('_', '-')}"
        self.a, self.b = Cell("a", a), Cell("b", b)
        self._storage().create_bucket(Bucket=b["S3_BUCKET"])
        self.file = folder / "cells.json"
        self.file.write_text(json.dumps({"a": a, "b": b}))
        with Directory(self.mover_url) as directory:
            directory.add_cell("a", "http://a.invalid")
            directory.add_cell("b", "http://b.invalid")

    def _storage(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=os.environ["S3_ENDPOINT_URL"],
            aws_access_key_id=os.environ["S3_ACCESS_KEY_ID"],
            aws_secret_access_key=os.environ["S3_SECRET_ACCESS_KEY"],
            region_name="us-east-1",
        )

    def objects(self, cell: Cell, tenant_id: UUID) -> dict[str, bytes]:
        """Return the tenant's objects of a cell."""
        client, bucket = self._storage(), cell.environment["S3_BUCKET"]
        listed = client.list_objects_v2(Bucket=bucket, Prefix=f"t/{tenant_id}/").get("Contents", [])
        return {entry["Key"]: client.get_object(Bucket=bucket, Key=entry["Key"])["Body"].read() for entry in listed}

    def place(self, tenant_id: UUID, slug: str, *key_ids: str) -> None:
        """Register a tenant of cell a with its keys."""
        with Directory(self.control_url) as directory:
            directory.place_tenant(tenant_id, slug=slug, cell="a")
            for public_id in key_ids:
                directory.register_key(public_id, tenant_id)

    def rows(self, cell: Cell, tenant_id: UUID) -> dict[str, int]:
        """Count the rows that name a tenant in all tables of a cell, partitions and graph too, as superuser."""
        database = urlsplit(cell.environment["DATABASE_URL"]).path.lstrip("/")
        found = {}
        with psycopg.connect(with_database(self.superuser, database)) as server:
            tables = server.execute(
                "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' "
                "AND relnamespace IN ('public'::regnamespace, 'ekg'::regnamespace)"
            ).fetchall()
            for (table,) in tables:
                row = server.execute(
                    f"SELECT count(*) FROM ONLY {table} r WHERE strpos(r::text, %s) > 0", [str(tenant_id)]
                ).fetchone()
                assert row is not None
                if row[0]:
                    found[table] = row[0]
        return found

    @contextmanager
    def inside_b(self) -> Iterator[None]:
        """Make this process one of cell b."""
        from backend.library import storage

        database = urlsplit(self.b.environment["DATABASE_URL"]).path.lstrip("/")
        connections.close_all()
        names = {alias: connections[alias].settings_dict["NAME"] for alias in connections}
        for alias in names:
            connections[alias].settings_dict["NAME"] = database
        values = {"S3_BUCKET": self.b.environment["S3_BUCKET"], "REDIS_URL": self.b.environment["REDIS_URL"]}
        listening = {**settings.LISTEN_DATABASE, "NAME": database}
        try:
            with override_settings(**values, LISTEN_DATABASE=listening):
                storage._client.cache_clear()
                yield
        finally:
            connections.close_all()
            for alias, name in names.items():
                connections[alias].settings_dict["NAME"] = name

    def empty(self) -> None:
        """Forget all tenants of cell b and of the control database, for the next test."""
        with psycopg.connect(with_database(self.superuser, self._control), autocommit=True) as server:
            server.execute("TRUNCATE directory.place CASCADE")
