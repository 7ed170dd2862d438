"""Reads of videos, collections and uploads, inside the open tenant_scope."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from backend.library.models import Collection, Upload, Video


@dataclass(frozen=True, slots=True)
class VideoFilter:
    """Which videos are listed; None leaves a condition out."""

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


def collections() -> QuerySet[Collection]:
    rows: QuerySet[Collection] = Collection.objects.all()
    return rows


def uploads() -> QuerySet[Upload]:
    rows: QuerySet[Upload] = Upload.objects.all()
    return rows


def video_of_upload(upload_id: UUID) -> Video | None:
    video: Video | None = Video.objects.filter(upload_id=upload_id).first()
    return video
