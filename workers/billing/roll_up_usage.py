"""Sweep: adds up the hours in which the ledger has grown, the days of all tenants, and how long work took in them."""

from __future__ import annotations

import logging

from django.utils import timezone

from backend.billing.services.usage.day_totals import rebuild_stale_days
from backend.billing.services.usage.rollups import rebuild_stale, tenants_with_stale_hours
from backend.questions.services.stage_times import build_days
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    hours = 0
    for tenant_id in tenants_with_stale_hours():
        if work.should_stop():
            break
        hours += rebuild_stale(tenant_id, should_stop=work.should_stop)
    days = rebuild_stale_days()
    logger.info("%d hours of usage and %d days of all tenants were added up", hours, days)
    logger.info("%d days of times were added up", build_days(timezone.now()))
    work.finish()
    return None
