"""Receivers that hang, or are away for an hour, and fail three of ten requests besides: everything arrives, once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db.models import F
from django.db.models.functions import Now

from backend.jobs.models import Job, JobState
from backend.webhooks import services
from backend.webhooks.models import Attempt, BreakerState, Delivery, DeliveryState, Endpoint, EndpointState
from tests.faults.chaos.doors import Door, Way
from tests.webhooks.receiver import ScriptedReceiver, receiving
from tests.webhooks.sending import sending, until
from workers.webhooks import webhook_delivery

pytestmark = pytest.mark.slow

DELIVERIES = 20
STEP = timedelta(seconds=30)


@pytest.fixture
def receiver() -> Iterator[ScriptedReceiver]:
    """A receiver that answers three of ten requests with an error, a redirect or a broken reply."""
    dice = random.Random(11)
    faults = [(503, {}, b""), (429, {}, b""), (302, {"location": "http://127.0.0.1:9/"}, b""),
              (200, {"content-length": "x"}, b"")]  # fmt: skip
    replies = [dice.choice(faults) if dice.random() < 0.3 else (204, {}, b"") for _ in range(1_000)]
    with receiving(replies=replies) as script:
        yield script


@pytest.fixture
def door(receiver: ScriptedReceiver) -> Iterator[Door]:
    door = Door(receiver.url)
    yield door
    door.close()


def emit(cast: Any, url: str) -> list[UUID]:
    with cast.scope():
        endpoint, _ = services.create_endpoint(url=url)
        return [services.send_test(endpoint=endpoint).id for _ in range(DELIVERIES)]


def states(cast: Any) -> Counter[str]:
    with cast.scope():
        return Counter(Delivery.objects.values_list("state", flat=True))


def is_idle(cast: Any) -> bool:
    """Whether nothing is being sent, and nothing may be sent now."""
    with cast.scope():
        waiting = Job.objects.filter(state=JobState.QUEUED, not_before__lte=Now())
        return not (waiting.exists() or Job.objects.filter(state=JobState.RUNNING).exists())


def pass_time(cast: Any, seconds: timedelta) -> None:
    """Let time pass, in steps, for deliveries that wait and for the next probe."""
    for _ in range(round(seconds / STEP)):
        with cast.scope():
            Job.objects.filter(state=JobState.QUEUED).update(not_before=F("not_before") - STEP)
            Endpoint.objects.filter(probe_at__isnull=False).update(probe_at=F("probe_at") - STEP)
        until(lambda: is_idle(cast))


def deliver_all(cast: Any) -> None:
    """Let days pass until everything is delivered."""
    for _ in range(72 * 4):
        if states(cast) == {DeliveryState.SUCCEEDED: DELIVERIES}:
            return
        pass_time(cast, timedelta(minutes=15))


def check_delivered(cast: Any, receiver: ScriptedReceiver, ids: list[UUID]) -> None:
    assert states(cast) == {DeliveryState.SUCCEEDED: DELIVERIES}
    with cast.scope():
        accepted = Attempt.objects.filter(status_code=204).values_list("delivery_id", flat=True)
        assert sorted(accepted) == sorted(ids), "each is accepted once"
        endpoint = Endpoint.objects.get()
        assert (endpoint.state, endpoint.breaker) == (EndpointState.ENABLED, BreakerState.CLOSED)
    bodies = {(each.headers["webhook-id"], each.body) for each in receiver.received}
    assert len(bodies) == DELIVERIES, "every attempt of a delivery has the same bytes"


def test_a_receiver_that_is_away_for_an_hour_gets_everything_once(
    acme: Any, receiver: ScriptedReceiver, door: Door
) -> None:
    with sending():
        door.turn(Way.SHUT)
        ids = emit(acme, door.url)
        until(lambda: is_idle(acme))
        pass_time(acme, timedelta(hours=1))
        with acme.scope():
            assert Endpoint.objects.get().breaker != BreakerState.CLOSED
            assert sum(Delivery.objects.values_list("attempts", flat=True)) < DELIVERIES, "most of them only wait"
        assert (states(acme), receiver.received) == ({DeliveryState.PENDING: DELIVERIES}, [])
        door.turn(Way.OPEN)
        deliver_all(acme)
    check_delivered(acme, receiver, ids)


def test_a_receiver_that_hangs_gets_everything_once(
    acme: Any, receiver: ScriptedReceiver, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_delivery, "TIMEOUT_S", 0.5)
    with sending():
        door.turn(Way.HANGING)
        ids = emit(acme, door.url)
        until(lambda: is_idle(acme))
        with acme.scope():
            codes = set(Attempt.objects.values_list("error_code", flat=True))
            assert "timeout" in codes
            assert Endpoint.objects.get().breaker == BreakerState.OPEN
        door.turn(Way.SHUT)  # what hung is ended without reaching the receiver
        door.turn(Way.OPEN)
        deliver_all(acme)
    check_delivered(acme, receiver, ids)
