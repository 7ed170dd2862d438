"""Reads of shares: the tenant's own inside its tenant_scope, and the share of a token before a tenant is known."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from backend.shares.models import Share
from backend.tenancy.makers import Maker


def shares(
    *, question_id: UUID | None = None, video_id: UUID | None = None, clip_id: UUID | None = None
) -> QuerySet[Share]:
    """Return the shares of the tenant. An argument that is None restricts nothing."""
    rows: QuerySet[Share] = Share.objects.all()
    if question_id is not None:
        rows = rows.filter(question_id=question_id)
    if video_id is not None:
        rows = rows.filter(video_id=video_id)
    return rows if clip_id is None else rows.filter(clip_id=clip_id)


def made_by(maker: Maker) -> QuerySet[Share]:
    """Return the shares of a maker that have not ended."""
    return shares().filter(maker.made(), revoked_at=None, expires_at__gt=timezone.now())


def living_share(digest: bytes) -> Share | None:
    """Return the share that a token of this digest opens; None if it has ended, or its tenant is suspended.

    A link names no tenant that could be trusted, so the dispatch role reads it.
    """
    return (
        Share.unscoped.using("dispatch")
        .filter(digest=digest, revoked_at=None, expires_at__gt=timezone.now(), tenant__suspended_at=None)
        .first()
    )
