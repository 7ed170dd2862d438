"""Imports a tenant from an archive: everything or nothing.

Objects come first, and those that this import stored are deleted if it fails. Rows, accounts and graph are one
transaction, which is compared with the archive's sums before it commits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from backend.archives.archive import ArchiveReader, BadArchive
from backend.archives.people_rows import PersonTaken, load_people
from backend.archives.tenant_graph import build_graph, graph_sums
from backend.archives.tenant_rows import load, owner_transaction, shared_digests, sums, tables
from backend.library.storage import ObjectStorage, tenant_prefix
from backend.tenancy.models import Tenant

# What the tenant's workers held at the moment of the export runs again here; the attempt does not count.
_TAKE_BACK = (
    "UPDATE jobs_job SET state = 'queued', attempt = greatest(attempt - 1, 0), not_before = now(), due = true, "
    "lease_owner = '', lease_until = NULL, lease_token = lease_token + 1 WHERE state = 'running'"
)
# Fair tags are times on a clock of the installation (backend.jobs.fairness): jobs keep their order and come next.
_RETAG = (
    "UPDATE jobs_job job SET fair_tag = job.fair_tag - low.tag + coalesce(low.served, 0) FROM (SELECT queue, priority, "
    "min(fair_tag) AS tag, (SELECT served_tag FROM jobs_classclock WHERE queue = waiting.queue) AS served "
    "FROM jobs_job waiting WHERE state = 'queued' GROUP BY queue, priority) low "
    "WHERE job.state = 'queued' AND job.queue = low.queue AND job.priority = low.priority"
)
# A multipart upload lives in its bucket. The customer begins it again.
_EXPIRE_UPLOADS = "UPDATE library_upload SET status = 'expired' WHERE status = 'open'"
_OPEN = "UPDATE tenancy_tenant SET fence = ''"


class ImportRefused(ValueError):
    """The archive cannot be imported here as things stand; nothing was changed."""


def import_tenant(archive: ArchiveReader) -> None:
    """Load an archive. Raises ImportRefused, BadArchive, and errors of database and storage; then nothing is left."""
    _check(archive)
    tenant_id = UUID(archive.manifest.tenant_id)
    with _stored_objects(archive, tenant_id), owner_transaction(tenant_id) as connection:
        try:
            load_people(connection, lambda table: archive.blocks(f"people/{table}.csv"))
            _load_rows(connection, archive)
        except PersonTaken as error:
            raise ImportRefused(str(error)) from error
        except psycopg.DataError as error:
            raise BadArchive(f"the archive is damaged: {error.diag.message_primary}") from error
        except psycopg.errors.UniqueViolation as error:
            raise ImportRefused(
                f"a row of the tenant exists in this installation ({error.diag.constraint_name})"
            ) from error
        for statement in (_TAKE_BACK, _RETAG, _EXPIRE_UPLOADS, _OPEN):
            connection.execute(statement)


def _check(archive: ArchiveReader) -> None:
    manifest = archive.manifest
    known = Tenant.objects.using("dispatch")
    if known.filter(id=manifest.tenant_id).exists() or known.filter(slug=manifest.slug).exists():
        raise ImportRefused(f"the tenant {manifest.slug} exists in this installation")
    if not manifest.has_people:
        raise ImportRefused("the archive was made without its members' accounts, so it cannot be imported")
    with owner_transaction(UUID(manifest.tenant_id), snapshot=True) as connection:
        here = shared_digests(connection)
    if unequal := [what for what in here if here[what] != manifest.shared.get(what)]:
        raise ImportRefused(f"the two installations differ in {', '.join(unequal)}")


def _load_rows(connection: psycopg.Connection[Any], archive: ArchiveReader) -> None:
    connection.execute("SET CONSTRAINTS ALL DEFERRED")
    for table in tables(connection):
        load(connection, table, archive.blocks(f"rows/{table.name}.csv"))
    connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    build_graph(connection)
    arrived, sent = sums(connection) | graph_sums(connection), archive.manifest.sums
    if unequal := sorted(name for name in arrived.keys() | sent.keys() if arrived.get(name) != sent.get(name)):
        raise BadArchive(f"what was loaded differs from what was exported in {', '.join(unequal)}")


@contextmanager
def _stored_objects(archive: ArchiveReader, tenant_id: UUID) -> Iterator[None]:
    """Store the objects that the bucket lacks; delete these again if the block fails.

    The bucket may be the exporting installation's too, so an object that is there already stays as it is.
    """
    storage, prefix = ObjectStorage(), tenant_prefix(tenant_id)
    expected = {prefix + key: size for key, size in archive.manifest.objects.items()}
    there = dict(storage.list_sizes(prefix))
    missing = [key for key, size in expected.items() if there.get(key) != size]
    if missing and not archive.manifest.has_objects:
        raise ImportRefused(
            f"the archive lists objects without holding them, and the bucket lacks {len(missing)} of them; "
            "copy the tenant's folder to this bucket first"
        )
    stored: list[str] = []
    try:
        for key in missing:
            stored.append(key)
            with archive.open(f"objects/{key.removeprefix(prefix)}") as member:
                storage.upload(key, member)
        if {key: size for key, size in storage.list_sizes(prefix) if key in expected} != expected:
            raise BadArchive("an object of the archive has another size than its manifest says")
        yield
    except BaseException:
        for key in stored:
            storage.delete(key)
        raise
