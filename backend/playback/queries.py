"""Reads of renditions, inside the open tenant_scope."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet, Sum

from backend.library.models import Video
from backend.playback.models import PieceState, RenditionPiece


def pieces(video_id: UUID) -> QuerySet[RenditionPiece]:
    """Return the pieces of a video, in the order of time."""
    rows: QuerySet[RenditionPiece] = RenditionPiece.objects.filter(video_id=video_id).order_by("n")
    return rows


def unmade_pieces() -> QuerySet[RenditionPiece]:
    """Return the pieces that are still to be made, or could not be made."""
    rows: QuerySet[RenditionPiece] = RenditionPiece.objects.exclude(state=PieceState.READY)
    return rows


def ready_piece(video_id: UUID, n: int) -> RenditionPiece | None:
    """Return the n-th piece if it can be played."""
    return pieces(video_id).filter(n=n, state=PieceState.READY).exclude(object_key="").first()


def rendition_bytes(api_key_id: UUID | None = None, before: datetime | None = None) -> int:
    """Return the bytes of the tenant's renditions.

    api_key_id: only those of videos that this key created. before: only those that were stored before this moment.
    """
    rows = RenditionPiece.objects.filter(state=PieceState.READY)
    if api_key_id is not None:
        rows = rows.filter(video_id__in=Video.objects.filter(api_key_id=api_key_id).values("id"))
    if before is not None:
        rows = rows.filter(rendered_at__lt=before)
    return int(rows.aggregate(total=Sum("size_bytes"))["total"] or 0)
