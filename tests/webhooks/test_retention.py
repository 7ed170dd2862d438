"""Deliveries that ended leave after the time for which history is kept, with their attempts; others stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from backend.tenancy.secrets import seal
from backend.webhooks.models import Attempt, Delivery, DeliveryState, Endpoint, WebhookEvent
from backend.webhooks.retention import forget_old_deliveries
from tests.conftest import Cast
from tests.ekg.recorded import new_id

DAY = timedelta(days=1)


def made(age: timedelta) -> UUID:
    """Return the id of a row that was made so long ago."""
    at = int((datetime.now(UTC) - age).timestamp() * 1000)
    return UUID(int=(at << 80) | (new_id().int & (2**80 - 1)))


def deliver(cast: Cast, *, age: timedelta, state: DeliveryState, resource: UUID, sequence: int) -> UUID:
    """Write an event and its delivery with one attempt; return the event's id."""
    tenant = cast.tenant_id
    with cast.scope():
        endpoint, _ = Endpoint.objects.get_or_create(
            tenant_id=tenant, url="https://example.com", defaults={"secret": seal(b"x")}
        )
        event = WebhookEvent.objects.create(
            id=made(age), tenant_id=tenant, type="video.ready", body="{}", resource_id=resource, sequence=sequence
        )
        delivery = Delivery.objects.create(
            id=made(age), tenant_id=tenant, endpoint=endpoint, event=event, state=state, expires_at=timezone.now()
        )
        Attempt.objects.create(tenant_id=tenant, delivery=delivery, n=1)
        return event.id


@pytest.mark.parametrize("state", [DeliveryState.SUCCEEDED, DeliveryState.DEAD])
def test_what_ended_long_ago_is_deleted_for_every_tenant(acme: Cast, globex: Cast, state: DeliveryState) -> None:
    video, other = new_id(), new_id()
    deliver(acme, age=31 * DAY, state=state, resource=video, sequence=1)
    last = deliver(acme, age=31 * DAY, state=state, resource=video, sequence=2)
    pending = deliver(acme, age=31 * DAY, state=DeliveryState.PENDING, resource=other, sequence=1)
    fresh = deliver(acme, age=29 * DAY, state=state, resource=other, sequence=2)
    deliver(globex, age=40 * DAY, state=state, resource=video, sequence=1)

    # Three deliveries, and the one event that a later one follows.
    assert forget_old_deliveries() == 4
    assert forget_old_deliveries() == 0

    with acme.scope():
        assert set(Delivery.objects.values_list("event_id", flat=True)) == {pending, fresh}
        assert Attempt.objects.count() == 2
        assert set(WebhookEvent.objects.values_list("id", flat=True)) == {last, pending, fresh}
    with globex.scope():
        assert (Delivery.objects.count(), Attempt.objects.count(), WebhookEvent.objects.count()) == (0, 0, 1)
