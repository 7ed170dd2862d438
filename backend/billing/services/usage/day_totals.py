"""Sums of each day over all tenants, out of the sums of each tenant's days: rebuilt where those have changed.

Who changes a tenant's days leaves the days in billing_staleday, in the same transaction. A rebuild takes these rows
away first and reads the tenants' days after that, so a day that changes meanwhile is left stale and is rebuilt again.
A reader takes stale days from the tenants' days themselves (backend.console.queries.money), so it never misses a row.
"""

from __future__ import annotations

from django.db import connections, transaction

DISPATCH = "dispatch"
DAYS_AT_ONCE = 10
"""Days that one transaction rebuilds."""
_KEYS = "day, stage, model, price_currency"
_SUMS = (
    "cost", "price", "wasted", "media_seconds", "questions", "searches", "tokens_in", "tokens_out", "device_seconds",
    "events",
)  # fmt: skip
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('day_totals', 0))"
_TAKE = """
WITH taken AS (
    DELETE FROM billing_staleday WHERE day IN (SELECT DISTINCT day FROM billing_staleday ORDER BY day LIMIT %(limit)s)
    RETURNING day
) SELECT DISTINCT day FROM taken
"""
_CLEAR = "DELETE FROM billing_daytotal WHERE day = ANY(%(days)s)"
_FILL = f"""
INSERT INTO billing_daytotal (id, {_KEYS}, {", ".join(_SUMS)})
SELECT gen_random_uuid(), {_KEYS}, {", ".join(f"sum({name})" for name in _SUMS)}
FROM billing_usageday WHERE day = ANY(%(days)s) GROUP BY {_KEYS}
"""  # noqa: S608 - names of columns


def rebuild_stale_days() -> int:
    """Rebuild the sums of stale days as the dispatch role, DAYS_AT_ONCE in a transaction. Returns their number."""
    rebuilt = 0
    while True:
        with transaction.atomic(using=DISPATCH), connections[DISPATCH].cursor() as cursor:
            cursor.execute(_LOCK)
            cursor.execute(_TAKE, {"limit": DAYS_AT_ONCE})
            days = [day for (day,) in cursor.fetchall()]
            if days:
                cursor.execute(_CLEAR, {"days": days})
                cursor.execute(_FILL, {"days": days})
        rebuilt += len(days)
        if len(days) < DAYS_AT_ONCE:
            return rebuilt
