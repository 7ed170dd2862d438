"""What people decide about jobs: paused jobs are not claimed, ranks order only a tenant's own jobs."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from backend.jobs import control, services
from backend.jobs.dispatching import claim_next, mark_due, oldest_runnable_age_seconds, runnable
from backend.jobs.models import ClassClock, Job, JobKind, JobRank, JobState
from backend.jobs.services import JobFailed, Lease, LeaseLost
from backend.tenancy.refusals import Refused
from tests.conftest import Cast

CLASS = "gpu.query"


def queued(cast: Cast, n: int = 1, **options: object) -> list[UUID]:
    """Queue n searches of a tenant, in the order of the returned ids."""
    with cast.scope():
        jobs = []
        for _ in range(n):
            subject = uuid4()
            job = services.enqueue(
                kind=JobKind.SEARCH_EVENTS,
                subject_id=subject,
                dedupe_key=f"search:{subject}",
                **options,  # type: ignore[arg-type]
            )
            jobs.append(job.id)
        return jobs


def claimed() -> Lease:
    lease = claim_next(CLASS, worker="w")
    assert lease is not None
    return lease


def in_order(n: int) -> list[UUID]:
    return [claimed().job_id for _ in range(n)]


def row(cast: Cast, job_id: UUID) -> Job:
    with cast.scope():
        job: Job = Job.objects.get(id=job_id)
        return job


def of(*ids: UUID) -> QuerySet[Job]:
    jobs: QuerySet[Job] = Job.objects.filter(id__in=ids)
    return jobs


def test_a_paused_job_is_claimed_only_after_it_is_resumed(acme: Cast) -> None:
    first, second = queued(acme, 2)
    with acme.scope():
        assert control.pause_jobs(of(first)) == 1
        assert services.claim(first, worker="w") is None
    assert runnable(CLASS, most=9) == {CLASS: 1}
    assert in_order(1) == [second]
    assert claim_next(CLASS, worker="w") is None
    assert mark_due() == 0
    assert CLASS not in oldest_runnable_age_seconds(), "no worker is started for it"
    with acme.scope():
        assert control.resume_jobs(of(first, second)) == 1
    assert in_order(1) == [first]


def test_a_job_that_runs_is_paused_once_it_waits_again(acme: Cast) -> None:
    (job,) = queued(acme)
    lease = claimed()
    with acme.scope():
        control.pause_jobs(of(job))
    assert services.heartbeat(lease), "the run goes on"
    with services.checkpoint(lease):
        services.fail(lease, JobFailed("internal_error", "x", retryable=True))
    with acme.scope():
        Job.objects.update(not_before=timezone.now())
    mark_due()
    assert claim_next(CLASS, worker="w") is None


def test_a_pause_saves_up_no_share(acme: Cast, globex: Cast) -> None:
    mine = queued(acme, 3)
    with acme.scope():
        control.pause_jobs(of(*mine))
    theirs = queued(globex, 6)
    assert in_order(4) == theirs[:4]
    with acme.scope():
        control.resume_jobs(of(*mine))
    # The clock stands at 3, where the fourth of globex was: acme's come at 3, 4 and 5.
    assert in_order(5) == [mine[0], mine[1], theirs[4], mine[2], theirs[5]]


def test_a_pause_without_consequence_changes_no_position(acme: Cast, globex: Cast) -> None:
    mine, theirs = queued(acme, 3), queued(globex, 3)
    with acme.scope():
        control.pause_jobs(of(*mine))
        control.resume_jobs(of(*mine))
    assert in_order(6) == [mine[0], theirs[0], mine[1], theirs[1], mine[2], theirs[2]]


def test_a_pause_moves_the_deadline_by_its_length(acme: Cast) -> None:
    (job,) = queued(acme)
    with acme.scope():
        control.pause_jobs(of(job))
        before = row(acme, job).deadline_at
        Job.objects.update(paused_at=timezone.now() - timedelta(hours=2))
        control.resume_jobs(of(job))
    moved = row(acme, job).deadline_at
    assert before is not None
    assert moved is not None
    assert timedelta(hours=2) <= moved - before < timedelta(hours=2, minutes=1)


def test_a_rank_orders_a_tenants_own_jobs_and_costs_the_others_nothing(acme: Cast, globex: Cast) -> None:
    mine = queued(acme, 4)
    theirs = queued(globex, 4)
    with acme.scope():
        tags = sorted(Job.objects.values_list("fair_tag", flat=True))
        assert control.set_rank(of(mine[3]), JobRank.HIGH) == 1
        assert control.set_rank(of(mine[0]), JobRank.LOW) == 1
        assert sorted(Job.objects.values_list("fair_tag", flat=True)) == tags
    late_high, late_normal = queued(acme, 1, rank=JobRank.HIGH)[0], queued(acme, 1)[0]

    order = in_order(10)
    assert [job for job in order if job not in theirs] == [
        mine[3], late_high, mine[1], mine[2], late_normal, mine[0],
    ]  # fmt: skip
    assert [job for job in order if job in theirs] == theirs
    # Turn and turn about, as without ranks.
    assert {frozenset(order[n : n + 2]) & set(theirs) != set() for n in (0, 2, 4, 6)} == {True}


def test_a_deadline_ends_a_job_that_waits(acme: Cast) -> None:
    (job,) = queued(acme)
    with acme.scope():
        control.set_deadline(of(job), timezone.now() - timedelta(seconds=1))
    assert claimed().overdue


def test_a_canceled_run_that_is_wanted_again_loses_its_lease_and_the_job_runs_once_more(acme: Cast) -> None:
    (job,) = queued(acme)
    zombie = claimed()
    with acme.scope():
        assert control.cancel_jobs(of(job)) == 1
        control.enqueue_again(Job.objects.get(id=job))
    with pytest.raises(LeaseLost), services.checkpoint(zombie):
        pytest.fail("a canceled run was committed")
    with acme.scope():
        assert services.acknowledge_cancel(zombie) is False
    again = claimed()
    assert (again.job_id, again.attempt) == (job, 1)
    with services.checkpoint(again):
        services.complete(again)
    assert row(acme, job).state == JobState.SUCCEEDED


def test_a_dead_job_is_replayed_with_all_its_attempts_and_an_open_one_is_not(acme: Cast) -> None:
    with acme.scope():
        subject = uuid4()
        job = services.enqueue(
            kind=JobKind.STOP_COMPARISON, subject_id=subject, dedupe_key=f"stop:{subject}", max_attempts=1
        )
        lease = services.claim(job.id, worker="w")
        assert lease is not None
        with pytest.raises(Refused) as refused:
            control.replay_dead(Job.objects.get(id=job.id))
        assert refused.value.code == "job_not_ended"
    with services.checkpoint(lease):
        assert services.fail(lease, JobFailed("internal_error", "x", retryable=True)) == JobState.DEAD
    with acme.scope():
        control.replay_dead(Job.objects.get(id=job.id))
    replayed = row(acme, job.id)
    assert (replayed.state, replayed.attempt, replayed.max_attempts, replayed.error_code) == ("queued", 0, 1, "")


def test_a_job_that_is_replayed_keeps_its_class(acme: Cast) -> None:
    ClassClock.objects.using("owner").update_or_create(queue=CLASS, defaults={"served_tag": 1_000.0})
    with acme.scope():
        job = services.enqueue(
            kind=JobKind.SETTLE_FAILURE, subject_id=UUID(int=1), dedupe_key="settle", queue=CLASS, max_attempts=20
        )
        Job.objects.filter(id=job.id).update(state=JobState.DEAD, fair_tag=0.0)
        control.replay_dead(Job.objects.get(id=job.id))
        replayed = Job.objects.get(id=job.id)
    assert (replayed.state, replayed.queue) == (JobState.QUEUED, CLASS)
    assert replayed.fair_tag >= 1_000.0, "the clock of another class decides its turn"
