"""Erases a tenant: its objects, its graph, its rows, at last its own row; and writes a certificate of what is left.

Nothing is left: all counts are 0, and the erasure fails as long as one is not. The certificate lies in object storage,
because nothing of the tenant is left in the database.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connections, transaction
from django.db.models.functions import Now
from django.utils import timezone
from psycopg import sql

from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.ekg.graph_store import GraphStore
from backend.erasure.queries import Remains, remains, tenant_tables, waiting_people
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import request_cancel_many
from backend.jobs.sweeps import queue_system_job
from backend.library.models import Video
from backend.library.services.deletion_ledger import Deleted, Entry, write
from backend.library.services.deletions import sweep_after
from backend.library.storage import ObjectMissing, ObjectStorage, tenant_prefix
from backend.tenancy import sandboxes
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import invalid

CERTIFICATES = "certificates/"
ATTEMPTS = 100
BEGIN_AFTER = timedelta(minutes=1)
"""Time between a request and its erasure, in which the tenant's streams and jobs end."""
logger = logging.getLogger(__name__)


class TenantInUse(Exception):
    """A worker still holds a lease on work of the tenant."""


class PeopleWait(Exception):
    """The API has not erased the people yet who were members of this tenant alone."""


class NotErased(Exception):
    """Something of the tenant is left, or belongs to a table that no role of the erasure may write."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was counted of a tenant after its erasure: objects and unfinished uploads, rows, vectors, graph, people."""

    tenant_id: UUID
    asked_at: datetime
    erased_at: datetime
    objects: int
    uploads: int
    remains: Remains

    def as_json(self) -> dict[str, Any]:
        """Return the certificate as it is stored and printed."""
        counts = asdict(self.remains)
        return {
            "tenant_id": str(self.tenant_id),
            "asked_at": self.asked_at.isoformat(),
            "erased_at": self.erased_at.isoformat(),
            "objects": self.objects,
            "unfinished_uploads": self.uploads,
            **counts,
        }


def begin_tenant_erasure(tenant_id: UUID, *, recorded: bool = False) -> None:
    """Suspend a tenant for good and queue its erasure. Safe to repeat. recorded: whether the ledger has it already.

    Raises Refused `storage_unavailable` (503).
    """
    if not recorded:
        _write_down(tenant_id)
    stop_service(tenant_id)
    queue_erasure(tenant_id)
    _erase_sandbox_of(tenant_id)


def ask_for_erasure(tenant_id: UUID, *, slug: str, actor: Actor) -> None:
    """Suspend a tenant for good and queue its erasure, for a caller who names the tenant's slug.

    The audit log keeps the act for as long as there is a log; then the certificate does. Raises Refused
    `slug_mismatch` (400), `storage_unavailable` (503).
    """
    with tenant_scope(tenant_id):
        if Tenant.objects.get(id=tenant_id).slug != slug:
            raise invalid(pointer="/slug", code="slug_mismatch", detail="This is not the slug of the tenant.")
    _write_down(tenant_id)
    # The job comes first: from here on the erasure happens, and it suspends the tenant if this process ends now. It
    # belongs to the system tenant, and a transaction serves one tenant.
    queue_erasure(tenant_id, wait=BEGIN_AFTER)
    with tenant_scope(tenant_id):
        stop_service(tenant_id)
        record("tenant.erasure_requested", actor=actor, object_id=encode("tnt", tenant_id))
    _erase_sandbox_of(tenant_id)
    logger.warning("the erasure of tenant %s was asked for by %s %s", tenant_id, actor.kind, actor.id)


def _erase_sandbox_of(tenant_id: UUID) -> None:
    """Begin the erasure of what the tenant's test keys made."""
    if sandboxes.exists(tenant_id):
        begin_tenant_erasure(sandboxes.sandbox_id(tenant_id))


def stop_service(tenant_id: UUID) -> None:
    """Suspend a tenant, so that its requests, jobs and streams stop. Safe to repeat."""
    with tenant_scope(tenant_id):
        Tenant.objects.filter(id=tenant_id, suspended_at=None).update(suspended_at=timezone.now())


def _write_down(tenant_id: UUID) -> None:
    write(Entry(Deleted.TENANT, tenant_id, (tenant_id,), timezone.now()))


def queue_erasure(tenant_id: UUID, *, again: bool = False, wait: timedelta = timedelta(0)) -> None:
    """Queue the job that erases a tenant. again: after the longest lease, for what a late worker stored."""
    queue_system_job(
        kind=JobKind.ERASE_TENANT,
        subject_id=tenant_id,
        dedupe_key=f"erase-tenant{'-again' if again else ''}:{tenant_id}",
        max_attempts=ATTEMPTS,
        wait=sweep_after() if again else wait,
    )


def stop_work(tenant_id: UUID) -> None:
    """Cancel all jobs of the tenant. Raises TenantInUse while a worker holds a lease on one."""
    with tenant_scope(tenant_id):
        opened = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])
        request_cancel_many(dedupe_keys=list(opened.values_list("dedupe_key", flat=True)))
        if Job.objects.filter(state=JobState.RUNNING, lease_until__gt=Now()).exists():
            raise TenantInUse("jobs of the tenant are still stopping")


def erase_objects(tenant_id: UUID) -> int:
    """Erase the tenant's folder and return the number of objects and unfinished uploads that were in it."""
    return ObjectStorage().erase(tenant_prefix(tenant_id))


def video_ids(tenant_id: UUID) -> list[UUID]:
    """Return the tenant's videos."""
    with tenant_scope(tenant_id):
        return list(Video.objects.order_by("id").values_list("id", flat=True))


def erase_video(tenant_id: UUID, video_id: UUID) -> None:
    """Delete the graph and the rows of one video, in a transaction of their own: a video may have millions."""
    with tenant_scope(tenant_id):
        GraphStore().lock_video(video_id)
        GraphStore().drop_version(video_id)
        Video.objects.filter(id=video_id).delete()


def erase_rows(tenant_id: UUID) -> None:
    """Delete all rows of the tenant, at last its own. Raises NotErased for a table that may not be written.

    Tables that app_rw may only add to are emptied by the dispatch role, which may delete rows there and read nothing of
    them but their tenant. No worker may delete people: with the memberships the API gets them to look at, and the
    tenant's own row stays until it has. Raises PeopleWait until then.
    """
    left = tenant_tables()
    while left:
        blocked = [table for table in left if not _emptied(tenant_id, table.name, table.by_tenant, table.by_dispatch)]
        if len(blocked) == len(left):
            raise NotErased(f"rows refer to those of {', '.join(table.name for table in blocked)}")
        left = blocked
    if waiting := waiting_people(tenant_id):
        raise PeopleWait(f"{waiting} people and identities wait for the API")
    with tenant_scope(tenant_id):
        GraphStore().drop_all()
        Tenant.objects.filter(id=tenant_id).delete()


def _emptied(tenant_id: UUID, table: str, by_tenant: bool, by_dispatch: bool) -> bool:
    """Delete the tenant's rows of a table. False if rows of a table that is emptied later refer to them."""
    statement = sql.SQL("DELETE FROM {} WHERE tenant_id = %s").format(sql.Identifier(table))
    try:
        if by_tenant:
            with tenant_scope(tenant_id), connections["default"].cursor() as cursor:
                cursor.execute(statement, [tenant_id])
        elif by_dispatch:
            with transaction.atomic(using="dispatch"), connections["dispatch"].cursor() as cursor:
                cursor.execute(statement, [tenant_id])
        else:
            raise NotErased(f"no role may delete rows of {table}")
    except IntegrityError:
        return False
    return True


def certify(tenant_id: UUID, *, asked_at: datetime) -> Certificate:
    """Count what is left, store the certificate and return it. Raises NotErased if anything is left."""
    storage = ObjectStorage()
    prefix = tenant_prefix(tenant_id)
    with tenant_scope(tenant_id):
        left = remains()
    objects, uploads = sum(1 for _ in storage.list_keys(prefix)), storage.count_uploads(prefix)
    made = Certificate(tenant_id, asked_at, timezone.now(), objects, uploads, left)
    if left.total or objects or uploads:
        raise NotErased(f"{left.total} rows and {objects + uploads} objects are left")
    storage.put(certificate_key(tenant_id), json.dumps(made.as_json()).encode(), content_type="application/json")
    return made


def certificate_key(tenant_id: UUID) -> str:
    """Return the key of a tenant's certificate."""
    return f"{CERTIFICATES}{tenant_id}.json"


def certificate_of(tenant_id: UUID) -> dict[str, Any]:
    """Return the stored certificate. Raises ObjectMissing as long as the tenant is not erased."""
    stored: dict[str, Any] = json.loads(ObjectStorage().get(certificate_key(tenant_id)))
    return stored


@dataclass(frozen=True, slots=True)
class Erasure:
    """How far an erasure is. certificate: as it is stored; None while the erasure goes on."""

    certificate: dict[str, Any] | None


def erasure_of(tenant_id: UUID) -> Erasure | None:
    """Return the erasure of a tenant; None if it was never begun. Raises StorageAway.

    tenant_id: a tenant whose erasure somebody asked for. A replay after a restore erases it again, and writes the
    certificate again.
    """
    try:
        return Erasure(certificate_of(tenant_id))
    except ObjectMissing:
        known = Tenant.objects.using("dispatch").filter(id=tenant_id).exclude(suspended_at=None).exists()
        return Erasure(None) if known else None
