"""Sweep: reminds tenants of invoices that were not paid in time."""

from __future__ import annotations

import logging

from backend.billing.services.invoicing.closing import tenants_to_bill
from backend.billing.services.invoicing.overdue import remind
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    reminded = 0
    for tenant_id in tenants_to_bill():
        if work.should_stop():
            break
        reminded += remind(tenant_id)
    logger.info("tenants were reminded of %d overdue invoices", reminded)
    work.finish()
    return None
