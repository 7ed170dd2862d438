"""The daily sweep that compares attributed device time with paid machine hours, and looks for models without a rate.

A relay exports what it finds, which alerts read.
"""

from __future__ import annotations

import logging

from backend.billing.services.device_time import unrated_models
from backend.billing.services.findings import OVERSPENT_DAYS, UNRATED_MODELS, store_findings
from backend.billing.services.reconciliation import reconcile_late
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    days = reconcile_late()
    work.require_lease()
    overspent = [
        f"{row.day}: {row.attributed_seconds} s attributed of {row.paid_seconds} s paid"
        for row in days
        if row.paid_seconds and row.overhead_seconds < 0
    ]
    unrated = unrated_models(days[0].day)
    for text in (*overspent, *(f"no rate is measured for {model}" for model in unrated)):
        logger.error("%s", text)
    store_findings(OVERSPENT_DAYS, overspent)
    store_findings(UNRATED_MODELS, unrated)
    work.finish()
    return None
