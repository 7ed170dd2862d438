"""The sweep that writes revoked keys, removed members and other ended rights into the ledger, for all tenants."""

from __future__ import annotations

import logging

from backend.library.services.ended_rights import record_endings
from backend.tenancy.refusals import Refused
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    try:
        recorded = record_endings(should_stop=work.should_stop)
    except Refused as refused:
        # The rows stay, and the next sweep writes them.
        logger.warning("ended rights wait for the ledger: %s", refused.code)
    else:
        logger.info("%d ended rights are in the ledger", recorded)
    work.finish()
    return None
