"""The end of an upload's row, which holds a file name, a title and metadata."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from backend.api.idempotency import forget_replies
from backend.api.public_ids import encode
from backend.library.models import Upload, UploadStatus
from backend.webhooks.redaction import redact_events


def drop_uploads(ids: Collection[UUID]) -> None:
    """Delete uploads that have ended, with the stored replies and the texts of events about them.

    Recordings stay: they belong to their videos.
    """
    forget_replies([encode("upl", id) for id in ids])
    redact_events(ids)
    Upload.objects.filter(id__in=ids).exclude(status=UploadStatus.OPEN).delete()
