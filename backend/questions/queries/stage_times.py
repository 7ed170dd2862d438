"""Reads of how long answers and indexes took, over all tenants: days that are over from their sums, the rest from the
rows of questions and videos.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connections

from backend.questions.models import StageTimes, TimesKind, TimesStep

WHOLE = "end to end"
RATIO = 1.04
"""Quotient of the ends of a bucket. A percentile of several days is the middle of its bucket, at most 2 % away."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a stage in one hour or day, in milliseconds. stage: "" for all that ended, n and failed of them."""

    at: datetime
    stage: str
    n: int
    failed: int = 0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    # By the number of the bucket, as JSON has it.
    buckets: Mapping[str, int] = field(default_factory=dict)


# Tables in which times are measured: with the columns at, stage and ms.
_MEASURED = {
    TimesKind.QUESTION: (
        "SELECT completed_at AS at, CASE t.key WHEN 'total_ms' THEN %(whole)s ELSE replace(t.key, '_ms', '') END "
        "AS stage, t.value::float AS ms FROM questions_question, jsonb_each_text(timings) t "
        "WHERE completed_at >= %(since)s AND completed_at < %(until)s AND status = 'succeeded' "
        "AND t.key LIKE '%%\\_ms'"
    ),
    TimesKind.VIDEO: (
        "SELECT ready_at AS at, t.key AS stage, t.ms / (duration_ms / 60000.0) AS ms FROM library_video, LATERAL ("
        "  SELECT %(whole)s AS key, extract(epoch FROM ready_at - index_started_at)::float * 1000 AS ms"
        "  UNION ALL SELECT replace(s.key, '_ms', ''), s.value::float FROM jsonb_each_text(stage_ms) s) t "
        "WHERE ready_at >= %(since)s AND ready_at < %(until)s "
        "AND status = 'ready' AND index_started_at IS NOT NULL AND duration_ms > 0"
    ),
}
_ENDED = {
    TimesKind.QUESTION: (
        "SELECT completed_at AS at, status = 'failed' AS failed, (timings->>'total_ms')::float AS ms "
        "FROM questions_question WHERE completed_at >= %(since)s AND completed_at < %(until)s"
    ),
    TimesKind.VIDEO: (
        "SELECT ready_at AS at, false AS failed, NULL::float AS ms FROM library_video "
        "WHERE ready_at >= %(since)s AND ready_at < %(until)s AND status = 'ready' "
        "UNION ALL SELECT failed_at, true, NULL FROM library_video "
        "WHERE failed_at >= %(since)s AND failed_at < %(until)s AND status = 'failed'"
    ),
}


def bucket_of(ms: float) -> int:
    """Return the number of the bucket that a time belongs to: -1 below a millisecond."""
    return -1 if ms < 1 else math.floor(math.log(ms) / math.log(RATIO))


def percentile(buckets: Mapping[int, int], share: float) -> float:
    """Return the time below which a share of the times lies, as the middle of its bucket."""
    rank, passed = share * (sum(buckets.values()) - 1), 0
    for number, count in sorted(buckets.items()):
        passed += count
        if passed > rank:
            return 0.0 if number < 0 else float(RATIO ** (number + 0.5))
    return 0.0


def taken_together(times: Iterable[Times]) -> Counter[int]:
    """Return the buckets of several hours or days as one."""
    found: Counter[str] = Counter()
    for row in times:
        found.update(row.buckets)
    return Counter({int(number): count for number, count in found.items()})


def built_until(*, using: str) -> datetime | None:
    """Return up to when the sums are built, without gaps; None if nothing is built."""
    days = StageTimes.objects.using(using).filter(kind=TimesKind.QUESTION, step=TimesStep.DAY, stage="")
    last: datetime | None = days.order_by("-at").values_list("at", flat=True).first()
    return None if last is None else last + _DAY


_COLUMNS = ("at", "stage", "n", "failed", "p50", "p95", "p99", "buckets")


def built(kind: TimesKind, step: TimesStep, since: datetime, *, using: str, stages: bool = True) -> list[Times]:
    """Return the sums of the hours or days from since on that are built, in the order of time.

    stages: whether those of stages are wanted, and not only what ended.
    """
    rows = StageTimes.objects.using(using).filter(kind=kind, step=step, at__gte=since, n__gt=0).order_by("at", "stage")
    wanted = rows if stages else rows.filter(stage="")
    return [Times(*row) for row in wanted.values_list(*_COLUMNS)]


def measured(
    kind: TimesKind, step: TimesStep, since: datetime, until: datetime, *, using: str, stages: bool = True
) -> list[Times]:
    """Return the times of what ended from since up to until, read from the rows themselves, as built() does."""
    at = f"date_trunc('{TimesStep(step).value}', at, 'UTC')"
    ended = (
        f"SELECT {at}, '', count(*), count(*) FILTER (WHERE failed), "  # noqa: S608 - constants of this module
        f"ARRAY[NULL, percentile_cont(0.95) WITHIN GROUP (ORDER BY ms), NULL], ARRAY[]::float[] "
        f"FROM ({_ENDED[kind]}) e GROUP BY 1"
    )
    by_stage = (
        f"SELECT {at}, stage, count(*), 0, percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY ms), "  # noqa: S608
        f"array_agg(ms) FROM ({_MEASURED[kind]}) m GROUP BY 1, 2"
    )
    wanted = f"{ended} UNION ALL {by_stage}" if stages else ended
    rows = _read(f"{wanted} ORDER BY 1, 2", {"since": since, "until": until, "whole": WHOLE}, using)
    return [
        Times(at, stage, n, failed, p50, p95, p99, Counter(str(bucket_of(ms)) for ms in times))
        for at, stage, n, failed, (p50, p95, p99), times in rows
    ]


def _read(sql: str, values: Mapping[str, Any], using: str) -> list[tuple[Any, ...]]:
    with connections[using].cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
