"""The Event Knowledge Graph's relational rows: all text and all vectors. Topology is in AGE (backend.ekg.graph_store).

Every row belongs to one index version of one video, so that a new version can be built while the old one is read.
Vectors are halfvec without a fixed width: the name of the model stands beside each.
"""

from __future__ import annotations

from django.db import models
from pgvector.django import HalfVectorField

from backend.library.models import Video
from backend.tenancy.models import TenantRow


class IndexRow(TenantRow):
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField()

    class Meta(TenantRow.Meta):
        abstract = True


class Event(IndexRow):
    n = models.PositiveIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    first_chunk = models.PositiveIntegerField()
    end_chunk = models.PositiveIntegerField()
    summary = models.TextField()
    embedding = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "n"], name="event_video_version_n")
        ]


class Chunk(IndexRow):
    """A described 3 s slice; event is null until the merge rule has placed it."""

    n = models.PositiveIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    segment_n = models.PositiveIntegerField()
    event = models.ForeignKey(
        Event, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    description = models.TextField(null=True)
    gap = models.CharField(max_length=64, null=True)
    facts = models.JSONField(default=dict)
    on_screen_text = models.JSONField(default=list)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "n"], name="chunk_video_version_n"),
            models.CheckConstraint(
                name="chunk_described_or_gap",
                condition=models.Q(description__isnull=True, gap__isnull=False)
                | models.Q(description__isnull=False, gap__isnull=True),
            ),
        ]
        indexes = [models.Index(fields=["tenant", "event"], name="chunk_tenant_event")]


class Frame(IndexRow):
    """A sampled picture with its time, thumbnail and embedding; event is null until its chunk is placed."""

    ms = models.BigIntegerField()
    event = models.ForeignKey(
        Event, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    thumbnail_key = models.CharField(max_length=255)
    labels = models.JSONField(default=list)
    embedding = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "ms"], name="frame_video_version_ms")
        ]
        indexes = [models.Index(fields=["tenant", "event", "ms"], name="frame_tenant_event")]


class TranscriptLine(IndexRow):
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    text = models.TextField()
    words = models.JSONField(default=list)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "video", "index_version", "start_ms", "end_ms"], name="transcript_video_version_time"
            )
        ]


class Track(IndexRow):
    """One tracked object inside one segment, as measured."""

    segment_n = models.PositiveIntegerField()
    track_no = models.PositiveIntegerField()
    category = models.CharField(max_length=64)
    colour = models.CharField(max_length=32, default="", blank=True)
    motion = models.CharField(max_length=100, default="", blank=True)
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    confidence = models.FloatField()
    entered = models.BooleanField(default=False)
    left = models.BooleanField(default=False)
    boxes = models.JSONField(default=list)
    appearance = HalfVectorField(null=True)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "video", "index_version", "segment_n", "track_no"], name="track_video_segment_no"
            )
        ]


class Entity(IndexRow):
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=64)
    description = models.TextField(default="", blank=True)
    aliases = models.JSONField(default=list)
    weight = models.PositiveIntegerField(default=1)
    centroid = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        indexes = [models.Index(fields=["tenant", "video", "index_version"], name="entity_tenant_video")]


class Mention(IndexRow):
    """An entity's participation in one event, with its role there."""

    entity = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    event = models.ForeignKey(Event, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=64)
    description = models.TextField(default="", blank=True)
    role = models.CharField(max_length=200, default="participant")
    confidence = models.FloatField(default=1.0)
    frame_ms = models.JSONField(default=list)
    embedding = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "event", "entity"], name="mention_event_entity")]
        indexes = [
            models.Index(fields=["tenant", "entity"], name="mention_tenant_entity"),
            models.Index(fields=["tenant", "video", "index_version"], name="mention_tenant_video"),
        ]


class Relation(IndexRow):
    source = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    target = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    event = models.ForeignKey(Event, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    predicate = models.CharField(max_length=100)
    description = models.TextField(default="", blank=True)
    confidence = models.FloatField(default=1.0)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "event", "source", "target", "predicate"], name="relation_event_ends_predicate"
            )
        ]
        indexes = [models.Index(fields=["tenant", "video", "index_version"], name="relation_tenant_video")]
