"""A real PostgreSQL for measurements: started in a temporary folder, migrated, with one tenant that owns a video."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

from infra.local.server import Server
from infra.local.stack import Stack


@dataclass(frozen=True, slots=True)
class IndexedVideo:
    """A tenant's video and version 1 of its index, which is being built."""

    tenant_id: UUID
    video_id: UUID


@contextmanager
def database() -> Iterator[IndexedVideo]:
    """Yield a video under the restricted role, so that row-level security is in every query.

    Once per process, because Django is set up here.
    """
    with restartable_database() as (first, _):
        yield first


@contextmanager
def restartable_database() -> Iterator[tuple[IndexedVideo, Server]]:
    """Yield the same, and the server, which keeps its port and its data when it is stopped and started."""
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    try:
        with Stack(root, frozenset({"postgres"}), durable=False, environ={**os.environ}) as stack:
            settings = stack.env() | NOT_USED | {"DJANGO_SETTINGS_MODULE": "backend.settings"}
            for command in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
                environment = {**os.environ, **settings}
                subprocess.run([sys.executable, "manage.py", *command], check=True, env=environment, stdout=2)
            with patch.dict(os.environ, settings):
                yield _video(), stack.servers[0]
    finally:
        shutil.rmtree(root, ignore_errors=True)


NOT_USED = {
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "S3_ENDPOINT_URL": "http://127.0.0.1:9",
    "S3_ACCESS_KEY_ID": "none",
    "S3_SECRET_ACCESS_KEY": "none",
    "S3_BUCKET": "none",
    "REASONER_URL": "http://127.0.0.1:9/v1",
    "REASONER_MODEL": "none",
}
"""Required settings of servers that no measurement uses."""


def _video() -> IndexedVideo:
    import django

    django.setup()
    from backend.library.indexing.begin import create_video
    from backend.library.models import VideoStatus
    from backend.tenancy.context import tenant_scope
    from backend.tenancy.creation import create_tenant

    tenant = create_tenant(name="Bench", slug="bench")
    with tenant_scope(tenant.id):
        video = create_video(
            object_key=f"t/{tenant.id}/bench", size_bytes=1, status=VideoStatus.INDEXING, duration_ms=12 * 3_600_000
        )
    return IndexedVideo(tenant.id, UUID(str(video.id)))
