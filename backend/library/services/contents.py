"""The content of a recording: its SHA-256, and the object that recordings of one tenant with the same bytes share."""

from __future__ import annotations

from uuid import UUID

from backend.library.models import InputSegment, Upload, Video, VideoStatus
from backend.library.services.storage_quota import hold_storage
from backend.library.storage import source_key, source_prefix


def announced_sha256(upload_id: UUID | None) -> str:
    """Return the SHA-256 that a customer announced for an upload, in hex; "" if there is none."""
    return Upload.objects.filter(id=upload_id).values_list("sha256", flat=True).first() or ""


def share_content(video_id: UUID, sha256: str) -> None:
    """Store the SHA-256 of an uploaded recording, and let it share the object of another one with the same bytes.

    Only recordings of the same tenant share. The object of its own that nobody reads any more is unread_object().
    """
    # Recordings that share begin and stop to do so one after another.
    hold_storage()
    video: Video = Video.objects.get(id=video_id)
    key = _stored_elsewhere(sha256, video.size_bytes, than=video_id) or video.object_key
    Video.objects.filter(id=video_id).update(content_sha256=sha256, object_key=key)


def share_piece(piece_id: UUID, sha256: str, *, size_bytes: int) -> None:
    """Store the SHA-256 and the length of a piece that was fetched, and let it share an object as share_content()."""
    hold_storage()
    piece: InputSegment = InputSegment.objects.get(id=piece_id)
    key = _stored_elsewhere(sha256, size_bytes, than=piece_id) or piece.object_key
    InputSegment.objects.filter(id=piece_id).update(content_sha256=sha256, size_bytes=size_bytes, object_key=key)


def unread_object(recording: Video | InputSegment) -> str:
    """Return the key of the own object of a recording that shares another one; "" otherwise. It may be erased."""
    arrived = recording.upload_id or (recording.id if isinstance(recording, InputSegment) else None)
    if arrived is None:
        return ""
    own = source_key(recording.tenant_id, arrived)
    return own if recording.object_key != own and not is_read(own) else ""


def is_read(object_key: str) -> bool:
    """Whether a recording of the tenant reads this object, or another one of its folder."""
    folder = source_prefix(object_key)
    return bool(
        Video.objects.filter(object_key__startswith=folder).exists()
        or InputSegment.objects.filter(object_key__startswith=folder).exists()
    )


def _stored_elsewhere(sha256: str, size_bytes: int, *, than: UUID) -> str | None:
    """Return the key of another stored recording with these bytes, whose video is locked; None if there is none.

    The video is locked, because a video that is being deleted takes its objects along.
    """
    same = {"content_sha256": sha256, "size_bytes": size_bytes}
    kept = Video.objects.filter(source_deleted_at=None).exclude(status=VideoStatus.DELETING)
    kept = kept.select_for_update(no_key=True).order_by("id")
    video: Video | None = kept.filter(**same).exclude(id=than).exclude(object_key="").first()
    if video is not None:
        return str(video.object_key)
    pieces = InputSegment.objects.filter(**same).exclude(id=than).exclude(object_key="")
    owner: Video | None = kept.filter(id__in=pieces.values("video_id")).first()
    return None if owner is None else pieces.filter(video_id=owner.id).values_list("object_key", flat=True).first()
