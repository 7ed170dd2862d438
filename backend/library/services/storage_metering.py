"""Meters the storage of tenants, an hour at a time, and charges hours that were missed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from backend.billing.services.usage.storage import missed_hours, record_storage, storage_is_booked
from backend.library.queries import stored_bytes, stored_bytes_since
from backend.tenancy.context import tenant_scope
from backend.webhooks.thresholds import report_reached


def meter_storage(
    tenants: Sequence[UUID],
    *,
    at: datetime,
    should_stop: Callable[[], bool] = lambda: False,
) -> int:
    """Bill the hour of a moment to each tenant, unless it is billed, and report the limits that it has come to.

    Returns the number of tenants that were billed.
    """
    billed = 0
    for tenant_id in tenants:
        if should_stop():
            break
        with tenant_scope(tenant_id):
            if storage_is_booked(at):
                continue
            stored = stored_bytes()
            record_storage(at=at, stored_bytes=stored)
            billed += stored > 0
            if stored:
                _charge_missed(at)
        with tenant_scope(tenant_id):
            report_reached()
    return billed


def _charge_missed(at: datetime) -> None:
    """Bill the hours before a moment that have no storage, by what was stored then and still is."""
    missed = missed_hours(at)
    for hour in missed:
        record_storage(at=hour, stored_bytes=stored_bytes_since(hour))
