"""Exports a tenant: its rows out of one snapshot, its members' accounts, and its objects.

A tenant that stays is exported as of one moment. A tenant that leaves is closed first, so that nothing is written after
that moment: draining begins no job and ends the running jobs; closed opens no transaction of the tenant.
"""

from __future__ import annotations

import time
from pathlib import Path
from uuid import UUID

from django.utils import timezone

from backend.archives.archive import ArchiveWriter, Manifest
from backend.archives.people_rows import of_members, people_tables
from backend.archives.tenant_graph import graph_sums
from backend.archives.tenant_rows import copy_out, owner_transaction, shared_digests, sums, tables
from backend.library.storage import ObjectStorage, tenant_prefix
from backend.tenancy.models import Fence, Tenant

_POLL_SECONDS = 0.5
_RUNNING = "SELECT count(*) FROM jobs_job WHERE state = 'running' AND lease_until >= now()"
# The advisory lock of tenancy_enter (backend/tenancy/migrations/0001_initial.py): whoever gets it knows that every
# transaction that began before the fence has ended.
_WAIT_FOR_TRANSACTIONS = "SELECT pg_advisory_xact_lock(hashtextextended('tenant ' || %s, 0))"


def export_tenant(tenant: Tenant, path: Path, *, people: bool, objects: bool) -> Manifest:
    """Write the archive of a tenant and return its manifest. Errors of database, storage and disk leave no file.

    people: whether the members' accounts go in, with digests of passwords. objects: whether the objects themselves go
    in, and not their keys and sizes alone.
    """
    storage, prefix = ObjectStorage(), tenant_prefix(tenant.id)
    with ArchiveWriter(path) as archive:
        with owner_transaction(tenant.id, snapshot=True) as connection:
            for table in tables(connection):
                archive.write(f"rows/{table.name}.csv", copy_out(connection, table.select))
            for table in people_tables(connection) if people else []:
                archive.write(f"people/{table.name}.csv", copy_out(connection, of_members(table)))
            counted = sums(connection) | graph_sums(connection)
            shared = shared_digests(connection)
        sizes = {key.removeprefix(prefix): size for key, size in storage.list_sizes(prefix)}
        for key in sizes if objects else []:
            archive.write(f"objects/{key}", storage.chunks(prefix + key), compress=False)
        manifest = Manifest(
            tenant_id=str(tenant.id),
            slug=tenant.slug,
            exported_at=timezone.now().isoformat(),
            sums=counted,
            shared=shared,
            objects=sizes,
            has_people=people,
            has_objects=objects,
        )
        archive.finish(manifest)
    return manifest


def close_tenant(tenant_id: UUID, *, drain_seconds: float) -> None:
    """Stop all work of a tenant that leaves: its requests are answered 503 `tenant_moving`, and its jobs wait.

    drain_seconds: how long running jobs may go on. Jobs that run on then commit nothing.
    """
    _set_fence(tenant_id, Fence.DRAINING)
    until = time.monotonic() + drain_seconds
    while time.monotonic() < until:
        with owner_transaction(tenant_id, snapshot=True) as connection:
            if connection.execute(_RUNNING).fetchone() == (0,):
                break
        time.sleep(_POLL_SECONDS)
    _set_fence(tenant_id, Fence.CLOSED)
    with owner_transaction(tenant_id) as connection:
        connection.execute("SET LOCAL lock_timeout = '10min'")
        connection.execute(_WAIT_FOR_TRANSACTIONS, [str(tenant_id)])


def reopen_tenant(tenant_id: UUID) -> None:
    """Let a closed tenant work again."""
    _set_fence(tenant_id, Fence.NONE)


def _set_fence(tenant_id: UUID, fence: Fence) -> None:
    with owner_transaction(tenant_id) as connection:
        connection.execute("UPDATE tenancy_tenant SET fence = %s", [fence.value])
