"""The sweep that deletes what tenants no longer keep, for all tenants that keep something for a limited time."""

from __future__ import annotations

import logging

from backend.erasure.services.retention import apply_retention, tenants_with_retention
from backend.tenancy.refusals import Refused
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    deleted = 0
    for tenant_id in tenants_with_retention():
        if work.should_stop():
            break
        try:
            deleted += apply_retention(tenant_id, should_stop=work.should_stop)
        except Refused as refused:
            # The ledger takes no entry now, so nothing is deleted until the next sweep.
            logger.warning("retention waits: %s", refused.code)
            break
    logger.info("%d things deleted that were kept long enough", deleted)
    work.finish()
    return None
