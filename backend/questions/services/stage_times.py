"""Adds up how long answers and indexes took, for each day that is over, as the dispatch role.

A day is added up once: what happens to a question later, such as a retry or an erasure, leaves the day as it was.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import transaction

from backend.questions.models import StageTimes, TimesKind, TimesStep
from backend.questions.queries.stage_times import built_until, measured

DISPATCH = "dispatch"
KEPT = timedelta(days=100)
"""Time for which the sums are kept. The longest span of the overview is 90 days."""
SETTLED = timedelta(minutes=10)
"""Time after the end of a day until it is added up: a question that ends commits within it."""
_DAY = timedelta(days=1)


def build_days(now: datetime) -> int:
    """Add up the days that are over and not built yet, and delete old sums. Returns the number of days."""
    today = (now - SETTLED).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    oldest = today - KEPT
    day = max(oldest, built_until(using=DISPATCH) or oldest)
    days = 0
    while day < today:
        _build(day)
        day += _DAY
        days += 1
    StageTimes.objects.using(DISPATCH).filter(at__lt=oldest).delete()
    return days


def _build(day: datetime) -> None:
    rows = [
        StageTimes(
            kind=kind, step=step, at=times.at, stage=times.stage, n=times.n, failed=times.failed, p50=times.p50,
            p95=times.p95, p99=times.p99, buckets=times.buckets,
        )
        for kind in TimesKind for step in TimesStep
        for times in measured(kind, step, day, day + _DAY, using=DISPATCH)
    ]  # fmt: skip
    of_day = (TimesKind.QUESTION, TimesStep.DAY, "")
    if of_day not in {(row.kind, row.step, row.stage) for row in rows}:
        # The day is marked as built.
        rows.append(StageTimes(kind=TimesKind.QUESTION, step=TimesStep.DAY, at=day, n=0))
    with transaction.atomic(using=DISPATCH):
        StageTimes.objects.using(DISPATCH).filter(at__gte=day, at__lt=day + _DAY).delete()
        StageTimes.objects.using(DISPATCH).bulk_create(rows)
