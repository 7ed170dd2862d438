"""The sweep that closes the months of all tenants: drafts at their end, numbered invoices after the grace."""

from __future__ import annotations

import logging

from backend.billing.services.invoicing.closing import close_tenant, tenants_to_bill
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    final = 0
    for tenant_id in tenants_to_bill():
        if work.should_stop():
            break
        final += len(close_tenant(tenant_id, should_stop=work.should_stop))
    logger.info("%d invoices became final", final)
    work.finish()
    return None
