"""Sweeps: recurring jobs of the system tenant, and deletions that are tried again."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.db.models import F

from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import complete
from backend.jobs.sweeps import RESUME_AFTER, SWEEPS, SYSTEM_TENANT, queue_sweeps, resume_deletions
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from tests.conftest import Cast


def rows() -> dict[str, tuple[str, int]]:
    """Return state and attempt of each sweep's job."""
    jobs = Job.unscoped.using("dispatch").filter(tenant_id=SYSTEM_TENANT)
    return {job.kind: (job.state, job.attempt) for job in jobs}


def test_each_sweep_has_one_job_that_runs_again_after_its_pause(database: None) -> None:
    assert queue_sweeps() == len(SWEEPS)
    assert queue_sweeps() == 0
    assert rows() == dict.fromkeys(SWEEPS, (JobState.QUEUED, 0))

    lease = claim_next("system.sweep", worker="w")
    assert lease is not None
    assert lease.tenant_id == SYSTEM_TENANT
    assert queue_sweeps() == 0, "a sweep that runs is not queued"
    with services.checkpoint(lease):
        complete(lease)
    assert queue_sweeps() == 0, "its pause has only begun"
    ended = Job.unscoped.using("dispatch").filter(id=lease.job_id)
    ended.update(completed_at=F("completed_at") - SWEEPS[lease.kind])
    assert queue_sweeps() == 1
    assert rows() == dict.fromkeys(SWEEPS, (JobState.QUEUED, 0))


def test_a_sweep_that_died_runs_again_too(database: None) -> None:
    queue_sweeps()
    lost = Job.unscoped.using("dispatch").filter(kind=JobKind.EXPIRE_UPLOADS)
    lost.update(state=JobState.DEAD, completed_at=services.after(-timedelta(days=1)), error_code="internal_error")
    assert queue_sweeps() == 1
    assert lost.get().error_code == ""


def test_the_system_tenant_has_no_key_and_its_slug_cannot_be_taken(database: None) -> None:
    queue_sweeps()
    with tenant_scope(SYSTEM_TENANT):
        assert Tenant.objects.get().slug == "_system"  # `create_tenant` takes letters, digits and hyphens


def test_a_deletion_that_failed_is_tried_again_after_an_hour(acme: Cast, globex: Cast) -> None:
    ended = {}
    for cast, kind in ((acme, JobKind.PURGE_VIDEO), (globex, JobKind.RETIRE_VERSION), (acme, JobKind.PROBE_VIDEO)):
        with cast.scope():
            job = services.enqueue(kind=kind, subject_id=uuid4(), dedupe_key=f"{kind}:{uuid4()}")
            Job.objects.filter(id=job.id).update(state=JobState.DEAD, completed_at=services.after(-RESUME_AFTER))
            ended[kind] = job.id
    with acme.scope():
        fresh = services.enqueue(kind=JobKind.PURGE_VIDEO, subject_id=uuid4(), dedupe_key="fresh")
        Job.objects.filter(id=fresh.id).update(state=JobState.DEAD, completed_at=services.after(timedelta(0)))

    assert resume_deletions() == 2
    states = dict(Job.unscoped.using("dispatch").values_list("id", "state"))
    assert states == {
        ended[JobKind.PURGE_VIDEO]: JobState.QUEUED,
        ended[JobKind.RETIRE_VERSION]: JobState.QUEUED,
        ended[JobKind.PROBE_VIDEO]: JobState.DEAD,
        fresh.id: JobState.DEAD,
    }
