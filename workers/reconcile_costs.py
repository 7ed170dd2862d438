"""The daily sweep that compares attributed device time with the machine hours that were paid."""

from __future__ import annotations

import logging

from backend.billing.services.reconciliation import reconcile_late
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    for row in reconcile_late():
        work.require_lease()
        if row.paid_seconds and row.overhead_seconds < 0:
            logger.error("%s: %s s attributed of %s s paid", row.day, row.attributed_seconds, row.paid_seconds)
    work.finish()
    return None
