"""Reads of webhook deliveries."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.console.queries.role import across_tenants
from backend.webhooks.models import Attempt, Delivery


def latest_deliveries(resource_id: UUID) -> QuerySet[Any]:
    """Return the latest 50 deliveries about one video or question, with their events and endpoints."""
    deliveries = across_tenants(Delivery).filter(event__resource_id=resource_id)
    return deliveries.select_related("event", "endpoint").order_by("-id")[:50]


def attempts(delivery_id: UUID) -> QuerySet[Any]:
    """Return the latest 100 attempts of a delivery, the latest first."""
    return across_tenants(Attempt).filter(delivery_id=delivery_id).order_by("-n")[:100]
