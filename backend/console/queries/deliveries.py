"""Reads of webhook deliveries."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from backend.console.queries.role import joined, of_same_tenant
from backend.tenancy.models import TenantRow
from backend.webhooks.models import Attempt, Delivery


def latest_deliveries(row: TenantRow) -> QuerySet[Any]:
    """Return the latest 50 deliveries about one video or question, with their events and endpoints."""
    deliveries = joined(of_same_tenant(Delivery, row), "event", "endpoint").filter(event__resource_id=row.pk)
    return deliveries.order_by("-id")[:50]


def attempts(delivery: Delivery) -> QuerySet[Any]:
    """Return the latest 100 attempts of a delivery, the latest first."""
    return of_same_tenant(Attempt, delivery).filter(delivery_id=delivery.id).order_by("-n")[:100]
