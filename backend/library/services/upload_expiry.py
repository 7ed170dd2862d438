"""Expire uploads that were not completed in time, for all tenants; a sweep (backend.jobs.sweeps)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.utils import timezone

from backend.library.models import Upload, UploadStatus
from backend.library.services.uploads import expire_upload
from backend.tenancy.context import tenant_scope

EXPIRY_BATCH = 200


def expire_uploads(*, now: datetime | None = None, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Abort open uploads whose time is over, for all tenants, and return their number.

    should_stop: asked before each upload; those that are left wait for the next sweep.

    The dispatch role only finds them; each is ended in a transaction of its own tenant. Jobs erase their parts.
    """
    at = now or timezone.now()
    due = (
        Upload.unscoped.using("dispatch")
        .filter(status=UploadStatus.OPEN, expires_at__lte=at)
        .order_by("expires_at")
        .values_list("id", "tenant_id")[:EXPIRY_BATCH]
    )
    ended = 0
    for upload_id, tenant_id in list(due):
        if should_stop():
            break
        with tenant_scope(tenant_id):
            ended += expire_upload(upload_id=upload_id)
    return ended
