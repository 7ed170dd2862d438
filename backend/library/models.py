"""Videos, the collections that hold them and the uploads they arrive by."""

from __future__ import annotations

from django.db import models

from backend.tenancy.models import TenantRow


class Profile(models.TextChoices):
    GENERAL = "general"
    WILDLIFE = "wildlife"
    TRAFFIC = "traffic"
    EGOCENTRIC = "egocentric"
    CITY = "city"


class Collection(TenantRow):
    name = models.CharField(max_length=200)
    profile = models.CharField(max_length=16, choices=Profile.choices, default=Profile.GENERAL)
    # The customer's own words on what to look for; data in the describer's prompt.
    instructions = models.TextField(default="", blank=True, max_length=4_000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="collection_tenant_name")]


class UploadStatus(models.TextChoices):
    OPEN = "open"
    COMPLETED = "completed"
    ABORTED = "aborted"
    EXPIRED = "expired"


class Upload(TenantRow):
    """One presigned S3 multipart upload. part_size is fixed at creation; S3 itself knows which parts arrived."""

    status = models.CharField(max_length=16, choices=UploadStatus.choices, default=UploadStatus.OPEN)
    filename = models.CharField(max_length=255)
    content_type = models.CharField(max_length=100)
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64, default="", blank=True)
    part_size = models.BigIntegerField()
    object_key = models.CharField(max_length=255)
    multipart_id = models.CharField(max_length=1024)
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    profile = models.CharField(max_length=16, choices=Profile.choices, default=Profile.GENERAL)
    title = models.CharField(max_length=255, default="", blank=True)
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "status", "expires_at"], name="upload_tenant_status")]


class VideoStatus(models.TextChoices):
    QUEUED = "queued"
    PROBING = "probing"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"
    DELETING = "deleting"


class Video(TenantRow):
    """One indexed recording. Questions can be asked about 0..indexed_until_ms of the active index version."""

    status = models.CharField(max_length=16, choices=VideoStatus.choices, default=VideoStatus.QUEUED)
    title = models.CharField(max_length=255, default="", blank=True)
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    upload = models.ForeignKey(
        Upload, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    profile = models.CharField(max_length=16, choices=Profile.choices, default=Profile.GENERAL)
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    object_key = models.CharField(max_length=255)
    size_bytes = models.BigIntegerField()
    content_sha256 = models.CharField(max_length=64, default="", blank=True)

    # Probe results; null until probed.
    duration_ms = models.BigIntegerField(null=True)
    source_start_ms = models.BigIntegerField(default=0)
    width = models.IntegerField(null=True)
    height = models.IntegerField(null=True)
    fps = models.FloatField(null=True)
    rotation = models.IntegerField(default=0)
    container = models.CharField(max_length=32, default="", blank=True)
    codec = models.CharField(max_length=32, default="", blank=True)
    has_audio = models.BooleanField(default=False)
    bitrate = models.BigIntegerField(null=True)

    # The version questions read, and the version being built (equal, but for a re-index).
    active_index_version = models.PositiveIntegerField(default=1)
    building_index_version = models.PositiveIntegerField(default=1)
    indexed_until_ms = models.BigIntegerField(default=0)
    global_summary = models.TextField(default="", blank=True)
    # Wall time per stage of the index so far, {stage: ms}; summed over segments.
    stage_ms = models.JSONField(default=dict)

    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    index_started_at = models.DateTimeField(null=True)
    ready_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "-id"], name="video_tenant_newest"),
            models.Index(fields=["tenant", "collection"], name="video_tenant_collection"),
        ]
