"""Reads of videos, collections and uploads, inside the open tenant_scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, QuerySet, Sum

from backend.library.models import (
    Collection,
    IndexState,
    IndexVersion,
    InputSegment,
    SourceType,
    Upload,
    UploadStatus,
    Video,
    VideoStatus,
)


@dataclass(frozen=True, slots=True)
class VideoFilter:
    """Conditions on the listed videos; None leaves a condition out."""

    status: str | None = None
    collection_id: UUID | None = None
    external_id: str | None = None


def videos(narrowed: VideoFilter | None = None) -> QuerySet[Video]:
    rows: QuerySet[Video] = Video.objects.all()
    if narrowed is None:
        return rows
    if narrowed.status is not None:
        rows = rows.filter(status=narrowed.status)
    if narrowed.collection_id is not None:
        rows = rows.filter(collection_id=narrowed.collection_id)
    if narrowed.external_id is not None:
        rows = rows.filter(external_id=narrowed.external_id)
    return rows


def find_video(video_id: UUID) -> Video | None:
    """Return the video; None once it is purged."""
    video: Video | None = Video.objects.filter(id=video_id).first()
    return video


def collections() -> QuerySet[Collection]:
    rows: QuerySet[Collection] = Collection.objects.all()
    return rows


def uploads(*, status: str | None = None) -> QuerySet[Upload]:
    """Return the uploads; status leaves out those of any other status."""
    rows: QuerySet[Upload] = Upload.objects.all()
    return rows if status is None else rows.filter(status=status)


def videos_of_uploads(uploads: Sequence[Upload]) -> dict[UUID, UUID]:
    """Return the video that each upload became, or became a segment of, by upload."""
    ids = [upload.id for upload in uploads]
    pieces = InputSegment.objects.filter(upload_id__in=ids).values_list("upload_id", "video_id")
    return {**dict(pieces), **dict(Video.objects.filter(upload_id__in=ids).values_list("upload_id", "id"))}


def video_count() -> int:
    """Return the number of the tenant's videos that are not being deleted."""
    return Video.objects.exclude(status=VideoStatus.DELETING).count()


StoredBytes = Callable[[UUID | None, datetime | None], int]
"""Count of the bytes of files that a package above this one makes of recordings, for the current tenant. Arguments: the
key that they belong to, None for any; the moment before which they were stored, None for any."""
_stored_above: list[StoredBytes] = []


def register_stored(count: StoredBytes) -> None:
    """Let a package count its files among what a tenant stores."""
    _stored_above.append(count)


def stored_bytes(api_key_id: UUID | None = None) -> int:
    """Return the bytes of the tenant's recordings, and of files that were made of them: the meter and the quota.

    An object that several videos share counts once. api_key_id: only those of the videos that this key created, and of
    the files that it had made.
    """
    videos, pieces = Video.objects.all(), InputSegment.objects.all()
    if api_key_id is not None:
        videos = videos.filter(api_key_id=api_key_id)
        pieces = pieces.filter(video_id__in=videos.values("id"))
    return _bytes_of_objects(videos, pieces) + sum(count(api_key_id, None) for count in _stored_above)


def _bytes_of_objects(videos: QuerySet[Video], pieces: QuerySet[InputSegment]) -> int:
    """Return the bytes of the objects of these rows; an object that several share counts once."""
    total = 0
    shared = videos.filter(object_key=OuterRef("object_key"))
    for rows in (videos, pieces.exclude(Exists(shared))):
        sizes = rows.exclude(object_key="").values("object_key").annotate(size=Max("size_bytes")).order_by()
        total += sizes.aggregate(total=Sum("size"))["total"] or 0
    return total


def stored_bytes_since(moment: datetime) -> int:
    """Return the bytes of the tenant's recordings and made files that were stored before a moment and are stored now.

    A recording counts from the time at which its file was complete; an object that several share counts once.
    """
    videos = Video.objects.filter(index_started_at__lt=moment).exclude(object_key="")
    pieces = InputSegment.objects.filter(ready_at__lt=moment).exclude(object_key="")
    sizes: dict[str, int] = {}
    for key, size in (*videos.values_list("object_key", "size_bytes"), *pieces.values_list("object_key", "size_bytes")):
        sizes[key] = max(size, sizes.get(key, 0))
    return sum(sizes.values()) + sum(count(None, moment) for count in _stored_above)


def size_of(object_keys: Sequence[str]) -> int:
    """Return the bytes of recorded objects together."""
    named = {"object_key__in": object_keys}
    return _bytes_of_objects(Video.objects.filter(**named), InputSegment.objects.filter(**named))


def reserved_bytes(api_key_id: UUID | None = None) -> tuple[int, int]:
    """Return the bytes that open uploads announced, and the number of these uploads. api_key_id: of this key alone."""
    uploads = Upload.objects.filter(status=UploadStatus.OPEN)
    if api_key_id is not None:
        uploads = uploads.filter(api_key_id=api_key_id)
    opened = uploads.aggregate(total=Sum("size_bytes"), count=Count("id"))
    return opened["total"] or 0, opened["count"]


def video_of_upload(upload_id: UUID) -> Video | None:
    """Return the video that an upload became, or became a segment of."""
    video: Video | None = Video.objects.filter(upload_id=upload_id).first()
    if video is None:
        segment = InputSegment.objects.filter(upload_id=upload_id).select_related("video").first()
        return segment.video if segment else None
    return video


def input_segments(video: Video) -> QuerySet[InputSegment]:
    rows: QuerySet[InputSegment] = InputSegment.objects.filter(video_id=video.id)
    return rows


def input_counts(videos: Sequence[Video]) -> dict[UUID, int]:
    """Return the number of appended segments by video, for the videos that take segments."""
    ids = [video.id for video in videos if video.source_type != SourceType.UPLOAD]
    counted = InputSegment.objects.filter(video_id__in=ids).values_list("video_id").annotate(Count("id"))
    return {**dict.fromkeys(ids, 0), **dict(counted)}


def index_versions(video: Video) -> QuerySet[IndexVersion]:
    rows: QuerySet[IndexVersion] = IndexVersion.objects.filter(video_id=video.id)
    return rows


def versions_under_way(videos: Sequence[Video]) -> dict[UUID, IndexVersion]:
    """Return the version being built next to the active one, for the videos that are indexed again."""
    building = {video.id: video.building_index_version for video in videos}
    rows = IndexVersion.objects.filter(video_id__in=list(building), state=IndexState.BUILDING)
    active = {video.id: video.active_index_version for video in videos}
    return {row.video_id: row for row in rows if row.n == building[row.video_id] != active[row.video_id]}
