"""A suspended tenant is stopped everywhere at once, loses nothing, and goes on where it stopped."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from backend.jobs import services
from backend.jobs.dispatching import claim_next, next_jobs, renew, runnable
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import Lease, LeaseLost
from backend.tenancy.models import Tenant
from tests.conftest import Cast

CLASSES = {
    "gpu.query": JobKind.ANSWER_QUESTION,
    "io.webhook": JobKind.DELIVER_WEBHOOK,
    "cpu.probe": JobKind.PROBE_VIDEO,
}


def suspend(cast: Cast) -> None:
    call_command("suspend_tenant", cast.slug, "--reason", "unpaid", verbosity=0)


def resume(cast: Cast) -> None:
    call_command("resume_tenant", cast.slug, "--reason", "paid", verbosity=0)


def queued(cast: Cast, kind: JobKind, **options: Any) -> Job:
    with cast.scope():
        services.enqueue(kind=kind, subject_id=uuid4(), dedupe_key=f"{kind}:{uuid4()}", **options)
        job: Job = Job.objects.order_by("-id")[0]
    return job


def running(cast: Cast, kind: JobKind) -> Lease:
    job = queued(cast, kind)
    with cast.scope():
        lease = services.claim(job.id, worker="w")
    assert lease is not None
    return lease


def test_a_suspended_tenant_is_refused_and_another_is_not(acme: Cast, globex: Cast) -> None:
    suspend(acme)

    reply = acme.client.get("/v1/videos")

    assert (reply.status_code, reply.json()["code"]) == (401, "invalid_api_key")
    assert globex.client.get("/v1/videos").status_code == 200
    resume(acme)
    assert acme.client.get("/v1/videos").status_code == 200


def test_a_running_job_commits_nothing_more_and_keeps_its_attempt(acme: Cast, globex: Cast) -> None:
    lease, other = running(acme, JobKind.ANSWER_QUESTION), running(globex, JobKind.ANSWER_QUESTION)

    suspend(acme)

    assert services.heartbeat(lease) is False
    with pytest.raises(LeaseLost), services.checkpoint(lease):
        raise AssertionError("a suspended tenant's job may not commit")
    assert renew([lease, other]) == {other.job_id}
    with acme.scope():
        job = Job.objects.get(id=lease.job_id)
        assert (job.state, job.attempt) == (JobState.QUEUED, 0)
        assert services.claim(lease.job_id, worker="w") is None
    resume(acme)
    with acme.scope():
        again = services.claim(lease.job_id, worker="w")
        assert again is not None
        assert again.attempt == 1


@pytest.mark.parametrize("queue", sorted(CLASSES))
def test_no_worker_gets_a_job_of_a_suspended_tenant(acme: Cast, globex: Cast, queue: str) -> None:
    kind = CLASSES[queue]
    mine, theirs = queued(acme, kind), queued(globex, kind)

    suspend(acme)

    assert runnable(queue, most=10) == {queue: 1}
    assert {job.job_id: job.reason for job in next_jobs(queue, limit=9)} == {mine.id: "tenant_suspended", theirs.id: ""}
    lease = claim_next(queue, worker="w")
    assert lease is not None
    assert lease.job_id == theirs.id
    assert claim_next(queue, worker="w") is None
    resume(acme)
    lease = claim_next(queue, worker="w")
    assert lease is not None
    assert lease.job_id == mine.id


def test_lost_and_overdue_jobs_wait_as_well_and_deadlines_move(acme: Cast) -> None:
    lost, overdue = queued(acme, JobKind.ANSWER_QUESTION), queued(acme, JobKind.ANSWER_QUESTION)
    suspend(acme)
    now = timezone.now()
    with acme.scope():
        Tenant.objects.filter(id=acme.tenant_id).update(suspended_at=now - timedelta(hours=1))
        # A claim of the same instant as the suspension leaves a running job.
        Job.objects.filter(id=lost.id).update(state="running", lease_until=now - timedelta(minutes=1), lease_token=1)
        Job.objects.filter(id=overdue.id).update(deadline_at=now - timedelta(minutes=30))

    assert runnable("gpu.query", most=10) == {"gpu.query": 0}
    assert claim_next("gpu.query", worker="w") is None
    resume(acme)

    first, second = claim_next("gpu.query", worker="w"), claim_next("gpu.query", worker="w")
    assert first is not None
    assert second is not None
    assert [(first.job_id, first.overdue), (second.job_id, second.overdue)] == [(lost.id, False), (overdue.id, False)]


def test_deletion_goes_on_for_a_suspended_tenant(acme: Cast) -> None:
    purge = queued(acme, JobKind.PURGE_VIDEO)
    suspend(acme)

    lease = claim_next("system.delete", worker="w")

    assert lease is not None
    assert lease.job_id == purge.id
    assert services.heartbeat(lease) is True
    with services.checkpoint(lease):
        services.complete(lease)


def test_both_acts_are_in_the_tenants_audit_log_once(acme: Cast) -> None:
    for _ in range(2):
        suspend(acme)
    for _ in range(2):
        resume(acme)

    events = acme.client.get("/v1/audit-events").json()["data"]

    assert [(event["action"], event["reason"]) for event in events] == [
        ("tenant.resumed", "paid"), ("tenant.suspended", "unpaid"),
    ]  # fmt: skip
    assert {event["actor"]["type"] for event in events} == {"operator"}
    with pytest.raises(CommandError, match="no tenant"):
        call_command("suspend_tenant", "nobody", "--reason", "x")
