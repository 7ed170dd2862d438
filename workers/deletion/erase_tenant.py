"""Erases a tenant and stores the certificate; runs once more after the longest lease, for what late workers stored.

A job of the system tenant, because the tenant's own jobs go with it. Each step can be repeated: an attempt that lost
its worker is followed by one that finds less.
"""

from __future__ import annotations

import logging

from backend.erasure.services import tenants
from backend.jobs.services import JobFailed
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")


def handle(work: Work) -> FollowUp | None:
    tenant_id = work.lease.subject_id
    tenants.stop_service(tenant_id)
    try:
        tenants.stop_work(tenant_id)
    except tenants.TenantInUse as error:
        raise JobFailed("tenant_in_use", str(error), retryable=True) from error
    # Objects first: as long as rows exist, the tenant is found and an erasure that stopped goes on.
    found = tenants.erase_objects(tenant_id)
    for video_id in tenants.video_ids(tenant_id):
        work.require_lease()
        tenants.erase_video(tenant_id, video_id)
    try:
        tenants.erase_rows(tenant_id)
    except tenants.PeopleWait as error:
        if found:
            # The next attempt finds no objects.
            tenants.queue_erasure(tenant_id, again=True)
        raise JobFailed("people_wait", str(error), retryable=True) from error
    try:
        certificate = tenants.certify(tenant_id, asked_at=work.lease.queued_at)
    except tenants.NotErased as error:
        raise JobFailed("not_erased", str(error), retryable=True) from error
    logger.info("tenant erased: %s", certificate.as_json())

    def end() -> None:
        work.complete()
        if found:
            tenants.queue_erasure(tenant_id, again=True)

    work.commit(end)
    return None
