"""Hourly roll-ups of the ledger: rebuilt where the ledger has grown, or for any span at will.

A writer of the ledger leaves the hours that it touched in billing_stalehour, in its own transaction. A rebuild takes
these rows away first and reads the ledger after that, so an hour that grows meanwhile is left stale and is rebuilt
again. A reader takes stale hours from the ledger itself (backend.billing.queries.usage), so it never misses a row.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, connections

from backend.tenancy.context import current_tenant_id, tenant_scope

HOURS_AT_ONCE = 200
"""Hours of a tenant that one transaction rebuilds."""

DIMENSIONS = (
    "meter", "variant", "model", "stage", "method", "effort", "profile", "api_key_id", "person_id", "collection_id",
    "video_id", "price_id", "price_currency", "billable",
)  # fmt: skip
_COLUMNS = ", ".join(DIMENSIONS)
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('rollups:' || %(tenant)s::text, 0))"
_TAKE_STALE = """
WITH taken AS (
    DELETE FROM billing_stalehour WHERE tenant_id = %(tenant)s AND hour IN (
        SELECT DISTINCT hour FROM billing_stalehour WHERE tenant_id = %(tenant)s ORDER BY hour LIMIT %(limit)s)
    RETURNING hour
) SELECT DISTINCT hour FROM taken
"""
_TAKE_SPAN = """
DELETE FROM billing_stalehour WHERE tenant_id = %(tenant)s AND hour >= %(start)s AND hour < %(end)s
"""
_CLEAR = "DELETE FROM billing_usagehour WHERE tenant_id = %(tenant)s AND hour = ANY(%(hours)s)"
_CLEAR_SPAN = "DELETE FROM billing_usagehour WHERE tenant_id = %(tenant)s AND hour >= %(start)s AND hour < %(end)s"
_SUMS = f"sum(quantity), count(*), sum(cost_amount), sum(price_amount) FROM {{rows}} GROUP BY 2, 3, {_COLUMNS}"
_INSERT = f"""
INSERT INTO billing_usagehour (id, tenant_id, hour, {_COLUMNS}, quantity, events, cost, price)
SELECT gen_random_uuid(), tenant_id, date_trunc('hour', occurred_at, 'UTC'), {_COLUMNS}, {_SUMS}
"""
_FILL = _INSERT.format(
    rows="unnest(%(hours)s::timestamptz[]) AS h (begun) JOIN billing_usageevent ON tenant_id = %(tenant)s "
    "AND occurred_at >= h.begun AND occurred_at < h.begun + interval '1 hour'"
)
_FILL_SPAN = _INSERT.format(
    rows="billing_usageevent WHERE tenant_id = %(tenant)s AND occurred_at >= %(start)s AND occurred_at < %(end)s"
)


def tenants_with_stale_hours() -> list[UUID]:
    """Return the tenants whose ledger has grown since their roll-ups were built, as the dispatch role sees them."""
    with connections["dispatch"].cursor() as cursor:
        cursor.execute("SELECT DISTINCT tenant_id FROM billing_stalehour ORDER BY 1")
        return [tenant_id for (tenant_id,) in cursor.fetchall()]


def rebuild_stale(tenant_id: UUID, *, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Rebuild the stale hours of a tenant, HOURS_AT_ONCE in a transaction. Returns the number of hours."""
    rebuilt = 0
    while not should_stop():
        with tenant_scope(tenant_id):
            taken = _rebuild_taken()
        rebuilt += taken
        if taken < HOURS_AT_ONCE:
            break
    return rebuilt


def _rebuild_taken() -> int:
    tenant = current_tenant_id()
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, {"tenant": tenant})
        cursor.execute(_TAKE_STALE, {"tenant": tenant, "limit": HOURS_AT_ONCE})
        hours = [hour for (hour,) in cursor.fetchall()]
        if hours:
            cursor.execute(_CLEAR, {"tenant": tenant, "hours": hours})
            cursor.execute(_FILL, {"tenant": tenant, "hours": hours})
    return len(hours)


def rebuild(*, start: datetime, end: datetime) -> int:
    """Rebuild the roll-ups of the entered tenant from the hour of start up to the hour of end, that one excluded.

    Returns the number of rows. What was there before is replaced, whatever it was.
    """
    span: dict[str, Any] = {"tenant": current_tenant_id(), "start": hour_of(start), "end": hour_of(end)}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, span)
        cursor.execute(_TAKE_SPAN, span)
        cursor.execute(_CLEAR_SPAN, span)
        cursor.execute(_FILL_SPAN, span)
        return int(cursor.rowcount)


def hour_of(at: datetime) -> datetime:
    """Return the begin of the hour (UTC) of a moment."""
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def hour_after(at: datetime) -> datetime:
    """Return the first full hour (UTC) at or after a moment."""
    begun = hour_of(at)
    return begun if begun == at else begun + timedelta(hours=1)
