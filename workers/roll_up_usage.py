"""Sweep: adds up the hours in which the ledger has grown."""

from __future__ import annotations

import logging

from backend.billing.services.rollups import rebuild_stale, tenants_with_stale_hours
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    hours = 0
    for tenant_id in tenants_with_stale_hours():
        if work.should_stop():
            break
        hours += rebuild_stale(tenant_id, should_stop=work.should_stop)
    logger.info("%d hours of usage were added up", hours)
    work.finish()
    return None
