"""A second installation on the servers of the tests: its own database and bucket. inside_b() makes this process part
of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import boto3
import psycopg
from django.conf import settings
from django.db import connections
from django.test import override_settings

from tests.conftest import TEMPLATE


class Installations:
    """Installation a is the one of the test process, b the second one."""

    def __init__(self) -> None:
        self.a = urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/")
        self.b = f"{self.a}_b"
        bucket = os.environ["S3_BUCKET"]
        self.buckets = {self.a: bucket, self.b: f"{bucket}-{self.b.replace('_', '-')}"}
        self._superuser = os.environ["DATABASE_SUPERUSER_URL"]
        with psycopg.connect(self._superuser, autocommit=True) as server:
            server.execute(f'CREATE DATABASE "{self.b}" TEMPLATE "{TEMPLATE}" OWNER app_owner')
        self.storage: Any = boto3.client(
            "s3",
            endpoint_url=os.environ["S3_ENDPOINT_URL"],
            aws_access_key_id=os.environ["S3_ACCESS_KEY_ID"],
            aws_secret_access_key=os.environ["S3_SECRET_ACCESS_KEY"],
            region_name="us-east-1",
        )
        self.storage.create_bucket(Bucket=self.buckets[self.b])

    def connect(self, database: str) -> psycopg.Connection[Any]:
        """Connect to the database of an installation as superuser."""
        return psycopg.connect(
            urlunsplit(urlsplit(self._superuser)._replace(path=f"/{database}")), autocommit=True, prepare_threshold=None
        )

    def objects(self, database: str, tenant_id: UUID) -> dict[str, bytes]:
        """Return the tenant's objects of an installation."""
        bucket = self.buckets[database]
        listed = self.storage.list_objects_v2(Bucket=bucket, Prefix=f"t/{tenant_id}/").get("Contents", [])
        return {e["Key"]: self.storage.get_object(Bucket=bucket, Key=e["Key"])["Body"].read() for e in listed}

    def rows(self, database: str, tenant_id: UUID) -> dict[str, tuple[int, str]]:
        """Return number and digest of the rows that name a tenant, in all tables and partitions, as superuser."""
        found = {}
        with self.connect(database) as server:
            tables = server.execute(
                "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            ).fetchall()
            for (table,) in tables:
                row = server.execute(
                    "SELECT count(*), md5(string_agg(r::text, ',' ORDER BY r::text)) "
                    f"FROM ONLY {table} r WHERE strpos(r::text, %s) > 0",
                    [str(tenant_id)],
                ).fetchone()
                assert row is not None
                if row[0]:
                    found[table] = (row[0], row[1])
        return found

    def is_empty_of(self, database: str, tenant_id: UUID) -> bool:
        """Whether an installation has no row, no vertex, no edge and no object of a tenant."""
        with self.connect(database) as server:
            graph = [
                server.execute(f'SELECT count(*) FROM ekg."{label}" v WHERE strpos(v::text, %s) > 0', [str(tenant_id)])
                for label in ("Event", "Entity", "NEXT", "PARTICIPATES_IN", "RELATED_TO")
            ]
            vertices = sum(row[0] for cursor in graph for row in cursor.fetchall())
        return not self.rows(database, tenant_id) and not vertices and not self.objects(database, tenant_id)

    def inside_b(self) -> AbstractContextManager[None]:
        """Make this process one of installation b."""
        return inside(self.b, self.buckets[self.b])


@contextmanager
def inside(database: str, bucket: str) -> Iterator[None]:
    """Make this process one of the installation with this database and bucket on the servers of the tests."""
    from backend.library import storage

    own = urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/")
    connections.close_all()
    for alias in connections:
        connections[alias].settings_dict["NAME"] = database
    redis = urlunsplit(urlsplit(settings.REDIS_URL)._replace(path="/9"))
    listening = {**settings.LISTEN_DATABASE, "NAME": database}
    try:
        with override_settings(S3_BUCKET=bucket, REDIS_URL=redis, LISTEN_DATABASE=listening):
            storage._client.cache_clear()
            yield
    finally:
        connections.close_all()
        for alias in connections:
            connections[alias].settings_dict["NAME"] = own
