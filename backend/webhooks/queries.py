"""Reads of webhook endpoints, deliveries and attempts, within the entered tenant."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.webhooks.models import Attempt, Delivery, Endpoint, EndpointState


def endpoints() -> QuerySet[Endpoint]:
    return Endpoint.objects.all()


def subscribed(event_type: str) -> list[Endpoint]:
    """Return the enabled endpoints that want this type; an endpoint that names no types wants all."""
    enabled = Endpoint.objects.filter(state=EndpointState.ENABLED).order_by("id")
    return [endpoint for endpoint in enabled if not endpoint.event_types or event_type in endpoint.event_types]


def deliveries(*, endpoint_id: UUID | None = None, state: str = "", event_type: str = "") -> QuerySet[Delivery]:
    """Return deliveries with their events; an empty argument leaves its condition out."""
    rows: QuerySet[Delivery] = Delivery.objects.select_related("event")
    conditions: dict[str, Any] = {"endpoint_id": endpoint_id, "state": state, "event__type": event_type}
    return rows.filter(**{name: value for name, value in conditions.items() if value})


def attempts(delivery_id: UUID) -> QuerySet[Attempt]:
    return Attempt.objects.filter(delivery_id=delivery_id)
