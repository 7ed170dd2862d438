"""The content of a recording: its SHA-256, and the object that recordings of one tenant with the same bytes share."""

from __future__ import annotations

from uuid import UUID

from backend.library.models import Upload, Video, VideoStatus
from backend.library.services.storage_quota import hold_storage
from backend.library.storage import source_key


def announced_sha256(upload_id: UUID | None) -> str:
    """Return the SHA-256 that a customer announced for an upload, in hex; "" if there is none."""
    return Upload.objects.filter(id=upload_id).values_list("sha256", flat=True).first() or ""


def share_content(video_id: UUID, sha256: str) -> None:
    """Store the SHA-256 of an uploaded recording, and let it share the object of another video with the same bytes.

    Only videos of the same tenant share. The object of its own that nobody reads any more is unread_object().
    """
    # Videos that share begin and stop to do so one after another.
    hold_storage()
    video: Video = Video.objects.get(id=video_id)
    same = Video.objects.filter(content_sha256=sha256, size_bytes=video.size_bytes, source_deleted_at=None)
    readable = same.exclude(id=video_id).exclude(status=VideoStatus.DELETING).exclude(object_key="")
    # Locked, because a video that is being deleted takes its object along.
    other: Video | None = readable.select_for_update(no_key=True).order_by("id").first()
    key = other.object_key if other is not None else video.object_key
    Video.objects.filter(id=video_id).update(content_sha256=sha256, object_key=key)


def unread_object(video: Video) -> str:
    """Return the key of the video's own object if the video shares another one; "" otherwise. It may be erased."""
    if video.upload_id is None:
        return ""
    own = source_key(video.tenant_id, video.upload_id)
    return own if video.object_key != own and not Video.objects.filter(object_key=own).exists() else ""
