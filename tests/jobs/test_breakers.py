"""An outage holds the jobs that need what is away, lets one of them try, and is over when that one is answered."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import ProgrammingError, connections
from django.utils import timezone

from backend.jobs import breakers, services
from backend.jobs.breakers import BreakerRow
from backend.jobs.dispatching import claim_next, mark_due, next_jobs, oldest_runnable_age_seconds, runnable
from backend.jobs.models import Breaker, Job, JobKind, JobState
from backend.jobs.services import Lease, Unavailable
from tests.conftest import Cast


def queued(cast: Cast, count: int = 1, *, kind: JobKind = JobKind.ANSWER_QUESTION) -> None:
    with cast.scope():
        services.enqueue_many(kind=kind, subjects={f"{kind}:{uuid4()}": uuid4() for _ in range(count)})


def away(dependency: str, *, lease: Lease | None = None, **values: timedelta) -> None:
    breakers.opened(dependency, code="gone", message="no answer", job_id=lease.job_id if lease else None, **values)


def row(dependency: str) -> BreakerRow:
    return next(found for found in breakers.breakers() if found.dependency == dependency)


def probe_is_due(dependency: str) -> None:
    Breaker.objects.using("dispatch").filter(dependency=dependency).update(
        probe_at=timezone.now() - timedelta(seconds=1)
    )


def claim(queue: str = "gpu.query") -> Lease | None:
    return claim_next(queue, worker="w")


def claimed(queue: str = "gpu.query") -> Lease:
    lease = claim(queue)
    assert lease is not None
    return lease


def ended(lease: Lease) -> None:
    with services.checkpoint(lease):
        services.complete(lease)


def test_an_open_breaker_holds_the_kinds_that_need_it_and_no_others(acme: Cast) -> None:
    queued(acme, 3)
    queued(acme, 2, kind=JobKind.SEARCH_EVENTS)
    away("reasoner")

    assert Counter(job.reason for job in next_jobs("gpu.query", limit=10)) == {"dependency_away": 3, "": 2}
    assert runnable("gpu.query", most=32)["gpu.query"] == 2
    assert {claimed().kind, claimed().kind} == {JobKind.SEARCH_EVENTS}
    assert claim() is None


def test_a_job_waits_for_what_it_found_away_itself_though_its_kind_needs_it_not(acme: Cast) -> None:
    queued(acme, 2)
    lease = claimed()
    away("checker")
    with services.checkpoint(lease):
        services.put_back(lease, Unavailable("checker", "gone", "no answer"))
    with acme.scope():
        Job.objects.filter(id=lease.job_id).update(not_before=timezone.now())
    mark_due()

    assert claimed().job_id != lease.job_id
    assert claim() is None
    with acme.scope():
        assert services.claim(lease.job_id, worker="w") is None
    breakers.closed(["checker"])
    assert claimed().job_id == lease.job_id


def test_one_job_of_many_tries_and_its_success_frees_all(acme: Cast, globex: Cast) -> None:
    queued(acme, 20)
    queued(globex, 20)
    away("reasoner")
    assert claim() is None
    probe_is_due("reasoner")

    def claims(worker: int) -> list[Lease]:
        try:
            return [lease for lease in (claim_next("gpu.query", worker=str(worker)) for _ in range(5)) if lease]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        taken = [lease for leases in pool.map(claims, range(4)) for lease in leases]

    assert [lease.probing for lease in taken] == [frozenset({"reasoner"})]
    assert (row("reasoner").state, runnable("gpu.query", most=32)["gpu.query"]) == ("half_open", 0)
    ended(taken[0])
    breakers.closed(taken[0].probing)
    assert row("reasoner").state == "closed"
    assert claimed().probing == frozenset()
    assert runnable("gpu.query", most=32)["gpu.query"] >= 32


def test_what_follows_a_job_tries_nothing_that_is_away(acme: Cast) -> None:
    queued(acme, 3)
    away("reasoner")
    probe_is_due("reasoner")
    with acme.scope():
        jobs = list(Job.objects.values_list("id", flat=True))
        assert [services.claim(job, worker="w") for job in jobs] == [None, None, None]

    probe = claimed()
    assert probe.probing == {"reasoner"}
    with acme.scope():
        assert [services.claim(job, worker="w") for job in jobs] == [None, None, None]
        breakers.closed(probe.probing)
        following = [services.claim(job, worker="w") for job in jobs if job != probe.job_id]
    assert [lease and lease.probing for lease in following] == [frozenset(), frozenset()]


def test_a_probe_that_fails_waits_twice_as_long_and_stragglers_change_nothing(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.jobs.breakers.PROBE_BASE_SECONDS", 1_000.0)
    monkeypatch.setattr("backend.jobs.breakers.PROBE_CAP_SECONDS", 3_000.0)
    monkeypatch.setattr("random.uniform", lambda least, most: most)
    queued(acme, 2)
    straggler = claimed()
    waits = []
    for failures in range(1, 5):
        away("reasoner", lease=claimed() if failures > 1 else None)
        with acme.scope():
            Job.objects.exclude(id=straggler.job_id).update(state=JobState.QUEUED, lease_until=None)
        away("reasoner", lease=straggler)
        found = row("reasoner")
        assert (found.failures, found.state) == (failures, "open")
        assert found.probe_at is not None
        waits.append((found.probe_at - timezone.now()).total_seconds())
        probe_is_due("reasoner")
    assert waits == pytest.approx([1_000, 2_000, 3_000, 3_000], abs=60)


def test_a_straggler_leaves_the_probe_alone(acme: Cast) -> None:
    queued(acme, 2)
    straggler = claimed()
    away("reasoner")
    probe_is_due("reasoner")
    probe = claimed()
    away("reasoner", lease=straggler)
    assert (row("reasoner").state, row("reasoner").failures) == ("half_open", 1)
    away("reasoner", lease=probe)
    assert (row("reasoner").state, row("reasoner").failures) == ("open", 2)


def test_a_probe_that_loses_its_worker_leaves_the_next_to_its_heir(acme: Cast) -> None:
    queued(acme, 2)
    away("reasoner")
    probe_is_due("reasoner")
    probe = claimed()
    assert claim() is None
    with acme.scope():
        Job.objects.filter(id=probe.job_id).update(lease_until=timezone.now() - timedelta(seconds=1))

    heir = claimed()
    assert (heir.job_id, heir.probing) == (probe.job_id, frozenset({"reasoner"}))
    assert claim() is None


def test_a_dependency_is_left_alone_for_as_long_as_it_asks(acme: Cast) -> None:
    away("reasoner", retry_after=timedelta(minutes=5))
    away("describer", retry_after=timedelta(days=1))
    first, second = row("reasoner").probe_at, row("describer").probe_at
    assert first is not None
    assert second is not None
    assert (first - timezone.now()).total_seconds() == pytest.approx(300, abs=60)
    assert (second - timezone.now()).total_seconds() == pytest.approx(600, abs=60)


def test_a_job_that_waits_ends_at_its_deadline_and_a_paused_one_does_not(acme: Cast) -> None:
    queued(acme, 3)
    away("reasoner", retry_after=timedelta(minutes=5))
    with acme.scope():
        late, paused = Job.objects.order_by("id")[:2]
        Job.objects.filter(id__in=[late.id, paused.id]).update(deadline_at=timezone.now() - timedelta(seconds=1))
        Job.objects.filter(id=paused.id).update(paused_at=timezone.now())

    assert runnable("gpu.query", most=32)["gpu.query"] == 1
    lease = claimed()
    assert (lease.job_id, lease.overdue, lease.probing) == (late.id, True, frozenset())
    assert claim() is None
    with services.checkpoint(lease):
        assert services.put_back(lease, Unavailable("reasoner", "gone", "no answer")) == JobState.DEAD
    breakers.closed(["reasoner"])
    assert claimed().job_id not in {late.id, paused.id}
    assert claim() is None, "the paused one"
    with acme.scope():
        assert services.claim(paused.id, worker="w") is None
        assert Job.objects.get(id=late.id).error_code == "deadline_exceeded"


def test_an_abandoned_job_waits_for_its_dependency_like_any_other(acme: Cast) -> None:
    queued(acme)
    lease = claimed()
    with acme.scope():
        Job.objects.filter(id=lease.job_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    away("reasoner")
    assert claim() is None
    assert runnable("gpu.query", most=32)["gpu.query"] == 0
    breakers.closed(["reasoner"])
    assert claimed().job_id == lease.job_id


def test_only_the_dispatch_role_writes_breakers(acme: Cast) -> None:
    away("reasoner")
    assert [outage.dependency for outage in breakers.outages(using="default")] == ["reasoner"]
    with pytest.raises(ProgrammingError, match="permission denied"), acme.scope():
        Breaker.objects.using("default").update(state="closed")


def minutes_since_the_probe(dependency: str, minutes: int) -> None:
    Breaker.objects.using("dispatch").filter(dependency=dependency).update(
        probe_at=timezone.now() - timedelta(minutes=minutes)
    )


def test_a_breaker_that_no_job_has_tried_for_a_minute_is_tried_by_one_worker(acme: Cast) -> None:
    away("reasoner")
    assert breakers.take_idle() == frozenset()
    minutes_since_the_probe("reasoner", 2)
    assert breakers.take_idle() == {"reasoner"}
    assert breakers.take_idle() == frozenset(), "another worker leaves it to the first"

    away("reasoner")
    assert row("reasoner").failures == 2
    assert breakers.take_idle() == frozenset()


def test_a_breaker_whose_probe_runs_is_not_idle_and_one_whose_probe_vanished_is(acme: Cast) -> None:
    queued(acme)
    away("reasoner")
    minutes_since_the_probe("reasoner", 2)
    probe = claimed()
    assert breakers.take_idle() == frozenset()
    with acme.scope():
        services.request_cancel_many(dedupe_keys=list(Job.objects.values_list("dedupe_key", flat=True)))
        assert services.acknowledge_cancel(probe)
    assert breakers.take_idle() == {"reasoner"}
    assert row("reasoner").state == "open"


def test_jobs_that_an_outage_holds_are_not_late(acme: Cast) -> None:
    queued(acme)
    queued(acme, kind=JobKind.OBSERVE_SEGMENT)
    assert set(oldest_runnable_age_seconds()) == {"gpu.query", "gpu.index"}
    away("reasoner")
    assert set(oldest_runnable_age_seconds()) == {"gpu.index"}
