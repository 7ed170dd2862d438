"""Expire uploads that were not completed in time, for all tenants; a sweep (backend.jobs.sweeps)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from django.utils import timezone

from backend.library.models import Upload, UploadStatus
from backend.library.services import media_quota
from backend.library.storage import ObjectStorage, StorageAway, StorageError
from backend.tenancy.context import tenant_scope

logger = logging.getLogger(__name__)
EXPIRY_BATCH = 200


def expire_uploads(*, now: datetime | None = None, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Abort open uploads whose time is over, for all tenants, and return their number.

    should_stop: asked before each upload; those that are left wait for the next sweep.

    The dispatch role only finds them; each is ended in a transaction of its own tenant. If storage cannot abort an
    upload now, the next sweep tries again.
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
            upload = (
                Upload.objects.select_for_update(skip_locked=True)
                .filter(id=upload_id, status=UploadStatus.OPEN)
                .first()
            )
            if upload is None:
                continue
            try:
                ObjectStorage().abort(upload.object_key, upload.multipart_id)
                # The object exists if storage completed the upload and the transaction here was rolled back.
                ObjectStorage().delete(upload.object_key)
            except StorageAway:
                # Every further upload would wait as long.
                logger.warning("object storage is away, uploads expire at a later sweep", exc_info=True)
                break
            except StorageError:
                logger.warning("upload %s could not be aborted", upload_id, exc_info=True)
                continue
            Upload.objects.filter(id=upload_id).update(status=UploadStatus.EXPIRED)
            media_quota.release([upload_id])
            ended += 1
    return ended
