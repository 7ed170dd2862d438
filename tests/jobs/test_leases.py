"""The queue of record: one worker at a time, no commit without the lease, no lost and no doubled work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone

from backend.jobs import services
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed, Lease, LeaseLost, Unavailable
from backend.library.indexing import follow_ups
from backend.library.indexing.versions import is_indexing
from backend.library.models import Segment, Video, VideoStatus
from backend.library.services.videos import delete_video
from tests.conftest import Cast
from tests.factories import make_video


def queued_job(cast: Cast, **values: object) -> Job:
    subject = uuid4()
    with cast.scope():
        return services.enqueue(
            kind=JobKind.PURGE_VIDEO,
            subject_id=subject,
            dedupe_key=f"purge:{subject}",
            **values,  # type: ignore[arg-type]
        )


def claimed(cast: Cast, job: Job) -> Lease:
    with cast.scope():
        lease = services.claim(job.id, worker="w")
    assert lease is not None
    return lease


def expire(cast: Cast, job: Job) -> None:
    with cast.scope():
        Job.objects.filter(id=job.id).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_second_claim_gets_nothing(acme: Cast) -> None:
    job = queued_job(acme)
    claimed(acme, job)
    with acme.scope():
        assert services.claim(job.id, worker="other") is None
        assert Job.objects.get(id=job.id).attempt == 1


def test_an_expired_lease_passes_on_and_the_zombie_cannot_commit(acme: Cast) -> None:
    job = queued_job(acme)
    zombie = claimed(acme, job)
    expire(acme, job)
    heir = claimed(acme, job)
    assert heir.token == zombie.token + 1
    with pytest.raises(LeaseLost), services.checkpoint(zombie):
        pytest.fail("a zombie entered a checkpoint")
    assert services.heartbeat(zombie) is False
    with services.checkpoint(heir):
        services.complete(heir)
    with acme.scope():
        assert Job.objects.get(id=job.id).state == JobState.SUCCEEDED


def test_an_enqueue_while_it_runs_makes_the_job_run_once_more(acme: Cast) -> None:
    job = queued_job(acme)
    lease = claimed(acme, job)
    with acme.scope():
        services.enqueue(kind=JobKind.PURGE_VIDEO, subject_id=job.subject_id, dedupe_key=job.dedupe_key)
    with services.checkpoint(lease):
        services.complete(lease)
    with acme.scope():
        assert Job.objects.get(id=job.id).state == JobState.QUEUED
    again = claimed(acme, job)
    with services.checkpoint(again):
        services.complete(again)
    with acme.scope():
        assert Job.objects.get(id=job.id).state == JobState.SUCCEEDED


def test_a_retryable_failure_waits_and_the_last_one_is_dead(acme: Cast) -> None:
    job = queued_job(acme, max_attempts=2)
    error = JobFailed("model_unavailable", "away", retryable=True)
    lease = claimed(acme, job)
    with services.checkpoint(lease):
        assert services.fail(lease, error) == JobState.QUEUED
    with acme.scope():
        waiting = Job.objects.get(id=job.id)
        assert waiting.not_before > timezone.now()
        assert services.claim(job.id, worker="w") is None, "not due yet"
        Job.objects.filter(id=job.id).update(not_before=timezone.now())
    last = claimed(acme, job)
    with services.checkpoint(last):
        assert services.fail(last, error) == JobState.DEAD
    with acme.scope():
        assert Job.objects.get(id=job.id).error_code == "model_unavailable"


def test_an_outage_uses_up_no_attempts(acme: Cast) -> None:
    job = queued_job(acme, max_attempts=2)
    for outages in range(5):
        with acme.scope():
            Job.objects.filter(id=job.id).update(not_before=timezone.now())
        lease = claimed(acme, job)
        assert (lease.attempt, lease.outages) == (1, outages)
        with services.checkpoint(lease):
            away = Unavailable("describer", "model_misconfigured", "the key is wrong")
            assert services.put_back(lease, away) == JobState.QUEUED
    with acme.scope():
        left = Job.objects.get(id=job.id)
    assert (left.attempt, left.outages, left.dependency) == (0, 5, "describer")
    assert (left.error_code, left.lease_until) == ("model_misconfigured", None)


def test_an_error_that_no_retry_helps_ends_the_job_at_once(acme: Cast) -> None:
    lease = claimed(acme, queued_job(acme))
    with services.checkpoint(lease):
        assert services.fail(lease, JobFailed("not_a_video", "text", retryable=False)) == JobState.FAILED


def test_cancelling_a_running_job_stops_its_heartbeat_and_its_commit(acme: Cast) -> None:
    job = queued_job(acme)
    lease = claimed(acme, job)
    with acme.scope():
        assert services.request_cancel(dedupe_key=job.dedupe_key)
    assert services.heartbeat(lease) is False
    with pytest.raises(LeaseLost), services.checkpoint(lease):
        pytest.fail("a canceled job entered a checkpoint")


def test_another_tenant_cannot_claim(acme: Cast, globex: Cast) -> None:
    job = queued_job(acme)
    with globex.scope():
        assert services.claim(job.id, worker="w") is None
    with acme.scope():
        assert Job.objects.get(id=job.id).state == JobState.QUEUED


def test_a_job_is_claimed_only_after_what_rang_for_it_is_committed(acme: Cast) -> None:
    job = queued_job(acme)
    with ThreadPoolExecutor(1) as worker:
        with acme.scope():
            services.enqueue(kind=JobKind.PURGE_VIDEO, subject_id=job.subject_id, dedupe_key=job.dedupe_key)
            claiming = worker.submit(claimed, acme, job)
            with pytest.raises(TimeoutError):
                # A claim would see nothing to do and end the job, and nobody would wake it again.
                claiming.result(timeout=0.5)
        assert claiming.result(timeout=10).attempt == 1
        worker.submit(connections.close_all).result()


def test_a_deleted_video_keeps_its_jobs_from_starting(acme: Cast) -> None:
    with acme.scope():
        video = make_video()
        segment = Segment.objects.create(
            tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=0, start_ms=0, end_ms=30_000
        )
        follow_ups.open_next_segments(video.id, 1)
        running = claim_of(follow_ups.observe_key(segment.id))
        delete_video(video=video)
        assert Video.objects.get(id=video.id).status == VideoStatus.DELETING
        assert not is_indexing(video.id, 1)
    with pytest.raises(LeaseLost), services.checkpoint(running):
        pytest.fail("a segment of a deleted video was committed")


def claim_of(dedupe_key: str) -> Lease:
    lease = services.claim(Job.objects.get(dedupe_key=dedupe_key).id, worker="w")
    assert lease is not None
    return lease


def test_a_job_that_is_handed_back_is_claimed_at_once_and_costs_no_attempt(acme: Cast) -> None:
    job = queued_job(acme)
    lease = claimed(acme, job)
    assert services.release(lease)
    with acme.scope():
        row = Job.objects.get(id=job.id)
        assert (row.state, row.attempt, row.lease_token, row.lease_until, row.due) == ("queued", 0, 1, None, True)
    with pytest.raises(LeaseLost), services.checkpoint(lease):
        pass
    assert not services.heartbeat(lease)
    heir = claimed(acme, job)
    assert (heir.attempt, heir.token) == (1, 2)


def test_a_lease_that_passed_on_hands_nothing_back(acme: Cast) -> None:
    job = queued_job(acme)
    zombie = claimed(acme, job)
    expire(acme, job)
    heir = claimed(acme, job)
    assert not services.release(zombie)
    with acme.scope():
        assert Job.objects.values_list("state", "attempt", "lease_token").get(id=job.id) == ("running", 2, heir.token)


def test_a_job_that_shall_be_canceled_is_not_handed_back(acme: Cast) -> None:
    job = queued_job(acme)
    lease = claimed(acme, job)
    with acme.scope():
        assert services.request_cancel(dedupe_key=job.dedupe_key)
    assert not services.release(lease)
    with acme.scope():
        assert services.acknowledge_cancel(lease)
