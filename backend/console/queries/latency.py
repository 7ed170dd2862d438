"""Reads of how long questions and indexing take, by stage and over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from backend.console.queries.role import CONSOLE, rows
from backend.questions.models import TimesKind, TimesStep
from backend.questions.queries import stage_times
from backend.questions.queries.stage_times import WHOLE, Times

FUTURE = timedelta(minutes=5)
"""Time by which another machine's clock may be ahead."""
_PERCENTILES = "count(*) AS n, percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY ms) AS points"
_BUCKETS = {"hour", "day"}


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Percentiles of milliseconds. n: how many were measured."""

    stage: str
    n: int
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles by stage over the span, the whole first, and the same for each bucket of time."""

    stages: Sequence[Percentiles]
    over_time: dict[datetime, dict[str, Percentiles]]


@dataclass(frozen=True, slots=True)
class TimesOfAll:
    """What times_of_all() returns. ended: number n, failed and p95 in ms by time; times without any are left out."""

    latency: Latency
    ended: list[dict[str, Any]]


def question_latency(since: datetime, *, bucket: str, tenant_id: UUID) -> Latency:
    """Return the time to answer of a tenant's questions that ended since then. bucket: hour or day (UTC).

    The stage `llm` is summed over calls that ran side by side, so it may exceed the
    whole.
    """
    return _latency(
        "SELECT completed_at AS at, CASE t.key WHEN 'total_ms' THEN %(whole)s ELSE replace(t.key, '_ms', '') END "
        "AS stage, t.value::float AS ms FROM questions_question, jsonb_each_text(timings) t "
        "WHERE tenant_id = %(tenant)s "
        "AND completed_at >= %(since)s AND status = 'succeeded' AND t.key LIKE '%%\\_ms'",
        since,
        bucket,
        tenant_id,
    )


def index_latency(since: datetime, *, bucket: str, tenant_id: UUID) -> Latency:
    """Return the time that a minute of media took of a tenant's videos that became ready since then.

    The whole, and the work by stage.
    """
    return _latency(
        "SELECT ready_at AS at, t.key AS stage, t.ms / (duration_ms / 60000.0) AS ms FROM library_video, LATERAL ("
        "  SELECT %(whole)s AS key, extract(epoch FROM ready_at - index_started_at)::float * 1000 AS ms"
        "  UNION ALL SELECT replace(s.key, '_ms', ''), s.value::float FROM jsonb_each_text(stage_ms) s) t "
        "WHERE tenant_id = %(tenant)s AND ready_at >= %(since)s "
        "AND status = 'ready' AND index_started_at IS NOT NULL AND duration_ms > 0",
        since,
        bucket,
        tenant_id,
    )


def _latency(measured: str, since: datetime, bucket: str, tenant_id: UUID) -> Latency:
    found = rows(
        f"SELECT date_trunc('{_bucket(bucket)}', at, 'UTC') AS at, stage, {_PERCENTILES} FROM ({measured}) m "  # noqa: S608
        "GROUP BY GROUPING SETS ((1, stage), (stage))",
        {"since": since, "whole": WHOLE, "tenant": tenant_id},
    )
    over_time: defaultdict[datetime, dict[str, Percentiles]] = defaultdict(dict)
    stages = []
    for row in found:
        line = Percentiles(row["stage"], row["n"], *row["points"])
        if row["at"] is None:
            stages.append(line)
        else:
            over_time[row["at"]][line.stage] = line
    return Latency(_in_order(stages), dict(sorted(over_time.items())))


def built_until() -> datetime | None:
    """Return up to when the days of all tenants are added up; None if none is."""
    return stage_times.built_until(using=CONSOLE)


def times_of_all(kind: TimesKind, since: datetime, now: datetime, *, bucket: str, until: datetime | None) -> TimesOfAll:
    """Return the times of all tenants since then: up to until from the sums of days, after it from the rows.

    bucket: hour or day (UTC). until: of built_until(). Over several hours or days, the percentiles of the span are
    those of buckets, and are at most 2 % away.
    """
    found = _times(kind, since, now, bucket=bucket, until=until, stages=True)
    over_time: defaultdict[datetime, dict[str, Percentiles]] = defaultdict(dict)
    by_stage: defaultdict[str, list[Times]] = defaultdict(list)
    for row in found:
        if row.stage:
            by_stage[row.stage].append(row)
            over_time[row.at][row.stage] = Percentiles(row.stage, row.n, row.p50 or 0, row.p95 or 0, row.p99 or 0)
    stages = _in_order([_of_span(stage, times) for stage, times in by_stage.items()])
    return TimesOfAll(Latency(stages, dict(sorted(over_time.items()))), _ended(found))


def ended_of_all(
    kind: TimesKind, since: datetime, now: datetime, *, bucket: str, until: datetime | None
) -> list[dict[str, Any]]:
    """Return what times_of_all() returns as ended, without reading the times of any stage."""
    return _ended(_times(kind, since, now, bucket=bucket, until=until, stages=False))


def _times(
    kind: TimesKind, since: datetime, now: datetime, *, bucket: str, until: datetime | None, stages: bool
) -> list[Times]:
    step = TimesStep(_bucket(bucket))
    live_since = since if until is None else max(since, until)
    found = stage_times.measured(kind, step, live_since, now + FUTURE, using=CONSOLE, stages=stages)
    if until is None or until <= since:
        return found
    return [*stage_times.built(kind, step, since, using=CONSOLE, stages=stages), *found]


def _ended(found: Sequence[Times]) -> list[dict[str, Any]]:
    return [{"at": row.at, "n": row.n, "failed": row.failed, "p95": row.p95} for row in found if not row.stage]


def _of_span(stage: str, found: Sequence[Times]) -> Percentiles:
    if len(found) == 1:
        (row,) = found
        return Percentiles(stage, row.n, row.p50 or 0, row.p95 or 0, row.p99 or 0)
    buckets = stage_times.taken_together(found)
    p50, p95, p99 = (stage_times.percentile(buckets, share) for share in (0.5, 0.95, 0.99))
    return Percentiles(stage, sum(row.n for row in found), p50, p95, p99)


def _in_order(stages: list[Percentiles]) -> list[Percentiles]:
    return sorted(stages, key=lambda line: (line.stage != WHOLE, -line.p50, line.stage))


def dearest_questions(since: datetime, most: int) -> list[dict[str, Any]]:
    """Return the questions that ended since then and cost the most, the dearest first."""
    return rows(
        "SELECT id, tenant_id, cost_amount AS cost FROM questions_question WHERE completed_at >= %(since)s "
        "AND cost_amount > 0 ORDER BY cost_amount DESC, id LIMIT %(most)s",
        {"since": since, "most": most},
    )


def _bucket(name: str) -> str:
    if name not in _BUCKETS:
        raise ValueError(f"time is divided into hours and days, not into {name}")
    return name
