"""Sends deliveries again: one, or all that an endpoint has missed since a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import DateTimeField, F, QuerySet, Value
from django.db.models.functions import Greatest, Now

from backend.jobs.retention import kept_for
from backend.jobs.services import after
from backend.webhooks import queries
from backend.webhooks.models import Delivery, DeliveryState, Endpoint, EndpointState, WebhookEvent
from backend.webhooks.services import LIFETIME, WebhookError, open_deliveries, schedule_first_attempts

MOST = 1_000
"""Maximum number of events that one request looks at."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Result of a recovery. queued: deliveries on their way now. next_since: time to go on from; None at the end."""

    queued: int
    next_since: datetime | None


def replay(*, delivery: Delivery) -> Delivery:
    """Send a delivery again at once, with the same webhook-id and body; its schedule of attempts starts again.

    Raises WebhookError: delivery_pending (it will be sent anyway) or endpoint_disabled.
    """
    row: Delivery = Delivery.objects.select_for_update(of=("self",)).get(id=delivery.id)
    if row.state == DeliveryState.PENDING:
        raise WebhookError("delivery_pending", "The delivery is still being attempted.")
    if not Endpoint.objects.filter(id=row.endpoint_id, state=EndpointState.ENABLED).exists():
        raise WebhookError("endpoint_disabled", "Enable the endpoint before replaying its deliveries.")
    _queue_again(row.endpoint_id, [row])
    restarted: Delivery = Delivery.objects.select_related("event").get(id=row.id)
    return restarted


def replay_since(*, endpoint: Endpoint, since: datetime, include_succeeded: bool = False) -> Replayed:
    """Send an endpoint the events of its types since a time that it has not got, oldest first.

    A delivery that failed for good starts again. An event without a delivery, because the endpoint was disabled then,
    gets one. Events that are older than the history of deliveries are left out, because nobody knows any more whether
    they were delivered. include_succeeded: deliveries that succeeded are sent again too, for a receiver that lost its
    data. At most MOST events are looked at. Raises WebhookError("endpoint_disabled").
    """
    row = queries.lock_endpoint(endpoint.id)
    if row is None or row.state != EndpointState.ENABLED:
        raise WebhookError("endpoint_disabled", "Enable the endpoint before replaying its deliveries.")
    events = list(_events_since(row, since)[: MOST + 1])
    looked_at, rest = events[:MOST], events[MOST:]
    states = [DeliveryState.DEAD, DeliveryState.SUCCEEDED] if include_succeeded else [DeliveryState.DEAD]
    mine = Delivery.objects.filter(endpoint_id=row.id, event_id__in=[event.id for event in looked_at])
    known = set(mine.values_list("event_id", flat=True))
    over = list(mine.filter(state__in=states).select_for_update(of=("self",)).order_by("id"))
    _queue_again(row.id, over)
    missed = [event for event in looked_at if event.id not in known and event.type != "webhook.test"]
    if missed:
        open_deliveries(row, missed)
    return Replayed(len(over) + len(missed), rest[0].created_at if rest else None)


def _events_since(endpoint: Endpoint, since: datetime) -> QuerySet[WebhookEvent]:
    events: QuerySet[WebhookEvent] = WebhookEvent.objects.filter(
        created_at__gte=Greatest(Value(since), after(-kept_for()), output_field=DateTimeField())
    ).order_by("created_at", "id")
    return events.filter(type__in=[*endpoint.event_types, "webhook.test"]) if endpoint.event_types else events


def _queue_again(endpoint_id: UUID, deliveries: Sequence[Delivery]) -> None:
    if not deliveries:
        return
    Delivery.objects.filter(id__in=[row.id for row in deliveries]).update(
        state=DeliveryState.PENDING,
        attempts_before=F("attempts"),
        next_attempt_at=Now(),
        completed_at=None,
        expires_at=after(LIFETIME),
    )
    schedule_first_attempts(endpoint_id, {row.id: row.attempts + 1 for row in deliveries})
