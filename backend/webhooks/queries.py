"""Reads of webhook endpoints, deliveries and attempts, within the entered tenant."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from backend.tenancy.makers import Maker
from backend.webhooks.models import Attempt, Delivery, Endpoint, EndpointState, WebhookEvent


def endpoints() -> QuerySet[Endpoint]:
    return Endpoint.objects.all()


def made_by(maker: Maker) -> QuerySet[Endpoint]:
    """Return the endpoints whose URL a maker chose."""
    return endpoints().filter(maker.made())


def subscribed(event_type: str) -> list[Endpoint]:
    """Return the enabled endpoints that want this type; an endpoint that names no types wants all."""
    enabled = Endpoint.objects.filter(state=EndpointState.ENABLED).order_by("id")
    return [endpoint for endpoint in enabled if not endpoint.event_types or event_type in endpoint.event_types]


def lock_endpoint(endpoint_id: UUID) -> Endpoint | None:
    """Lock an endpoint's row until the transaction ends; None if it is gone.

    A transaction locks one endpoint only, after its job and delivery.
    """
    endpoint: Endpoint | None = Endpoint.objects.select_for_update(no_key=True).filter(id=endpoint_id).first()
    return endpoint


_NUMBER = """
WITH numbered AS (
    SELECT id, row_number() OVER (ORDER BY id) AS position FROM webhooks_delivery
    WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND endpoint_sequence IS NULL AND state = 'pending'
)
UPDATE webhooks_delivery SET endpoint_sequence = %(last)s + numbered.position FROM numbered
WHERE webhooks_delivery.tenant_id = %(tenant)s AND webhooks_delivery.id = numbered.id
"""


def number_deliveries(endpoint: Endpoint) -> None:
    """Give every pending delivery of a locked endpoint that has no order number the next one, oldest first."""
    parameters: dict[str, Any] = {"tenant": endpoint.tenant_id, "endpoint": endpoint.id, "last": endpoint.last_sequence}
    with connection.cursor() as cursor:
        cursor.execute(_NUMBER, parameters)
        numbered = cursor.rowcount
    Endpoint.objects.filter(id=endpoint.id).update(last_sequence=endpoint.last_sequence + numbered)


def events(*, type: str = "") -> QuerySet[WebhookEvent]:
    """Return the events of the tenant, whether an endpoint wanted them or not; of one type, if given."""
    rows: QuerySet[WebhookEvent] = WebhookEvent.objects.all()
    return rows.filter(type=type) if type else rows


def deliveries(*, endpoint_id: UUID | None = None, state: str = "", event_type: str = "") -> QuerySet[Delivery]:
    """Return deliveries with their events; an empty argument leaves its condition out."""
    rows: QuerySet[Delivery] = Delivery.objects.select_related("event")
    conditions: dict[str, Any] = {"endpoint_id": endpoint_id, "state": state, "event__type": event_type}
    return rows.filter(**{name: value for name, value in conditions.items() if value})


def attempts(delivery_id: UUID) -> QuerySet[Attempt]:
    return Attempt.objects.filter(delivery_id=delivery_id)
