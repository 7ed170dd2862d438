"""Reads of how long questions and indexing take, by stage and over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.console.queries.role import rows

WHOLE = "end to end"
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


def question_latency(since: datetime, *, bucket: str, tenant_id: UUID | None = None) -> Latency:
    """Return the time to answer of questions that ended since then. bucket: hour or day (UTC).

    tenant_id: of one tenant alone. The stage `llm` is summed over calls that ran side by side, so it may exceed the
    whole.
    """
    return _latency(
        "SELECT completed_at AS at, CASE t.key WHEN 'total_ms' THEN %(whole)s ELSE replace(t.key, '_ms', '') END "
        "AS stage, t.value::float AS ms FROM questions_question, jsonb_each_text(timings) t "
        "WHERE (%(tenant)s::uuid IS NULL OR tenant_id = %(tenant)s) "
        "AND completed_at >= %(since)s AND status = 'succeeded' AND t.key LIKE '%%\\_ms'",
        since,
        bucket,
        tenant_id,
    )


def index_latency(since: datetime, *, bucket: str, tenant_id: UUID | None = None) -> Latency:
    """Return the time that a minute of media took of videos that became ready since then: whole, and work by stage."""
    return _latency(
        "SELECT ready_at AS at, t.key AS stage, t.ms / (duration_ms / 60000.0) AS ms FROM library_video, LATERAL ("
        "  SELECT %(whole)s AS key, extract(epoch FROM ready_at - index_started_at)::float * 1000 AS ms"
        "  UNION ALL SELECT replace(s.key, '_ms', ''), s.value::float FROM jsonb_each_text(stage_ms) s) t "
        "WHERE (%(tenant)s::uuid IS NULL OR tenant_id = %(tenant)s) AND ready_at >= %(since)s "
        "AND status = 'ready' AND index_started_at IS NOT NULL AND duration_ms > 0",
        since,
        bucket,
        tenant_id,
    )


def _latency(measured: str, since: datetime, bucket: str, tenant_id: UUID | None) -> Latency:
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
    stages.sort(key=lambda line: (line.stage != WHOLE, -line.p50, line.stage))
    return Latency(stages, dict(sorted(over_time.items())))


def questions_ended(since: datetime, *, bucket: str) -> list[dict[str, Any]]:
    """Return the questions that ended since then by time: their number n, the failed ones, and the p95 in ms.

    bucket: hour or day (UTC). Times without any are left out.
    """
    return rows(
        f"SELECT date_trunc('{_bucket(bucket)}', completed_at, 'UTC') AS at, count(*) AS n, "  # noqa: S608
        "count(*) FILTER (WHERE status = 'failed') AS failed, "
        "percentile_cont(0.95) WITHIN GROUP (ORDER BY (timings->>'total_ms')::float) AS p95 "
        "FROM questions_question WHERE completed_at >= %(since)s GROUP BY 1 ORDER BY 1",
        {"since": since},
    )


def videos_ended(since: datetime, *, bucket: str) -> list[dict[str, Any]]:
    """Return the videos that became ready or failed since then by time: their number n, and the failed ones."""
    return rows(
        f"SELECT date_trunc('{_bucket(bucket)}', at, 'UTC') AS at, count(*) AS n, "  # noqa: S608
        "count(*) FILTER (WHERE failed) AS failed FROM ("
        "SELECT ready_at AS at, false AS failed FROM library_video WHERE ready_at >= %(since)s AND status = 'ready' "
        "UNION ALL SELECT failed_at, true FROM library_video WHERE failed_at >= %(since)s AND status = 'failed'"
        ") v GROUP BY 1 ORDER BY 1",
        {"since": since},
    )


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
