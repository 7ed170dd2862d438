"""Reads of the dashboard: money, latency, failures, queues, tenants, over all tenants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.console.queries.role import rows


@dataclass(frozen=True, slots=True)
class Money:
    cost: Any
    price: Any
    media_seconds: Any
    device_seconds: Any
    questions: Any

    @property
    def margin(self) -> Any:
        return self.price - self.cost

    @property
    def margin_percent(self) -> float | None:
        return float(100 * self.margin / self.price) if self.price else None


_SUMS = """
    coalesce(sum(cost_amount), 0) AS cost, coalesce(sum(price_amount), 0) AS price,
    coalesce(sum(quantity) FILTER (WHERE meter = 'media_seconds'), 0) AS media_seconds,
    coalesce(sum(quantity) FILTER (WHERE meter = 'device_seconds'), 0) AS device_seconds,
    coalesce(sum(quantity) FILTER (WHERE meter = 'questions'), 0) AS questions
"""


def money(since: datetime) -> Money:
    return Money(**rows(f"SELECT {_SUMS} FROM billing_usageevent WHERE occurred_at >= %(since)s", {"since": since})[0])  # noqa: S608


def money_by_day(since: datetime) -> list[dict[str, Any]]:
    return rows(
        f"SELECT (occurred_at AT TIME ZONE 'UTC')::date AS day, {_SUMS} FROM billing_usageevent "  # noqa: S608
        "WHERE occurred_at >= %(since)s GROUP BY 1 ORDER BY 1",
        {"since": since},
    )


def cost_by_stage(since: datetime) -> list[dict[str, Any]]:
    """Return cost and device time per stage and model, dearest first."""
    return rows(
        "SELECT stage, model, sum(cost_amount) AS cost, "
        "coalesce(sum(quantity) FILTER (WHERE meter = 'device_seconds'), 0) AS device_seconds, "
        "coalesce(sum(quantity) FILTER (WHERE meter IN ('input_tokens', 'cached_tokens')), 0) AS tokens_in, "
        "coalesce(sum(quantity) FILTER (WHERE meter = 'output_tokens'), 0) AS tokens_out "
        "FROM billing_usageevent WHERE occurred_at >= %(since)s AND stage <> '' "
        "GROUP BY 1, 2 ORDER BY cost DESC, device_seconds DESC LIMIT 20",
        {"since": since},
    )


_PERCENTILES = (
    "count(*) AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS p50, "
    "percentile_cont(0.95) WITHIN GROUP (ORDER BY ms) AS p95, percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) AS p99"
)


def question_latency(since: datetime) -> list[dict[str, Any]]:
    """Return milliseconds of answered questions: end to end first, then per stage as named in their timings."""
    return rows(
        f"SELECT replace(key, '_ms', '') AS stage, {_PERCENTILES} FROM ("  # noqa: S608
        "  SELECT t.key, t.value::float AS ms FROM questions_question, jsonb_each_text(timings) t"
        "  WHERE status = 'succeeded' AND created_at >= %(since)s) q "
        "GROUP BY key ORDER BY array_position(ARRAY['total_ms', 'queue_ms', 'search_ms', 'llm_ms'], key), key",
        {"since": since},
    )


def index_latency(since: datetime) -> list[dict[str, Any]]:
    """Return milliseconds of indexing per minute of media: whole videos end to end, then summed work per stage."""
    return rows(
        f"""
        WITH ready AS (
            SELECT extract(epoch FROM ready_at - index_started_at) * 1000 AS wall_ms, stage_ms,
                duration_ms / 60000.0 AS minutes
            FROM library_video
            WHERE status = 'ready' AND ready_at >= %(since)s AND index_started_at IS NOT NULL AND duration_ms > 0
        ), measured AS (
            SELECT 'end to end' AS stage, wall_ms / minutes AS ms FROM ready
            UNION ALL SELECT replace(t.key, '_ms', ''), t.value::float / minutes FROM ready, jsonb_each_text(stage_ms) t
        )
        SELECT stage, {_PERCENTILES} FROM measured GROUP BY stage ORDER BY stage <> 'end to end', p50 DESC
        """,  # noqa: S608
        {"since": since},
    )


def failures(since: datetime) -> list[dict[str, Any]]:
    """Count failures by failed object and stable code, most frequent first."""
    return rows(
        """
        SELECT kind, code, count(*) AS n, max(at) AS latest FROM (
            SELECT 'video' AS kind, error_code AS code, created_at AS at FROM library_video WHERE status = 'failed'
            UNION ALL SELECT 'question', error_code, completed_at FROM questions_question WHERE status = 'failed'
            UNION ALL SELECT 'job ' || kind, error_code, completed_at FROM jobs_job WHERE state IN ('failed', 'dead')
            UNION ALL SELECT 'segment', error_code, observed_at FROM library_segment WHERE error_code <> ''
            UNION ALL SELECT 'webhook attempt', error_code, attempted_at FROM webhooks_attempt WHERE error_code <> ''
        ) f WHERE at IS NULL OR at >= %(since)s GROUP BY 1, 2 ORDER BY n DESC LIMIT 20
        """,
        {"since": since},
    )


def queues() -> list[dict[str, Any]]:
    """Return, per queue, the wait of the oldest due job, and the number of running, stuck and dead jobs."""
    return rows(
        """
        SELECT queue,
            count(*) FILTER (WHERE state = 'queued' AND not_before <= now()) AS due,
            count(*) FILTER (WHERE state = 'queued' AND not_before > now()) AS later,
            count(*) FILTER (WHERE state = 'running' AND lease_until >= now()) AS running,
            count(*) FILTER (WHERE state = 'running' AND lease_until < now()) AS stuck,
            count(*) FILTER (WHERE state = 'dead') AS dead,
            extract(epoch FROM now() - min(not_before) FILTER (WHERE state = 'queued' AND not_before <= now()))
                AS oldest_s
        FROM jobs_job GROUP BY queue ORDER BY queue
        """
    )


def tenants(since: datetime) -> list[dict[str, Any]]:
    return rows(
        f"""
        WITH spent AS (
            SELECT tenant_id, {_SUMS} FROM billing_usageevent WHERE occurred_at >= %(since)s GROUP BY tenant_id
        ), asked AS (
            SELECT tenant_id, count(*) FILTER (WHERE status = 'failed') AS failed,
                percentile_cont(0.95) WITHIN GROUP (ORDER BY (timings->>'total_ms')::float) AS p95
            FROM questions_question WHERE created_at >= %(since)s GROUP BY tenant_id
        ), held AS (
            SELECT tenant_id, count(*) AS videos FROM library_video GROUP BY tenant_id
        )
        SELECT t.id, t.name, t.plan, t.suspended_at, coalesce(h.videos, 0) AS videos,
            coalesce(s.cost, 0) AS cost, coalesce(s.price, 0) AS price, coalesce(s.price - s.cost, 0) AS margin,
            coalesce(s.media_seconds, 0) AS media_seconds, coalesce(s.questions, 0) AS questions,
            coalesce(a.failed, 0) AS failed, a.p95
        FROM tenancy_tenant t LEFT JOIN spent s ON s.tenant_id = t.id LEFT JOIN asked a ON a.tenant_id = t.id
        LEFT JOIN held h ON h.tenant_id = t.id ORDER BY price DESC, t.name LIMIT 200
        """,  # noqa: S608
        {"since": since},
    )


@dataclass(frozen=True, slots=True)
class Band:
    """Judged answers of one range of confidence. low: the range's lower bound, None without confidence."""

    low: float | None
    judged: int
    right: int
    confidence: float | None

    @property
    def right_percent(self) -> float:
        return 100 * self.right / self.judged

    @property
    def name(self) -> str:
        return "none given" if self.low is None else f"{self.low:.1f} to {self.low + BAND:.1f}"


BAND = 0.2


def calibration(since: datetime) -> list[Band]:
    """Return judged answers by confidence. If confidence is well calibrated, it equals the share of right answers."""
    by_band = rows(
        """
        SELECT CASE WHEN confidence >= 1 THEN 4 ELSE floor(round(confidence::numeric, 6) * 5)::int END AS band,
            count(*) AS judged, count(*) FILTER (WHERE f.verdict = 'right') AS good, avg(confidence) AS confidence
        FROM questions_feedback f JOIN questions_question q ON q.tenant_id = f.tenant_id AND q.id = f.question_id
        WHERE f.updated_at >= %(since)s GROUP BY 1 ORDER BY 1 DESC NULLS LAST
        """,
        {"since": since},
    )
    return [
        Band(None if row["band"] is None else row["band"] * BAND, row["judged"], row["good"], row["confidence"])
        for row in by_band
    ]


def right_percent(bands: Sequence[Band]) -> float | None:
    """Return the percentage of right answers over all bands; None if none was judged."""
    judged = sum(band.judged for band in bands)
    return 100 * sum(band.right for band in bands) / judged if judged else None
