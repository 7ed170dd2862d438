"""Sweep: moves ended jobs out of the queue, and deletes expired sessions, old replies and what is older than history
is kept."""

from __future__ import annotations

import logging

from backend.api.idempotency import forget_old_replies
from backend.billing.queries import calls_kept_since
from backend.jobs.queue_ages import forget_old_ages
from backend.jobs.retention import BATCH, forget_old_jobs, move_ended_jobs
from backend.staff.session_retention import forget_expired_sessions
from backend.tenancy.months import analyze_partitioned, empty_months
from backend.webhooks.retention import forget_old_deliveries
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    moved = 0
    while (batch := move_ended_jobs()) > 0:
        moved += batch
        work.require_lease()
        if batch < BATCH:
            break
    while forget_old_deliveries() >= BATCH:
        work.require_lease()
    forget_old_ages()
    sessions = forget_expired_sessions()
    forget_old_replies()
    # The ledger and its sources are kept for ever; the model calls behind it are not.
    emptied = [*forget_old_jobs(), *empty_months("billing_modelcall", before=calls_kept_since())]
    analyze_partitioned()
    months = ", ".join(emptied) or "none"
    logger.info("%d ended jobs moved, %d expired sessions deleted, months emptied: %s", moved, sessions, months)
    work.finish()
    return None
