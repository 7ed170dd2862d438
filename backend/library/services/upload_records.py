"""The end of an upload's row, which holds a file name, a title and metadata."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from backend.api.idempotency import forget_replies
from backend.api.public_ids import encode
from backend.library.models import Upload, UploadStatus
from backend.library.services import deletion_ledger
from backend.library.services.deletion_ledger import Deleted
from backend.library.services.uploads import abort_upload
from backend.webhooks.redaction import redact_events


def end_or_delete(*, upload: Upload) -> None:
    """Abort an open upload; delete an upload that has ended. Raises Refused `storage_unavailable` (503)."""
    if upload.status == UploadStatus.OPEN:
        abort_upload(upload=upload)
        return
    drop_uploads([upload.id])
    deletion_ledger.record(Deleted.UPLOAD, [upload.id])


def drop_uploads(ids: Collection[UUID]) -> None:
    """Delete uploads that have ended, with the stored replies and the texts of events about them.

    Recordings stay: they belong to their videos.
    """
    forget_replies([encode("upl", id) for id in ids])
    redact_events(ids)
    Upload.objects.filter(id__in=ids).exclude(status=UploadStatus.OPEN).delete()
