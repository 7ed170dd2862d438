"""Sweep: books the storage of every tenant in the ledger, once an hour."""

from __future__ import annotations

import logging

from django.utils import timezone

from backend.billing.invariants.registry import all_tenants
from backend.library.services.storage_metering import meter_storage
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    billed = meter_storage(all_tenants(), at=timezone.now(), should_stop=work.should_stop)
    logger.info("the storage of %d tenants was booked", billed)
    work.finish()
    return None
