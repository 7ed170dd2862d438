"""Renditions: what browsers play of a recording, in pieces of about two minutes."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from backend.library.models import InputSegment, Video
from backend.tenancy.models import TenantRow


class PieceState(models.TextChoices):
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


class RenditionPiece(TenantRow):
    """The n-th piece of a video's rendition, one fragmented MP4 in object storage.

    start_ms, end_ms: the part that it was planned for. begin_ms, until_ms: the part that it shows; a copy begins and
    ends at keyframes. fragments: [bytes, time of the first picture in microseconds] of each fragment, after init_bytes.
    sheets: [object key, bytes, number of the first picture, pictures] of each sheet of the storyboard, whose pictures
    lie tile_ms apart. size_bytes: of the piece and its sheets. failures: how often its job ended without it.
    """

    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    # The input that it shows; None for a recording of one uploaded file.
    segment = models.ForeignKey(
        InputSegment, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    n = models.PositiveIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    state = models.CharField(max_length=16, choices=PieceState.choices, default=PieceState.PENDING)
    begin_ms = models.BigIntegerField(null=True)
    until_ms = models.BigIntegerField(null=True)
    object_key = models.CharField(max_length=255, default="", blank=True)
    size_bytes = models.BigIntegerField(default=0)
    init_bytes = models.PositiveIntegerField(default=0)
    fragments = models.JSONField(default=list)
    is_copy = models.BooleanField(default=False)
    tile_ms = models.PositiveIntegerField(default=0)
    sheets = models.JSONField(default=list)
    error_code = models.CharField(max_length=64, default="", blank=True)
    failures = models.PositiveIntegerField(default=0)
    failed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    rendered_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tenant", "video", "n"], name="renditionpiece_video_n")
        ]
        # Storage is added up for every upload, so that no row with its fragments is read for it.
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["tenant", "video"], include=["size_bytes"], condition=models.Q(state="ready"),
                name="renditionpiece_stored",
            )
        ]  # fmt: skip
