"""Recurring work for all tenants: jobs of a system tenant, one per sweep, which the relay queues again when due.

A sweep is a job like any other: it has a lease and retries, and a slow bucket holds back nothing but the sweep itself.
The system tenant has no API key and no data. It exists because each job belongs to a tenant.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import after, enqueue
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant

SYSTEM_TENANT = UUID(int=0)
SWEEPS: dict[JobKind, timedelta] = {
    JobKind.EXPIRE_UPLOADS: timedelta(minutes=5),
    JobKind.RESUME_DELETIONS: timedelta(minutes=15),
    JobKind.DROP_HISTORY: timedelta(hours=1),
    JobKind.APPLY_RETENTION: timedelta(hours=1),
    JobKind.RECONCILE_COSTS: timedelta(hours=24),
    JobKind.CLOSE_MONTHS: timedelta(hours=1),
    JobKind.EXPORT_BILLING: timedelta(hours=1),
    # Often enough that no hour passes without one.
    JobKind.METER_STORAGE: timedelta(minutes=20),
    JobKind.ROLL_UP_USAGE: timedelta(minutes=5),
    JobKind.CHECK_INVARIANTS: timedelta(hours=24),
    JobKind.RETRY_SEGMENTS: timedelta(minutes=5),
    JobKind.REMIND_OVERDUE: timedelta(hours=1),
    JobKind.RECORD_ENDINGS: timedelta(minutes=1),
}
"""Pause between the end of a sweep and its next run."""
DELETIONS = (
    JobKind.PURGE_VIDEO,
    JobKind.ERASE_PICTURES,
    JobKind.SWEEP_DELETED,
    JobKind.RETIRE_VERSION,
    JobKind.ERASE_TENANT,
)
RESUME_AFTER = timedelta(hours=1)
"""Time after which a deletion that ended without success is tried again."""

_ENDED = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED, JobState.DEAD)


def queue_sweeps() -> int:
    """Queue each sweep whose pause is over, and each sweep that has no job yet. Returns their number.

    Runs on the dispatch role's connection. Only the first run ever needs the connection of app_rw.
    """
    jobs = Job.unscoped.using("dispatch").filter(tenant_id=SYSTEM_TENANT)
    missing = set(SWEEPS) - {JobKind(kind) for kind in jobs.values_list("kind", flat=True)}
    if missing:
        _create(missing)
    ended = jobs.filter(state__in=_ENDED)
    return len(missing) + sum(
        _queue_again(ended.filter(kind=kind, completed_at__lte=after(-pause))) for kind, pause in SWEEPS.items()
    )


def resume_deletions() -> int:
    """Queue the deletions of all tenants again that ended without success. Returns their number.

    A customer cannot delete a video twice, and nothing else removes its objects, so a deletion never stays dead.
    """
    lost = Job.unscoped.using("dispatch").filter(
        kind__in=DELETIONS, state__in=(JobState.FAILED, JobState.DEAD), completed_at__lte=after(-RESUME_AFTER)
    )
    return _queue_again(lost)


def queue_system_job(*, kind: JobKind, subject_id: UUID, dedupe_key: str, **options: Any) -> None:
    """Queue a job of the system tenant, in a transaction of its own. options: arguments of enqueue()."""
    with tenant_scope(SYSTEM_TENANT):
        Tenant.objects.get_or_create(id=SYSTEM_TENANT, defaults={"name": "System", "slug": "_system"})
        enqueue(kind=kind, subject_id=subject_id, dedupe_key=dedupe_key, **options)


def _create(kinds: set[JobKind]) -> None:
    for kind in sorted(kinds):
        queue_system_job(kind=kind, subject_id=SYSTEM_TENANT, dedupe_key=f"sweep:{kind}")
    # A relay needs this connection once in its life.
    connection.close()


def _queue_again(jobs: QuerySet[Any]) -> int:
    return int(
        jobs.update(
            state=JobState.QUEUED, attempt=0, not_before=Now(), due=True, completed_at=None,
            cancel_requested_at=None, error_code="", error_message="", dependency="", outages=0, deadline_at=None,
        )
    )  # fmt: skip
