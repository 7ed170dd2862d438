"""Reads of the work of all tenants now: what arrived, what waits, what failed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from backend.console.queries.role import rows
from backend.jobs.models import QUEUE_OF
from backend.library.indexing.failure import REFUSED_FILES

NOW = timedelta(hours=1)
"""Time for which a failure counts as one of now."""
RISING_LEAST, RISING = 5, 3
"""Failures of the last hour that stand out: so many at least, and so many times those of an hour before it."""


def arrived(since: datetime) -> dict[str, int]:
    """Return the numbers of videos and questions that were made since then, by what became of them."""
    return rows(
        """
        SELECT v.*, q.* FROM (
            SELECT count(*) AS videos, count(*) FILTER (WHERE status = 'ready') AS videos_ready,
                count(*) FILTER (WHERE status = 'failed') AS videos_failed
            FROM library_video WHERE created_at >= %(since)s) v, (
            SELECT count(*) AS questions, count(*) FILTER (WHERE status = 'failed') AS questions_failed,
                count(*) FILTER (WHERE status = 'succeeded' AND finish_reason = 'answered') AS questions_answered,
                count(*) FILTER (WHERE status = 'succeeded' AND finish_detail = 'contradicted')
                    AS questions_contradicted,
                count(*) FILTER (WHERE status = 'succeeded' AND finish_reason <> 'answered'
                    AND finish_detail <> 'contradicted') AS questions_abstained
            FROM questions_question WHERE created_at >= %(since)s) q
        """,
        {"since": since},
    )[0]


def outcomes(since: datetime, *, bucket: str) -> list[dict[str, Any]]:
    """Count the questions that ended since then in each hour or day (UTC), by what they ended with. bucket: hour or
    day. abstained: without an answer because evidence was missing; contradicted ones are counted apart."""
    return rows(
        """
        SELECT date_trunc(%(bucket)s, completed_at, 'UTC') AS at, count(*) FILTER (WHERE status = 'failed') AS failed,
            count(*) FILTER (WHERE status = 'succeeded' AND finish_reason = 'answered') AS answered,
            count(*) FILTER (WHERE status = 'succeeded' AND finish_detail = 'contradicted') AS contradicted,
            count(*) FILTER (WHERE status = 'succeeded' AND finish_reason <> 'answered'
                AND finish_detail <> 'contradicted') AS abstained
        FROM questions_question WHERE completed_at >= %(since)s GROUP BY 1 ORDER BY 1
        """,
        {"since": since, "bucket": bucket},
    )


def failures(now: datetime) -> list[dict[str, Any]]:
    """Count the failures of the last day by failed object and stable code, with those of the last hour first.

    A failure counts at the moment when it happened. theirs: whether it lies in a customer's recording or receiver,
    where nothing of ours is to be mended; ours come first. earlier: failures an hour over the 23 hours before the last
    one. rising: whether the last hour had at least RISING_LEAST of them, and RISING times as many as an hour before it.
    """
    found = rows(
        """
        SELECT kind, code, count(*) FILTER (WHERE at >= %(hour)s) AS now, count(*) AS n, max(at) AS latest,
            count(*) FILTER (WHERE at < %(hour)s) / 23.0 AS earlier FROM (
            SELECT 'video' AS kind, error_code AS code, failed_at AS at FROM library_video
            WHERE failed_at >= %(day)s AND status = 'failed'
            UNION ALL SELECT 'question', error_code, completed_at FROM questions_question
            WHERE completed_at >= %(day)s AND status = 'failed'
            UNION ALL SELECT 'job ' || kind, error_code, completed_at FROM jobs_job
            WHERE completed_at >= %(day)s AND state IN ('failed', 'dead')
            AND state IN ('succeeded', 'failed', 'canceled', 'dead')
            UNION ALL SELECT 'segment', error_code, observed_at FROM library_segment
            WHERE observed_at >= %(day)s AND error_code <> ''
            UNION ALL SELECT 'webhook attempt', error_code, attempted_at FROM webhooks_attempt
            WHERE attempted_at >= %(day)s AND error_code <> ''
        ) f GROUP BY 1, 2 ORDER BY now DESC, n DESC, kind, code LIMIT 20
        """,
        {"hour": now - NOW, "day": now - timedelta(days=1)},
    )
    marked = [
        {
            **row,
            "rising": row["now"] >= max(RISING_LEAST, RISING * row["earlier"]),
            "theirs": row["kind"] == "webhook attempt" or row["code"] in REFUSED_FILES,
        }
        for row in found
    ]
    return sorted(marked, key=lambda row: bool(row["theirs"]))


def queues() -> list[dict[str, Any]]:
    """Return, per class, the wait of the oldest due job in seconds, and the numbers of due, later, running, stuck and
    dead jobs. Ended jobs are not read."""
    found = rows(
        """
        SELECT queue, count(*) FILTER (WHERE state = 'queued' AND not_before <= now() AND paused_at IS NULL) AS due,
            count(*) FILTER (WHERE state = 'queued' AND (not_before > now() OR paused_at IS NOT NULL)) AS later,
            count(*) FILTER (WHERE state = 'running' AND lease_until >= now()) AS running,
            count(*) FILTER (WHERE state = 'running' AND lease_until < now()) AS stuck, 0 AS dead,
            extract(epoch FROM now() - min(not_before)
                FILTER (WHERE state = 'queued' AND not_before <= now() AND paused_at IS NULL)) AS oldest_s
        FROM jobs_job WHERE state IN ('queued', 'running') GROUP BY queue
        UNION ALL SELECT queue, 0, 0, 0, 0, count(*), NULL FROM jobs_job WHERE state = 'dead' GROUP BY queue
        """
    )
    empty = {"due": 0, "later": 0, "running": 0, "stuck": 0, "dead": 0, "oldest_s": None}
    by_queue: dict[str, dict[str, Any]] = {name: {"queue": name, **empty} for name in sorted(set(QUEUE_OF.values()))}
    for row in found:
        line = by_queue.setdefault(row["queue"], {"queue": row["queue"], **empty})
        for name in ("due", "later", "running", "stuck", "dead"):
            line[name] += row[name]
        line["oldest_s"] = line["oldest_s"] if row["oldest_s"] is None else row["oldest_s"]
    return [line for _, line in sorted(by_queue.items())]


def loads(most: int) -> list[dict[str, Any]]:
    """Return the tenants with the most running and due jobs now, with the wait of their oldest due job in seconds."""
    return rows(
        """
        SELECT tenant_id, count(*) FILTER (WHERE state = 'running') AS running,
            count(*) FILTER (WHERE state = 'queued') AS due,
            extract(epoch FROM now() - min(not_before) FILTER (WHERE state = 'queued')) AS oldest_s
        FROM jobs_job
        WHERE state = 'running' OR (state = 'queued' AND not_before <= now() AND paused_at IS NULL)
        GROUP BY tenant_id ORDER BY count(*) DESC, tenant_id LIMIT %(most)s
        """,
        {"most": most},
    )
