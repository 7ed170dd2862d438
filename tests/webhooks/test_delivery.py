"""Delivering webhooks: signatures, retries, death, disabling, replay; against a real HTTP receiver."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone
from standardwebhooks import Webhook
from uuid6 import uuid7

from backend.jobs.models import Job, JobKind
from backend.webhooks import services
from backend.webhooks.attempts import SCHEDULE, Outcome, wait_after
from backend.webhooks.models import Attempt, Delivery, DeliveryState, Endpoint, EndpointState, WebhookEvent
from tests.webhooks.delivering import make_attempt as run
from tests.webhooks.receiver import Received, receiving

DATA = {"id": "whe_1", "object": "webhook_endpoint", "url": "https://example.com"}


def emit(cast: Any, url: str, **values: Any) -> tuple[UUID, str]:
    """Make an endpoint with one delivery. Returns (delivery id, secret)."""
    with cast.scope():
        _, secret = services.create_endpoint(url=url, **values)
        services.emit(type="webhook.test", resource_id=uuid7(), data=DATA)
        return Delivery.objects.get().id, secret


def verified(secret: str, received: Received) -> Any:
    return Webhook(secret).verify(received.body, received.headers)


def test_a_delivery_is_retried_with_the_same_id_and_body_and_a_new_timestamp(acme: Any) -> None:
    earlier = timezone.now() - timedelta(seconds=60)
    with receiving(500, 200) as receiver:
        delivery_id, secret = emit(acme, receiver.url)
        wait = run(acme, delivery_id, at=earlier)
        assert wait is not None
        assert timedelta(seconds=4) <= wait <= timedelta(seconds=5.5)
        with acme.scope():
            delivery = Delivery.objects.get()
            assert (delivery.state, delivery.attempts) == (DeliveryState.PENDING, 1)
            (following,) = Job.objects.filter(subject_id=delivery_id, state="queued")
            assert abs(following.not_before - delivery.next_attempt_at) < timedelta(seconds=1)
        assert run(acme, delivery_id) is None

    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-id"].startswith("msg_")
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) >= 60
    assert first.body == second.body
    assert verified(secret, first) == verified(secret, second)
    assert verified(secret, second)["data"] == DATA
    with acme.scope():
        delivery = Delivery.objects.get()
        assert (delivery.state, delivery.attempts, delivery.next_attempt_at) == (DeliveryState.SUCCEEDED, 2, None)
        attempts = Attempt.objects.order_by("n").values_list("n", "status_code", "error_code", "address")
        assert list(attempts) == [(1, 500, "http_error", "127.0.0.1"), (2, 200, "", "127.0.0.1")]
        assert Job.objects.filter(kind=JobKind.DELIVER_WEBHOOK).count() == 2


def test_a_delivery_that_is_over_is_not_sent_again(acme: Any) -> None:
    with receiving() as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        assert run(acme, delivery_id) is None
        with acme.scope():
            Job.objects.filter(subject_id=delivery_id).update(state="queued")
        assert run(acme, delivery_id) is None

    assert len(receiver.received) == 1


def test_a_redirect_is_a_failure_and_is_not_followed(acme: Any) -> None:
    with receiving() as elsewhere, receiving(replies=[(302, {"location": elsewhere.url}, b"")]) as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        assert run(acme, delivery_id) is not None

    assert elsewhere.received == []
    with acme.scope():
        assert Attempt.objects.get().error_code == "redirect_refused"


def test_410_ends_the_delivery_and_disables_the_endpoint(acme: Any) -> None:
    with receiving(410) as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        assert run(acme, delivery_id) is None

    with acme.scope():
        assert Delivery.objects.get().state == DeliveryState.DEAD
        assert Endpoint.objects.get().state == EndpointState.AUTO_DISABLED
        assert Job.objects.filter(kind=JobKind.DELIVER_WEBHOOK).count() == 1
        services.emit(type="webhook.test", resource_id=uuid7(), data=DATA)
        assert Delivery.objects.count() == 1, "a disabled endpoint gets no new deliveries"


def test_a_delivery_dies_after_the_last_attempt_and_five_deaths_disable_the_endpoint(acme: Any) -> None:
    with receiving(*[503] * 7) as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        with acme.scope():
            for _ in range(4):
                services.emit(type="webhook.test", resource_id=uuid7(), data=DATA)
            Delivery.objects.update(attempts=len(SCHEDULE) - 1)
            ids = list(Delivery.objects.order_by("id").values_list("id", flat=True))
        for n, due in enumerate(ids, start=1):
            assert run(acme, due) is None
            with acme.scope():
                endpoint = Endpoint.objects.get()
                assert endpoint.dead_deliveries == n
                assert (endpoint.state == EndpointState.ENABLED) == (n < 5)

    with acme.scope():
        assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.DEAD}
    assert len(receiver.received) == 5
    assert ids[0] == delivery_id


def test_a_success_forgives_earlier_deaths(acme: Any) -> None:
    with receiving() as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        with acme.scope():
            Endpoint.objects.update(dead_deliveries=4)
        run(acme, delivery_id)

    with acme.scope():
        assert Endpoint.objects.get().dead_deliveries == 0


def test_a_delivery_of_an_endpoint_switched_off_meanwhile_is_not_sent(acme: Any) -> None:
    with receiving() as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        with acme.scope():
            services.update_endpoint(endpoint=Endpoint.objects.get(), enabled=False)
        assert run(acme, delivery_id) is None

    assert receiver.received == []
    with acme.scope():
        assert Delivery.objects.get().state == DeliveryState.DEAD
        assert not Attempt.objects.exists()


def test_during_a_rotation_both_secrets_verify(acme: Any) -> None:
    with receiving() as receiver:
        delivery_id, old = emit(acme, receiver.url)
        with acme.scope():
            new = services.current_secret(services.rotate_secret(endpoint=Endpoint.objects.get()))
        run(acme, delivery_id)

    assert old != new
    assert verified(old, receiver.received[0]) == verified(new, receiver.received[0])


def test_after_the_overlap_only_the_new_secret_signs(acme: Any) -> None:
    with receiving() as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        with acme.scope():
            services.rotate_secret(endpoint=Endpoint.objects.get())
            Endpoint.objects.update(previous_secret_until=timezone.now())
        run(acme, delivery_id)

    assert len(receiver.received[0].headers["webhook-signature"].split(" ")) == 1


def test_the_stored_secret_is_not_readable(acme: Any) -> None:
    with receiving() as receiver:
        _, secret = emit(acme, receiver.url)
    with acme.scope():
        stored = bytes(Endpoint.objects.get().secret)

    assert secret.removeprefix("whsec_").encode() not in stored


def test_the_answer_of_a_receiver_is_kept_up_to_2_kb(acme: Any) -> None:
    with receiving(replies=[(500, {}, b"\x00" + b"x" * 100_000)]) as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        run(acme, delivery_id)

    with acme.scope():
        assert Attempt.objects.get().response_excerpt == "\ufffd" + "x" * 1_999


def test_a_receiver_that_asks_for_time_gets_it(acme: Any) -> None:
    with receiving(replies=[(429, {"retry-after": "900"}, b"")]) as receiver:
        delivery_id, _ = emit(acme, receiver.url)
        wait = run(acme, delivery_id)

    assert wait is not None
    assert timedelta(seconds=890) <= wait <= timedelta(seconds=901)


def test_nobody_there_is_an_attempt_with_a_reason(acme: Any) -> None:
    with receiving() as receiver:
        pass
    delivery_id, _ = emit(acme, receiver.url)

    assert run(acme, delivery_id) is not None
    with acme.scope():
        assert list(Attempt.objects.values_list("status_code", "error_code")) == [(None, "connection_failed")]


def test_an_attempt_recorded_by_somebody_else_is_not_recorded_again(acme: Any) -> None:
    from backend.webhooks import attempts

    with receiving() as receiver:
        delivery_id, _ = emit(acme, receiver.url)
    with acme.scope():
        outgoing = attempts.next_outgoing(delivery_id)
        assert isinstance(outgoing, attempts.Outgoing)
        outcome = Outcome(status_code=200)
        assert attempts.record_attempt(outgoing=outgoing, outcome=outcome)
        assert not attempts.record_attempt(outgoing=outgoing, outcome=outcome)
        assert Attempt.objects.count() == 1


def test_the_schedule_is_that_of_the_specification() -> None:
    waits = [wait_after(n, Outcome()) for n in range(1, 11)]

    assert waits[-1] is None
    hours = [wait.total_seconds() / 3600 for wait in waits[:-1] if wait]
    for waited, planned in zip(hours, [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24], strict=True):
        assert planned <= waited <= planned * 1.1


def test_an_event_is_written_once_per_change_and_only_for_those_who_want_it(acme: Any) -> None:
    resource = uuid7()
    with acme.scope():
        wants, _ = services.create_endpoint(url="https://example.com/a", event_types=["webhook.test"])
        services.create_endpoint(url="https://example.com/b", event_types=["video.ready"])
        every, _ = services.create_endpoint(url="https://example.com/c")
        assert services.emit(type="webhook.test", resource_id=resource, data=DATA) is not None
        assert services.emit(type="webhook.test", resource_id=resource, data=DATA) is None
        assert set(Delivery.objects.values_list("endpoint_id", flat=True)) == {wants.id, every.id}
        assert WebhookEvent.objects.count() == 1


def test_a_body_stays_under_the_limit_of_the_specification(acme: Any) -> None:
    with acme.scope(), pytest.raises(ValueError, match="20000"):
        services.emit(type="webhook.test", resource_id=uuid7(), data={"words": "ü" * 10_000})
    with acme.scope():
        assert not WebhookEvent.objects.exists()


def test_a_rolled_back_change_emits_nothing(acme: Any) -> None:
    with acme.scope():
        services.emit(type="webhook.test", resource_id=uuid7(), data=DATA)
        transaction.set_rollback(True)
    with acme.scope():
        assert not WebhookEvent.objects.exists()


def test_the_body_is_compact_json_with_type_and_time(acme: Any) -> None:
    with acme.scope():
        event = services.emit(type="webhook.test", resource_id=uuid7(), data=DATA)
        assert event is not None
        body = json.loads(event.body)

    assert list(body) == ["type", "timestamp", "sequence", "data"]
    assert datetime.fromisoformat(body["timestamp"]).utcoffset() == timedelta(0)
