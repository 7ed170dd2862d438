"""Writes to videos and collections, in the caller's transaction inside the open tenant_scope.

What a customer does with an upload is in backend.library.services.uploads; here is what time does to it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue, request_cancel
from backend.library.models import Collection, Upload, UploadStatus, Video, VideoStatus
from backend.library.storage import ObjectStorage, StorageAway, StorageError
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.refusals import Refused

logger = logging.getLogger(__name__)
EXPIRY_BATCH = 200


def create_collection(*, fields: Mapping[str, Any]) -> Collection:
    """Raises Refused `name_taken`."""
    try:
        # A savepoint, so that the refused name leaves the caller's transaction usable.
        with transaction.atomic():
            collection: Collection = Collection.objects.create(tenant_id=current_tenant_id(), **fields)
    except IntegrityError:
        raise _name_taken() from None
    return collection


def update_collection(*, collection: Collection, fields: Mapping[str, Any]) -> Collection:
    """Raises Refused `name_taken`."""
    try:
        with transaction.atomic():
            Collection.objects.filter(id=collection.id).update(**fields)
    except IntegrityError:
        raise _name_taken() from None
    updated: Collection = Collection.objects.get(id=collection.id)
    return updated


def _name_taken() -> Refused:
    return Refused("name_taken", "Another collection has this name.", pointer="/name")


def delete_collection(*, collection: Collection) -> None:
    """The collection goes, its videos stay without one."""
    Collection.objects.filter(id=collection.id).delete()


def update_video(*, video: Video, version: int, fields: Mapping[str, Any]) -> Video:
    """Change what the customer may say about a video, if it still has this version.

    Raises Refused `version_mismatch` (412) when somebody was faster, `video_deleting` when it is on its way out.
    """
    if video.status == VideoStatus.DELETING:
        raise Refused("video_deleting", "This video is being deleted.")
    changed = Video.objects.filter(id=video.id, version=version).update(version=F("version") + 1, **fields)
    if not changed:
        raise Refused("version_mismatch", "The video has changed since you read it; read it again.", status=412)
    updated: Video = Video.objects.get(id=video.id)
    return updated


def delete_video(*, video: Video) -> Video:
    """Stop the video's jobs and queue its purge; nothing of it is answered from now on. Safe to repeat."""
    running = Job.objects.filter(video_id=video.id, state__in=[JobState.QUEUED, JobState.RUNNING])
    # Rows are locked in the order of the workers that commit meanwhile (a segment's job, the assembly, the video), or
    # both would wait for each other.
    for dedupe_key in running.order_by("-kind", "id").values_list("dedupe_key", flat=True):
        request_cancel(dedupe_key=dedupe_key)
    Video.objects.filter(id=video.id).exclude(status=VideoStatus.DELETING).update(
        status=VideoStatus.DELETING, version=F("version") + 1
    )
    # Without video_id: the job's row must outlive the video's.
    enqueue(kind=JobKind.PURGE_VIDEO, subject_id=video.id, dedupe_key=f"purge:{video.id}", max_attempts=20)
    deleting: Video = Video.objects.get(id=video.id)
    return deleting


def expire_uploads(*, now: datetime | None = None) -> int:
    """Abort open uploads whose time is over, of all tenants; for the relay's sweep. Returns how many.

    The dispatch role only finds them; each is ended in a transaction of its own tenant. One that storage does not let
    go now is tried again at the next sweep.
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
                # There is one if a completion went through in storage and was rolled back here.
                ObjectStorage().delete(upload.object_key)
            except StorageAway:
                # The next ones would wait for it as long, and the relay with them.
                logger.warning("object storage is away, uploads expire at a later sweep", exc_info=True)
                break
            except StorageError:
                logger.warning("upload %s could not be aborted", upload_id, exc_info=True)
                continue
            Upload.objects.filter(id=upload_id).update(status=UploadStatus.EXPIRED)
            ended += 1
    return ended
