"""Recovery: what a receiver missed is sent again, and a tenant hears that an endpoint was disabled."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone
from uuid6 import uuid7

from backend.api import public_ids
from backend.webhooks import recovery, services
from backend.webhooks.attempts import SCHEDULE
from backend.webhooks.models import Delivery, DeliveryState, Endpoint, EndpointState, WebhookEvent
from tests.webhooks.delivering import make_attempt
from tests.webhooks.receiver import receiving

DATA = {"id": "vid_1", "object": "video"}


def endpoint_of(cast: Any, url: str = "https://example.com/hook", **values: Any) -> Endpoint:
    with cast.scope():
        return services.create_endpoint(url=url, **values)[0]


def emit(cast: Any, type: str = "video.ready") -> WebhookEvent:
    with cast.scope():
        event = services.emit(type=type, resource_id=uuid7(), data=DATA)
        assert event is not None
        return event


def replay(cast: Any, endpoint: Endpoint, since: Any, **values: Any) -> Any:
    where = f"/v1/webhook-endpoints/{public_ids.encode('whe', endpoint.id)}/replay"
    return cast.client.post(where, {"since": since.isoformat(), **values}, format="json")


def test_an_event_whose_delivery_is_no_longer_kept_is_not_taken_for_missed(acme: Any) -> None:
    endpoint = endpoint_of(acme)
    kept, forgotten = emit(acme), emit(acme)
    with acme.scope():
        # The sweep of history leaves the last event of a change, and takes its delivery.
        for event, days in ((kept, settings.KEEP_HISTORY_DAYS - 1), (forgotten, settings.KEEP_HISTORY_DAYS + 1)):
            Delivery.objects.filter(event=event).delete()
            WebhookEvent.objects.filter(id=event.id).update(created_at=Now() - timedelta(days=days))
    assert replay(acme, endpoint, timezone.now() - timedelta(days=365)).json()["queued"] == 1
    with acme.scope():
        assert list(Delivery.objects.values_list("event_id", flat=True)) == [kept.id]


def test_dead_and_missed_events_since_a_time_are_sent_and_nothing_else(acme: Any) -> None:
    endpoint = endpoint_of(acme, event_types=["video.ready"])
    emit(acme)
    since = timezone.now()
    dead, succeeded, pending = emit(acme), emit(acme), emit(acme)
    with acme.scope():
        old, *_ = Delivery.objects.order_by("id")
        Delivery.objects.filter(event__in=[old.event_id, dead.id]).update(state=DeliveryState.DEAD, attempts=10)
        Delivery.objects.filter(event=succeeded).update(state=DeliveryState.SUCCEEDED, attempts=1)
        Endpoint.objects.update(state=EndpointState.AUTO_DISABLED)
    missed, _ = emit(acme), emit(acme, "video.failed")

    assert replay(acme, endpoint, since).json()["code"] == "endpoint_disabled"
    with acme.scope():
        services.update_endpoint(endpoint=endpoint, enabled=True)
    reply = replay(acme, endpoint, since)

    assert (reply.status_code, reply.json()) == (202, {"queued": 2, "next_since": None})
    with acme.scope():
        rows = {row.event_id: row for row in Delivery.objects.all()}
        assert {event: row.state for event, row in rows.items()} == {
            old.event_id: DeliveryState.DEAD,
            dead.id: DeliveryState.PENDING,
            succeeded.id: DeliveryState.SUCCEEDED,
            pending.id: DeliveryState.PENDING,
            missed.id: DeliveryState.PENDING,
        }
        assert (rows[dead.id].attempts, rows[dead.id].attempts_before) == (10, 10)
    assert replay(acme, endpoint, since).json()["queued"] == 0, "a repetition finds nothing left"
    assert replay(acme, endpoint, since, include_succeeded=True).json()["queued"] == 1


def test_a_replay_starts_the_schedule_again_with_the_same_id_and_bytes(acme: Any) -> None:
    with receiving(500, 500, 200) as receiver:
        endpoint = endpoint_of(acme, receiver.url)
        since = emit(acme).created_at
        with acme.scope():
            delivery = Delivery.objects.get()
            Delivery.objects.update(attempts=len(SCHEDULE) - 1)
        assert make_attempt(acme, delivery.id) is None
        assert replay(acme, endpoint, since).json()["queued"] == 1
        wait = make_attempt(acme, delivery.id)
        assert wait is not None
        assert wait < timedelta(seconds=6), "the second attempt of a new schedule follows after five seconds"
        make_attempt(acme, delivery.id)

    with acme.scope():
        assert Delivery.objects.get().state == DeliveryState.SUCCEEDED
    assert len({(each.headers["webhook-id"], each.body) for each in receiver.received}) == 1


def test_a_long_recovery_goes_on_where_it_stopped(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "MOST", 2)
    since = timezone.now()
    events = [emit(acme) for _ in range(5)]
    endpoint = endpoint_of(acme)
    queued, at = [], since
    while at is not None:
        with acme.scope():
            result = recovery.replay_since(endpoint=endpoint, since=at)
        queued.append(result.queued)
        at = result.next_since

    assert queued == [2, 2, 1]
    with acme.scope():
        assert list(Delivery.objects.order_by("id").values_list("event_id", flat=True)) == [each.id for each in events]


def test_order_numbers_have_no_gaps_and_follow_the_events(acme: Any) -> None:
    with receiving() as receiver:
        endpoint_of(acme, receiver.url)
        for _ in range(3):
            emit(acme)
        with acme.scope():
            ids = list(Delivery.objects.order_by("id").values_list("id", flat=True))
        for delivery_id in reversed(ids):
            make_attempt(acme, delivery_id)
        emit(acme)
        with acme.scope():
            last = Delivery.objects.order_by("-id")[0].id
        make_attempt(acme, last)

    assert [json.loads(each.body)["endpoint_sequence"] for each in receiver.received] == [3, 2, 1, 4]
    with acme.scope():
        assert Endpoint.objects.get().last_sequence == 4


def test_a_disabled_endpoint_is_reported_to_the_others(acme: Any) -> None:
    with receiving(410) as gone:
        broken = endpoint_of(acme, gone.url, event_types=["video.ready"])
        emit(acme)
        other = endpoint_of(acme)
        with acme.scope():
            delivery_id = Delivery.objects.get().id
        make_attempt(acme, delivery_id)

    with acme.scope():
        row = Endpoint.objects.get(id=broken.id)
        assert (row.state, row.disabled_reason) == (EndpointState.AUTO_DISABLED, "gone")
        notice = Delivery.objects.get(endpoint=other)
        body = json.loads(WebhookEvent.objects.get(id=notice.event_id).body)
        assert body["type"] == "webhook_endpoint.disabled"
        assert body["data"] == {
            "id": public_ids.encode("whe", broken.id),
            "object": "webhook_endpoint",
            "url": gone.url,
            "reason": "gone",
            "disabled_at": row.disabled_at.isoformat().replace("+00:00", "Z"),
        }
        assert Delivery.objects.filter(endpoint=broken, event=notice.event_id).count() == 0


def test_a_change_read_before_an_auto_disable_does_not_undo_it(acme: Any) -> None:
    endpoint = endpoint_of(acme)
    with acme.scope():
        Endpoint.objects.update(state=EndpointState.AUTO_DISABLED, dead_deliveries=5, disabled_at=Now())
        changed = services.update_endpoint(endpoint=endpoint, description="read long ago")

    assert (changed.state, changed.dead_deliveries) == (EndpointState.AUTO_DISABLED, 5)
    assert changed.description == "read long ago"


def test_foreign_events_are_never_replayed(acme: Any, globex: Any) -> None:
    since = timezone.now()
    emit(globex)
    endpoint = endpoint_of(acme)

    assert replay(acme, endpoint, since).json() == {"queued": 0, "next_since": None}
    assert replay(globex, endpoint, since).status_code == 404
