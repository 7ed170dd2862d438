"""Reads of renditions, inside the open tenant_scope."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet, Sum

from backend.playback.models import PieceState, RenditionPiece


def pieces(video_id: UUID) -> QuerySet[RenditionPiece]:
    """Return the pieces of a video, in the order of time."""
    rows: QuerySet[RenditionPiece] = RenditionPiece.objects.filter(video_id=video_id).order_by("n")
    return rows


def ready_piece(video_id: UUID, n: int) -> RenditionPiece | None:
    """Return the n-th piece if it can be played."""
    return pieces(video_id).filter(n=n, state=PieceState.READY).exclude(object_key="").first()


def rendition_bytes(since: datetime | None = None) -> int:
    """Return the bytes of the tenant's renditions; since: only of those that were stored before this moment."""
    rows = RenditionPiece.objects.filter(state=PieceState.READY)
    if since is not None:
        rows = rows.filter(rendered_at__lt=since)
    return int(rows.aggregate(total=Sum("size_bytes"))["total"] or 0)
