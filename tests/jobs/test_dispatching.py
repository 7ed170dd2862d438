"""Which job runs next: over all tenants, by priority and fair share, under caps, and never one that another holds."""

from __future__ import annotations

import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.utils import timezone

from backend.accounts.suspension import Throttle, throttle
from backend.jobs import breakers, services
from backend.jobs.dispatching import claim_next, mark_due, next_jobs, oldest_runnable_age_seconds, runnable
from backend.jobs.fairness import ANY_PRIORITY_EVERY, COST_OF
from backend.jobs.models import QUEUE_OF, ClassClock, Job, JobKind, JobState
from backend.jobs.services import Lease
from backend.tenancy.models import Fence, Tenant
from tests.conftest import Cast
from workers.runner import run_class


@pytest.fixture(autouse=True)
def _fresh_clock() -> None:
    ClassClock.objects.using("owner").all().delete()


def queued(cast: Cast, count: int, *, kind: JobKind = JobKind.ANSWER_QUESTION, priority: int = 0) -> None:
    with cast.scope():
        subjects = {f"{kind}:{uuid4()}": uuid4() for _ in range(count)}
        services.enqueue_many(kind=kind, subjects=subjects, priority=priority)


def put_on_plan(cast: Cast, plan: str) -> None:
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SELECT set_config('app.tenant_id', %s, true)", [str(cast.tenant_id)])
        assert Tenant.objects.using("owner").filter(id=cast.tenant_id).update(plan=plan) == 1


def claims(count: int, queue: str = "gpu.query") -> list[Lease]:
    """Claim up to count jobs and hold them."""
    leases = [claim_next(queue, worker="w") for _ in range(count)]
    return [lease for lease in leases if lease is not None]


def drained(queue: str = "gpu.query", **options: bool) -> list[Lease]:
    """Claim and end jobs one after another until none may run."""
    leases = []
    while lease := claim_next(queue, worker="w", **options):
        with services.checkpoint(lease):
            services.complete(lease)
        leases.append(lease)
    return leases


def test_one_job_of_a_newcomer_waits_for_one_job_of_a_tenant_with_many(acme: Cast, globex: Cast) -> None:
    queued(acme, 100)
    assert [claim_next("gpu.query", worker="w") for _ in range(3)]
    queued(globex, 1)

    order = [lease.tenant_id for lease in drained()]

    assert order.index(globex.tenant_id) <= 1
    assert Counter(order) == {acme.tenant_id: 97, globex.tenant_id: 1}


def test_two_backlogs_take_turns_whoever_came_first(acme: Cast, globex: Cast) -> None:
    queued(acme, 20)
    queued(globex, 20)

    order = [lease.tenant_id for lease in drained()]

    for start in range(0, 40, 2):
        assert set(order[start : start + 2]) == {acme.tenant_id, globex.tenant_id}


def test_a_tenant_of_weight_three_gets_three_of_four(acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "PLAN_WEIGHTS", {"standard": 1.0, "large": 3.0})
    put_on_plan(acme, "large")
    queued(acme, 60)
    queued(globex, 60)

    first = Counter(lease.tenant_id for lease in drained()[:40])

    assert first[acme.tenant_id] == pytest.approx(30, abs=1)


def test_an_idle_tenant_has_saved_up_nothing(acme: Cast, globex: Cast) -> None:
    queued(acme, 50)
    drained()
    queued(globex, 10)
    queued(acme, 10)

    order = [lease.tenant_id for lease in drained()]

    assert abs(Counter(order[:10])[acme.tenant_id] - 5) <= 1


def test_a_higher_priority_goes_first_and_a_lower_one_never_starves(acme: Cast, globex: Cast) -> None:
    queued(acme, 1, priority=-10)
    queued(globex, 40, priority=10)

    assert claim_next("gpu.query", worker="w").tenant_id == globex.tenant_id  # type: ignore[union-attr]
    assert claim_next("gpu.query", worker="w", any_priority=True).tenant_id == acme.tenant_id  # type: ignore[union-attr]


def test_a_lower_priority_starves_neither_while_something_else_is_away(acme: Cast, globex: Cast) -> None:
    breakers.opened(breakers.DESCRIBER, code="away", message="")
    queued(acme, 3, priority=5)
    queued(globex, 1)
    claims(1)
    lease = claim_next("gpu.query", worker="w", any_priority=True)
    assert lease is not None
    assert lease.tenant_id == globex.tenant_id


def test_a_job_that_is_wanted_once_more_pays_for_its_run(acme: Cast, globex: Cast) -> None:
    def ring() -> None:
        with acme.scope():
            services.enqueue(kind=JobKind.ASSEMBLE_VIDEO, subject_id=UUID(int=1), dedupe_key="assemble")

    ring()
    (lease,) = claims(1, "gpu.index")
    ring()
    queued(globex, 1, kind=JobKind.OBSERVE_SEGMENT)
    queued(acme, 1, kind=JobKind.OBSERVE_SEGMENT)
    with services.checkpoint(lease):
        services.complete(lease)
    order = [(one.tenant_id, one.kind) for one in drained("gpu.index")]
    assert order == [
        (globex.tenant_id, JobKind.OBSERVE_SEGMENT),
        (acme.tenant_id, JobKind.ASSEMBLE_VIDEO),
        (acme.tenant_id, JobKind.OBSERVE_SEGMENT),
    ]


def test_a_tenant_at_its_cap_is_passed_over_and_no_bell_rings_for_it(
    acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "JOBS_PER_TENANT", {"gpu.query": 2})
    queued(acme, 5)
    held = [claim_next("gpu.query", worker="w") for _ in range(2)]
    assert all(held)
    assert (claim_next("gpu.query", worker="w"), runnable("gpu.query", most=32)["gpu.query"]) == (None, 0)
    assert {job.reason for job in next_jobs("gpu.query", limit=10)} == {"tenant_at_cap"}

    queued(globex, 1)
    other = claim_next("gpu.query", worker="w")

    assert other is not None
    assert other.tenant_id == globex.tenant_id
    assert held[0] is not None
    with services.checkpoint(held[0]):
        services.complete(held[0])
    assert runnable("gpu.query", most=32)["gpu.query"] == 3
    assert claim_next("gpu.query", worker="w") is not None


def test_a_throttled_tenant_runs_as_many_jobs_of_a_class_as_staff_allow(
    acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_plan(acme, "large")
    monkeypatch.setattr(settings, "JOBS_PER_TENANT", {"gpu.query": 8.0, "gpu.query@large": 9.0})
    queued(acme, 5)
    queued(acme, 2, kind=JobKind.OBSERVE_SEGMENT)
    going_on = claims(2)
    with acme.scope():
        assert throttle(Throttle(jobs_at_once=1)) == Throttle()
    queued(globex, 3)

    assert runnable("gpu.query", "gpu.index", most=32) == {"gpu.query": 3, "gpu.index": 2}
    assert {lease.tenant_id for lease in claims(8)} == {globex.tenant_id}
    assert {job.reason for job in next_jobs("gpu.query", limit=10)} == {"tenant_at_cap"}
    assert len(claims(8, "gpu.index")) == 1, "each class has its own number"
    assert services.heartbeat(going_on[0]), "what runs goes on"

    for lease in going_on:
        with services.checkpoint(lease):
            services.complete(lease)
    (one,) = claims(8)
    assert one.tenant_id == acme.tenant_id
    with acme.scope():
        throttle(Throttle())
    assert len(claims(8)) == 2


def test_webhooks_and_the_services_own_work_are_not_slowed(acme: Cast) -> None:
    for kind in (JobKind.DELIVER_WEBHOOK, JobKind.PURGE_VIDEO):
        queued(acme, 2, kind=kind)
    with acme.scope():
        throttle(Throttle(jobs_at_once=1))
    assert [len(claims(3, QUEUE_OF[kind])) for kind in (JobKind.DELIVER_WEBHOOK, JobKind.PURGE_VIDEO)] == [2, 2]


def test_a_plan_has_its_own_cap_in_a_class(acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_plan(acme, "large")
    monkeypatch.setattr(settings, "JOBS_PER_TENANT", {"gpu.query": 1.0, "gpu.query@large": 3.0, "cpu.probe@large": 1.0})
    queued(acme, 5)
    queued(globex, 5)
    assert runnable("gpu.query", "cpu.probe", most=32) == {"gpu.query": 10, "cpu.probe": 0}

    claimed = Counter(lease.tenant_id for lease in claims(8))

    assert claimed == {acme.tenant_id: 3, globex.tenant_id: 1}
    assert runnable("gpu.query", most=32) == {"gpu.query": 0}
    assert {job.reason for job in next_jobs("gpu.query", limit=10)} == {"tenant_at_cap"}


def test_a_cap_of_a_plan_holds_in_a_class_without_another(
    acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_plan(acme, "trial")
    monkeypatch.setattr(settings, "JOBS_PER_TENANT", {"gpu.query@trial": 1.0})
    queued(acme, 3)
    queued(globex, 3)

    assert Counter(lease.tenant_id for lease in claims(6)) == {acme.tenant_id: 1, globex.tenant_id: 3}


def test_two_deliveries_to_one_endpoint_run_at_once_and_no_third(acme: Cast) -> None:
    slow, quick = uuid4(), uuid4()
    with acme.scope():
        for endpoint, number in ((slow, 5), (quick, 1)):
            for _ in range(number):
                subject = uuid4()
                services.enqueue(
                    kind=JobKind.DELIVER_WEBHOOK, subject_id=subject, dedupe_key=f"webhook:{subject}", lane=endpoint
                )
    leases = [claim_next("io.webhook", worker="w") for _ in range(4)]

    with acme.scope():
        lanes = Counter(Job.objects.filter(state=JobState.RUNNING).values_list("lane", flat=True))
    assert lanes == {slow: 2, quick: 1}
    assert leases[-1] is None


def test_slow_sources_of_one_tenant_hold_no_fetch_of_another(acme: Cast, globex: Cast) -> None:
    """Two fetches at most from one host, and four of one tenant, whatever it has queued."""
    one_host = uuid4()
    lanes = [one_host] * 10 + [uuid4() for _ in range(10)]
    for cast, hosts in ((acme, lanes), (globex, [uuid4()])):
        with cast.scope():
            for host in hosts:
                subject = uuid4()
                services.enqueue(
                    kind=JobKind.FETCH_SEGMENT, subject_id=subject, dedupe_key=f"fetch:{subject}", lane=host
                )
    leases = [lease for _ in range(8) if (lease := claim_next("io.fetch", worker="w")) is not None]

    assert Counter(lease.tenant_id for lease in leases) == {acme.tenant_id: 4, globex.tenant_id: 1}
    with acme.scope():
        assert Job.objects.filter(state=JobState.RUNNING, lane=one_host).count() == 2
    queued(globex, 1, kind=JobKind.PROBE_VIDEO)
    assert claim_next("cpu.probe", worker="w") is not None, "a probe has slots of its own"


def test_a_job_that_lost_its_worker_runs_before_new_ones(acme: Cast) -> None:
    queued(acme, 3)
    lost = claim_next("gpu.query", worker="dead")
    assert lost is not None
    with acme.scope():
        Job.objects.filter(id=lost.job_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert runnable("gpu.query", most=32)["gpu.query"] == 3

    heir = claim_next("gpu.query", worker="w")

    assert heir is not None
    assert (heir.job_id, heir.token, heir.attempt) == (lost.job_id, lost.token + 1, 2)


def test_a_job_runs_once_its_time_has_come_by_the_clock_of_the_database(acme: Cast) -> None:
    with acme.scope():
        subject = uuid4()
        job = services.enqueue(
            kind=JobKind.SEARCH_EVENTS, subject_id=subject, dedupe_key="late", wait=timedelta(minutes=5)
        )
    assert (mark_due(), claim_next("gpu.query", worker="w"), runnable("gpu.query", most=32)["gpu.query"]) == (
        0,
        None,
        0,
    )
    with acme.scope():
        Job.objects.filter(id=job.id).update(not_before=timezone.now() - timedelta(seconds=1))
    assert mark_due() == 1
    assert claim_next("gpu.query", worker="w") is not None


def test_a_claim_neither_waits_for_a_row_that_is_held_nor_takes_it(acme: Cast) -> None:
    queued(acme, 2)
    with acme.scope():
        first = next_jobs("gpu.query", limit=1)[0].job_id
        Job.objects.select_for_update().get(id=first)
        lease = claim_next("gpu.query", worker="w")
    assert lease is not None
    assert lease.job_id != first


def test_a_claim_that_stands_still_before_its_commit_holds_up_no_other(acme: Cast) -> None:
    queued(acme, 3)
    first = claim_next("gpu.query", worker="ended")
    with psycopg.connect(os.environ["DATABASE_DISPATCH_URL"]) as stopped:
        # The row that a claim writes besides its job.
        stopped.execute("UPDATE jobs_classclock SET served_tag = served_tag + 1 WHERE queue = 'gpu.query'")
        second = claim_next("gpu.query", worker="w")
        stopped.rollback()
    third = claim_next("gpu.query", worker="w")
    assert first is not None
    assert second is not None
    assert third is not None
    assert len({first.job_id, second.job_id, third.job_id}) == 3
    assert (
        ClassClock.objects.get(queue="gpu.query").served_tag
        == Job.unscoped.using("dispatch").get(id=third.job_id).fair_tag
    )


def test_jobs_whose_time_has_come_run_though_somebody_holds_the_row_of_one(acme: Cast) -> None:
    with acme.scope():
        jobs = [
            services.enqueue(
                kind=JobKind.SEARCH_EVENTS, subject_id=uuid4(), dedupe_key=f"late {n}", wait=timedelta(hours=1)
            )
            for n in range(2)
        ]
        Job.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    with acme.scope():
        Job.objects.select_for_update().get(id=jobs[0].id)
        assert mark_due() == 1
    assert mark_due() == 1


def test_jobs_that_no_further_worker_could_claim_make_no_class_late(
    acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "JOBS_PER_TENANT", {"gpu.query": 1})
    queued(acme, 2)
    assert set(oldest_runnable_age_seconds()) == {"gpu.query"}
    assert claim_next("gpu.query", worker="w") is not None
    assert oldest_runnable_age_seconds() == {}, "the tenant is at its cap"
    queued(globex, 1)
    assert set(oldest_runnable_age_seconds()) == {"gpu.query"}
    with globex.scope():
        Tenant.objects.filter(id=globex.tenant_id).update(suspended_at=timezone.now())
    assert oldest_runnable_age_seconds() == {}, "the other one is suspended"


def test_claims_at_once_never_take_the_same_job(acme: Cast, globex: Cast) -> None:
    queued(acme, 40)
    queued(globex, 40)

    def claims(worker: int) -> list[UUID]:
        try:
            return [lease.job_id for lease in iter(lambda: claim_next("gpu.query", worker=str(worker)), None)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        taken = [job_id for ids in pool.map(claims, range(4)) for job_id in ids]

    assert len(taken) == len(set(taken)) == 80


@pytest.mark.parametrize("seed", range(5))
def test_no_tenant_gets_far_ahead_of_its_share(acme: Cast, globex: Cast, seed: int) -> None:
    """Work done for two tenants that both wait differs by at most one job of each (Goyal et al., theorem 1)."""
    chance = random.Random(seed)
    kinds = [JobKind.ANSWER_QUESTION, JobKind.SEARCH_EVENTS, JobKind.GRADE_COMPARISON]
    for _ in range(15):
        queued(chance.choice([acme, globex]), chance.randint(1, 4), kind=chance.choice(kinds))
    waiting = {cast.tenant_id: 0 for cast in (acme, globex)}
    for job in next_jobs("gpu.query", limit=1_000):
        waiting[job.tenant_id] += 1
    work = dict.fromkeys(waiting, 0.0)
    largest = max(COST_OF.get(kind, 1.0) for kind in kinds)
    while all(waiting.values()):
        lease = claim_next("gpu.query", worker="w")
        assert lease is not None
        work[lease.tenant_id] += COST_OF.get(lease.kind, 1.0)
        waiting[lease.tenant_id] -= 1
        assert abs(work[acme.tenant_id] - work[globex.tenant_id]) <= 2 * largest


def test_a_worker_drains_its_class_and_takes_any_priority_now_and_then(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    monkeypatch.setattr("workers.runner.run_leased", lambda lease, worker: ran.append(lease.attempt))
    queued(acme, 2 * ANY_PRIORITY_EVERY, priority=5)
    queued(acme, 2, priority=-5)

    assert run_class("gpu.query", worker="w") == len(ran) == 2 * ANY_PRIORITY_EVERY + 2


def test_an_operator_sees_what_runs_next_and_why(acme: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    queued(acme, 3, priority=10)
    claim_next("gpu.query", worker="w")

    call_command("queue", "gpu.query")

    shown = capsys.readouterr().out
    assert "gpu.query: 2 wait, 1 runs" in shown
    assert "gpu.index" not in shown
    assert shown.count("answer_question") == 2
    assert str(acme.tenant_id) in shown


def test_an_operator_names_classes_by_their_beginnings(database: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("queue", "system", "io.f")
    shown = capsys.readouterr().out
    assert [line.partition(":")[0] for line in shown.splitlines()] == ["io.fetch", "system.delete", "system.sweep"]
    with pytest.raises(CommandError, match=r"no class is called gpu\.video"):
        call_command("queue", "gpu.video")


def test_a_tenant_that_moves_begins_nothing_by_any_claim(acme: Cast) -> None:
    queued(acme, 2)
    running = claim_next("gpu.query", worker="w")
    assert running is not None
    with acme.scope():
        Tenant.objects.update(fence=Fence.DRAINING)
        (waiting,) = Job.objects.filter(state=JobState.QUEUED)

    assert claim_next("gpu.query", worker="w") is None
    with acme.scope():
        assert services.claim(waiting.id, worker="w") is None, "nor as what follows a job"
        assert services.heartbeat(running), "what runs may end"
        Tenant.objects.update(fence=Fence.NONE)
        assert services.claim(waiting.id, worker="w") is not None
