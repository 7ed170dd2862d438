"""Partitions by calendar month (UTC): made ahead after every migration, emptied by sweeps, dropped when empty.

Only the owner role can make and drop a partition, and it does not log in while the service runs. So each migration
makes the months of the next year; a service that is not migrated for longer writes into the partition _rest. A sweep
empties a month at once (TRUNCATE), for which the dispatch role has a grant on the months of history alone.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from django.db import connections, transaction
from django.db.utils import DatabaseError
from django.utils import timezone

from backend.tenancy.ddl import guarded

logger = logging.getLogger(__name__)

MONTHS_AHEAD = 13
LEDGER, HISTORY = "ledger", "history"
MONTHLY: dict[str, str] = {
    "billing_usageevent": LEDGER,
    "billing_modelcall": HISTORY,
    "jobs_jobhistory": HISTORY,
}
"""Tables by month, and whether their old months may be emptied."""

_PARTITIONS = (
    "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
    "WHERE i.inhparent = to_regclass(%s) AND c.relname ~ '_[0-9]{6}$'"
)


def month_of(at: datetime) -> tuple[datetime, datetime]:
    """Return the calendar month (UTC) of a moment as a half-open span."""
    at = at.astimezone(UTC)
    start = datetime(at.year, at.month, 1, tzinfo=UTC)
    return start, datetime(at.year + at.month // 12, at.month % 12 + 1, 1, tzinfo=UTC)


def month_after(month: datetime, count: int = 1) -> datetime:
    """Return the first day of the month that is count months after (before, if negative) the one of month."""
    index = month.year * 12 + month.month - 1 + count
    return datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC)


def make_months(*, using: str = "owner", now: datetime | None = None) -> None:
    """Make the partitions of the current month and of MONTHS_AHEAD more; drop emptied months of history."""
    this = month_after((now or timezone.now()).astimezone(UTC), 0)
    for table, kind in MONTHLY.items():
        known = set(_months(table, using))
        for count in range(MONTHS_AHEAD + 1):
            month = month_after(this, count)
            if (known and f"{table}_{month:%Y%m}" not in known) or not known:
                _make(table, kind, month, using)
        for name in sorted(known):
            if kind == HISTORY and name < f"{table}_{this:%Y%m}":
                _drop_if_empty(name, using)


def _months(table: str, using: str) -> list[str]:
    with connections[using].cursor() as cursor:
        cursor.execute(_PARTITIONS, [table])
        return [name for (name,) in cursor.fetchall()]


def _make(table: str, kind: str, month: datetime, using: str) -> None:
    name = f"{table}_{month:%Y%m}"
    statements = [
        f"CREATE TABLE {name} PARTITION OF {table} FOR VALUES FROM ('{month:%Y-%m-%d} 00:00+00') "
        f"TO ('{month_after(month):%Y-%m-%d} 00:00+00')",
        *guarded(name),
    ]
    if kind == HISTORY:
        statements.append(f"GRANT TRUNCATE ON {name} TO app_dispatch")
    try:
        with transaction.atomic(using=using), connections[using].cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s) IS NULL", [table])
            if cursor.fetchone() == (True,):
                return
            for statement in statements:
                cursor.execute(statement)
    except DatabaseError:
        # Rows of this month already lie in _rest, which takes the others too.
        logger.warning("no partition %s could be made", name, exc_info=True)


def _drop_if_empty(name: str, using: str) -> None:
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_relation_size(to_regclass(%s)) = 0", [name])
        if cursor.fetchone() == (True,):
            cursor.execute(f"DROP TABLE {name}")


def analyze_partitioned() -> None:
    """Measure the partitioned tables as wholes, which autovacuum does for their partitions alone.

    Joins with a table that was never measured as a whole are planned with guesses.
    """
    with connections["dispatch"].cursor() as cursor:
        cursor.execute("SELECT partrelid::regclass::text FROM pg_partitioned_table ORDER BY 1")
        for (table,) in cursor.fetchall():
            cursor.execute(f"ANALYZE ONLY {table}")


def empty_months(table: str, *, before: datetime) -> list[str]:
    """Delete the rows of all months that ended before this time. Returns the partitions that were emptied.

    Raises ValueError for a table whose months are kept.
    """
    if MONTHLY[table] != HISTORY:
        raise ValueError(f"{table} is never emptied")
    last = f"{table}_{month_after(before.astimezone(UTC), 0):%Y%m}"
    emptied = []
    for name in _months(table, "dispatch"):
        if name >= last:
            continue
        with transaction.atomic(using="dispatch"), connections["dispatch"].cursor() as cursor:
            cursor.execute("SELECT pg_relation_size(to_regclass(%s)) > 0", [name])
            if cursor.fetchone() == (True,):
                cursor.execute(f"TRUNCATE {name}")
                emptied.append(name)
    return emptied
