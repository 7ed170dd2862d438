"""Videos, the collections that hold them, the uploads they arrive by, and their index versions with segments."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from backend.tenancy.models import TenantRow
from gpu_workers.engine.indexing.audio_tracks import ALL


class Profile(models.TextChoices):
    GENERAL = "general"
    WILDLIFE = "wildlife"
    TRAFFIC = "traffic"
    EGOCENTRIC = "egocentric"
    CITY = "city"


class Collection(TenantRow):
    name = models.CharField(max_length=200)
    profile = models.CharField(max_length=16, choices=Profile.choices, default=Profile.GENERAL)
    # The customer's own words on what to look for; they enter the describer's prompt as data.
    instructions = models.TextField(default="", blank=True, max_length=4_000)
    # Whether recordings are made ready for playback when they arrive, and not only when somebody wants to watch them.
    keeps_renditions = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="collection_tenant_name")]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return models.Q(id__in=collections)


class UploadStatus(models.TextChoices):
    OPEN = "open"
    COMPLETED = "completed"
    ABORTED = "aborted"
    EXPIRED = "expired"


class Upload(TenantRow):
    """One presigned S3 multipart upload. part_size is fixed at creation; S3 keeps the list of parts."""

    status = models.CharField(max_length=16, choices=UploadStatus.choices, default=UploadStatus.OPEN)
    # Who began it: an API key or a member.
    api_key_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)
    filename = models.CharField(max_length=255)
    content_type = models.CharField(max_length=100)
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64, default="", blank=True)
    part_size = models.BigIntegerField()
    recorded_at = models.DateTimeField(null=True)
    time_zone = models.CharField(max_length=64, default="", blank=True)
    object_key = models.CharField(max_length=255)
    multipart_id = models.CharField(max_length=1024)
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    profile = models.CharField(max_length=16, choices=Profile.choices, default=Profile.GENERAL)
    title = models.CharField(max_length=255, default="", blank=True)
    language = models.CharField(max_length=8, default="", blank=True)
    audio = models.CharField(max_length=64, default=ALL)
    external_id = models.CharField(max_length=200, default="", blank=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "status", "expires_at"], name="upload_tenant_status")]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return models.Q(collection_id__in=collections)


class VideoStatus(models.TextChoices):
    QUEUED = "queued"
    PROBING = "probing"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"
    DELETING = "deleting"


class SourceType(models.TextChoices):
    """How a video's recording arrives: as one uploaded file, from one URL, or in segments until it is closed."""

    UPLOAD = "upload"
    URL = "url"
    SEGMENTS = "segments"


class ProbedRow(TenantRow):
    """Measurements of a recording; null until it is probed."""

    duration_ms = models.BigIntegerField(null=True)
    source_start_ms = models.BigIntegerField(default=0)
    width = models.IntegerField(null=True)
    height = models.IntegerField(null=True)
    fps = models.FloatField(null=True)
    rotation = models.IntegerField(default=0)
    container = models.CharField(max_length=32, default="", blank=True)
    codec = models.CharField(max_length=32, default="", blank=True)
    has_audio = models.BooleanField(default=False)
    # Fields of each audio track (gpu_workers.engine.indexing.audio_tracks).
    audio_tracks = models.JSONField(default=list)
    # Rows of the file's clock (gpu_workers.engine.indexing.file_clock); empty if its timestamps simply run on.
    clock = models.JSONField(default=list)
    # Codes of what a file lacks: docs/errors.md lists them.
    degraded = models.JSONField(default=list)
    bitrate = models.BigIntegerField(null=True)
    # Fields of gpu_workers.engine.indexing.picture_format; empty before the probe.
    picture_format = models.JSONField(default=dict)

    class Meta(TenantRow.Meta):
        abstract = True


class Video(ProbedRow):
    """One indexed recording. Questions can be asked about 0..indexed_until_ms of the active index version.

    An uploaded recording is the one object at object_key; any other recording is the concatenation of its ready
    InputSegments.
    """

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
    # ISO 639-1 code of the speech: as the customer gives it, and as it was first heard with certainty.
    language = models.CharField(max_length=8, default="", blank=True)
    heard_language = models.CharField(max_length=8, default="", blank=True)
    # The audio tracks to listen to, as the customer chose: audio_tracks.listened_tracks() reads it.
    audio = models.CharField(max_length=64, default=ALL)
    source_type = models.CharField(max_length=16, choices=SourceType.choices, default=SourceType.UPLOAD)
    object_key = models.CharField(max_length=255, default="", blank=True)
    size_bytes = models.BigIntegerField(default=0)
    content_sha256 = models.CharField(max_length=64, default="", blank=True)
    # The instant of the first moment, and the IANA zone in which people speak about it; as far as the customer said.
    recorded_at = models.DateTimeField(null=True)
    time_zone = models.CharField(max_length=64, default="", blank=True)
    # Null while more input may be appended.
    input_closed_at = models.DateTimeField(null=True)
    # When the tenant's retention removed the recording, and the pictures of the index; the index itself stays.
    source_deleted_at = models.DateTimeField(null=True)
    thumbnails_deleted_at = models.DateTimeField(null=True)

    # The version that questions read, and the version being built; they differ only during a re-index.
    active_index_version = models.PositiveIntegerField(default=1)
    building_index_version = models.PositiveIntegerField(default=1)
    indexed_until_ms = models.BigIntegerField(default=0)
    # What people decided about the index job; its jobs in the queue follow (indexing.control).
    index_paused_at = models.DateTimeField(null=True)
    index_rank = models.SmallIntegerField(default=0)
    index_deadline_at = models.DateTimeField(null=True)
    # Wall time per stage of the index so far, {stage: ms}, summed over segments.
    stage_ms = models.JSONField(default=dict)

    # Who created it, for the usage of its index.
    api_key_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)

    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    index_started_at = models.DateTimeField(null=True)
    ready_at = models.DateTimeField(null=True)
    # When the index failed; null unless the status is failed.
    failed_at = models.DateTimeField(null=True)

    @property
    def spoken_language(self) -> str:
        """Return the ISO 639-1 code of the speech: given, else heard; "" if unknown."""
        return self.language or self.heard_language

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "-id"], name="video_tenant_newest"),
            models.Index(fields=["tenant", "collection"], name="video_tenant_collection"),
            models.Index(fields=["tenant", "status", "-id"], name="video_tenant_status"),
            models.Index(fields=["tenant", "external_id", "-id"], name="video_tenant_external"),
        ]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return models.Q(collection_id__in=collections)


class InputStatus(models.TextChoices):
    QUEUED = "queued"
    READY = "ready"
    FAILED = "failed"


class InputSegment(ProbedRow):
    """One recorded piece of a growing video, in the order n in which it was appended.

    start_ms: its begin on the video's clock, set once every earlier piece is ready or failed. A failed piece takes no
    time. recorded_at: the instant of its first moment, if the customer said. url may carry a customer's signature: it
    is fetched, never shown, and cleared afterwards.
    """

    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    n = models.PositiveIntegerField()
    status = models.CharField(max_length=16, choices=InputStatus.choices, default=InputStatus.QUEUED)
    upload = models.ForeignKey(
        Upload, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    url = models.TextField(default="", blank=True, max_length=4_000)
    object_key = models.CharField(max_length=255, default="", blank=True)
    size_bytes = models.BigIntegerField(default=0)
    # Set for a piece that was fetched from a URL, once all its bytes are stored.
    content_sha256 = models.CharField(max_length=64, default="", blank=True)
    start_ms = models.BigIntegerField(null=True)
    recorded_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "video", "n"], name="inputsegment_video_n")]
        indexes = [
            models.Index(
                fields=["tenant", "content_sha256"],
                name="inputsegment_content",
                condition=~models.Q(content_sha256=""),
            )
        ]


class IndexState(models.TextChoices):
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"
    SUPERSEDED = "superseded"


class IndexVersion(TenantRow):
    """One index of a video. A new version is built next to the one that questions read, and replaces it when ready.

    clock: the clock in the picture, {"at_zero": ISO date and time or time of day at 0 ms, "readings": number of
    agreeing readings, "periods": [{"from_ms", "at_start"}] of the parts in which one clock holds}; null if no clock is
    readable. retries: how often it was retried in place. repair: whether its failed segments are still to be put back,
    before anything else is written to it.
    """

    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    n = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=IndexState.choices, default=IndexState.BUILDING)
    indexed_until_ms = models.BigIntegerField(default=0)
    clock = models.JSONField(null=True)
    retries = models.PositiveSmallIntegerField(default=0)
    repair = models.BooleanField(default=False)
    stage_ms = models.JSONField(default=dict)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "video", "n"], name="indexversion_video_n")]


class SegmentState(models.TextChoices):
    PENDING = "pending"
    OBSERVED = "observed"
    ASSEMBLED = "assembled"


SEGMENT_WANTED_AGAIN = "wanted_again"
"""Error code of a segment that people want to be indexed again."""


class Segment(TenantRow):
    """30 to 120 s of one video: the unit of work, checkpoint and billing of an index version.

    retry_at: when a segment that failed for our reasons is retried by itself; null for all others, and after the last
    retry. retries: how often that happened.
    """

    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField()
    n = models.PositiveIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    state = models.CharField(max_length=16, choices=SegmentState.choices, default=SegmentState.PENDING)
    stage_ms = models.JSONField(default=dict)
    # Number of packets that the decoder was given, and of those that were damaged.
    packets = models.PositiveIntegerField(default=0)
    damaged = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=64, default="", blank=True)
    observed_at = models.DateTimeField(null=True)
    assembled_at = models.DateTimeField(null=True)
    retry_at = models.DateTimeField(null=True)
    retries = models.PositiveSmallIntegerField(default=0)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "n"], name="segment_video_version_n")
        ]
        indexes = [models.Index(fields=["retry_at"], name="segment_retry", condition=models.Q(retry_at__isnull=False))]


class Tombstone(TenantRow):
    """A deleted video or question whose folders are to be swept again. prefixes: the folders in object storage."""

    subject_id = models.UUIDField()
    prefixes = ArrayField(models.CharField(max_length=255), default=list)
    buried_at = models.DateTimeField(db_default=Now())

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "subject_id"], name="tombstone_once_per_subject")]


class DerivedText(models.TextChoices):
    """What becomes of an answer that was read from a deleted video."""

    REDACT = "redact"
    REMOVE = "remove"


class Retention(TenantRow):
    """How long a tenant's data is kept, in days from the day on which it arrived; null for as long as the tenant stays.

    source_days: the recordings. thumbnails_days: pictures of the index and of answers. index_days: whole videos, with
    the index. questions_days: questions, searches and batches with their outcomes. derived_text: DerivedText. A tenant
    without a row keeps everything and redacts.
    """

    source_days = models.PositiveIntegerField(null=True)
    thumbnails_days = models.PositiveIntegerField(null=True)
    index_days = models.PositiveIntegerField(null=True)
    questions_days = models.PositiveIntegerField(null=True)
    derived_text = models.CharField(max_length=8, choices=DerivedText.choices, default=DerivedText.REDACT)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant"], name="retention_once_per_tenant")]
