"""The sweep that tries deletions again which ended without success, for all tenants."""

from __future__ import annotations

import logging

from backend.jobs.sweeps import resume_deletions
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    resumed = resume_deletions()
    if resumed:
        logger.warning("deletions that had failed are tried again: %d", resumed)
    work.finish()
    return None
