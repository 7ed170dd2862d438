"""The daily sweep that compares attributed device time with paid machine hours, and looks for days without machine
hours and for models without a rate.

A relay exports what it finds, which alerts read.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from backend.billing.services.findings import HOURS_MISSING, OVERSPENT_DAYS, UNRATED_MODELS, store_findings
from backend.billing.services.machines.device_time import days_without_hours, served_models, served_work, unrated_models
from backend.billing.services.machines.reconciliation import reconcile_late
from gpu_workers.engine.models.settings import ModelSettings
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")

GRACE_DAYS = 3
"""Days within which machine hours of a day are entered."""
HOURS_DAYS = 35
"""Days whose machine hours are looked for."""


def handle(work: Work) -> FollowUp | None:
    days = reconcile_late()
    work.require_lease()
    overspent = [
        f"{row.day}: {row.attributed_seconds} s attributed of {row.paid_seconds} s paid"
        for row in days
        if row.paid_seconds and row.overhead_seconds < 0
    ]
    first, today = days[0].day, days[-1].day + timedelta(days=1)
    work_done = served_work(today - timedelta(days=HOURS_DAYS))
    models = served_models(ModelSettings.from_env())
    unrated = unrated_models((one for one in work_done if one.day >= first), served=models)
    unpaid = [str(day) for day in days_without_hours(work_done, until=today - timedelta(days=GRACE_DAYS))]
    for text in (
        *overspent,
        *(f"no machine hours are entered for {day}" for day in unpaid),
        *(f"no rate is measured for {model}" for model in unrated),
    ):
        logger.error("%s", text)
    store_findings(HOURS_MISSING, unpaid)
    store_findings(OVERSPENT_DAYS, overspent)
    store_findings(UNRATED_MODELS, unrated)
    work.finish()
    return None
