"""Every way out of a handler: what becomes of the job, and that its model calls are recorded once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from types import ModuleType
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.db import connection, transaction
from django.utils import timezone

from backend.billing.models import ModelCall
from backend.billing.services.usage.ledger import record_model_calls
from backend.jobs import breakers, services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed, Lease, LeaseLost, Unavailable
from backend.library.storage import ObjectStorage, StorageAway, StorageDenied
from gpu_workers.engine.models import roles
from tests.conftest import Cast
from workers import runner
from workers.endings import LOST_DECODERS, without_decoder
from workers.runner import Work, run_leased

AWAY = Unavailable("describer", "model_unavailable", "no answer")


class Handler(ModuleType):
    """A handler's module whose parts a test writes."""

    handle: Callable[[Work], None]
    failed: Callable[[Lease, JobFailed], None]


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Handler:
    module = Handler("tests.scripted_handler")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(runner.HANDLERS, JobKind.OBSERVE_SEGMENT, module.__name__)
    return module


def queued(cast: Cast, **values: Any) -> Job:
    subject = uuid4()
    with cast.scope():
        return services.enqueue(
            kind=JobKind.OBSERVE_SEGMENT, subject_id=subject, dedupe_key=f"observe:{subject}", **values
        )


def run(queue: str = "gpu.index") -> None:
    lease = claim_next(queue, worker="w")
    assert lease is not None
    run_leased(lease, worker="w")


def shown(cast: Cast, job: Job) -> Job:
    with cast.scope():
        return Job.objects.get(id=job.id)


def spend(work: Work, *, answered: str = "describer") -> roles.Meter:
    meter = work.meter()
    meter.record(roles.ModelCall("description", "scripted-vlm", 100, prompt_tokens=7, completion_tokens=3))
    meter.answer_of(answered)
    return meter


def calls(cast: Cast) -> list[tuple[str, int]]:
    """Return the source and the prompt tokens of every recorded call."""
    with cast.scope():
        return sorted(ModelCall.objects.values_list("source_type", "prompt_tokens"))


def raising(error: Exception, *, spending: bool = False) -> Callable[[Work], None]:
    def handle(work: Work) -> None:
        if spending:
            spend(work)
        raise error

    return handle


def test_an_outage_opens_the_breaker_and_puts_the_job_back(acme: Cast, handler: Handler) -> None:
    job = queued(acme, max_attempts=1)
    handler.handle = raising(AWAY)
    run()

    waiting = shown(acme, job)
    assert (waiting.state, waiting.attempt, waiting.outages, waiting.dependency) == ("queued", 0, 1, "describer")
    assert waiting.not_before > timezone.now()
    assert {row.dependency: row.state for row in breakers.breakers()} == {"describer": "open"}


def test_work_that_the_dependency_answered_before_opens_no_breaker(acme: Cast, handler: Handler) -> None:
    job = queued(acme)
    handler.handle = raising(AWAY, spending=True)
    run()
    assert (shown(acme, job).state, breakers.breakers()) == ("queued", [])
    assert calls(acme) == [("wasted_attempt", 7)]


def test_content_that_its_dependency_cannot_bear_is_tried_ever_less_often(
    acme: Cast, handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda least, most: most)
    job = queued(acme)
    handler.handle = raising(AWAY, spending=True)
    waits = []
    for outages in (0, 5, 9, 11, 40):
        with acme.scope():
            Job.objects.filter(id=job.id).update(outages=outages, not_before=timezone.now(), due=True)
        run()
        waits.append((shown(acme, job).not_before - timezone.now()).total_seconds())
    assert waits == pytest.approx([2, 64, 1_024, 3_600, 3_600], abs=30)


def test_a_job_that_loses_its_decoder_again_and_again_ends(acme: Cast, handler: Handler) -> None:
    """A host without memory costs no attempt for an hour; a recording that no host can bear is not tried for ever."""
    job = queued(acme, max_attempts=2)

    def lose(work: Work) -> None:
        raise without_decoder(work, "decoder_unavailable", "killed by its host")

    handler.handle, handler.failed = lose, lambda lease, error: None
    states = []
    for outages in (0, LOST_DECODERS - 1, LOST_DECODERS, LOST_DECODERS):
        with acme.scope():
            Job.objects.filter(id=job.id).update(outages=outages, not_before=timezone.now(), due=True)
        run()
        row = shown(acme, job)
        states.append((row.state, row.attempt, row.error_code))
    assert states == [(state, attempt, "decoder_unavailable") for state, attempt in (
        ("queued", 0), ("queued", 0), ("queued", 1), ("dead", 2),
    )]  # fmt: skip
    assert breakers.breakers() == []


def test_a_job_that_alone_meets_outages_again_and_again_opens_no_breaker(acme: Cast, handler: Handler) -> None:
    job = queued(acme)
    with acme.scope():
        Job.objects.filter(id=job.id).update(outages=5)
    handler.handle = raising(AWAY)
    run()
    assert (shown(acme, job).outages, breakers.breakers()) == (6, [])


def test_storage_that_refuses_us_is_an_outage(acme: Cast, handler: Handler) -> None:
    job = queued(acme, max_attempts=1)
    handler.handle = raising(StorageDenied("PutObject: AccessDenied"))
    run()
    assert (shown(acme, job).state, shown(acme, job).dependency) == ("queued", "storage")


def probes(*dependencies: str) -> None:
    for dependency in dependencies:
        breakers.opened(dependency, code="gone", message="")
    breakers.Breaker.objects.using("dispatch").update(probe_at=timezone.now() - timedelta(seconds=1))


def states() -> dict[str, str]:
    return {row.dependency: row.state for row in breakers.breakers()}


def test_a_probe_that_succeeds_closes_the_breakers_of_what_answered_it(acme: Cast, handler: Handler) -> None:
    job = queued(acme)
    probes("describer", "embedder:text")

    def handle(work: Work) -> None:
        spend(work)
        work.finish()

    handler.handle = handle
    run()
    assert shown(acme, job).state == JobState.SUCCEEDED
    assert states() == {"describer": "closed", "embedder:text": "half_open"}


def test_a_probe_that_succeeds_without_a_call_leaves_the_probe_to_the_next_job(acme: Cast, handler: Handler) -> None:
    queued(acme)
    later = queued(acme)
    probes("describer")
    handler.handle = lambda work: work.finish()
    run()
    assert states() == {"describer": "half_open"}

    handler.handle = raising(AWAY)
    run()
    assert (shown(acme, later).state, states()) == (JobState.QUEUED, {"describer": "open"})


def test_a_probe_of_the_storage_closes_its_breaker_if_the_bucket_answers(
    acme: Cast, handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(_: ObjectStorage) -> None:
        raise StorageAway("no answer from the bucket")

    queued(acme)
    queued(acme)
    probes("storage")
    handler.handle = lambda work: work.finish()
    with monkeypatch.context() as patch:
        patch.setattr(ObjectStorage, "ping", silent)
        run()
    assert states() == {"storage": "half_open"}
    run()
    assert states() == {"storage": "closed"}


def test_a_job_that_goes_on_between_outages_counts_them_from_the_start(acme: Cast, handler: Handler) -> None:
    job = queued(acme)
    with acme.scope():
        Job.objects.filter(id=job.id).update(outages=40)

    def handle(work: Work) -> None:
        work.advance(lambda: None)
        raise AWAY

    handler.handle = handle
    run()
    waiting = shown(acme, job)
    assert (waiting.outages, states()) == (1, {"describer": "open"})
    assert (waiting.not_before - timezone.now()).total_seconds() < 30


def test_a_probe_that_fails_for_another_reason_closes_the_breaker_of_what_answered(
    acme: Cast, handler: Handler
) -> None:
    queued(acme)
    for dependency in ("describer", "storage"):
        breakers.opened(dependency, code="gone", message="")
    breakers.Breaker.objects.using("dispatch").update(probe_at=timezone.now() - timedelta(seconds=1))
    handler.handle = raising(JobFailed("bad", "no", retryable=False), spending=True)
    run()
    assert {row.dependency: row.state for row in breakers.breakers()} == {"describer": "closed", "storage": "closed"}


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (None, JobState.SUCCEEDED),
        (AWAY, JobState.QUEUED),
        (JobFailed("bad", "no", retryable=True), JobState.QUEUED),
        (JobFailed("bad", "no", retryable=False), JobState.FAILED),
        (SoftTimeLimitExceeded(), JobState.QUEUED),
        (StorageDenied("AccessDenied"), JobState.QUEUED),
        (ValueError("odd"), JobState.QUEUED),
        (LeaseLost("gone"), JobState.RUNNING),
    ],
    ids=repr,
)
def test_every_way_out_records_the_calls_once(
    acme: Cast, handler: Handler, error: Exception | None, state: JobState
) -> None:
    def handle(work: Work) -> None:
        billed = spend(work)
        work.commit(
            lambda: record_model_calls(source_type="observe", source_id=work.lease.job_id, calls=work.bill(billed))
        )
        spend(work)
        if error is not None:
            raise error
        work.finish()

    job = queued(acme)
    handler.handle = handle
    run()
    assert shown(acme, job).state == state
    assert calls(acme) == [("observe", 7), ("wasted_attempt", 7)]


def test_calls_of_a_commit_that_was_refused_are_wasted(acme: Cast, handler: Handler) -> None:
    def handle(work: Work) -> None:
        meter = spend(work)
        with acme.scope():
            Job.objects.update(lease_token=99)
        work.commit(
            lambda: record_model_calls(source_type="observe", source_id=work.lease.job_id, calls=work.bill(meter))
        )

    queued(acme)
    handler.handle = handle
    run()
    assert calls(acme) == [("wasted_attempt", 7)]


def test_the_end_of_the_connection_before_the_commit_costs_no_work(acme: Cast, handler: Handler) -> None:
    """What a restart of PostgreSQL does between the last model call and the commit."""
    begun = []

    def handle(work: Work) -> None:
        begun.append(work.lease.attempt)
        meter = spend(work)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pid = cursor.fetchone()[0]
        with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
            server.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])

        def write() -> None:
            record_model_calls(source_type="observe", source_id=work.lease.job_id, calls=work.bill(meter))
            work.complete()

        work.commit(write)

    job = queued(acme)
    handler.handle = handle
    run()
    assert (begun, shown(acme, job).state, calls(acme)) == ([1], JobState.SUCCEEDED, [("observe", 7)])


def test_a_connection_that_ends_while_it_reads_is_no_attempt(acme: Cast, handler: Handler) -> None:
    def handle(work: Work) -> None:
        with work.checkpoint(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    job = queued(acme, max_attempts=1)
    handler.handle = handle
    run()
    waiting = shown(acme, job)
    assert (waiting.state, waiting.attempt, waiting.error_code) == ("queued", 0, "database_unavailable")
    assert breakers.breakers() == []


def test_a_consequence_that_cannot_be_written_follows_in_a_job_of_its_own(acme: Cast, handler: Handler) -> None:
    ends: list[str] = []

    def failed(lease: Lease, error: JobFailed) -> None:
        if not ends:
            ends.append("broken")
            raise ValueError("odd")
        ends.append(error.code)
        with transaction.atomic(using="dispatch"):
            free = Job.unscoped.using("dispatch").select_for_update(skip_locked=True).filter(id=job.id)
            assert not free, "somebody could queue the job again meanwhile"

    job = queued(acme)
    handler.handle = raising(JobFailed("bad", "no", retryable=False))
    handler.failed = failed
    run()
    assert (shown(acme, job).state, ends) == (JobState.FAILED, ["broken"])
    with acme.scope():
        settling = Job.objects.get(kind=JobKind.SETTLE_FAILURE)
    assert (settling.queue, settling.subject_id) == ("gpu.index", job.id)

    run()
    assert ends == ["broken", "bad"]
    assert shown(acme, settling).state == JobState.SUCCEEDED


def test_a_job_past_its_deadline_is_not_begun(acme: Cast, handler: Handler) -> None:
    ends: list[str] = []
    job = queued(acme, deadline=timedelta(seconds=-1))
    handler.handle = raising(AssertionError("begun"))
    handler.failed = lambda lease, error: ends.append(error.code)
    run()
    assert (shown(acme, job).state, ends) == (JobState.DEAD, ["deadline_exceeded"])
