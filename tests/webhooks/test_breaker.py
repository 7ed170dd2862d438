"""The breaker of an endpoint: when it opens, what it holds back, how it closes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from backend.jobs import services as jobs
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind, JobState
from backend.webhooks import breaker, services
from backend.webhooks.models import Attempt, BreakerState, Delivery, DeliveryState, Endpoint, EndpointState
from tests.webhooks.delivering import make_attempt
from tests.webhooks.receiver import receiving
from workers.webhooks.webhook_delivery import load, record, send


def endpoint_with(cast: Any, url: str, count: int) -> list[UUID]:
    with cast.scope():
        endpoint, _ = services.create_endpoint(url=url)
        return [services.send_test(endpoint=endpoint).id for _ in range(count)]


def due(cast: Any) -> int:
    with cast.scope():
        return int(Job.objects.filter(state=JobState.QUEUED, due=True, not_before__lte=Now()).count())


def let_probe(cast: Any) -> None:
    """Let the time of the next probe come."""
    with cast.scope():
        Endpoint.objects.update(probe_at=Now())
        Job.objects.filter(state=JobState.QUEUED).update(not_before=Now(), due=True)


def opened(cast: Any, url: str, count: int) -> list[UUID]:
    """Make an endpoint whose first five attempts fail, so that its breaker is open."""
    ids = endpoint_with(cast, url, count)
    for delivery_id in ids[: breaker.OPENS_AFTER]:
        make_attempt(cast, delivery_id)
    return ids


def test_five_failures_in_a_row_open_it_and_all_deliveries_wait_without_an_attempt(acme: Any) -> None:
    with receiving(*[503] * 5) as receiver:
        opened(acme, receiver.url, 8)

    with acme.scope():
        endpoint = Endpoint.objects.get()
        assert (endpoint.breaker, endpoint.failures, endpoint.state) == (BreakerState.OPEN, 5, EndpointState.ENABLED)
        waits = endpoint.probe_at - timezone.now()
        assert timedelta(seconds=20) < waits <= breaker.FIRST_WAIT
        assert sorted(Delivery.objects.values_list("attempts", flat=True)) == [0] * 3 + [1] * 5
        assert Job.objects.filter(state=JobState.QUEUED, not_before__lt=endpoint.probe_at).count() == 0
    assert due(acme) == 0
    assert len(receiver.received) == 5
    assert claim_next("io.webhook", worker="w") is None


def test_four_failures_and_a_success_leave_it_closed(acme: Any) -> None:
    with receiving(503, 503, 503, 503, 200) as receiver:
        for delivery_id in endpoint_with(acme, receiver.url, 5):
            make_attempt(acme, delivery_id)

    with acme.scope():
        endpoint = Endpoint.objects.get()
        assert (endpoint.breaker, endpoint.failures) == (BreakerState.CLOSED, 0)


def test_an_event_emitted_while_it_is_open_waits_for_the_probe_too(acme: Any) -> None:
    with receiving(*[503] * 5) as receiver:
        opened(acme, receiver.url, 5)
    with acme.scope():
        services.send_test(endpoint=Endpoint.objects.get())
    assert due(acme) == 0


def test_one_delivery_probes_while_the_others_wait(acme: Any) -> None:
    with receiving(*[503] * 5) as receiver:
        opened(acme, receiver.url, 8)
        let_probe(acme)
        probe, other = claim_next("io.webhook", worker="w"), claim_next("io.webhook", worker="w")
        assert probe is not None
        assert other is not None
        outgoing = load(probe)
        assert outgoing is not None
        assert load(other) is None, "the second one is put back"

        with acme.scope():
            endpoint = Endpoint.objects.get()
            assert (endpoint.breaker, endpoint.probing) == (BreakerState.HALF_OPEN, probe.subject_id)
            job = Job.objects.get(id=other.job_id)
            assert (job.state, job.attempt) == (JobState.QUEUED, 0)
        assert due(acme) == 0

        record(probe, outgoing, asyncio.run(send(outgoing, at=timezone.now())))

    with acme.scope():
        endpoint = Endpoint.objects.get()
        assert (endpoint.breaker, endpoint.failures, endpoint.opened_at) == (BreakerState.CLOSED, 0, None)
        fresh = Job.objects.filter(state=JobState.QUEUED, not_before__lte=Now() + timedelta(seconds=1))
        assert fresh.count() == 2, "those that were never attempted go now; the others keep the time of their schedule"


def test_a_probe_that_fails_doubles_the_wait_up_to_half_an_hour(acme: Any) -> None:
    waits = []
    with receiving(*[503] * 20) as receiver:
        ids = opened(acme, receiver.url, 14)
        for delivery_id in ids[5:]:
            with acme.scope():
                endpoint = Endpoint.objects.get()
                waits.append(round((endpoint.probe_at - timezone.now()).total_seconds() / 30))
            let_probe(acme)
            make_attempt(acme, delivery_id)

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    with acme.scope():
        assert Attempt.objects.count() == 14


def test_a_probe_whose_process_died_is_followed_by_another(acme: Any) -> None:
    with receiving(*[503] * 5) as receiver:
        ids = opened(acme, receiver.url, 7)
        with acme.scope():
            Endpoint.objects.update(breaker=BreakerState.HALF_OPEN, probing=ids[5], probe_at=Now())
        make_attempt(acme, ids[6])

    with acme.scope():
        assert Endpoint.objects.get().breaker == BreakerState.CLOSED
        assert Delivery.objects.get(id=ids[6]).state == DeliveryState.SUCCEEDED


def test_a_receiver_that_asks_for_time_gets_none_of_its_deliveries_until_then(acme: Any) -> None:
    with receiving(replies=[(429, {"retry-after": "120"}, b"")]) as receiver:
        make_attempt(acme, endpoint_with(acme, receiver.url, 3)[0])

    assert due(acme) == 0
    with acme.scope():
        endpoint = Endpoint.objects.get()
        assert endpoint.breaker == BreakerState.OPEN
        assert timedelta(seconds=110) < endpoint.probe_at - timezone.now() <= timedelta(seconds=120)


def test_enabling_or_moving_an_endpoint_closes_it(acme: Any) -> None:
    with receiving(*[503] * 5) as receiver:
        opened(acme, receiver.url, 6)
    with acme.scope():
        endpoint = Endpoint.objects.get()
        services.update_endpoint(endpoint=endpoint, description="nothing that matters")
        assert Endpoint.objects.get().breaker == BreakerState.OPEN
        services.update_endpoint(endpoint=endpoint, url="https://example.com/new")
        assert Endpoint.objects.get().breaker == BreakerState.CLOSED
        assert Job.objects.filter(state=JobState.QUEUED, not_before__lte=Now()).count() == 1


def test_a_delivery_that_waited_longer_than_its_life_is_dead(acme: Any) -> None:
    with receiving() as receiver:
        (delivery_id,) = endpoint_with(acme, receiver.url, 1)
        with acme.scope():
            Delivery.objects.update(expires_at=Now())
        assert make_attempt(acme, delivery_id) is None

    assert receiver.received == []
    with acme.scope():
        assert Delivery.objects.get().state == DeliveryState.DEAD
        assert Endpoint.objects.get().dead_deliveries == 1
        assert Job.objects.get(kind=JobKind.DELIVER_WEBHOOK).state == JobState.SUCCEEDED


def test_the_breaker_of_one_tenant_says_nothing_of_another(acme: Any, globex: Any) -> None:
    with receiving(*[503] * 5) as receiver:
        (delivery_id,) = endpoint_with(globex, receiver.url, 1)
        opened(acme, receiver.url, 5)
        make_attempt(globex, delivery_id)

    with globex.scope():
        assert Delivery.objects.get().state == DeliveryState.SUCCEEDED
        assert jobs.is_worked_on(delivery_id) is False
