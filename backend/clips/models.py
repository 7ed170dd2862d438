"""Clips: parts of recordings as MP4 files, made by a job and kept for a limited time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from uuid import UUID

from django.db import models

from backend.api.public_ids import encode_creator
from backend.library.models import Video
from backend.questions.models import Question
from backend.tenancy.models import TenantRow


class ClipStatus(models.TextChoices):
    QUEUED = "queued"
    READY = "ready"
    FAILED = "failed"


class ClipMode(models.TextChoices):
    FAST = "fast"
    EXACT = "exact"


class ClipCaptions(models.TextChoices):
    NONE = "none"
    FILE = "file"
    BURNT = "burnt"


class Clip(TenantRow):
    """A part of one video as a file. start_ms, end_ms: as wanted. shown_start_ms, shown_end_ms: what the file shows.

    size_bytes: of its file; until that is made, an estimate that is reserved. gaps: [{at_ms, gap_ms}] where recordings
    with a gap between them are joined: at_ms in the clip, gap_ms null if its length is unknown. The objects lie in the
    folder of the video, and end with it.
    """

    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    # The question whose evidence it shows; null once that is deleted.
    question = models.ForeignKey(
        Question, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    status = models.CharField(max_length=16, choices=ClipStatus.choices, default=ClipStatus.QUEUED)
    mode = models.CharField(max_length=8, choices=ClipMode.choices)
    captions = models.CharField(max_length=8, choices=ClipCaptions.choices)
    title = models.CharField(max_length=200, default="", blank=True)
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    shown_start_ms = models.BigIntegerField(null=True)
    shown_end_ms = models.BigIntegerField(null=True)
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    size_bytes = models.BigIntegerField(default=0)
    gaps = models.JSONField(default=list)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    # Who made it: a key or a member.
    api_key_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    class Meta(TenantRow.Meta):
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["tenant", "-id"], name="clip_tenant_newest"),
            models.Index(fields=["tenant", "status", "-id"], name="clip_tenant_status"),
            models.Index(fields=["tenant", "video", "-id"], name="clip_tenant_video"),
            models.Index(fields=["tenant", "question", "-id"], name="clip_tenant_question"),
            models.Index(fields=["expires_at"], name="clip_expiry"),
        ]

    @property
    def error(self) -> dict[str, str] | None:
        """Return why the clip could not be made; None if it could."""
        return {"code": self.error_code, "message": self.error_message} if self.error_code else None

    @property
    def created_by(self) -> str | None:
        """Return the public id of the key or the member that made it."""
        return encode_creator(person_id=self.person_id, api_key_id=self.api_key_id)

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return models.Q(video__collection_id__in=collections)
