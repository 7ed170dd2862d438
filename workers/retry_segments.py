"""Sweep: retries segments that failed for our reasons, for all tenants, a bounded number of videos at a time."""

from __future__ import annotations

import logging
from uuid import UUID

from backend.library.indexing.automatic_retry import due_videos, leave_to_people, postpone_retries
from backend.library.indexing.control import retry_by_itself
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused
from workers.work import FollowUp, Work

logger = logging.getLogger("ava.jobs")

FINAL = frozenset({"nothing_to_retry", "not_retryable", "source_deleted", "video_deleting"})
"""Refusals that stay: the segments are not retried. All others, such as those of a used-up budget, may pass."""


def handle(work: Work) -> FollowUp | None:
    begun = 0
    for tenant_id, video_id in due_videos():
        if work.should_stop():
            break
        begun += retry(tenant_id, video_id)
    logger.info("the segments of %d videos are retried", begun)
    work.finish()
    return None


def retry(tenant_id: UUID, video_id: UUID) -> bool:
    """Begin the retry of a video in a transaction of its own. Returns whether it could begin."""
    try:
        with tenant_scope(tenant_id):
            retry_by_itself(video_id=video_id)
        return True
    except Refused as refused:
        logger.info("video %s is not retried: %s", video_id, refused.code)
        final = refused.code in FINAL
    try:
        with tenant_scope(tenant_id):
            (leave_to_people if final else postpone_retries)(video_id)
    except Refused:
        # The tenant moves to another cell, which has these segments too.
        pass
    return False
