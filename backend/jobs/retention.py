"""How long ended jobs are kept: out of the queue after a day, and out of its history after KEEP_HISTORY_DAYS.

An ended job decides nothing: enqueue() would queue it again as it would queue a new one. Failed and dead jobs stay in
the queue's table as long as history is kept, because they can be retried.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connections
from django.utils import timezone

from backend.tenancy.months import empty_months

DONE_FOR = timedelta(days=1)
"""Time for which a job that succeeded or was canceled stays in the queue's table."""
BATCH = 1_000

# Rows that are locked are left, so this waits for nobody.
_MOVE = """
WITH ended AS (
    DELETE FROM jobs_job USING (
        SELECT tenant_id, id FROM jobs_job
        WHERE state IN ('succeeded', 'failed', 'canceled', 'dead') AND completed_at < now() - %(done)s
            AND (state IN ('succeeded', 'canceled') OR completed_at < now() - %(kept)s)
        ORDER BY completed_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ) old WHERE jobs_job.tenant_id = old.tenant_id AND jobs_job.id = old.id RETURNING jobs_job.*
)
INSERT INTO jobs_jobhistory (tenant_id, id, kind, queue, subject_id, video_id, dedupe_key, state, attempt, error_code,
    error_message, created_at, started_at, completed_at)
SELECT tenant_id, id, kind, queue, subject_id, video_id, dedupe_key, state, attempt, error_code,
    error_message, created_at, started_at, completed_at FROM ended
"""


def kept_for() -> timedelta:
    """Return how long the history of jobs and webhooks is kept at least; months are deleted as wholes."""
    return timedelta(days=settings.KEEP_HISTORY_DAYS)


def move_ended_jobs(*, batch: int = BATCH) -> int:
    """Move up to batch jobs of all tenants into the history, as the dispatch role. Returns their number."""
    parameters: dict[str, Any] = {"done": DONE_FOR, "kept": kept_for(), "batch": batch}
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_MOVE, parameters)
        return int(cursor.rowcount)


def forget_old_jobs() -> list[str]:
    """Delete the months of history that are over for longer than it is kept. Returns the emptied partitions."""
    return empty_months("jobs_jobhistory", before=timezone.now() - kept_for())
