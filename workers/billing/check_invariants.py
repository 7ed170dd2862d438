"""Sweep: checks the invariants of the money every night. A relay exports the results, which an alert reads."""

from __future__ import annotations

import logging

from backend.billing.services.nightly import check_and_store
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    found = check_and_store(should_stop=work.should_stop)
    if found is None:
        logger.warning("the invariants were not all checked: the worker stops")
    else:
        broken = {name: count for name, count in found.items() if count}
        logger.log(logging.ERROR if broken else logging.INFO, "violations of invariants: %s", broken or "none")
    work.finish()
    return None
